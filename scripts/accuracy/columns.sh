#!/usr/bin/env bash
# How numbers of raw rows best become features: each form of --column NAME=number on generated tables, and on tables of
# one's own.
#
#   columns.sh --leveret PATH --synth PATH [--rows 50000] [--seeds "1 2 3"] [--table CSV:LABEL]... [--update FILE]
#
# Generated tables (leveret-synth --columns, one for each seed): AUC and logloss of the last fifth, which is predicted
# and not learned; the mean over the seeds. "truth": those of the true probabilities. A table of one's own, in the order
# of time: progressive logloss over all of it. All columns of numbers get the form of the row. --update puts the table
# into FILE between the lines "<!-- columns begin -->" and "<!-- columns end -->".
set -euo pipefail
export LC_ALL=C
leveret='' synth='' rows=50000 seeds='1 2 3' update='' tables=()
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --synth) synth=$2 ;; --rows) rows=$2 ;; --seeds) seeds=$2 ;;
    --table) tables+=("$2") ;; --update) update=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$synth" ]; then usage; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck source=part.sh
source "$(dirname "$0")/part.sh"

# Name, form; the first is the default.
forms='12 parts, linear|number
6 parts, linear|number:bins=6
20 parts, linear|number:bins=20
40 parts, linear|number:bins=40
12 bins|number:hard
20 bins|number:hard,bins=20
40 bins|number:hard,bins=40
log2|number:log2
value|number:value
category|category'
test_rows=$((rows / 5))

# numbers_of CSV LABEL: the columns of numbers, a line each.
numbers_of() { "$leveret" schema "$1" --label "$2" --quiet | sed -n 's/ number.*//p'; }

# columns CSV LABEL FORM: options.
columns() {
  local name
  echo "--label $2"
  while read -r name; do echo "--column $name=$3"; done < <(numbers_of "$1" "$2")
}

# figures LABELS PREDICTIONS: "AUC logloss"
figures() {
  paste -d ' ' "$1" "$2" | sort -g -k 2,2 | awk '
    { p = $2 < 1e-7 ? 1e-7 : $2 > 1 - 1e-7 ? 1 - 1e-7 : $2
      loss -= $1 > 0 ? log(p) : log(1 - p); if ($1 > 0) { ++clicks; ranks += NR } }
    END { printf "%.4f %.4f\n", (ranks - clicks * (clicks + 1) / 2) / (clicks * (NR - clicks)), loss / NR }'
}

# mean: of lines of figures.
mean() { awk '{ a += $1; l += $2 } END { printf "%.4f / %.4f", a / NR, l / NR }'; }

for seed in $seeds; do
  "$synth" --columns --quiet --rows "$rows" --seed "$seed" --truth "$work/truth" >"$work/$seed.csv"
  tail -n "$test_rows" "$work/$seed.csv" | cut -d , -f 1 >"$work/$seed.labels"
  figures "$work/$seed.labels" <(tail -n "$test_rows" "$work/truth") >>"$work/truths"
done

# generated FORM
generated() {
  local seed
  for seed in $seeds; do
    # shellcheck disable=SC2046 # options are words
    "$leveret" train -d "$work/$seed.csv" --quiet $(columns "$work/$seed.csv" clicked "$1") \
      --holdout_after $((rows - test_rows)) -p "$work/answers"
    figures "$work/$seed.labels" <(tail -n "$test_rows" "$work/answers")
  done | mean
}

# own CSV:LABEL FORM
own() {
  # shellcheck disable=SC2046
  "$leveret" train -d "${1%:*}" $(columns "${1%:*}" "${1##*:}" "$2") --progress 1000000000 2>&1 |
    awk '$1 == "average" && $2 == "loss" { printf "%.4f", $3 }'
}

{
  line='| numbers | generated: AUC / logloss |' rule='|---|---|'
  for table in ${tables[@]+"${tables[@]}"}; do
    line+=" $(basename "${table%.csv:*}") |"
    rule+='---|'
  done
  printf '%s\n%s\n' "$line" "$rule"
  while IFS='|' read -r name form; do
    printf '| %s | %s |' "$name" "$(generated "$form")"
    for table in ${tables[@]+"${tables[@]}"}; do printf ' %s |' "$(own "$table" "$form")"; done
    echo
  done <<<"$forms"
  printf '| truth | %s |' "$(mean <"$work/truths")"
  for table in ${tables[@]+"${tables[@]}"}; do printf '  |'; done
  echo
} >"$work/table"
put_table columns "$work/table" "$update"
