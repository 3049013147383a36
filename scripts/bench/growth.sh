#!/usr/bin/env bash
# How long hogwild's threads stand still while one of them has the model to itself because a table
# grows or a field comes: two builds of leveret in pairs.
#
#   growth.sh --before PATH --after PATH --synth PATH --stops PATH [--rows 300000] [--threads 2]
#             [--pairs 5] [--only REGEX]
#
# --stops: libshape_stops.so of the build (tests/bench/hogwild), which is preloaded and looks at the
# lock of the model's shape. Columns, medians of the pairs: how often a thread was alone, for how many
# milliseconds together, the longest of them, how long threads waited to be alone (others finish
# their examples), seconds of the run, peak memory; before / after. Milliseconds are of wall time:
# where others are at work take more pairs.
set -euo pipefail
export LC_ALL=C
before='' after='' synth='' stops='' rows=300000 threads=2 pairs=5 only=.
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --before) before=$2 ;; --after) after=$2 ;; --synth) synth=$2 ;; --stops) stops=$2 ;;
    --rows) rows=$2 ;; --threads) threads=$2 ;; --pairs) pairs=$2 ;; --only) only=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$before" ] || [ -z "$after" ] || [ -z "$synth" ] || [ -z "$stops" ]; then usage; fi

# shellcheck source=scripts/bench/lib.sh
. "$(dirname "$0")/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stops=$(realpath "$stops")
"$synth" --quiet --rows "$rows" >"$work/rows.vw"

# run PROGRAM OPTION...: "times ms waited longest seconds megabytes"
run() {
  rm -f "$work/stops"
  if ! /usr/bin/time -f '%e %M' -o "$work/usage" env SHAPE_STOPS="$work/stops" LD_PRELOAD="$stops" "$1" train --quiet \
    -d "$work/rows.vw" --threads "$threads" "${@:2}" >"$work/log" 2>&1; then
    echo "growth.sh: failed: $*" >&2
    tail -n 5 "$work/log" >&2
    exit 1
  fi
  # A model that never had to grow would be measured by a lock that is no longer that of the shape.
  awk '$1 > 0 { found = 1 } END { exit !found }' "$work/stops" ||
    { echo "growth.sh: $1 was never alone: is its lock another one?" >&2; exit 1; }
  paste -d ' ' "$work/stops" <(tail -n 1 "$work/usage" | awk '{ print $1, $2 / 1024 }')
}

row() {
  local name=$1 i column cells=''
  shift
  [[ $name =~ $only ]] || return 0
  : >"$work/before"; : >"$work/after"
  for ((i = 0; i < pairs; ++i)); do
    run "$before" "$@" >>"$work/before"
    run "$after" "$@" >>"$work/after"
  done
  for column in '1 %d' '2 %.1f' '4 %.1f' '3 %.1f' '5 %.2f' '6 %.0f'; do
    cells+=" $(median "${column% *}" "$work/before" "${column#* }") / $(median "${column% *}" "$work/after" "${column#* }") |"
  done
  printf '| %s |%s\n' "$name" "$cells"
}

leveret=$before describe_machine
"$after" --version
printf '%s rows, %s threads, medians of %s pairs, before / after\n\n' "$rows" "$threads" "$pairs"
echo '| case | times alone | ms alone | longest, ms | ms waiting for it | s of the run | peak MB |'
echo '|---|---|---|---|---|---|---|'
row defaults
row 'linear' --heads one --ffm_k 0
row 'FFM k=8' --heads one --ffm_k 8 --hidden none
describe_load
