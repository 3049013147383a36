#!/usr/bin/env bash
# Tables 1, 2 and 3 of the DHEN paper (Zhang et al. 2022) at our size: which modules and which together, how many
# layers, and layers beside a mixture of experts. And what the shortcut and the norm bring.
#
#   dhen.sh --leveret PATH --synth PATH [--rows 300000] [--seeds "1 2 3"] [--jobs 1] [--results TSV] [--update FILE]
#           [--figure PNG]
#
# Each model learns generated rows in one pass, those of each seed, with one head, as in the paper. NE (logloss divided
# by the entropy of the base rate) is progressive, over each third of the stream. The tables have its change in percent
# beside the first row's, the mean over the seeds, and behind it the standard error of the last third's. --figure draws
# (gnuplot) the change in each third, a panel for each table.
#
# --jobs runs so many at once; examples/s are then those of a busy machine. --results keeps every figure, and what it
# holds already is not run again. --update puts the tables into FILE between the lines "<!-- dhen begin -->" and
# "<!-- dhen end -->".
set -euo pipefail
export LC_ALL=C
leveret='' synth='' rows=300000 seeds='1 2 3' jobs=1 results='' update='' figure=''
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --synth) synth=$2 ;; --rows) rows=$2 ;; --seeds) seeds=$2 ;;
    --jobs) jobs=$2 ;; --results) results=$2 ;; --update) update=$2 ;; --figure) figure=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$synth" ]; then usage; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -n "$results" ] || results=$work/results.tsv
touch "$results"

# shellcheck source=part.sh
source "$(dirname "$0")/part.sh"

# Table, name, tower. Widths of the mixtures are those with which 4, 8 and 16 experts, all of them passed, take the
# floating point operations of 2, 4 and 6 layers, by the counts in src/block/module: 199, 281 and 363 thousand for
# an example of 39 fields.
models='1|cross (DCN)|layers=5,modules=cross
1|attention|layers=5,modules=attention
1|convolution|layers=5,modules=convolution
1|linear|layers=5,modules=linear
1|cross + linear|layers=5,modules=cross+linear
1|attention + linear|layers=5,modules=attention+linear
1|attention + convolution|layers=5,modules=attention+convolution
1|attention + linear, no shortcut|layers=5,modules=attention+linear,shortcut=no
1|attention + linear, no norm|layers=5,modules=attention+linear,norm=no
2|dot (DLRM), 1 layer|layers=1,modules=dot
2|dot + linear, 1 layer|layers=1,modules=dot+linear
2|dot + linear, 2 layers|layers=2,modules=dot+linear
2|dot + linear, 4 layers|layers=4,modules=dot+linear
2|dot + linear, 8 layers|layers=8,modules=dot+linear
3|dot (DLRM), 1 layer|layers=1,modules=dot
3|dot and 4 experts|layers=1,modules=dot+experts,experts=4,top=4,width=33
3|dot + linear, 2 layers|layers=2,modules=dot+linear
3|dot and 8 experts|layers=1,modules=dot+experts,experts=8,top=8,width=29
3|dot + linear, 4 layers|layers=4,modules=dot+linear
3|dot and 16 experts|layers=1,modules=dot+experts,experts=16,top=16,width=21
3|dot + linear, 6 layers|layers=6,modules=dot+linear'

# thirds LABELS PREDICTIONS: NE of each third, a line of three.
thirds() {
  paste "$1" "$2" | awk -v rows="$rows" '
    { t = int(3 * (NR - 1) / rows); n[t]++; y = $1 > 0; clicks[t] += y
      p = $2 < 1e-7 ? 1e-7 : $2 > 1 - 1e-7 ? 1 - 1e-7 : $2
      loss[t] -= y ? log(p) : log(1 - p) }
    END { for (t = 0; t < 3; ++t) { r = clicks[t] / n[t]
      printf "%.6f%s", loss[t] / n[t] / -(r * log(r) + (1 - r) * log(1 - r)), t < 2 ? "\t" : "\n" } }'
}

