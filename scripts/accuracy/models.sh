#!/usr/bin/env bash
# The models of --model beside each other, on real data.
#
#   models.sh --leveret PATH --data DIR [--synth PATH] [--rows 1000000] [--speed [--batch 256]]
#             [--only REGEX] [--models "NAME…"] [--results TSV] [--update FILE]
#   models.sh --search --leveret PATH --data DIR [--only REGEX] [--models "NAME…"] [--results TSV]
#
# DIR holds a folder per data set, with train.vw and test.vw (or .vw.zst, .vw.gz); --only takes those
# whose name matches. Each is learned in one pass, train then test; logloss, AUC and NE (logloss
# divided by the entropy of the base rate) are progressive: every row is predicted before it is learned.
#
# The table has, by set and model, these figures, and with --speed (on a machine that does nothing else)
# examples/s one by one and in batches of --batch. Bytes a feature are those of the model's
# file by features with a row or weight. --synth adds a set of --rows generated rows.
#
# --search gives every model the same 20 configurations (configurations.txt) and lists, by model, each
# configuration's logloss beside that of the model as it is: the mean over the sets of the change in
# percent, the best first. Then, over all configurations of a model, the average, median, largest,
# standard deviation and smallest of AUC in windows of a tenth of a set, as in Table 1 of the Fwumious
# Wabbit paper. Choose with half of the sets (--only), and confirm with the others.
#
# --results keeps every figure, and what it holds already is not run again. --update puts the table
# into FILE between the lines "<!-- models begin -->" and "<!-- models end -->".
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
leveret='' data='' synth='' rows=1000000 batch=256 only=. models='' results='' update='' search=no speed=no
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  if [ "$1" = --search ]; then search=yes; shift; continue; fi
  if [ "$1" = --speed ]; then speed=yes; shift; continue; fi
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --data) data=$2 ;; --synth) synth=$2 ;; --rows) rows=$2 ;;
    --batch) batch=$2 ;; --only) only=$2 ;; --models) models=$2 ;; --results) results=$2 ;;
    --update) update=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$data$synth" ]; then usage; fi
[ -n "$models" ] || models=$("$leveret" help models | awk '/^  [a-z]/ { print $1 }')

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -n "$results" ] || results=$work/results.tsv
touch "$results"

# shellcheck source=part.sh
source "$(dirname "$0")/part.sh"

sets=()
if [ -n "$data" ]; then
  for folder in "$data"/*/; do
    name=$(basename "$folder")
    if [[ $name =~ $only ]] && [ -n "$(part "$name" train)" ] && [ -n "$(part "$name" test)" ]; then
      sets+=("$name")
    fi
  done
fi
if [ -n "$synth" ] && [[ generated =~ $only ]]; then
  sets+=(generated)
  "$synth" --quiet --rows "$rows" >"$work/generated.vw"
fi
[ ${#sets[@]} -gt 0 ] || { echo "$data: no folder with train.vw and test.vw in it" >&2; exit 1; }

files_of() {
  if [ "$1" = generated ]; then echo "$work/generated.vw"; else part "$1" train; part "$1" test; fi
}

# run SET MODEL OPTIONS: "SET MODEL OPTIONS logloss auc ne examples/s bytes-a-feature windows", unless it is there.
run() {
  local set=$1 model=$2 options=$3 window figures features bytes
  if grep -qF "$set"$'\t'"$model"$'\t'"$options"$'\t' "$results"; then return; fi
  mapfile -t files < <(files_of "$set")
  window=$(cat "$work/$set.rows" 2>/dev/null || count "$set")
  # shellcheck disable=SC2086  # options are words
  "$leveret" train -d "${files[@]}" --quiet --json -f "$work/model" --metrics "$work/windows" \
    --window $((window / 10)) --model "$model" $options >"$work/figures"
  figures=$(sed -n '$s/.*"logloss":\([0-9.]*\),"auc":\([0-9.]*\),"ne":\([0-9.]*\).*"examples_per_second":\([0-9]*\).*/\1\t\2\t\3\t\4/p' "$work/figures")
  [ -n "$figures" ] || { echo "$set, $model: no figures" >&2; exit 1; }
  features=$("$leveret" inspect --json "$work/model" | tr ',' '\n' | awk -F : '/"features"/ { n += $NF } END { print n + 0 }')
  bytes=$(stat -c %s "$work/model")
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$set" "$model" "$options" "$figures" \
    "$(awk "BEGIN { printf \"%.0f\", $features ? $bytes / $features : 0 }")" \
    "$(sed -n 's/.*"auc":\([0-9.]*\).*/\1/p' "$work/windows" | paste -sd,)" >>"$results"
}

