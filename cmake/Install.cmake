# `cmake --install`: the program, the library and its header, man pages, shell completions.
# Everything here is named by what stands in the tree, so a new page or header needs no edit.

foreach(program leveret leveret-mpi)
  if(TARGET ${program})
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  endif()
endforeach()
set(programs leveret leveret-mpi leveret-synth)
foreach(program ${programs})
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
if(TARGET leveret_capi)
  install(TARGETS leveret_capi EXPORT leveretTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  # How others find it: by CMake, wherever it lies, and by pkg-config, whose file is written when it
  # is known where that is (cmake --install --prefix).
  include(CMakePackageConfigHelpers)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/leveret)
  install(EXPORT leveretTargets NAMESPACE leveret:: DESTINATION ${package_dir})
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/leveretConfig.cmake.in ${PROJECT_BINARY_DIR}/leveretConfig.cmake
    INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/leveretConfigVersion.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/leveretConfig.cmake
                ${PROJECT_BINARY_DIR}/leveretConfigVersion.cmake DESTINATION ${package_dir})
  install(CODE "
    set(PROJECT_VERSION ${PROJECT_VERSION})
    cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE)
    set(LEVERET_PC_LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")
    set(LEVERET_PC_INCLUDEDIR \"${CMAKE_INSTALL_INCLUDEDIR}\")
    foreach(dir LEVERET_PC_LIBDIR LEVERET_PC_INCLUDEDIR)
      if(NOT IS_ABSOLUTE \"\${\${dir}}\")
        set(\${dir} \"\\\${prefix}/\${\${dir}}\")
      endif()
    endforeach()
    configure_file(\"${PROJECT_SOURCE_DIR}/cmake/leveret.pc.in\"
                   \"${PROJECT_BINARY_DIR}/leveret.pc\" @ONLY)")
  install(FILES ${PROJECT_BINARY_DIR}/leveret.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  install(CODE "set(LEVERET_LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")")
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/Ldconfig.cmake)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/leveret DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        OPTIONAL FILES_MATCHING PATTERN "*.h")

# Man pages: man/NAME.SECTION.scd, with what pages share in man/shared, through scdoc into build/man,
# and from there.
find_program(SCDOC scdoc)
file(GLOB man_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.scd)
file(GLOB man_shared CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/shared/*.scd)
set(man_include ${PROJECT_SOURCE_DIR}/man/include.awk)
if(man_sources AND NOT SCDOC)
  message(STATUS "scdoc is not installed: man pages are neither built nor installed")
elseif(man_sources)
  set(man_pages)
  foreach(source ${man_sources})
    get_filename_component(page ${source} NAME)
    string(REGEX REPLACE "\\.scd$" "" page ${page})
    string(REGEX REPLACE "^.*\\." "" section ${page})
    set(output ${PROJECT_BINARY_DIR}/man/${page})
    add_custom_command(
      OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/man
      COMMAND sh -c "awk -f \"$1\" \"$2\" > \"$3.scd\" && \"$0\" < \"$3.scd\" > \"$3\" && rm \"$3.scd\""
              ${SCDOC} ${man_include} ${source} ${output}
      DEPENDS ${source} ${man_shared} ${man_include}
      VERBATIM)
    list(APPEND man_pages ${output})
    # A page about a program that is not part of this build would only mislead.
    string(REGEX REPLACE "\\.[0-9]$" "" name ${page})
    if(NOT name IN_LIST programs OR TARGET ${name})
      install(FILES ${output} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
    endif()
  endforeach()
  add_custom_target(man ALL DEPENDS ${man_pages})
endif()

install(FILES ${PROJECT_SOURCE_DIR}/completions/leveret.bash RENAME leveret
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PROJECT_SOURCE_DIR}/completions/_leveret
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
