# Part of `cmake --install`: the loader (ld.so(8)) finds a library that is new in one of its folders, such
# as /usr/local/lib, only when its cache has been made again. Says what else is to be done.
# LEVERET_LIBDIR: where the library was put.

# A package's files: its own scripts do this where they are unpacked.
if(NOT "$ENV{DESTDIR}" STREQUAL "")
  return()
endif()
find_program(LDCONFIG ldconfig PATHS /usr/sbin /sbin)
if(NOT LDCONFIG)
  return()
endif()
cmake_path(ABSOLUTE_PATH LEVERET_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
# Lines "FOLDER: (from ...)"; those of the libraries in it begin with a space. A folder may go by another
# name here, as /lib and /usr/lib do.
execute_process(COMMAND ${LDCONFIG} -N -X -v OUTPUT_VARIABLE listing ERROR_QUIET)
string(REGEX MATCHALL "\n/[^:\n]*:" listing "\n${listing}")
set(known)
foreach(folder ${listing})
  string(REGEX REPLACE "^\n(.*):$" "\\1" folder "${folder}")
  file(REAL_PATH "${folder}" folder)
  list(APPEND known "${folder}")
endforeach()
file(REAL_PATH "${LEVERET_LIBDIR}" folder)
list(FIND known "${folder}" at)
if(at EQUAL -1)
  message(STATUS "The loader does not look into ${LEVERET_LIBDIR}: link with "
                 "-Wl,-rpath,${LEVERET_LIBDIR}, or set LD_LIBRARY_PATH")
  return()
endif()
execute_process(COMMAND ${LDCONFIG} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
if(failed)
  message(STATUS "Run ldconfig as root: the loader does not know of the library yet")
else()
  message(STATUS "The loader's cache was made again (ldconfig)")
endif()
