# Debian packages by CPack, one for each component of Install.cmake. scripts/package calls it with the settings of
# the preset `package`; how Debian wants them: https://www.debian.org/doc/debian-policy/.
# What only packages have (copyright, the Debian changelog, the Python package) is left out by a
# `cmake --install` that names no component.

set(LEVERET_DEBIAN_RELEASE 1 CACHE STRING "What follows the version in that of packages, as 1~deb12")
# Packages are said to be of those who make them: in their environment, as Debian's own tools have it. The
# authors have no address that all packages could name (.invalid: RFC 2606).
set(maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
if("$ENV{DEBFULLNAME}" STREQUAL "" OR "$ENV{DEBEMAIL}" STREQUAL "")
  set(maintainer "Leveret authors <leveret@leveret.invalid>")
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME leveret)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_DEBIAN_PACKAGE_RELEASE ${LEVERET_DEBIAN_RELEASE})
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${maintainer}")
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
# The prefix in leveret.pc is where files will lie, not where they are packed.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian/Finish.cmake)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(full_version ${PROJECT_VERSION}-${LEVERET_DEBIAN_RELEASE})

# copyright, in Debian's form, from LICENSE: its text is indented, and a dot stands for an empty line.
file(STRINGS ${PROJECT_SOURCE_DIR}/LICENSE license)
list(FILTER license INCLUDE REGEX "^Copyright \\(c\\) ")
string(REGEX REPLACE "^Copyright \\(c\\) (.*)\\. All rights reserved\\.$" "\\1" LEVERET_COPYRIGHT "${license}")
file(READ ${PROJECT_SOURCE_DIR}/LICENSE license)
string(REGEX REPLACE "^.*All rights reserved\\.\n\n" "" license "${license}")
string(REGEX REPLACE "\n+$" "" license "${license}")
string(REPLACE "\n" "\n " license " ${license}")
string(REPLACE "\n \n" "\n .\n" LEVERET_LICENSE "${license}")
configure_file(cmake/debian/copyright.in ${PROJECT_BINARY_DIR}/debian/copyright @ONLY)
# CMake takes the time from SOURCE_DATE_EPOCH where that is set.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/debian/changelog.Debian CONTENT
"leveret (${full_version}) unstable; urgency=medium

  * Version ${PROJECT_VERSION}; what is new in it: changelog.gz of the package leveret.

 -- ${maintainer}  ${date}
")

# leveret_package(COMPONENT NAME SECTION SUMMARY LINE...): the lines are those of the long description.
macro(leveret_package component name section summary)
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  string(REPLACE ";" "\n" text "${ARGN}")
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${text}")
  set(doc ${CMAKE_INSTALL_DATADIR}/doc/${name})
  install(FILES ${PROJECT_BINARY_DIR}/debian/copyright ${PROJECT_BINARY_DIR}/debian/changelog.Debian
          DESTINATION ${doc} COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

set(CPACK_COMPONENTS_ALL)
leveret_package(program leveret science "streaming learner for click-through rates"
  "Leveret reads Vowpal Wabbit's text format, learns a deep field-aware"
  "factorization machine (linear terms, field-aware pairs, a small network on"
  "top) in one pass on plain CPUs, and prints the probability of a click for"
  "each line that it is asked about. It evaluates and compares models, makes"
  "small files and patches of them, and serves them over sockets and HTTP.")
# The OpenBLAS with threads, of which we use none: it is the one that several threads may call at once.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS libopenblas0-pthread)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "leveret-mpi, python3-leveret")
install(FILES ${PROJECT_SOURCE_DIR}/CHANGELOG.md RENAME changelog
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/leveret COMPONENT program EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/docs/tutorial.md
        ${PROJECT_SOURCE_DIR}/docs/from-vw.md
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/leveret COMPONENT program EXCLUDE_FROM_ALL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/contrib/cron ${PROJECT_SOURCE_DIR}/contrib/systemd
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/leveret/examples COMPONENT program EXCLUDE_FROM_ALL)

leveret_package(library libleveret${PROJECT_VERSION_MAJOR} libs
  "streaming learner for click-through rates (library)"
  "By libleveret other programs learn as leveret does, and score with its models:"
  "candidates that share a context, from text or from arrays, on any number of"
  "threads, with models that are replaced or patched while they go on.")
# Where there is none yet, the one without threads, which programs that score would only start.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "libopenblas0-serial | libopenblas0-pthread")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
# What packages of programs that link it depend on, and that the loader's cache is made again.
file(WRITE ${PROJECT_BINARY_DIR}/debian/shlibs
     "libleveret ${PROJECT_VERSION_MAJOR} libleveret${PROJECT_VERSION_MAJOR} (>= ${PROJECT_VERSION})\n")
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
    ${PROJECT_BINARY_DIR}/debian/shlibs ${PROJECT_BINARY_DIR}/debian/triggers)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/debian/library/lintian-overrides
        RENAME libleveret${PROJECT_VERSION_MAJOR}
        DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT library EXCLUDE_FROM_ALL)

leveret_package(development libleveret-dev libdevel
  "streaming learner for click-through rates (development files)"
  "The header of libleveret, its man page, and what pkg-config and CMake find it"
  "by.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libleveret${PROJECT_VERSION_MAJOR} (= ${full_version})")
install(FILES ${PROJECT_SOURCE_DIR}/examples/score.c
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libleveret-dev/examples
        COMPONENT development EXCLUDE_FROM_ALL)

leveret_package(python python3-leveret python
  "streaming learner for click-through rates (Python)"
  "From Python: models that learn lines or NumPy arrays and score them, and a"
  "classifier with scikit-learn's interface for data frames.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "libleveret${PROJECT_VERSION_MAJOR} (>= ${PROJECT_VERSION}), python3, python3-numpy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-pandas, python3-sklearn")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
    ${PROJECT_SOURCE_DIR}/cmake/debian/python/postinst ${PROJECT_SOURCE_DIR}/cmake/debian/python/prerm)
# What pip would unpack, from the same wheel.
install(CODE "
  set(work \"${PROJECT_BINARY_DIR}/debian/wheel\")
  file(REMOVE_RECURSE \"\${work}\")
  file(MAKE_DIRECTORY \"\${work}\")
  execute_process(
    COMMAND python3 -B -c \"import build_backend, sys; build_backend.build_wheel(sys.argv[1])\" \"\${work}\"
    WORKING_DIRECTORY \"${PROJECT_SOURCE_DIR}/python\" COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB wheel \"\${work}/*.whl\")
  file(ARCHIVE_EXTRACT INPUT \"\${wheel}\" DESTINATION \"\${work}/files\")
  # It lists what pip has installed.
  file(GLOB record \"\${work}/files/*.dist-info/RECORD\")
  file(REMOVE \${record})
  cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE)
  file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/python3/dist-packages\" TYPE DIRECTORY
       FILES \"\${work}/files/\"
       FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
       DIR_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  " COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/examples/score.py ${PROJECT_SOURCE_DIR}/examples/learn.py
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/python3-leveret/examples
        COMPONENT python EXCLUDE_FROM_ALL)

if(TARGET leveret-mpi)
  leveret_package(mpi leveret-mpi science
    "streaming learner for click-through rates (several machines)"
    "By leveret-mpi processes on several machines learn one model together, which"
    "lies on all of them. They send each other partial sums alone.")
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "libopenblas0-serial | libopenblas0-pthread, openmpi-bin")
  set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS "leveret (= ${full_version})")
endif()
include(CPack)
