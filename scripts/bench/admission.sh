#!/usr/bin/env bash
# What the admission rule costs and brings: rows, their memory, peak memory and logloss by fields and
# k, beside rows for every feature that comes twice (--admit 2), and beside another build.
#
#   admission.sh --leveret PATH --synth PATH [--before PATH] [--rows 300000] [--fields "10 39"]
#                [--k "2 4 8 16"] [--out TSV]
#
# Learns --rows generated rows by the default model of each shape. --before: an earlier build, whose
# rule may be another. Logloss is the progressive one of all rows. One process at a time; none of the
# figures depends on who else is at work. --out keeps the table as TSV.
set -euo pipefail
export LC_ALL=C
leveret='' synth='' before='' rows=300000 fields_list='10 39' ks='2 4 8 16' out=/dev/null
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --synth) synth=$2 ;; --before) before=$2 ;; --rows) rows=$2 ;;
    --fields) fields_list=$2 ;; --k) ks=$2 ;; --out) out=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$synth" ]; then usage; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$out"

# measure NAME PROGRAM OPTION...: a row of the table
measure() {
  local name=$1 program=$2 loss peak features ffm_rows bytes
  shift 2
  if ! /usr/bin/time -f %M -o "$work/memory" "$program" train -d "$work/rows.vw" -f "$work/model" --ffm_k "$k" "$@" \
    >"$work/log" 2>&1 || ! "$program" inspect "$work/model" >"$work/inspect" 2>&1; then
    echo "admission.sh: $name, $fields fields, k $k failed:" >&2
    tail -n 5 "$work/log" >&2
    exit 1
  fi
  loss=$(awk '/^average loss/ { print $3 }' "$work/log")
  peak=$(tail -n 1 "$work/memory")
  features=$(awk '/^Linear: / { print $2 }' "$work/inspect")
  read -r ffm_rows bytes < <(awk '/^FFM: / { print $2, $4 }' "$work/inspect")
  if [ -z "$loss" ] || [ -z "$features" ] || [ -z "$bytes" ]; then
    echo "admission.sh: $program prints other figures than expected" >&2
    exit 1
  fi
  awk -v OFS='\t' -v fields="$fields" -v k="$k" -v name="$name" -v features="$features" -v rows="$ffm_rows" \
    -v bytes="$bytes" -v peak="$peak" -v loss="$loss" 'BEGIN {
      print fields, k, name, features, rows, sprintf("%.1f", bytes / 1e6), sprintf("%.0f", peak / 1024), loss }' |
    tee -a "$out"
}

printf '# %s rows\n# fields\tk\trule\tfeatures\trows\tMB of rows\tpeak MB\tlogloss\n' "$rows"
for fields in $fields_list; do
  "$synth" --quiet --rows "$rows" --fields "$fields" >"$work/rows.vw"
  for k in $ks; do
    [ -z "$before" ] || measure before "$before"
    measure default "$leveret"
    measure '--admit 2' "$leveret" --admit 2
  done
done