# count SET: its rows, kept.
count() {
  mapfile -t files < <(files_of "$1")
  "$leveret" train -d "${files[@]}" --quiet --json --model lr 2>/dev/null | sed -n '$s/.*"examples_seen":\([0-9]*\).*/\1/p' |
    tee "$work/$1.rows"
}

has_rows() { [ "$1" != lr ]; }
has_layers() { case $1 in lr | fm | ffm) return 1 ;; esac; }

# options_of MODEL HEADS LINEAR ROWS LAYERS: those that the model has.
options_of() {
  local options="--heads $2 --learning_rate $3"
  if has_rows "$1"; then options+=" --ffm_learning_rate $4"; fi
  if has_layers "$1"; then options+=" --nn_learning_rate $5"; fi
  echo "$options"
}

search_all() {
  for model in $models; do
    for set in "${sets[@]}"; do
      run "$set" "$model" ""
      while read -r heads linear rows_rate layers; do
        case $heads in '#'*) continue ;; esac
        run "$set" "$model" "$(options_of "$model" "$heads" "$linear" "$rows_rate" "$layers")"
      done <"$here/configurations.txt"
    done
  done
  echo "model, change of logloss beside it as it is (mean over ${sets[*]}), options"
  awk -F '\t' -v names="${sets[*]}" '
    BEGIN { n = split(names, all, " "); for (i = 1; i <= n; ++i) wanted[all[i]] }
    $1 in wanted { if ($3 == "") base[$2, $1] = $4; else { loss[$2 "\t" $3, $1] = $4; seen[$2 "\t" $3] } }
    END {
      for (key in seen) {
        split(key, of, "\t")
        sum = 0
        for (i = 1; i <= n; ++i) sum += 100 * (loss[key, all[i]] / base[of[1], all[i]] - 1)
        printf "%s\t%+.2f %%\t%s\n", of[1], sum / n, of[2]
      }
    }' "$results" | sort -t $'\t' -k 1,1 -k 2,2g
  echo
  echo "| model | average AUC | median | max | std | min |"
  echo "|---|---|---|---|---|---|"
  for model in $models; do
    awk -F '\t' -v model="$model" -v names="${sets[*]}" '
      BEGIN { n = split(names, all, " "); for (i = 1; i <= n; ++i) wanted[all[i]] }
      $1 in wanted && $2 == model { n = split($9, auc, ","); for (i = 1; i <= n; ++i) print auc[i] }' "$results" |
      sort -g | awk -v model="$model" '
        { a[NR] = $1; sum += $1; squares += $1 * $1 }
        END {
          mean = sum / NR; median = (a[int((NR + 1) / 2)] + a[int((NR + 2) / 2)]) / 2
          printf "| %s | %.4f | %.4f | %.4f | %.4f | %.4f |\n", model, mean, median, a[NR], sqrt(squares / NR - mean * mean), a[1]
        }'
  done
}

table() {
  if [ "$speed" = yes ]; then
    echo "| set | model | logloss | AUC | NE | bytes a feature | examples/s | in batches of $batch |"
    echo "|---|---|---|---|---|---|---|---|"
  else
    echo "| set | model | logloss | AUC | NE | bytes a feature |"
    echo "|---|---|---|---|---|---|"
  fi
  for set in "${sets[@]}"; do
    for model in $models; do
      awk -F '\t' -v set="$set" -v model="$model" -v batch="--batch_size $batch" -v speed="$speed" '
        $1 == set && $2 == model && $3 == "" { one = sprintf("%.5f | %.4f | %.4f | %d", $4, $5, $6, $8); rate = $7 }
        $1 == set && $2 == model && $3 == batch { rates = sprintf(" %d | %d |", rate, $7) }
        END { printf "| %s | %s | %s |%s\n", set, model, one, speed == "yes" ? rates : "" }' "$results"
    done
  done
}

if [ "$search" = yes ]; then
  search_all
  exit
fi
for set in "${sets[@]}"; do
  for model in $models; do
    run "$set" "$model" ""
    if [ "$speed" = yes ]; then run "$set" "$model" "--batch_size $batch"; fi
  done
done
table >"$work/table"
if [ -z "$update" ]; then
  cat "$work/table"
  exit
fi
for part in begin end; do
  if ! grep -q "^<!-- models $part -->\$" "$update"; then
    echo "$update: the line <!-- models $part --> is missing" >&2
    exit 1
  fi
done
sed -e "/^<!-- models begin -->\$/r $work/table" \
  -e "/^<!-- models begin -->\$/,/^<!-- models end -->\$/{/^<!--/!d}" "$update" >"$work/updated"
cat "$work/updated" >"$update"
