#!/usr/bin/env bash
# Memory of `leveret train` on a single line of a gigabyte: refused above --max_line, and read with a
# larger one.
#
#   scripts/bench/long_line.sh [BYTES]         default: 1000000000; the program is taken from $BUILD
#
# The line has nine bytes a feature, 9,000 different ones, in one namespace, and comes by a pipe.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
leveret=$(find "$build" -type f -name leveret -perm -u+x | head -n 1)
[ -n "$leveret" ] || { echo "build leveret in $build first (BUILD=...)" >&2; exit 2; }
bytes=${1:-1000000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seq 10000000 10008999 | tr '\n' ' ' >"$work/features"

# one_line: the line, then a short one
one_line() {
  printf '1 |a '
  { while cat "$work/features"; do :; done || true; } 2>"$work/pipe" | head -c "$bytes"
  printf '\n-1 |a b\n'
}

# row OPTIONS...: what a run with them did
row() {
  one_line | "$leveret" train "$@" >"$work/out" 2>&1
  awk -v options="$*" -v bytes="$bytes" '
    { plain = $0; gsub(/^ +/, "", plain) }
    /line is longer/ { refused = ", the line is refused" }
    /^examples /     { examples = $2 }
    /^features /     { features = $2 }
    /^peak memory /  { peak = $3 }
    /^time /         { seconds = $2 }
    END {
      printf "%-28s peak %6d MB (%5.2f times the line), %8.2f s, %d features in %d examples%s\n",
             options == "" ? "(defaults)" : options, peak, peak * 1048576 / bytes, seconds, features,
             examples, refused
    }' "$work/out"
}

echo "one line of $bytes bytes"
row
row --max_line 2G --ffm_k 0
row --max_line 2G
