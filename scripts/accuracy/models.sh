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
# percent, the best first. Choose with half of the sets (--only), and confirm with the others. AUC over all
# configurations is windows.sh's.
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

find_sets "$only"

# run SET MODEL OPTIONS: "SET MODEL OPTIONS logloss auc ne examples/s bytes-a-feature", unless it is there.
run() {
  local set=$1 model=$2 options=$3 figures features bytes files
  if grep -qF "$set"$'\t'"$model"$'\t'"$options"$'\t' "$results"; then return; fi
  mapfile -t files < <(files_of "$set")
  # shellcheck disable=SC2086  # options are words
  "$leveret" train -d "${files[@]}" --quiet --json -f "$work/model" --model "$model" $options >"$work/figures"
  figures=$(sed -n '$s/.*"logloss":\([0-9.]*\),"auc":\([0-9.]*\),"ne":\([0-9.]*\).*"examples_per_second":\([0-9]*\).*/\1\t\2\t\3\t\4/p' "$work/figures")
  [ -n "$figures" ] || { echo "$set, $model: no figures" >&2; exit 1; }
  features=$("$leveret" inspect --json "$work/model" | tr ',' '\n' | awk -F : '/"features"/ { n += $NF } END { print n + 0 }')
  bytes=$(stat -c %s "$work/model")
  printf '%s\t%s\t%s\t%s\t%s\n' "$set" "$model" "$options" "$figures" \
    "$(awk "BEGIN { printf \"%.0f\", $features ? $bytes / $features : 0 }")" >>"$results"
}

search_all() {
  for model in $models; do
    for set in "${sets[@]}"; do
      run "$set" "$model" ""
      while read -r heads linear rows_rate layers _; do
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
put_table models "$work/table" "$update"
