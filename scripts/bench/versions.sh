#!/usr/bin/env bash
# Two versions of leveret on generated rows: is the later one slower, does it take more memory?
#
#   versions.sh --before PATH --after PATH --synth PATH [--rows 300000] [--pairs 5] [--only REGEX]
#               [--cpu N]
#
# Learns linear models (growing and of 2^22 slots), FFM, DeepFFM and the defaults, each from text and
# from a cache, with the two widest instruction sets that this machine has (LEVERET_SIMD). Each case
# runs before and after in turns, pinned to one core; a pair gives a ratio after / before, above 1
# where the later version takes more, and the table has the medians. Time is CPU time of the whole
# program (user and system: their sum is counted, its parts are sampled), less what the first 500 rows
# alone take. The same program on both sides shows how much is chance; where others are at work, take
# more pairs. Linear models need all of the rows, as times are counted in milliseconds. The last lines
# have the geometric means of the cases shown: --only '^(defaults|linear,|FFM|DeepFFM)' are all but those
# of 2^22 slots.
#
# Caches of different versions are not interchangeable: each makes its own.
set -euo pipefail
export LC_ALL=C
before='' after='' synth='' rows=300000 pairs=5 only=. cpu=$(($(nproc) - 1))
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --before) before=$2 ;; --after) after=$2 ;; --synth) synth=$2 ;; --rows) rows=$2 ;;
    --pairs) pairs=$2 ;; --only) only=$2 ;; --cpu) cpu=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$before" ] || [ -z "$after" ] || [ -z "$synth" ]; then usage; fi

# shellcheck source=scripts/bench/lib.sh
. "$(dirname "$0")/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$synth" --quiet --rows "$rows" >"$work/all.vw"
sed 500q "$work/all.vw" >"$work/start.vw"

fail() { echo "versions.sh: failed: $*" >&2; tail -n 5 "$work/log" >&2; exit 1; }

# run SIDE FILE: "seconds megabytes" of learning from all.vw or start.vw, as $from and $options say.
run() {
  local times command=("${!1}" train --quiet -d "$work/$2" "${options[@]}")
  if [ "$from" = cache ]; then command+=(--cache "$work/$1.$2.lvcache"); fi
  times=$({ TIMEFORMAT='%3U %3S'; time taskset -c "$cpu" /usr/bin/time -f %M -o "$work/memory" "${command[@]}" \
    >"$work/log" 2>&1 || fail "${command[@]}"; } 2>&1) || { echo "$times" >&2; exit 1; }
  awk -v times="$times" '{ split(times, t, " "); printf "%.3f %.1f\n", t[1] + t[2], $1 / 1024 }' "$work/memory"
}

# start_up SIDE: the least of three.
start_up() { for _ in 1 2 3; do run "$1" start.vw; done | sort -g | awk 'NR == 1 { print $1 }'; }

# compare NAME OPTION...: a row of the table from text, and one from the cache.
compare() {
  local name simd from i a b a0 b0
  for simd in $simds; do
    for from in text cache; do
      name="$1, $from, $simd"
      [[ $name =~ $only ]] || continue
      options=("${@:2}")
      export LEVERET_SIMD=$simd
      make_caches
      a0=$(start_up before) b0=$(start_up after)
      for ((i = 0; i < pairs; ++i)); do
        a=$(run before all.vw) b=$(run after all.vw)
        echo "$a $b $a0 $b0"
      done | awk '{ a = $1 - $5; b = $3 - $6; print a, b, b / a, $2, $4, $4 / $2 }' >"$work/pairs"
      row
    done
  done
}

row() {
  local ratio memory
  ratio=$(median 3 "$work/pairs" %.6f) memory=$(median 6 "$work/pairs" %.6f)
  printf '%s\t%s\t%s\n' "$ratio" "$memory" "$name" >>"$work/ratios"
  printf '| %s | %s s | %s s | %.3f | %s | %s MB | %s MB | %.3f |\n' "$name" \
    "$(median 1 "$work/pairs" %.3f)" "$(median 2 "$work/pairs" %.3f)" "$ratio" \
    "$(cut -d ' ' -f 3 "$work/pairs" | sort -g | awk 'NR == 1 { least = $1 } END { printf "%.3f – %.3f", least, $1 }')" \
    "$(median 4 "$work/pairs" %.0f)" "$(median 5 "$work/pairs" %.0f)" "$memory"
}

# A cache holds what was parsed, whatever is learned from it: one of each version serves all cases.
make_caches() {
  local file options=(--heads one --ffm_k 0)
  if [ "$from" = text ] || [ -f "$work/after.all.vw.lvcache" ]; then return; fi
  for file in start.vw all.vw; do
    run before $file >/dev/null
    run after $file >/dev/null
  done
}

simds=
for simd in avx512 avx2 sse2 neon; do
  # A program, or a machine, that lacks one says so.
  if [ "$(wc -w <<<"$simds")" -lt 2 ] && LEVERET_SIMD=$simd "$after" --version >/dev/null 2>&1; then
    simds+=" $simd"
  fi
done

leveret=$before describe_machine
"$after" --version
printf '%s rows, %s; medians of %s pairs on core %s\n\n' "$rows" "$(du -h "$work/all.vw" | cut -f 1)" "$pairs" "$cpu"
echo '| case | before | after | after / before | of the pairs | peak before | peak after | after / before |'
echo '|---|---|---|---|---|---|---|---|'
compare defaults
compare linear --heads one --ffm_k 0
compare 'linear -b 22' --heads one --ffm_k 0 -b 22
for k in 4 8; do compare "FFM k=$k" --heads one --ffm_k $k --hidden none; done
for k in 4 8; do compare "DeepFFM k=$k 32" --heads one --ffm_k $k --hidden 32; done

[ -f "$work/ratios" ] || { echo "versions.sh: no case has a name like $only" >&2; exit 1; }
echo
awk -F '\t' '
  { times += log($1); memories += log($2) }
  $1 > time { time = $1; slowest = $3 }
  $2 > memory { memory = $2; largest = $3 }
  END {
    printf "Time, after / before: %.3f (geometric mean of %d cases), at most %.3f (%s)\n", exp(times / NR), NR, time, slowest
    printf "Peak memory, after / before: %.3f (geometric mean), at most %.3f (%s)\n", exp(memories / NR), memory, largest
  }' "$work/ratios"
describe_load
