# What CPack runs when the files of all packages lie in their folders, before it packs them: what Debian asks of
# files, and what no `cmake --install` should do to those of /usr/local.
set(root ${CPACK_TEMPORARY_DIRECTORY})
if(NOT IS_DIRECTORY "${root}")
  message(FATAL_ERROR "CPack has no folder of files")
endif()

# Without the time and name of the source, each of which would make other bytes.
file(GLOB_RECURSE texts "${root}/*/usr/share/man/*.[0-9]" "${root}/*/usr/share/doc/*/changelog*")
execute_process(COMMAND gzip -n -9 ${texts} COMMAND_ERROR_IS_FATAL ANY)

# Examples call the program where this package has it.
file(GLOB_RECURSE examples "${root}/*/usr/share/doc/leveret/examples/*")
execute_process(COMMAND sed -i s,/usr/local/bin/leveret,/usr/bin/leveret,g ${examples} COMMAND_ERROR_IS_FATAL ANY)

file(GLOB programs "${root}/*/usr/bin/*" "${root}/*/usr/lib/*/lib*.so.*")
foreach(program ${programs})
  if(NOT IS_SYMLINK ${program})
    execute_process(COMMAND strip --strip-unneeded --remove-section=.comment --remove-section=.note ${program}
                    COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
# dpkg loads libraries, and does not run them.
file(GLOB libraries "${root}/*/usr/lib/*/lib*.so.*")
foreach(library ${libraries})
  if(NOT IS_SYMLINK ${library})
    file(CHMOD ${library} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  endif()
endforeach()
