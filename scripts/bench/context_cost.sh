#!/usr/bin/env bash
# What a candidate costs when its context has 60 fields in place of 30, in instructions (callgrind,
# AVX2): the pairs of its own fields with 30 more, their columns of the first layer, and nothing
# else. Exit 1 when it is more than that, 77 where the processor has no AVX2.
#
#   context_cost.sh --leveret PATH
#
# Counted are candidates beyond the first ones of each request, so that contexts, the start and
# whatever is done once for a request are not in it. Candidates have 9 fields, the model k = 4 and one
# hidden layer of 32. Bound: 270 pairs more, of 5 instructions each and a hundred for each row; 270
# columns more times 32 outputs, 8 in a register and read for up to 3 candidates at once, of 2
# instructions each; 270 inputs more to be normalised, in 2 passes and one that adds them up, of 1
# instruction each.
set -euo pipefail
# A dynamic program has OpenBLAS's threads, which spin for as long as they like.
export LC_ALL=C LEVERET_SIMD=avx2 OPENBLAS_NUM_THREADS=1
leveret=''
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;;
    *) usage ;;
  esac
  shift 2
done
[ -n "$leveret" ] || usage
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! "$leveret" --version >/dev/null 2>"$work/log"; then
  cat "$work/log" >&2
  exit 77
fi

# lines CONTEXT CANDIDATES BLOCKS: rows to learn, or with 1 requests of so many candidates
lines() {
  awk -v context="$1" -v candidates="$2" -v blocks="$3" 'BEGIN {
    srand(1)
    requests = blocks ? 10 : 1
    for (r = 0; r < requests; ++r) {
      user = ""
      for (f = 0; f < context; ++f) user = user " |u" f " " int(100 * rand())
      if (blocks) print user
      for (c = 0; c < candidates; ++c) {
        if (!blocks) for (user = f = 0; f < context; ++f) user = (f ? user : "") " |u" f " " int(100 * rand())
        ad = ""
        for (f = 0; f < 9; ++f) ad = ad " |a" f " " int(100 * rand())
        print blocks ? ad : (rand() < .3 ? 1 : -1) user ad
      }
      if (blocks) print ""
    }
  }'
}

count() { # count CONTEXT CANDIDATES: instructions of 10 requests
  local names
  names=$(seq -s , -f 'u%g' 0 $(($1 - 1)))
  lines "$1" "$2" 1 >"$work/requests"
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$leveret" predict -i "$work/$1.lvt" \
    --context "$names" --context_lines -d "$work/requests" -p /dev/null 2>"$work/log" >"$work/out" ||
    { grep -v == "$work/log" >&2; exit 1; }
  if grep -q 'whole lines' "$work/log"; then
    echo "candidates were scored as whole lines" >&2
    exit 1
  fi
  sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$work/log"
}

for context in 30 60; do
  lines $context 1000 0 | "$leveret" train --quiet --heads one -f "$work/$context.lvt"
  few=$(count $context 40)
  many=$(count $context 120)
  cost[context]=$(((many - few) / 800))
  printf '%d + 9 fields: %d instructions a candidate\n' $context "${cost[context]}"
done
more=$((cost[60] - cost[30]))
bound=$((270 * 5 + 9 * 100 + 270 * 32 / 8 * 2 + 270 * 3))
printf '30 context fields more: %d instructions, bound %d\n' $more $bound
[ $more -le $bound ]
