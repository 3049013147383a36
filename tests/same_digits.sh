#!/usr/bin/env bash
# What AVX2 learns has the same digits on every processor: models and predictions are equal, byte for
# byte, on this one and on the Haswell that qemu makes, whose roots and quotients are exact.
#
#   tests/same_digits.sh LEVERET [QEMU]
#
# Exit 77: this machine has no AVX2, or there is no qemu-x86_64.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
program=$(realpath "$1")
qemu=${2-qemu-x86_64}
export LC_ALL=C LEVERET_SIMD=avx2
skip() { echo "skipped: $1"; exit 77; }
"$program" --version >/dev/null 2>&1 || skip "this machine has no AVX2"
command -v "$qemu" >/dev/null || skip "no qemu-x86_64 here"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
zstdcat "$root/datasets/sample/train.vw.zst" | head -n 400 >all || [ "${PIPESTATUS[0]}" = 141 ]
status=0

# same LINES OPTION...: tables reserve no more addresses than qemu gives away.
same() {
  local lines=$1 file
  shift
  head -n "$lines" all >data
  local -a train=(train --quiet --max_memory 512M -d data "$@")
  "$program" "${train[@]}" -f here.lvt -p here.p
  # It says which features of a Haswell it lacks; none is of use to a program.
  "$qemu" -cpu Haswell "$program" "${train[@]}" -f there.lvt -p there.p 2>said || {
    cat said
    exit 1
  }
  for file in lvt p; do
    cmp "here.$file" "there.$file" || { echo "differs: ${train[*]}"; status=1; }
  done
}
same 400                                             # 16-bit rows, heads mixed, a hidden layer
same 100 --ffm_k 3 --hidden 8,4 --batch_size 4       # slots of any length, steps by sums
same 100 --ffm_k 8 --row_bits 32 --l2 1e-3      # rows of floats, the step with L2
same 100 --adagrad weight --power_t 0.4              # an accumulator for each weight, exp and log
exit $status
