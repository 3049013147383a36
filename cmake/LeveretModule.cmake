# leveret_module(NAME DEPS...): the static library of one folder under src/. Every .cc file of the
# folder belongs to it, so adding a file needs no edit here.
function(leveret_module name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  add_library(leveret_${name} STATIC ${sources})
  target_include_directories(leveret_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(leveret_${name} PUBLIC ${ARGN})
  if(LEVERET_LTO)
    target_compile_options(leveret_${name} PRIVATE -flto=auto -ffat-lto-objects)
  endif()
endfunction()

# leveret_including(RESULT HEADER SOURCE...): those of the sources that include <HEADER> themselves.
function(leveret_including result header)
  set(found)
  foreach(source ${ARGN})
    file(STRINGS ${source} uses REGEX "^#include <${header}>" LIMIT_COUNT 1)
    if(uses)
      list(APPEND found ${source})
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# leveret_precompile(TARGET HEADER): a header that takes seconds to read is read once for those files
# of the target that include it themselves; the others do not pay for it.
function(leveret_precompile target header)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "TARGET_OBJECTS")
  leveret_including(with ${header} ${sources})
  list(REMOVE_ITEM sources ${with})
  set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  target_precompile_headers(${target} PRIVATE <${header}>)
  # ccache keeps what is compiled with it only so.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  endif()
endfunction()