# run SEED TOWER: "SEED TOWER NE NE NE examples/s", unless it is there.
run() {
  local seed=$1 tower=$2 out speed
  if grep -qF "$seed"$'\t'"$tower"$'\t' "$results"; then return; fi
  out=$work/$BASHPID
  "$leveret" train -d "$work/rows$seed.vw" --quiet --json -p "$out.p" --heads one --ffm_k 0 --embedding_dim 8 \
    --batch_size 64 --tower "dhen:$tower" >"$out.json"
  speed=$(sed -n '$s/.*"examples_per_second":\([0-9]*\).*/\1/p' "$out.json")
  printf '%s\t%s\t%s\t%s\n' "$seed" "$tower" "$(thirds "$work/labels$seed" "$out.p")" "$speed" >>"$results"
  rm "$out.p" "$out.json"
}

for seed in $seeds; do
  "$synth" --quiet --rows "$rows" --seed "$seed" >"$work/rows$seed.vw"
  awk '{ print $1 }' "$work/rows$seed.vw" >"$work/labels$seed"
  while IFS='|' read -r _ _ tower; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    run "$seed" "$tower" &
  done < <(sort -t '|' -u -k 3,3 <<<"$models")
  wait
  rm "$work/rows$seed.vw"
done

# table NUMBER
table() {
  echo "| $2 | NE, first third | second | last | ± | examples/s |"
  echo "|---|---|---|---|---|---|"
  awk -F '\t' -v table="$1" -v seeds="$seeds" '
    NR == FNR { for (t = 3; t <= 5; ++t) ne[$1, $2, t] = $t; speed[$1, $2] = $6; next }
    { split($0, of, "|") }
    of[1] != table { next }
    {
      if (base == "") base = of[3]
      n = split(seeds, seed, " "); line = "| " of[2]; sum = squares = rate = 0
      for (t = 3; t <= 5; ++t) {
        sum = squares = 0
        for (i = 1; i <= n; ++i) {
          change = 100 * (ne[seed[i], of[3], t] / ne[seed[i], base, t] - 1)
          sum += change; squares += change * change
        }
        line = line (of[3] == base ? sprintf(" | %.4f", mean_of(of[3], t)) : sprintf(" | %+.2f %%", sum / n))
      }
      spread = n > 1 ? squares / n - (sum / n) ^ 2 : 0
      error = n > 1 ? sqrt((spread > 0 ? spread : 0) / (n - 1)) : 0
      for (i = 1; i <= n; ++i) rate += speed[seed[i], of[3]] / n
      printf "%s | %s | %d |\n", line, of[3] == base ? "" : sprintf("%.2f", error), rate
    }
    function mean_of(tower, t,   i, total) {
      for (i = 1; i <= n; ++i) total += ne[seed[i], tower, t] / n
      return total
    }' "$results" <(echo "$models")
}

{
  table 1 "five layers of"
  echo
  table 2 "layers"
  echo
  table 3 "at equal floating point operations"
} >"$work/tables"
put_table dhen "$work/tables" "$update"

if [ -n "$figure" ]; then
  # Panels are blocks of lines "NAME<TAB>change in each third"; the model of the first row is the line at 0.
  awk -F ' *[|] *' '/^$/ { print "\n" } /^[|]-/ || /NE, first/ || !NF { next }
    { gsub(/ %/, ""); if ($3 !~ /^[-+]/) $3 = $4 = $5 = 0; printf "%s\t%s\t%s\t%s\n", $2, $3, $4, $5 }' \
    "$work/tables" >"$work/panels"
  gnuplot <<PLOT
set terminal pngcairo size 1200,480 font "sans,10"
set output "$figure"
set datafile separator "\t"
set multiplot layout 1,3
set style data histograms
set style fill solid 0.8
set xtics rotate by -40 noenhanced
set bmargin 10
set grid y
set key at screen 0.5,0.03 center horizontal
set ylabel "change of NE, %"
do for [panel=0:2] {
  set title word("modules depth experts", panel + 1)
  plot for [t=2:4] "$work/panels" index panel using t:xtic(1) title word("first second last", t - 1)
}
PLOT
fi
