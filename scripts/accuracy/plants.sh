#!/usr/bin/env bash
# Whether a module finds what it was made for: generated rows in which one kind of effect is planted, learned by the
# models that have the module for it, by an MLP that takes at least as long, and by DeepFFM.
#
#   plants.sh --leveret PATH --synth PATH [--rows 200000] [--seeds "1 2 3 4 5"] [--jobs 1] [--only REGEX]
#             [--results TSV] [--update FILE]
#
# Rows have 10 fields of up to 200 values. Each model gets the best of six pairs of rates for embeddings and layers, by
# rows of a seed of its own (100), and then learns those of each of --seeds in one pass. NE (logloss divided by the
# entropy of the base rate) is progressive, over the last half. A model is compared with each of the two others by the
# differences of NE on the same rows; it wins or loses where their mean is over three standard errors.
#
# The MLP is the smallest of 64+32, 128+64, 256+128, 512+256 and 1024+512 that takes as much CPU time for 20,000 rows as
# the first model of the plant. --results keeps every figure, and what it holds already is not run again: remove it
# after a change to the program or to --rows. --update puts the table into FILE between the lines
# "<!-- plants begin -->" and "<!-- plants end -->".
set -euo pipefail
export LC_ALL=C
leveret='' synth='' rows=200000 seeds='1 2 3 4 5' jobs=1 only=. results='' update=''
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --synth) synth=$2 ;; --rows) rows=$2 ;; --seeds) seeds=$2 ;;
    --jobs) jobs=$2 ;; --only) only=$2 ;; --results) results=$2 ;; --update) update=$2 ;;
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

# Plant, options of leveret-synth.
plants='third order|--order 3
inner products|--order 2
numbers|--numbers 6
populations|--populations'

# Plant, model, options; the first model of a plant sets the time of its MLP.
numeric='--numeric N1,N2,N3,N4,N5,N6'
models="third order|autoint|--model autoint
third order|dcnv2|--model dcnv2
third order|dhen|--model dhen
third order|DeepFFM and cross2|--model deepffm --embedding_dim 8 --tower cross2:layers=2,rank=16
inner products|pnn|--model pnn
inner products|DeepFFM and dot|--model deepffm --embedding_dim 8 --tower dot
numbers|dlrm|--model dlrm $numeric
numbers|MLP, numbers dense|--model wide_deep $numeric
numbers|DeepFFM, numbers dense|--model deepffm $numeric
populations|moe|--model moe
populations|DeepFFM and experts|--model deepffm --embedding_dim 8 --tower dhen:layers=1,modules=experts,tokens=4,shortcut=no,norm=no"
pairs_of_rates='.1 .02
.1 .05
.2 .02
.2 .05
.3 .05
.3 .1'

