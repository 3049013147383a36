#!/usr/bin/env bash
# `leveret convert` in MB/s of input beside awk doing the same job, on generated raw data.
#
#   scripts/bench/convert.sh [ROWS]            default: 1000000; the programs are taken from $BUILD
#
# awk writes the same bytes (checked). Fastest of three runs, output to
# /dev/null; processor time is what counts on a busy machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
leveret=$(find "$build" -type f -name leveret -perm -u+x | head -n 1)
synth=$(find "$build" -type f -name leveret-synth -perm -u+x | head -n 1)
[ -n "$leveret" ] && [ -n "$synth" ] || { echo "build leveret and leveret-synth in $build first (BUILD=...)" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$synth" --rows "${1:-1000000}" --format criteo --quiet >"$work/criteo.tsv"
"$synth" --rows "${1:-1000000}" --format csv --quiet >"$work/rows.csv"

cat >"$work/criteo.awk" <<'AWK'
BEGIN { FS = "\t" }
{
  line = $1 == 1 ? "1" : "-1"
  for (i = 2; i <= 14; ++i) {
    if ($i == "") continue
    v = $i < 0 ? -$i : $i
    for (n = 0; v >= 1; ++n) v /= 2
    line = line " |I" (i - 1) " b" ($i < 0 ? "-" : "") n
  }
  for (i = 15; i <= 40; ++i) if ($i != "") line = line " |C" (i - 14) " " $i
  print line
}
AWK

convert_criteo() { "$leveret" convert criteo --quiet "$work/criteo.tsv"; }
convert_csv() { "$leveret" convert csv --numeric I{1..13} --quiet -d "$work/rows.csv"; }
awk_criteo() { awk -f "$work/criteo.awk" "$work/criteo.tsv"; }

cmp <(convert_criteo) <(awk_criteo) || { echo "awk and leveret differ" >&2; exit 1; }

# measure NAME FILE: seconds, processor seconds and MB/s of input by each, of the fastest of three
measure() {
  local TIMEFORMAT='%R %U %S'
  for _ in 1 2 3; do { time "$1" >/dev/null; } 2>&1; done | sort -n |
    awk -v name="$1" -v bytes="$(stat -c %s "$2")" 'NR == 1 {
      cpu = $2 + $3
      printf "%-15s %6.2f s %6.0f MB/s   processor %6.2f s %6.0f MB/s\n", name, $1,
             bytes / 1e6 / $1, cpu, bytes / 1e6 / cpu }'
}
measure convert_criteo "$work/criteo.tsv"
measure convert_csv "$work/rows.csv"
measure awk_criteo "$work/criteo.tsv"
