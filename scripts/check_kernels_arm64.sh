#!/bin/sh
# check_kernels_arm64.sh [BUILD_DIR]: cross-compiles the kernels and their tests for arm64 and runs
# them under qemu-user. Needs Debian's g++-aarch64-linux-gnu, qemu-user, libxsimd-dev and catch2 (on
# Debian 13 catch2:arm64, too, which is downloaded); skips with a message (and exit code 77, CTest's
# "skipped") where one is missing.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$root/build-arm64}
compiler=aarch64-linux-gnu-g++
qemu=qemu-aarch64

skip() { echo "skipped: $1"; exit 77; }
command -v $compiler >/dev/null || skip "no $compiler (Debian: g++-aarch64-linux-gnu)"
command -v $qemu >/dev/null || skip "no $qemu (Debian: qemu-user)"
[ -d /usr/include/xsimd ] || skip "no /usr/include/xsimd (Debian: libxsimd-dev)"
[ -d /usr/include/catch2 ] || skip "no /usr/include/catch2 (Debian: catch2)"

# The two header-only libraries of this machine, and nothing else of its /usr/include.
mkdir -p "$build/include"
ln -sfn /usr/include/xsimd "$build/include/xsimd"
ln -sfn /usr/include/catch2 "$build/include/catch2"

if [ -e /usr/include/catch2/catch.hpp ]; then
  catch_main=$root/tests/unit/catch_main.cc catch_headers=$build/include catch_library=
else
  # Version 3 is a library, which cannot be installed for two architectures at a time.
  catch_main='' catch_headers=$root/tests/unit/catch2_v3 lib=$build/catch2/usr/lib
  [ -e "$lib/libCatch2Main.a" ] ||
    (cd "$build" && apt-get download -qq catch2:arm64 && dpkg -x catch2_*_arm64.deb catch2) ||
    skip "no catch2:arm64 (Debian: dpkg --add-architecture arm64, then apt-get update)"
  catch_library="$lib/libCatch2Main.a $lib/libCatch2.a"
fi

kernels="$root/src/kernels/dispatch.cc $root/src/kernels/reference.cc $root/src/kernels/text/reference_text.cc
         $root/src/kernels/rows/log_code.cc $root/src/kernels/cpu_arm64.cc $root/src/kernels/neon.cc"
objects=
for source in $kernels $catch_main "$root"/tests/unit/kernels/*.cc; do
  object=$build/$(basename "$source" .cc).o
  objects="$objects $object"
  # Nothing newer than the object: keep it.
  if [ -e "$object" ] && [ -z "$(find "$root/src/kernels" "$root/tests/unit/kernels" \
                                 "$root/tests/unit/catch_main.cc" -newer "$object")" ]; then
    continue
  fi
  optimise=-O1
  case $source in
    */neon.cc) optimise="-O3 -fno-exceptions" ;;
  esac
  # shellcheck disable=SC2086
  $compiler -std=c++20 $optimise -Wall -Wextra -Wpedantic -ffp-contract=off -I"$root/src" \
    -I"$root/tests/unit" -isystem "$catch_headers" -isystem "$build/include" -c "$source" -o "$object"
done
sh "$root/tests/unit/kernels/check_symbols.sh" aarch64-linux-gnu-nm "$build/neon.o"
# shellcheck disable=SC2086
$compiler -static $objects $catch_library -o "$build/test_kernels"
$qemu "$build/test_kernels"
