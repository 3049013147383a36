#!/usr/bin/env bash
# The experiments of "Agile and Accurate CTR Prediction Model Training" (Xu et al., SIGMOD 2021, section 4.1), with its
# kind of model and with ours: what weights of few bits cost, by rounding and range, and what twice the dimension gains.
#
#   quantized.sh --leveret PATH [--synth PATH [--rows 300000] [--million 1000000]] [--data DIR [--only REGEX]]
#                [--seeds 5] [--results TSV] [--update FILE] [--figures DIR]
#   quantized.sh --codecs --leveret PATH --synth PATH [--rows 300000] [--models "NAME…"] [--results TSV]
#                [--update FILE]
#
# Each set is learned in one pass, train then test, in windows that are tested before they are learned
# (--test_then_train): 50 of --rows generated rows of 12 fields that drift (--drift_kind mixed, another world for each
# seed), 20 of a set of DIR. Models: "paper", embeddings of 8 under five hidden layers, rows and layers by SGD, no
# linear part; "ours", the defaults. AUC is that of all tests. Seeds pair: codecs are compared with floats of the same
# seed on the same rows, and ± is the half of the 95 % interval of the mean difference (Student's t).
#
#   quantized_rounding   Figure 2: stochastic (StocQ) and nearest (FixQ) of 4, 8, 12, 16 bits beside 32
#   quantized_range      Figures 3 and 4: ranges w. A range here is a power of two, so that 16 bits are learned as
#                        integers: 2^-7, 2^-3, 1, 8, 128 stand for the paper's 10^-2 to 10^2, and there are .5 and 4
#   quantized_dimension  Figure 5: twice the dimension with 16 bits, beside floats and 16 bits of one dimension
#   quantized_state      accumulators of 16 bits beside 32, one per slice or one per weight, of our model
#   quantized_million    16 bits beside 32 on --million rows, of which those of "still" do not drift
#
# --update puts these tables into FILE between "<!-- NAME begin -->" and "<!-- NAME end -->"; --figures draws them
# (gnuplot) as PNGs of these names. --results keeps every run, and what it holds is not run again: it is of one program
# and one --rows and --million.
#
# --codecs: quantized_codecs, models of --model with each codec on --rows generated rows: logloss, AUC, bytes of the
# model's file by feature, examples/s one by one and in two threads, medians of three (on a machine that does nothing
# else).
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
leveret='' synth='' rows=300000 million=1000000 data='' only=. seeds=5 results='' update='' figures='' codecs=no
models='fm fwfm ffm deepffm wide_deep deepfm dcn dcnv2'
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  if [ "$1" = --codecs ]; then codecs=yes; shift; continue; fi
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --synth) synth=$2 ;; --rows) rows=$2 ;; --million) million=$2 ;; --data) data=$2 ;;
    --only) only=$2 ;; --seeds) seeds=$2 ;; --results) results=$2 ;; --update) update=$2 ;; --figures) figures=$2 ;;
    --models) models=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$data$synth" ]; then usage; fi

# kept KEY: whether $results has a line that begins so.
kept() { KEY=$1 awk 'index($0, ENVIRON["KEY"]) == 1 { found = 1; exit } END { exit !found }' "$results"; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -n "$results" ] || results=$work/results.tsv
touch "$results"

# shellcheck source=part.sh
source "$here/part.sh"

# generate ROWS SEED [OPTION...]: rows, as $work/generated, if they are not there.
generated=''
generate() {
  if [ "$generated" = "$*" ]; then return; fi
  generated="$*"
  local rows=$1 seed=$2
  shift 2
  "$synth" --quiet --rows "$rows" --seed "$seed" --fields 12 --vocabulary 100000 "$@" >"$work/generated"
}

# model MODEL TIMES: options of a model with that many times its dimension.
model() {
  case $1 in
    paper)
      echo "--ffm_k 0 --linear none --embedding_dim $((8 * $2)) --tower mlp:hidden=64+64+32+32+16 --heads one \
        --optimizer rows=sgd:rate=1 --optimizer layers=sgd:rate=.006"
      ;;
    ours) echo "--ffm_k $((4 * $2))" ;;
    slice* | weight*) echo "--ffm_k $((4 * $2)) --adagrad ${1%[0-9][0-9]} --state_bits ${1: -2}" ;;
  esac
}

# default_range BITS: that of --weight_range. A model of 16 bits says it only where it is another than 8.
default_range() {
  printf '1 |a b\n-1 |a c\n' | "$leveret" train --quiet --row_bits "$1" -f "$work/model"
  "$leveret" inspect --json "$work/model" | { grep -o '"weight_range":[0-9.]*' || echo :8; } | cut -d : -f 2
}

