#!/usr/bin/env bash
# What an example costs in batches: learning with --batch_size 1, 16, 256 and 4096 on generated rows of
# 39 fields.
#
#   batch.sh --leveret PATH --synth PATH [--rows 60000] [--pairs 5] [--sizes "1 16 256 4096"]
#            [--simd "avx512 avx2"] [--only REGEX] [--cpu N] [--instructions]
#
# A row of the table: a model and an instruction set; microseconds of CPU time per example with batches
# of one, the median of `--pairs` runs, and for each other size the median over pairs (one, size, one,
# size, …) of what an example takes of that, and the peak memory of both. Time is that of the whole
# program (user and system) less what the first 500 rows alone take. --instructions counts instructions
# instead, by callgrind and with avx2, of 4,096 examples beyond the first 4,096: the same however busy
# the machine is. OpenBLAS is held to AVX2, too, as callgrind knows no more.
set -euo pipefail
# A dynamic program has OpenBLAS's threads, which spin for as long as they like.
export LC_ALL=C OPENBLAS_NUM_THREADS=1
leveret='' synth='' rows=60000 pairs=5 sizes='1 16 256 4096' only=. cpu=$(($(nproc) - 1)) counted=no
simds="avx2"
if grep -qw avx512bw /proc/cpuinfo 2>/dev/null; then simds="avx512 avx2"; fi
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  if [ "$1" = --instructions ]; then counted=yes; shift; continue; fi
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --synth) synth=$2 ;; --rows) rows=$2 ;; --pairs) pairs=$2 ;;
    --sizes) sizes=$2 ;; --simd) simds=$2 ;; --only) only=$2 ;; --cpu) cpu=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$synth" ]; then usage; fi

# shellcheck source=scripts/bench/lib.sh
. "$(dirname "$0")/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $counted = no ] || { rows=8192; simds=avx2; export OPENBLAS_CORETYPE=Haswell; }
"$synth" --quiet --rows "$rows" >"$work/all.vw"
sed "$([ $counted = yes ] && echo 4096 || echo 500)q" "$work/all.vw" >"$work/start.vw"

fail() { echo "batch.sh: failed: $*" >&2; tail -n 5 "$work/log" >&2; exit 1; }

# run FILE SIZE: "seconds megabytes" of learning, as $options says.
run() {
  local times command=("$leveret" train --quiet -d "$work/$1" --batch_size "$2" "${options[@]}")
  times=$({ TIMEFORMAT='%3U %3S'; time taskset -c "$cpu" /usr/bin/time -f %M -o "$work/memory" "${command[@]}" \
    >"$work/log" 2>&1 || fail "${command[@]}"; } 2>&1) || { echo "$times" >&2; exit 1; }
  awk -v times="$times" '{ split(times, t, " "); printf "%.3f %.1f\n", t[1] + t[2], $1 / 1024 }' "$work/memory"
}

# count FILE SIZE: instructions of the whole run.
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$leveret" train --quiet --max_memory 512M \
    -d "$work/$1" --batch_size "$2" "${options[@]}" >/dev/null 2>"$work/log" || fail "${options[@]}"
  sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$work/log"
}

# measure SIZE: "microseconds megabytes", or "instructions".
measure() {
  local start all memory
  if [ $counted = yes ]; then
    echo $((($(count all.vw "$1") - $(count start.vw "$1")) / 4096))
    return
  fi
  read -r start _ <<<"$(run start.vw "$1")"
  read -r all memory <<<"$(run all.vw "$1")"
  awk -v a="$all" -v s="$start" -v n=$((rows - 500)) -v m="$memory" 'BEGIN { printf "%.3f %s\n", 1e6 * (a - s) / n, m }'
}

model() { # model NAME OPTION...
  local name=$1 size one other
  shift
  options=("$@")
  [[ $name =~ $only ]] || return 0
  for simd in $simds; do
    export LEVERET_SIMD=$simd
    "$leveret" --version >/dev/null
    printf '%s, %s' "$name" "$simd"
    if [ $counted = yes ]; then
      one=$(measure 1)
      printf '\t%s' "$one"
      for size in $sizes; do
        [ "$size" != 1 ] || continue
        other=$(measure "$size")
        printf '\t%s: %s (%s)' "$size" "$other" "$(awk -v a="$one" -v b="$other" 'BEGIN { printf "%.2f", b / a }')"
      done
    else
      : >"$work/ones"
      for size in $sizes; do
        [ "$size" != 1 ] || continue
        : >"$work/ratios"
        for _ in $(seq "$pairs"); do
          one=$(measure 1)
          other=$(measure "$size")
          echo "$one" >>"$work/ones"
          awk -v a="$one" -v b="$other" 'BEGIN { split(a, x, " "); split(b, y, " "); print y[1] / x[1], y[2] }' >>"$work/ratios"
        done
        printf '\t%s: %s, %s MB' "$size" "$(median 1 "$work/ratios" %.2f)" "$(median 2 "$work/ratios" %.0f)"
      done
      printf '\t1: %s us, %s MB' "$(median 1 "$work/ones" %.2f)" "$(median 2 "$work/ones" %.0f)"
    fi
    printf '\n'
  done
}

if [ $counted = yes ]; then
  printf 'Instructions per example, batches of 1 and others (ratio)\n'
else
  describe_machine
  printf '%s rows, medians of %s pairs: time per example over that of batches of 1, peak memory\n' "$rows" "$pairs"
fi
model 'defaults'
model 'FFM k=4' --heads one --hidden none
model 'FFM k=8' --heads one --hidden none --ffm_k 8
model 'DeepFFM k=4 32' --heads one
model 'DeepFFM k=8 32' --heads one --ffm_k 8
model 'DeepFFM k=4 256,128' --heads one --hidden 256,128
