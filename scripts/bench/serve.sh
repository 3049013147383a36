#!/usr/bin/env bash
# What a cached context is worth: candidates per second of `predict`, plain, with --context, and with
# --context_lines, by instruction set; then what remains of a candidate, part by part.
#
#   serve.sh --leveret PATH --synth PATH [--parts PATH] [--requests N] [--candidates N] [--times N]
#            [--simd LIST] [--k LIST]
#
# Requests are generated rows of 39 fields: the context's fields are one row's, each candidate's those
# of another one. Context and candidate have 30 + 9 and 20 + 19 of the fields. Models: one head and the
# default ones, one hidden layer of 32, trained on 100,000 rows. Rates are of CPU time, the time of a
# run without requests subtracted; medians of --times runs (5), which take turns. LIST: words in one
# argument, "avx2 avx512". --parts: the program bench_context, whose parts are added up.
set -euo pipefail
export LC_ALL=C
leveret='' synth='' parts='' requests=300 candidates=100 times=5 ks='4 8'
simds='reference sse2 avx2 avx512'
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --synth) synth=$2 ;; --parts) parts=$2 ;; --requests) requests=$2 ;;
    --candidates) candidates=$2 ;; --times) times=$2 ;; --simd) simds=$2 ;; --k) ks=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$synth" ]; then usage; fi

# shellcheck source=scripts/bench/lib.sh
. "$(dirname "$0")/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
describe_machine
printf '%s requests of %s candidates; candidates per second of CPU time\n' "$requests" "$candidates"

"$synth" --quiet --rows 100000 >"$work/train"
"$synth" --quiet --first 100000 --rows $((requests * 101)) >"$work/rows"
names=$(sed 500q "$work/train" | awk '{ for (i = 2; i <= NF; ++i) if ($i ~ /^\|/ && !seen[$i]++) print substr($i, 2) }' | sort -V)

# make_requests FIELDS: the first so many are the context's. Fills $work/{lines,blocks} and `context`.
make_requests() {
  context=$(head -n "$1" <<<"$names" | paste -s -d ,)
  awk -v context="$context" -v candidates="$candidates" -v lines="$work/lines" -v blocks="$work/blocks" '
    BEGIN { n = split(context, list, ","); for (i = 1; i <= n; ++i) in_context["|" list[i]] = 1 }
    function part(which,  i, text, on) {
      for (i = 2; i <= NF; ++i) {
        if ($i ~ /^\|/) on = ($i in in_context) == which
        if (on) text = text " " $i
      }
      return text
    }
    (NR - 1) % (candidates + 1) == 0 {
      if (NR > 1) print "" >blocks
      now = part(1)
      print now >blocks
      next
    }
    { own = part(0); print own >blocks; print now own >lines }' \
    <(head -n $((requests * (candidates + 1))) "$work/rows")
}

# seconds WORD...: CPU time of a predict
seconds() {
  /usr/bin/time -f '%U %S' -o "$work/usage" "$leveret" predict -i "$work/model" --quiet -p /dev/null "$@"
  tail -n 1 "$work/usage" | awk '{ print $1 + $2 }'
}

measure() { # measure SIMD LABEL
  local i way
  export LEVERET_SIMD=$1
  rm -f "$work"/times.*
  for ((i = 0; i < times; ++i)); do
    seconds -d /dev/null >>"$work/times.start"
    seconds -d "$work/lines" >>"$work/times.plain"
    seconds --context "$context" -d "$work/lines" >>"$work/times.lines"
    seconds --context "$context" --context_lines -d "$work/blocks" >>"$work/times.blocks"
  done
  for way in start plain lines blocks; do median 1 "$work/times.$way" '%g\n'; done |
    awk -v n=$((requests * candidates)) -v label="$2" '
      { t[NR] = $1 }
      END {
        for (i = 2; i <= 4; ++i) rate[i] = n / (t[i] - t[1] + 1e-9)
        printf "%-32s plain %8.1f k   --context %8.1f k (%.2fx)   --context_lines %8.1f k (%.2fx)\n", label, \
          rate[2] / 1000, rate[3] / 1000, rate[3] / rate[2], rate[4] / 1000, rate[4] / rate[2]
      }'
  unset LEVERET_SIMD
}

for k in $ks; do
  for heads in one mixed; do
    "$leveret" train --quiet --heads $heads --ffm_k "$k" --hidden 32 -d "$work/train" -f "$work/model"
    for in_context in 30 20; do
      make_requests $in_context
      for simd in $simds; do
        if ! LEVERET_SIMD=$simd "$leveret" --version >"$work/version" 2>&1; then continue; fi
        measure "$simd" "$in_context+$((39 - in_context)) k=$k $heads $simd"
      done
    done
  done
done
[ -n "$parts" ] || exit 0

printf '\nns of one candidate (bench_context): what it takes, and its parts\n'
for simd in $simds; do
  if ! LEVERET_SIMD=$simd "$leveret" --version >"$work/version" 2>&1; then continue; fi
  LEVERET_SIMD=$simd "$parts" --benchmark_format=csv 2>"$work/errors" |
    awk -F , -v simd="$simd" '
      NR == 1 { for (i = 1; i <= NF; ++i) if ($i ~ /ns/) column = i; next }
      /^"/ {
        gsub(/"/, "", $1)
        at = index($1, "/")
        part = substr($1, 1, at - 1)
        kind = substr($1, at + 1)
        if (!(kind in seen)) { seen[kind] = 1; order[++kinds] = kind }
        ns[kind, part] = $column * 1e9
      }
      END {
        n = split("parse look_up linear cross own layer mix", list, " ")
        for (k = 1; k <= kinds; ++k) {
          kind = order[k]
          printf "%s %s: whole line %.0f, from text %.0f:", simd, kind, ns[kind, "whole"], ns[kind, "text"]
          sum = 0
          for (i = 1; i <= n; ++i) {
            printf " %s %.0f", list[i], ns[kind, list[i]]
            sum += ns[kind, list[i]]
          }
          printf ", sum %.0f (%.2fx)\n", sum, ns[kind, "text"] / sum
        }
      }'
done