# learn SET MODEL TIMES SEED BITS ROUNDING RANGE: a line of these, separated by tabs, then rows, window, logloss, AUC,
# bytes of the model's file, its features, examples/s, and the AUC of each window; unless it is there.
learn() {
  local set=$1 files=() count window key
  key=$(printf '%s\t' "$@")
  if kept "$key"; then return; fi
  case $set in
    drift | million | still)
      local drift=(--drift_kind mixed)
      count=$million
      if [ "$set" = drift ]; then count=$rows; fi
      if [ "$set" = still ]; then drift=(); fi
      generate "$count" "$4" "${drift[@]}"
      files=("$work/generated")
      window=$((count / 50))
      ;;
    *)
      mapfile -t files < <(files_of "$set")
      count=${rows_of[$set]-}
      if [ -z "$count" ]; then count=$(zstd -dcfq "${files[@]}" | wc -l); rows_of[$set]=$count; fi
      window=$((count / 20))
      ;;
  esac
  local codec=(--row_bits "$5")
  if [ "$5" != 32 ]; then codec+=(--rounding "$6" --weight_range "$7"); fi
  # shellcheck disable=SC2046  # options are words
  if ! "$leveret" train -d "${files[@]}" --quiet --json -f "$work/model" --test_then_train $window --seed "$4" \
    --metrics "$work/windows" --window $window $(model "$2" "$3") "${codec[@]}" >"$work/json" 2>"$work/error"; then
    # A range whose unit is larger than first weights is refused: a gap in the table.
    if grep -q 'is too small for weights' "$work/error"; then return; fi
    cat "$work/error" >&2
    exit 1
  fi
  "$leveret" inspect --json "$work/model" >"$work/inspect"
  python3 "$here/quantized.py" run "$work/json" "$work/inspect" "$work/windows" >"$work/figures"
  printf '%s%d\t%d\t%s\n' "$key" "$count" $window "$(cat "$work/figures")" >>"$results"
}
declare -A rows_of=()

learn_all() {
  local set seed model bits rounding range adagrad
  local -A default=([32]=0)
  for bits in 4 8 12 16; do default[$bits]=$(default_range $bits); done
  for set in "$@"; do
    for ((seed = 1; seed <= seeds; ++seed)); do
      for model in paper ours; do
        learn "$set" $model 1 $seed 32 - 0
        learn "$set" $model 1 $seed 16 stochastic "${default[16]}"
        if [ "$set" = million ] || [ "$set" = still ]; then continue; fi
        learn "$set" $model 2 $seed 32 - 0
        learn "$set" $model 2 $seed 16 stochastic "${default[16]}"
        for bits in 4 8 12 16; do
          for rounding in nearest stochastic; do learn "$set" $model 1 $seed $bits $rounding "${default[$bits]}"; done
          for range in .0078125 .125 .5 1 4 8 128; do learn "$set" $model 1 $seed $bits stochastic $range; done
        done
      done
      if [ "$set" = million ] || [ "$set" = still ]; then continue; fi
      for adagrad in slice weight; do
        for bits in 32 16 8; do
          rounding=stochastic
          if [ $bits = 32 ]; then rounding=-; fi
          for model in ${adagrad}32 ${adagrad}16; do
            learn "$set" $model 1 $seed $bits $rounding "${default[$bits]}"
          done
        done
      done
    done
  done
}

# codecs_of MODEL: lines "codecs MODEL BITS logloss auc bytes features examples/s examples/s-in-threads", unless they
# are there; rates are medians of three runs, in which codecs take turns.
codecs_of() {
  local bits
  if kept "codecs"$'\t'"$1"$'\t'; then return; fi
  generate "$rows" 1 --drift_kind mixed
  rm -f "$work"/turn.*
  for _ in 1 2 3; do
    for bits in 32 16 12 8 4; do
      local command=("$leveret" train -d "$work/generated" --quiet --json --model "$1" --row_bits "$bits")
      "${command[@]}" -f "$work/model" >"$work/json"
      "${command[@]}" --threads 2 >"$work/threads"
      "$leveret" inspect --json "$work/model" >"$work/inspect"
      python3 "$here/quantized.py" codec "$work/json" "$work/inspect" "$work/threads" >>"$work/turn.$bits"
    done
  done
  for bits in 32 16 12 8 4; do
    printf 'codecs\t%s\t%s\t%s\t%s\t%s\n' "$1" $bits "$(head -n 1 "$work/turn.$bits" | cut -f -4)" \
      "$(cut -f 5 "$work/turn.$bits" | sort -g | sed -n 2p)" "$(cut -f 6 "$work/turn.$bits" | sort -g | sed -n 2p)"
  done >>"$results"
}

if [ $codecs = yes ]; then
  tables=(codecs)
  for model in $models; do codecs_of "$model"; done
else
  tables=(rounding range dimension state million)
  sets=()
  chosen=$synth synth=''  # generated sets are made here
  if [ -n "$data" ]; then find_sets "$only"; fi
  synth=$chosen
  if [ -n "$synth" ]; then sets=(drift "${sets[@]}" million still); fi
  learn_all "${sets[@]}"
fi
for table in "${tables[@]}"; do
  python3 "$here/quantized.py" "$table" "$results" "$work/$table" >"$work/table"
  put_table "quantized_$table" "$work/table" "$update"
  if [ -n "$figures" ] && [ -f "$work/$table.plot" ]; then
    (cd "$work" && gnuplot "$work/$table.plot")
    mv "$work/$table.png" "$figures/quantized_$table.png"
  fi
done
