# `cmake --install`: the program, the library and its header, man pages, shell completions.
# Everything here is named by what stands in the tree, so a new page or header needs no edit. Each file is of
# one component, as Packages.cmake makes a package of each: program, library, development, python, mpi; and
# bench, which no package has.

set(LEVERET_ZSH_COMPLETIONS ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING
    "Where zsh looks for completions")

foreach(program leveret leveret-mpi)
  if(TARGET ${program})
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  endif()
endforeach()
set(component_of_leveret program)
set(component_of_leveret-mpi mpi)
set(component_of_leveret-synth bench)
set(programs leveret leveret-mpi leveret-synth)
foreach(program ${programs})
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
            COMPONENT ${component_of_${program}})
  endif()
endforeach()
if(TARGET leveret_capi)
  install(TARGETS leveret_capi EXPORT leveretTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          COMPONENT library NAMELINK_COMPONENT development)
  # How others find it: by CMake, wherever it lies, and by pkg-config, whose file is written when it
  # is known where that is (cmake --install --prefix).
  include(CMakePackageConfigHelpers)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/leveret)
  install(EXPORT leveretTargets NAMESPACE leveret:: DESTINATION ${package_dir}
          COMPONENT development)
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/leveretConfig.cmake.in ${PROJECT_BINARY_DIR}/leveretConfig.cmake
    INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/leveretConfigVersion.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/leveretConfig.cmake
                ${PROJECT_BINARY_DIR}/leveretConfigVersion.cmake DESTINATION ${package_dir}
          COMPONENT development)
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
                   \"${PROJECT_BINARY_DIR}/leveret.pc\" @ONLY)" COMPONENT development)
  install(FILES ${PROJECT_BINARY_DIR}/leveret.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT development)
  install(CODE "set(LEVERET_LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")" COMPONENT library)
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/Ldconfig.cmake COMPONENT library)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/leveret DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT development OPTIONAL FILES_MATCHING PATTERN "*.h")

include(cmake/ManPages.cmake)

install(FILES ${PROJECT_SOURCE_DIR}/completions/leveret.bash RENAME leveret
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/completions/_leveret
        DESTINATION ${LEVERET_ZSH_COMPLETIONS} COMPONENT program)
