#!/bin/sh
# check_kernels_arm64.sh [BUILD_DIR]: cross-compiles the kernels and their tests for arm64 and runs
# them under qemu-user. Needs Debian's g++-aarch64-linux-gnu, qemu-user, libxsimd-dev and catch2;
# skips with a message (and exit code 77, CTest's "skipped") where one is missing.
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

kernels="$root/src/kernels/dispatch.cc $root/src/kernels/reference.cc $root/src/kernels/reference_text.cc
         $root/src/kernels/cpu_arm64.cc $root/src/kernels/neon.cc"
objects=
for source in $kernels "$root/tests/unit/catch_main.cc" "$root"/tests/unit/kernels/*.cc; do
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
    -I"$root/tests/unit" -isystem "$build/include" -c "$source" -o "$object"
done
sh "$root/tests/unit/kernels/check_symbols.sh" aarch64-linux-gnu-nm "$build/neon.o"
# shellcheck disable=SC2086
$compiler -static $objects -o "$build/test_kernels"
$qemu "$build/test_kernels"
