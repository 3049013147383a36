#!/usr/bin/env bash
# What threads of one run are worth, beside as many runs that share nothing but the machine.
#
#   scripts/bench/threads.sh [--rows N] [--pairs N] [--threads N] [--before DIR] [OPTIONS...]
#
# Generated rows (leveret-synth, 39 fields; default 100000) are learned from with each of OPTIONS, every
# one a string of options of `leveret train`, or with the usual kinds of models; by one thread, by N
# (default 2), and by N runs side by side, in turns, so often (default 9). Prints medians of seconds, how
# many times as fast N threads are as one, and their share of what N runs get done. With --before the same
# of an earlier build's programs, in the same turns. Programs are taken from $BUILD (default: build).
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
rows=100000 pairs=9 threads=2 before=''
while [ $# -gt 0 ]; do
  case $1 in
    --rows | --pairs | --threads | --before) declare "${1#--}=$2"; shift 2 ;;
    --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;;
    *) break ;;
  esac
done
leveret=$(find "$build" -type f -name leveret -perm -u+x | head -n 1)
synth=$(find "$build" -type f -name leveret-synth -perm -u+x | head -n 1)
[ -n "$leveret" ] && [ -n "$synth" ] || { echo "build leveret and leveret-synth in $build first (BUILD=...)" >&2; exit 2; }
# shellcheck source=lib.sh
source scripts/bench/lib.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$synth" --rows "$rows" --quiet >"$work/rows.vw"
[ $# -gt 0 ] || set -- "" "--ffm_k 8 --hidden none" "--ffm_k 8 --hidden 32" "--heads one --ffm_k 0" \
  "--batch_size 256" "--hidden 1024,512 --batch_size 256"

# learn PROGRAM THREADS OPTIONS
learn() {
  local options
  read -ra options <<<"$3"
  "$1" train "$work/rows.vw" --quiet --threads "$2" "${options[@]}"
}
side_by_side() { # PROGRAM OPTIONS
  local i
  local runs=()
  for ((i = 0; i < threads; ++i)); do
    learn "$1" 1 "$2" &
    runs+=($!)
  done
  for i in "${runs[@]}"; do wait "$i"; done
}
# seconds COMMAND...: how long it took
seconds() {
  local TIMEFORMAT=%R
  { time "$@" >/dev/null 2>"$work/log"; } 2>&1 || {
    cat "$work/log" >&2
    exit 1
  }
}

programs=("$leveret")
[ -z "$before" ] || programs=("$before/leveret" "$leveret")
describe_machine
printf '%-36s %-7s %8s %8s %8s %9s %7s\n' options program one "$threads" "$threads runs" "times as" share
for options; do
  rm -f "$work"/times.*
  for ((pair = 0; pair < pairs; ++pair)); do
    for i in "${!programs[@]}"; do
      one=$(seconds learn "${programs[i]}" 1 "$options")
      several=$(seconds learn "${programs[i]}" "$threads" "$options")
      runs=$(seconds side_by_side "${programs[i]}" "$options")
      echo "$one $several $runs" >>"$work/times.$i"
    done
  done
  for i in "${!programs[@]}"; do
    name=now
    [ "${#programs[@]}" = 1 ] || [ "$i" = 1 ] || name=before
    one=$(median 1 "$work/times.$i" %.2f) several=$(median 2 "$work/times.$i" %.2f)
    runs=$(median 3 "$work/times.$i" %.2f)
    awk -v options="${options:-(defaults)}" -v name=$name -v o="$one" -v s="$several" -v r="$runs" \
      -v n="$threads" 'BEGIN {
        printf "%-36s %-7s %8.2f %8.2f %8.2f %8.2fx %7.2f\n", options, name, o, s, r, o / s, r / (n * s) }'
  done
done
describe_load
