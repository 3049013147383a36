#!/usr/bin/env bash
# A source as slow as the learner: does the whole take the time of the slower one, or the sum?
#
#   scripts/bench/slow_source.sh [ROWS]        default: 200000; the programs are taken from $BUILD
#
# Generated rows (leveret-synth, 39 fields) are learned from with default options, first from a file
# ("learner alone"), then by a pipe that gives them out evenly over a half, the same and twice that
# time, as a network would ("source alone": into nothing). Reading ahead is perfect where "both" is
# the maximum of the two; without it, "both" is their sum. In the last row the source is the
# decompression of the file, in a thread of ours. Medians of three runs of each, made in turns.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
leveret=$(find "$build" -type f -name leveret -perm -u+x | head -n 1)
synth=$(find "$build" -type f -name leveret-synth -perm -u+x | head -n 1)
[ -n "$leveret" ] && [ -n "$synth" ] || { echo "build leveret and leveret-synth in $build first (BUILD=...)" >&2; exit 2; }
# shellcheck source=lib.sh
source scripts/bench/lib.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$synth" --rows "${1:-200000}" --quiet >"$work/rows.vw"
zstd -q "$work/rows.vw"
pieces=200
piece=$((($(stat -c %s "$work/rows.vw") + pieces - 1) / pieces))

# A pipe that nobody writes to: reading from it is sleeping, without a process.
exec {never}<> <(:)

# give_out SECONDS: the rows, evenly over this time
give_out() {
  local -r start=${EPOCHREALTIME/[.,]/} total=$(awk -v s="$1" 'BEGIN { printf "%d", s * 1e6 }')
  local i left
  for ((i = 1; i <= pieces; ++i)); do
    dd bs="$piece" count=1 status=none
    left=$((start + total * i / pieces - ${EPOCHREALTIME/[.,]/}))
    ((left <= 0)) || read -rt "$((left / 1000000)).$(printf %06d $((left % 1000000)))" -u "$never" || true
  done <"$work/rows.vw"
}

# seconds COMMAND...: how long it took
seconds() {
  local TIMEFORMAT=%R
  { time "$@" >/dev/null 2>&1; } 2>&1
}
learner() { "$leveret" train "$work/rows.vw"; }
source_alone() { give_out "$1" | cat; }
both() { give_out "$1" | "$leveret" train; }
unpacking() { zstd -q -dc "$work/rows.vw.zst"; }
packed() { "$leveret" train "$work/rows.vw.zst"; }

# row NAME COLUMNS...: medians of the columns of $work/times
row() {
  local source learner both
  source=$(median 1 "$work/times" %.2f) learner=$(median 2 "$work/times" %.2f)
  both=$(median 3 "$work/times" %.2f)
  awk -v name="$1" -v s="$source" -v l="$learner" -v b="$both" 'BEGIN {
    most = s > l ? s : l
    printf "%-28s %8.2f %8.2f %8.2f %8.2f %8.2f %10.2f\n", name, s, l, b, most, s + l, b / most }'
}

describe_machine
printf '%-28s %8s %8s %8s %8s %8s %10s\n' seconds source learner both maximum sum both/max
alone=$(seconds learner)
for share in 0.5 1 2; do
  : >"$work/times"
  target=$(awk -v a="$alone" -v share="$share" 'BEGIN { print a * share }')
  for _ in 1 2 3; do
    echo "$(seconds source_alone "$target") $(seconds learner) $(seconds both "$target")" >>"$work/times"
  done
  row "pipe, $share times the learner"
done
: >"$work/times"
for _ in 1 2 3; do
  echo "$(seconds unpacking) $(seconds learner) $(seconds packed)" >>"$work/times"
done
row "zstd"
describe_load
