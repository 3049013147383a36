#!/usr/bin/env bash
# Installs a build into a temporary prefix and uses what is there: the program runs, man finds its
# pages, both shells load their completion, the header compiles.
#
#   tests/install.sh BUILD
set -euo pipefail
build=$(cd "$1" && pwd)
source_dir=$(cd "$(dirname "$0")/.." && pwd)
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$build" --prefix "$prefix" >"$prefix/log" || {
  cat "$prefix/log"
  exit 1
}

failed=0
check() { # check WHAT COMMAND...
  local what=$1
  shift
  if "$@" >"$prefix/out" 2>&1; then
    echo "ok   $what"
  else
    echo "FAIL $what"
    cat "$prefix/out"
    failed=1
  fi
}

version=$(sed -nE 's/^project\(leveret VERSION ([0-9.]+).*/\1/p' "$source_dir/CMakeLists.txt")
check "the program runs and knows its version" \
  sh -c "'$prefix/bin/leveret' --version | grep -F '$version'"
# Not from the build tree: a library found only there would be missing on another machine.
check "the program needs nothing from the build tree" \
  sh -c "! ldd '$prefix/bin/leveret' | grep -E 'not found|$build'"
if command -v scdoc >/dev/null; then
  for page in "$source_dir"/man/*.scd; do
    page=$(basename "$page" .scd)
    case $page in
      # Pages of programs that are not part of every build come with their program.
      leveret-mpi.1 | leveret-synth.1) if [ ! -x "$prefix/bin/${page%.1}" ]; then continue; fi ;;
    esac
    check "man page $page" test -s "$prefix/share/man/man${page##*.}/$page"
  done
fi
check "bash completion" bash -c "source '$prefix/share/bash-completion/completions/leveret' &&
  complete -p leveret"
if command -v zsh >/dev/null; then
  check "zsh completion" zsh -n "$prefix/share/zsh/site-functions/_leveret"
else
  check "zsh completion" grep -q '^#compdef leveret' "$prefix/share/zsh/site-functions/_leveret"
fi
for header in "$source_dir"/include/leveret/*.h; do
  [ -e "$header" ] || continue
  name=$(basename "$header")
  check "header $name is plain C" sh -c "echo '#include <leveret/$name>' |
    cc -std=c99 -Wall -Werror -I '$prefix/include' -x c -c - -o '$prefix/header.o'"
done
cat >"$prefix/version.c" <<'C'
#include <leveret/leveret.h>
#include <stdio.h>
#include <string.h>
int main(void) {
  printf("%s %d.%d.%d\n", leveret_version(), LEVERET_VERSION_MAJOR, LEVERET_VERSION_MINOR,
         LEVERET_VERSION_PATCH);
  return strcmp(leveret_version(), LEVERET_VERSION_STRING);
}
C
library=$(dirname "$(find "$prefix" -name libleveret.so)")
sanitize=$(sed -n 's/^LEVERET_SANITIZE:STRING=\(..*\)/-fsanitize=\1/p' "$build/CMakeCache.txt")
# shellcheck disable=SC2086 # none or one word
check "a C program builds with the library" cc $sanitize -std=c99 -Wall -Werror "$prefix/version.c" \
  -I "$prefix/include" -L "$library" -lleveret -Wl,-rpath,"$library" -o "$prefix/version"
check "header, library and project agree on the version" \
  sh -c "'$prefix/version' | grep -Fx '$version $version'"

# Other programs find the library: by pkg-config, and by CMake.
"$prefix/bin/leveret" train --quiet -f "$prefix/model" <<'DATA' 2>/dev/null
1 |user u |ad a
-1 |user u |ad b
DATA
printf '|user u\n|ad a\n|ad b\n\n|user v\n|ad b\n' >"$prefix/requests"
"$prefix/bin/leveret" predict --quiet -i "$prefix/model" --context user --context_lines \
  "$prefix/requests" >"$prefix/expected"
example_works() { # example_works PROGRAM
  "$1" "$prefix/model" user <"$prefix/requests" | cmp - "$prefix/expected" &&
    [ "$(grep -c '^0[.]' "$prefix/expected")" = 3 ]
}
if command -v pkg-config >/dev/null; then
  flags=$(PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name leveret.pc)") \
    pkg-config --cflags --libs leveret)
  # shellcheck disable=SC2086 # several words
  check "the example builds by pkg-config" cc $sanitize -std=c99 -pedantic -Wall -Wextra -Werror \
    "$source_dir/examples/score.c" $flags -Wl,-rpath,"$library" -o "$prefix/score"
  check "and scores requests" example_works "$prefix/score"
fi
mkdir "$prefix/cmake_example"
cat >"$prefix/cmake_example/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(example LANGUAGES C)
find_package(leveret $version REQUIRED)
add_executable(score $source_dir/examples/score.c)
target_compile_options(score PRIVATE $sanitize)
target_link_options(score PRIVATE $sanitize)
target_link_libraries(score leveret::leveret)
CMAKE
check "the example builds by CMake" sh -c "cd '$prefix/cmake_example' &&
  cmake -B build -DCMAKE_PREFIX_PATH='$prefix' && cmake --build build"
check "and scores requests" example_works "$prefix/cmake_example/build/score"
exit $failed
