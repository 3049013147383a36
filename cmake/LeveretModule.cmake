# leveret_module(NAME DEPS...): the static library of one folder under src/. Every .cc file of the
# folder belongs to it, so adding a file needs no edit here.
function(leveret_module name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  add_library(leveret_${name} STATIC ${sources})
  target_include_directories(leveret_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(leveret_${name} PUBLIC ${ARGN})
endfunction()

# leveret_rooms(NAME ROOM...): the .cc files of folders in that folder belong to it, too.
function(leveret_rooms name)
  foreach(room ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cc)
    target_sources(leveret_${name} PRIVATE ${sources})
  endforeach()
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
