#!/usr/bin/env bash
# What a rank alone costs beside one process that learns the same batches.
#
#   one_rank.sh --leveret PATH --leveret_mpi PATH --data FILE [--batch_size 256] [--pairs 5] [--only REGEX]
#               [--instructions]
#
# A row of the table: a model; microseconds of CPU time per line in one process (--per_example_updates off, one
# thread), and the median over pairs of runs of what a rank takes of that. Time is that of the whole
# program (user and system) less what the first half of the lines takes. --instructions counts
# instructions instead, by callgrind and with avx2: the same however busy the machine is.
set -euo pipefail
export LC_ALL=C
leveret='' leveret_mpi='' data='' batch=256 pairs=5 only=. counted=no
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  if [ "$1" = --instructions ]; then counted=yes; shift; continue; fi
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --leveret_mpi) leveret_mpi=$2 ;; --data) data=$2 ;; --batch_size) batch=$2 ;;
    --pairs) pairs=$2 ;; --only) only=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$leveret_mpi" ] || [ -z "$data" ]; then usage; fi

# shellcheck source=scripts/bench/lib.sh
. "$(dirname "$0")/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OPENBLAS_NUM_THREADS=1
if [ $counted = yes ]; then pairs=1; export LEVERET_SIMD=avx2 OPENBLAS_CORETYPE=Haswell; fi

case $data in
  *.zst) zstd -dcq "$data" >"$work/all.vw" ;;
  *.gz) gzip -dc "$data" >"$work/all.vw" ;;
  *) cp "$data" "$work/all.vw" ;;
esac
lines=$(($(wc -l <"$work/all.vw") / 2))
sed "${lines}q" "$work/all.vw" >"$work/start.vw"

fail() { echo "one_rank.sh: failed: $*" >&2; tail -n 5 "$work/log" >&2; exit 1; }

# cost FILE COMMAND...: seconds of CPU time, or instructions.
cost() {
  local file=$1 times
  shift
  set -- "$@" --quiet --batch_size "$batch" -d "$work/$file" "${options[@]}"
  if [ $counted = yes ]; then
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" >/dev/null 2>"$work/log" || fail "$@"
    sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$work/log" | tail -n 1
    return
  fi
  times=$({ TIMEFORMAT='%3U %3S'; time "$@" >"$work/log" 2>&1 || fail "$@"; } 2>&1) ||
    { echo "$times" >&2; exit 1; }
  awk '{ print $1 + $2 }' <<<"$times"
}

# per_line COMMAND...: microseconds or instructions.
per_line() {
  awk -v all="$(cost all.vw "$@")" -v start="$(cost start.vw "$@")" -v lines="$lines" \
    -v unit="$([ $counted = yes ] && echo 1 || echo 1e6)" 'BEGIN { print unit * (all - start) / lines }'
}

model() { # model NAME OPTION...
  local name=$1 one rank
  shift
  options=("$@")
  [[ $name =~ $only ]] || return 0
  : >"$work/pairs"
  for _ in $(seq "$pairs"); do
    one=$(per_line "$leveret" train --threads 1 --per_example_updates off)
    rank=$(per_line "$leveret_mpi" train)
    awk -v a="$one" -v b="$rank" 'BEGIN { print a, b / a }' >>"$work/pairs"
  done
  printf '%s\t%s\t%s\n' "$name" "$(median 1 "$work/pairs" %.1f)" "$(median 2 "$work/pairs" %.2f)"
}

describe_machine
printf '%s lines, batches of %s, %s pairs: model, %s per line in one process, a rank over that\n' \
  "$lines" "$batch" "$pairs" "$([ $counted = yes ] && echo instructions || echo microseconds)"
model 'defaults'
model 'DeepFFM' --heads one
model 'FFM' --heads one --hidden none
model 'linear' --ffm_k 0
