#!/usr/bin/env bash
# The picture of README.md: how the mean progressive logloss goes down while a set is learned, with the defaults
# and with linear terms alone, and what the best peer has at its end (peers.tsv).
#
#   curves.sh --leveret PATH --data DIR [--sets "criteo_10k ml100k frappe_87k elec_45k"] [--output docs/curves.svg]
#
# DIR holds a folder per set, with train.vw and test.vw (or .vw.zst, .vw.gz), which are learned in one pass, train
# then test, as with ablation.sh. Needs gnuplot. `--data datasets --sets sample` shows the sample that is shipped.
# The last figures go to standard output, a line for each set: rows, defaults, linear terms, best peer.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
leveret='' data='' names='criteo_10k ml100k frappe_87k elec_45k' output=$here/../../docs/curves.svg
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --data) data=$2 ;; --sets) names=$2 ;; --output) output=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$data" ]; then usage; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck source=part.sh
source "$(dirname "$0")/part.sh"
# must_have SET train|test: its file, or the end.
must_have() {
  part "$1" "$2" | grep . || { echo "$data/$1: there is no $2.vw" >&2; return 1; }
}

# curve SET NAME OPTION...: "rows, mean logloss of all rows so far" into SET.NAME, about 100 lines. Rows of these sets
# have no importance of their own.
curve() {
  local set=$1 name=$2 train test rows
  shift 2
  train=$(must_have "$set" train)
  test=$(must_have "$set" test)
  rows=$("$leveret" train -d "$train" "$test" --quiet --json --metrics "$work/metrics" --window 100 "$@" |
    sed -E 's/.*"examples": *([0-9]+).*/\1/')
  sed -E 's/.*"examples": *([0-9]+).*"logloss": *([0-9.e-]+).*/\1 \2/' "$work/metrics" |
    awk -v rows="$rows" '{ seen += $1; sum += $1 * $2 }
      seen >= next_shown || seen == rows { print seen, sum / seen; next_shown = seen + rows / 100 }' >"$work/$set.$name"
}

count=0
panels=''
for set in $names; do
  curve "$set" defaults
  curve "$set" linear --ffm_k 0
  peer=$(awk -F '\t' -v set="$set" '$1 == set { print $2 }' "$here/peers.tsv")
  rows=$(tail -n 1 "$work/$set.defaults" | cut -d ' ' -f 1)
  printf '%s\t%s\t%.5f\t%.5f\t%s\n' "$set" "$rows" "$(tail -n 1 "$work/$set.defaults" | cut -d ' ' -f 2)" \
    "$(tail -n 1 "$work/$set.linear" | cut -d ' ' -f 2)" "${peer:--}"
  if [ -n "$peer" ]; then echo "$rows $peer" >"$work/$set.peer"; fi
  # What the first twentieth says is mostly chance, and would press the rest together.
  read -r low high < <(cat "$work/$set".* | awk -v rows="$rows" '$1 >= rows / 20 {
    if (low == "" || $2 < low) low = $2; if ($2 > high) high = $2 }
    END { print low - (high - low) / 20, high + (high - low) / 20 }')
  plot="'$work/$set.linear' title 'linear' with lines ls 2, '$work/$set.defaults' title 'defaults' with lines ls 1"
  if [ -n "$peer" ]; then plot+=", '$work/$set.peer' title 'best peer' with points ls 3"; fi
  panels+="set title '$set' noenhanced; set xrange [0:$rows * 1.02]; set yrange [$low:$high]; plot $plot
"
  count=$((count + 1))
done
columns=$((count < 2 ? count : 2))
gnuplot <<PLOT
set terminal svg size $((columns * 360)),$(((count + 1) / 2 * 230 + 45)) font 'sans-serif,12' background 'white'
set output '$work/curves.svg'
set style line 1 lc rgb '#1f5fa8' lw 2
set style line 2 lc rgb '#b0b0b0' lw 2
set style line 3 lc rgb '#c0392b' pt 7 ps 0.8
set border 3
set tics nomirror out scale 0.5
set rmargin 3
set format x '%.0s%c'
set xtics autofreq
set key off # titles stay as words of the SVG
set multiplot layout $(((count + 1) / 2)),$columns title \
  "mean progressive logloss by rows\\nblue: defaults, grey: linear terms alone, red: best peer, at the end"
$panels
unset multiplot
PLOT
mv "$work/curves.svg" "$output"
