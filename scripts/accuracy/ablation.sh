#!/usr/bin/env bash
# What each choice in the model is worth: trains once per data set and choice, and makes a table.
#
#   ablation.sh --leveret PATH --data DIR [--synth PATH] [--rows 200000] [--quick] [--only REGEX]
#               [--choices FILE] [--results TSV] [--update FILE]
#
# DIR holds a folder per data set, with train.vw and test.vw (or .vw.zst, .vw.gz). Each is learned in
# one pass, train then test; logloss and AUC are progressive: every row is predicted before it is
# learned. --synth adds a set of --rows generated rows, so that a table can be made without any real
# data. The choices are in choices.txt, or in FILE: batches.txt has those of batches. What the peers
# reach is in peers.tsv.
#
# --only runs the choices whose name matches. --results keeps every figure, and what it holds already
# is not run again: remove it after a change to the program. --update puts the table into FILE between
# the lines "<!-- NAME begin -->" and "<!-- NAME end -->", where NAME is ablation, or with
# --choices FILE that of FILE without .txt; else it goes to standard output.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
leveret='' data='' synth='' rows=200000 quick=no only=. results='' update=''
choices=$here/choices.txt mark=ablation
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  if [ "$1" = --quick ]; then quick=yes; shift; continue; fi
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --data) data=$2 ;; --synth) synth=$2 ;; --rows) rows=$2 ;;
    --choices) choices=$2 mark=$(basename "$2" .txt) ;;
    --only) only=$2 ;; --results) results=$2 ;; --update) update=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$synth$data" ]; then usage; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -n "$results" ] || results=$work/results.tsv
touch "$results"

# shellcheck source=part.sh
source "$(dirname "$0")/part.sh"

find_sets .

# run SET NAME OPTIONS: one line into the results, unless it is there.
run() {
  local set=$1 name=$2 options=$3 files figures
  if grep -qF "$set"$'\t'"$name"$'\t' "$results"; then return; fi
  mapfile -t files < <(files_of "$set")
  # One window holds everything: its figures are those of the whole pass.
  # shellcheck disable=SC2086  # options are words
  "$leveret" train -d "${files[@]}" --quiet --metrics "$work/metrics" --window 1000000000000 $options
  figures=$(sed -n '$s/.*"logloss": *\([0-9.]*\).*"auc": *\([0-9.]*\).*/\1\t\2/p' "$work/metrics")
  [ -n "$figures" ] || { echo "$set, $name: no figures in --metrics" >&2; exit 1; }
  printf '%s\t%s\t%s\t%s\n' "$set" "$name" "$figures" "$options" >>"$results"
}

choices() {
  awk -F '; *' -v quick="$quick" '
    /^#/ { next }
    /^quick ends$/ { if (quick == "yes") exit; next }
    NF { print $1 "\t" $2 "\t" $3 }' "$choices"
}

# The table: the first choice and the peers in full, the others by how far they are from it.
table() {
  awk -F '\t' -v names="${sets[*]}" '
    BEGIN { count = split(names, sets, " ") }
    FILENAME == ARGV[1] { if ($0 !~ /^#/) peer[$1] = sprintf("%.5f / %.4f", $2, $3); if ($0 !~ /^#/) beat[$1] = $2; next }
    FILENAME == ARGV[2] { loss[$2, $1] = $3; auc[$2, $1] = $4; next }
    FNR == 1 {
      base = $2
      printf "| group | choice | options |"
      for (s = 1; s <= count; ++s) printf " %s |", sets[s]
      printf " mean |\n|---|---|---|"
      for (s = 1; s <= count; ++s) printf "---|"
      printf "---|\n| | best peer | |"
      for (s = 1; s <= count; ++s) printf " %s |", (sets[s] in peer) ? peer[sets[s]] : "–"
      printf " |\n| | **%s** | |", base
      for (s = 1; s <= count; ++s) printf " **%.5f / %.4f** |", loss[base, sets[s]], auc[base, sets[s]]
      printf " |\n| | defaults against best peer | |"
      sum = seen = 0
      for (s = 1; s <= count; ++s) {
        if (!(sets[s] in beat)) { printf " – |"; continue }
        change = 100 * (loss[base, sets[s]] / beat[sets[s]] - 1)
        printf " %+.2f %% |", change
        sum += change
        ++seen
      }
      if (seen) printf " %+.2f %% |\n", sum / seen; else printf " |\n"
      next
    }
    {
      line = ""
      sum = seen = 0
      for (s = 1; s <= count; ++s) {
        if (!(($2, sets[s]) in loss)) { line = line " |"; continue }
        change = 100 * (loss[$2, sets[s]] / loss[base, sets[s]] - 1)
        line = line sprintf(" %+.2f %% |", change)
        sum += change
        ++seen
      }
      if (seen == count) printf "| %s | %s | `%s` |%s %+.2f %% |\n", $1 == group ? "" : $1, $2, $3, line, sum / seen
      if (seen == count) group = $1
    }' "$here/peers.tsv" "$results" <(choices)
}

while IFS=$'\t' read -r _ name options; do
  [[ $name =~ $only ]] || continue
  for set in "${sets[@]}"; do run "$set" "$name" "$options"; done
done < <(choices)

table >"$work/table"
put_table "$mark" "$work/table" "$update"
