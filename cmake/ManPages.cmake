# Man pages: man/NAME.SECTION.scd, with what pages share in man/shared, through scdoc into build/man, and those
# that are installed through mandoc into build/man/html. Pages are found in the tree, so a new one needs no edit.
find_program(SCDOC scdoc)
find_program(MANDOC mandoc)
file(GLOB man_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.scd)
file(GLOB man_shared CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/shared/*.scd)
set(man_include ${PROJECT_SOURCE_DIR}/man/include.awk)
if(NOT SCDOC)
  message(STATUS "scdoc is not installed: man pages are neither built nor installed")
  return()
endif()

set(programs leveret leveret-mpi leveret-synth)
set(man_pages)
set(installed_pages)
foreach(source ${man_sources})
  get_filename_component(page ${source} NAME)
  string(REGEX REPLACE "\\.scd$" "" page ${page})
  string(REGEX REPLACE "^.*\\." "" section ${page})
  string(REGEX REPLACE "\\.[0-9]$" "" name ${page})
  set(output ${PROJECT_BINARY_DIR}/man/${page})
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/man
    COMMAND ${PROJECT_SOURCE_DIR}/cmake/man_page.sh ${SCDOC} ${man_include} ${source} ${output}
    DEPENDS ${source} ${man_shared} ${man_include} ${PROJECT_SOURCE_DIR}/cmake/man_page.sh
    VERBATIM)
  list(APPEND man_pages ${output})
  # Programs have pages in section 1: leveret-mpi(1) is of leveret-mpi, and leveret-VERB(1) of leveret. A page
  # about a program that is not part of this build would only mislead.
  set(program leveret)
  if(section EQUAL 1 AND name IN_LIST programs)
    set(program ${name})
  endif()
  set(component program)
  if(section EQUAL 3)
    set(component development)
  elseif(program STREQUAL "leveret-mpi")
    set(component mpi)
  elseif(program STREQUAL "leveret-synth")
    set(component bench)
  endif()
  if(NOT section EQUAL 1 OR TARGET ${program})
    install(FILES ${output} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT ${component})
    list(APPEND installed_pages ${output})
  endif()
endforeach()
add_custom_target(man ALL DEPENDS ${man_pages})

if(NOT MANDOC)
  message(STATUS "mandoc is not installed: man pages are not made as HTML")
  return()
endif()
set(html ${PROJECT_BINARY_DIR}/man/html)
add_custom_command(
  OUTPUT ${html}/index.html
  COMMAND ${PROJECT_SOURCE_DIR}/cmake/man_html.sh ${MANDOC} ${html} ${installed_pages}
  DEPENDS ${installed_pages} ${PROJECT_SOURCE_DIR}/cmake/man_html.sh
  VERBATIM)
add_custom_target(man_html ALL DEPENDS ${html}/index.html)
install(DIRECTORY ${html} DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
