#!/usr/bin/env bash
# How cost grows: with rows, fields, k and threads; a table and four plots.
#
#   scaling.sh --leveret PATH --synth PATH --out DIR [--rows LIST] [--fields LIST] [--k LIST]
#              [--threads LIST] [--quick]
#
# LIST: words in one argument, "10 20 40 80". Writes DIR/scaling.tsv (model, what grows, its value,
# examples per CPU second, per wall second, peak MB) and DIR/{rows,fields,k,threads}.png by gnuplot.
# What does not grow has the generator's defaults (39 fields, k = 4) and 100,000 rows. Threads need a
# machine with as many idle cores. --quick: a tenth of the rows, fewer points.
set -euo pipefail
export LC_ALL=C
leveret='' synth='' out='' quick=no
rows_list='100000 300000 1000000 3000000 10000000' fields_list='10 20 40 80' k_list='2 3 4 5 8 10 16'
threads_list=$(for ((t = 1; t <= $(nproc); t *= 2)); do echo $t; done)
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  if [ "$1" = --quick ]; then
    quick=yes rows_list='10000 30000 100000'
    shift
    continue
  fi
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --synth) synth=$2 ;; --out) out=$2 ;; --rows) rows_list=$2 ;;
    --fields) fields_list=$2 ;; --k) k_list=$2 ;; --threads) threads_list=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$synth" ] || [ -z "$out" ]; then usage; fi
rows=100000
if [ $quick = yes ]; then rows=10000; fi

# shellcheck source=scripts/bench/lib.sh
. "$(dirname "$0")/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
printf '# model\tgrows\tvalue\texamples per CPU second\tper wall second\tpeak MB\n' >"$out/scaling.tsv"

models=('linear' 'FFM' 'DeepFFM' 'defaults')
options_of() {
  case $1 in
    linear) echo --heads one --ffm_k 0 ;;
    FFM) echo --heads one --hidden none ;;
    DeepFFM) echo --heads one ;;
  esac
}

# measure WHAT VALUE ROWS OPTION...: every model on $work/data.
measure() {
  local what=$1 value=$2 count=$3 model wall user system
  shift 3
  for model in "${models[@]}"; do
    if [ "$model" = linear ] && [ "$what" = k ]; then continue; fi
    # shellcheck disable=SC2046  # options are words
    /usr/bin/time -f '%e %U %S %M' -o "$work/usage" "$leveret" train --quiet -d "$work/data" $(options_of "$model") "$@"
    read -r wall user system megabytes < <(tail -n 1 "$work/usage")
    awk -v m="$model" -v w="$what" -v v="$value" -v n="$count" -v wall="$wall" -v cpu="$user $system" -v kb="$megabytes" '
      BEGIN { split(cpu, c, " "); printf "%s\t%s\t%s\t%.0f\t%.0f\t%.0f\n", m, w, v, n / (c[1] + c[2] + .005), n / (wall + .005), kb / 1024 }' |
      tee -a "$out/scaling.tsv"
  done
}

for value in $rows_list; do
  "$synth" --quiet --rows "$value" >"$work/data"
  measure rows "$value" "$value"
done
for value in $fields_list; do
  "$synth" --quiet --rows $rows --fields "$value" >"$work/data"
  measure fields "$value" $rows
done
"$synth" --quiet --rows $rows >"$work/data"
for value in $k_list; do measure k "$value" $rows --ffm_k "$value"; done
if "$leveret" train --help | grep -q -e '--threads'; then
  for value in $threads_list; do measure threads "$value" $rows --threads "$value"; done
fi

# plot WHAT COLUMN TITLE: one line per model.
plot() {
  local what=$1 column=$2 title=$3 model parts=()
  grep -q $'\t'"$what"$'\t' "$out/scaling.tsv" || return 0
  for model in "${models[@]}"; do
    awk -F '\t' -v m="$model" -v w="$what" -v c="$column" '$1 == m && $2 == w { print $3, $c, $6 }' "$out/scaling.tsv" \
      >"$work/$what.$model"
    if [ -s "$work/$what.$model" ]; then parts+=("'$work/$what.$model' using 1:2 with linespoints title '$model'"); fi
  done
  gnuplot <<PLOT
set terminal png size 900,600
set output '$out/$what.png'
set title '$title'
set logscale xy
set grid
set xlabel '$what'
set ylabel 'examples per second'
set key bottom left
plot $(IFS=,; echo "${parts[*]}")
PLOT
}
plot rows 4 'Rate against rows, 39 fields, k = 4, one core'
plot fields 4 "Rate against fields, k = 4, $rows rows, one core"
plot k 4 "Rate against k, 39 fields, $rows rows, one core"
plot threads 5 "Rate against threads, 39 fields, k = 4, $rows rows"
describe_machine >"$out/machine.txt"
