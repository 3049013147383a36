#!/usr/bin/env bash
# Instructions per example, counted by callgrind: the same on any machine, however busy it is, so that
# a regression is seen where times say nothing.
#
#   instructions.sh --leveret PATH --synth PATH [--update] [--tolerance 3]
#
# Counts what 2,000 examples cost beyond the first 1,000 (no start-up in it), with the kernels that
# callgrind can run: avx2 and reference. Compares with instructions.tsv beside this script: exit 1
# when a case takes more than --tolerance percent more than is written there; fewer is told. --update
# writes the new figures, to be committed with the change that explains them. Other compilers give
# other figures: the file names the one that was used, and another one is only told about.
set -euo pipefail
export LC_ALL=C
kept=$(cd "$(dirname "$0")" && pwd)/instructions.tsv
leveret='' synth='' update=no tolerance=3
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  if [ "$1" = --update ]; then update=yes; shift; continue; fi
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --synth) synth=$2 ;; --tolerance) tolerance=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$synth" ]; then usage; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$synth" --quiet --rows 3000 --vocabulary 1000 >"$work/3000.vw"
sed 1000q "$work/3000.vw" >"$work/1000.vw"

# count ROWS OPTION...: instructions of the whole run. valgrind has fewer addresses to give away than
# tables would otherwise reserve.
count() {
  local rows=$1
  shift
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$leveret" train --quiet --max_memory 512M \
    -d "$work/$rows.vw" "$@" >"$work/out" 2>"$work/log" || { grep -v == "$work/log" >&2; exit 1; }
  sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$work/log"
}

# measure NAME OPTION...
measure() {
  local name=$1 simd few many
  shift
  for simd in avx2 reference; do
    export LEVERET_SIMD=$simd
    "$leveret" --version >/dev/null
    few=$(count 1000 "$@")
    many=$(count 3000 "$@")
    printf '%s\t%s\t%d\n' "$name" $simd $(((many - few) / 2000)) | tee -a "$work/now.tsv" >&2
  done
}

compiler=$(strings -a "$leveret" | sed -n 's/^\(GCC: .*\|.*clang version .*\)$/\1/p' | sort -u | sed 1q)
printf '# Instructions per example by instructions.sh: case, LEVERET_SIMD, instructions.\n# Compiler: %s\n' \
  "${compiler:-unknown}" >"$work/now.tsv"
measure 'linear, one head' --heads one --ffm_k 0
measure 'linear, mixed' --ffm_k 0
measure 'FFM k=4, one head' --heads one --hidden none
measure 'FFM k=8, one head' --heads one --hidden none --ffm_k 8
measure 'DeepFFM k=8 32, one head' --heads one --ffm_k 8
measure 'defaults'
# The first 1,000 rows are learned, in both runs.
measure 'defaults, predict' --holdout_after 1000

if [ $update = yes ]; then
  cp "$work/now.tsv" "$kept"
  exit
fi
awk -F '\t' -v tolerance="$tolerance" '
  FILENAME == ARGV[1] { if (/^# Compiler/) compiler = $0; else if (!/^#/) kept[$1, $2] = $3; next }
  /^# Compiler/ { if ($0 != compiler) { print "another compiler: figures are told, not judged"; other = 1 } next }
  /^#/ { next }
  !(($1, $2) in kept) { print $1 ", " $2 ": not in instructions.tsv; --update adds it"; bad = 1; next }
  {
    change = 100 * ($3 / kept[$1, $2] - 1)
    printf "%-26s %-10s %9d, was %9d: %+.1f %%%s\n", $1, $2, $3, kept[$1, $2], change,
      (change > tolerance) ? "  TOO MANY" : (change < -tolerance ? "  fewer: --update keeps it" : "")
    if (change > tolerance) bad = 1
  }
  END { exit bad && !other }' "$kept" "$work/now.tsv"
