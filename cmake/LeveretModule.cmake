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