# rows_of PLANT SEED: their file, made once.
rows_of() {
  local file=$work/${1// /_}.$2.vw options
  options=$(sed -n "s/^$1|//p" <<<"$plants")
  if [ ! -f "$file" ]; then
    # shellcheck disable=SC2086 # options are words
    "$synth" --quiet --fields 10 --vocabulary 200 --rows "$rows" --seed "$2" $options >"$file"
  fi
  echo "$file"
}

# run PLANT SEED OPTIONS: appends "PLANT SEED OPTIONS NE" to the results, unless it is there.
run() {
  local plant=$1 seed=$2 options=$3 out=$work/$BASHPID file ne
  if grep -qF "$plant"$'\t'"$seed"$'\t'"$options"$'\t' "$results"; then return; fi
  file=$(rows_of "$plant" "$seed")
  # shellcheck disable=SC2086
  "$leveret" train -d "$file" --quiet --heads one $options -p "$out" >/dev/null
  ne=$(cut -d ' ' -f 1 "$file" | paste - "$out" | awk -v rows="$rows" '
    NR > rows / 2 { ++n; y = $1 > 0; clicks += y
                    p = $2 < 1e-7 ? 1e-7 : $2 > 1 - 1e-7 ? 1 - 1e-7 : $2
                    loss -= y ? log(p) : log(1 - p) }
    END { r = clicks / n; printf "%.6f", loss / n / -(r * log(r) + (1 - r) * log(1 - r)) }')
  rm "$out"
  printf '%s\t%s\t%s\t%s\n' "$plant" "$seed" "$options" "$ne" >>"$results"
}

# run_all: runs the lines "PLANT|SEED|OPTIONS" of standard input, --jobs at once.
run_all() {
  local plant seed options
  while IFS='|' read -r plant seed options; do
    rows_of "$plant" "$seed" >/dev/null
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    run "$plant" "$seed" "$options" || touch "$work/failed" &
  done
  wait
  [ ! -e "$work/failed" ] || { echo "plants.sh: a run failed" >&2; exit 1; }
}

# cpu_time FILE OPTIONS: seconds of learning 20,000 rows.
cpu_time() {
  # shellcheck disable=SC2086
  { TIMEFORMAT='%U'; time "$leveret" train --quiet --heads one $2 <"$1" >/dev/null 2>"$work/log"; } 2>&1 || {
    cat "$work/log" >&2
    exit 1
  }
}

# mlp_of PLANT OPTIONS: the model that takes as long as these options.
mlp_of() {
  local file=$work/start.vw most width options
  sed 20000q "$(rows_of "$1" 100)" >"$file"
  most=$(cpu_time "$file" "$2")
  for width in 64+32 128+64 256+128 512+256 1024+512; do
    options="--ffm_k 0 --embedding_dim 8 --tower mlp:hidden=$width"
    if awk -v a="$(cpu_time "$file" "$options")" -v b="$most" 'BEGIN { exit a < b }'; then
      echo "$1|MLP of $width|$options"
      return
    fi
  done
  echo "plants.sh: no MLP takes as long as $2" >&2
  exit 1
}

# with_rates: the lines "PLANT|MODEL|OPTIONS" with each pair of rates, "PLANT|100|OPTIONS".
with_rates() {
  local plant options rows_rate layers_rate
  while IFS='|' read -r plant _ options; do
    while read -r rows_rate layers_rate; do
      echo "$plant|100|$options --ffm_learning_rate $rows_rate --nn_learning_rate $layers_rate"
    done <<<"$pairs_of_rates"
  done
}

# best PLANT OPTIONS: these, with the best pair of rates.
best() {
  awk -F '\t' -v plant="$1" -v options="$2 --ffm_learning_rate " '
    $1 == plant && $2 == 100 && index($3, options) == 1 && (least == "" || $4 < least) { least = $4; found = $3 }
    END { print found }' "$results"
}

all=''
while IFS='|' read -r plant _; do
  [[ $plant =~ $only ]] || continue
  own=$(grep "^$plant|" <<<"$models")
  all+="$own"$'\n'"$(mlp_of "$plant" "$(sed -n '1s/.*|//p' <<<"$own")")"$'\n'"$plant|DeepFFM|--model deepffm"$'\n'
done <<<"$plants"
all=${all%$'\n'}

with_rates <<<"$all" | run_all
: >"$work/best"
while IFS='|' read -r plant name options; do
  echo "$plant|$name|$(best "$plant" "$options")" >>"$work/best"
done <<<"$all"
for seed in $seeds; do
  while IFS='|' read -r plant name options; do echo "$plant|$seed|$options"; done <"$work/best"
done | run_all

{
  echo '| Plant | Model | NE | against the MLP, % | against DeepFFM, % |'
  echo '|---|---|---|---|---|'
  awk -F '\t' -v seeds="$seeds" '
    NR == FNR { ne[$1, $2, $3] = $4; next }
    { split($0, of, "|"); plant[++count] = of[1]; name[count] = of[2]; options[count] = of[3]
      if (of[2] ~ /^MLP of/) other[of[1], 1] = of[3]
      if (of[2] == "DeepFFM") other[of[1], 2] = of[3] }
    function against(row, which,   i, change, sum, squares, mean, error) {
      if (options[row] == other[plant[row], which]) return ""
      for (i = 1; i <= n; ++i) {
        change = 100 * (ne[plant[row], seed[i], options[row]] / ne[plant[row], seed[i], other[plant[row], which]] - 1)
        sum += change; squares += change * change
      }
      mean = sum / n
      error = n > 1 ? sqrt((squares / n - mean * mean > 0 ? squares / n - mean * mean : 0) / (n - 1)) : 0
      return sprintf("%+.2f ± %.2f%s", mean, error, mean < -3 * error ? " wins" : mean > 3 * error ? " loses" : "")
    }
    END {
      n = split(seeds, seed, " ")
      for (row = 1; row <= count; ++row) {
        total = 0
        for (i = 1; i <= n; ++i) total += ne[plant[row], seed[i], options[row]] / n
        printf "| %s | %s | %.4f | %s | %s |\n", plant[row], name[row], total, against(row, 1), against(row, 2)
      }
    }' "$results" "$work/best"
} >"$work/table"
put_table plants "$work/table" "$update"
