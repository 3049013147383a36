# The libraries that modules link, as leveret_lib_NAME.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
find_package(zstd REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_library(XXHASH_LIBRARY xxhash REQUIRED)
# Debian has several OpenBLAS side by side, of which the one with threads is preferred: several threads of
# ours may call it at once (src/block/dense/gemm.h).
find_path(OPENBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas-pthread openblas-serial openblas REQUIRED)
find_library(OPENBLAS_LIBRARY openblas PATH_SUFFIXES openblas-pthread openblas-serial REQUIRED)
get_filename_component(openblas_dir ${OPENBLAS_LIBRARY} DIRECTORY)

# A static program is one file that runs on any Linux of its architecture, and takes 2.2 MB less
# memory than one with seven shared libraries. Only `leveret` of a release is linked like this.
include(CMakeDependentOption)
include(CheckCXXSourceCompiles)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT LEVERET_SANITIZE)
  set(CMAKE_REQUIRED_LINK_OPTIONS -static-pie -L${openblas_dir})
  set(CMAKE_REQUIRED_LIBRARIES z zstd xxhash openblas)
  check_cxx_source_compiles("int main() { return 0; }" LEVERET_CAN_LINK_STATICALLY)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  unset(CMAKE_REQUIRED_LIBRARIES)
  if(NOT LEVERET_CAN_LINK_STATICALLY)
    message(STATUS "static libraries are missing: leveret will need shared ones where it runs")
  endif()
endif()
cmake_dependent_option(LEVERET_STATIC "Link the program statically" ON
  "CMAKE_BUILD_TYPE STREQUAL \"Release\" AND NOT LEVERET_SANITIZE AND LEVERET_CAN_LINK_STATICALLY" OFF)

foreach(name fmt zlib zstd xxhash openblas)
  add_library(leveret_lib_${name} INTERFACE)
endforeach()
target_include_directories(leveret_lib_xxhash INTERFACE ${XXHASH_INCLUDE_DIR})
target_include_directories(leveret_lib_openblas SYSTEM INTERFACE ${OPENBLAS_INCLUDE_DIR})
if(LEVERET_STATIC)
  # By names, of which the linker makes static libraries for the program and shared ones for the
  # rest.
  target_include_directories(leveret_lib_zlib INTERFACE ${ZLIB_INCLUDE_DIRS})
  target_link_libraries(leveret_lib_zlib INTERFACE z)
  target_link_libraries(leveret_lib_zstd INTERFACE zstd)
  target_link_libraries(leveret_lib_xxhash INTERFACE xxhash)
  target_link_directories(leveret_lib_openblas INTERFACE ${openblas_dir})
  target_link_libraries(leveret_lib_openblas INTERFACE openblas)
  add_library(leveret_fmt_library STATIC cmake/fmt_library.cc)
  target_include_directories(leveret_fmt_library PUBLIC
    $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(leveret_lib_fmt INTERFACE leveret_fmt_library)
else()
  target_link_libraries(leveret_lib_zlib INTERFACE ZLIB::ZLIB)
  target_link_libraries(leveret_lib_zstd INTERFACE zstd::libzstd_shared)
  target_link_libraries(leveret_lib_xxhash INTERFACE ${XXHASH_LIBRARY})
  target_link_libraries(leveret_lib_openblas INTERFACE ${OPENBLAS_LIBRARY})
  target_link_libraries(leveret_lib_fmt INTERFACE fmt::fmt)
endif()

# MPI is for leveret-mpi alone. Where scripts/test builds it must be there, so that no test of it is
# left out; anywhere else a machine without MPI builds the rest.
set(LEVERET_MPI AUTO CACHE STRING "Build leveret-mpi: ON, OFF, or AUTO where MPI is found")
if(LEVERET_MPI STREQUAL "AUTO")
  find_package(MPI COMPONENTS C QUIET)
elseif(LEVERET_MPI)
  find_package(MPI REQUIRED COMPONENTS C)
endif()
# CMake makes the target MPI::MPI_C whether MPI is there or not.
if(NOT LEVERET_MPI)
  set(MPI_C_FOUND FALSE)
endif()
if(NOT MPI_C_FOUND)
  message(STATUS "leveret-mpi is not built: it needs libopenmpi-dev and openmpi-bin")
endif()
