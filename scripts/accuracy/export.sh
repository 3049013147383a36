#!/usr/bin/env bash
# What exports cost: bytes and AUC of every width, on real data.
#
#   export.sh --leveret PATH --data DIR [--only REGEX] [-- OPTION of train...]
#
# DIR holds a folder per data set, with train.vw and test.vw (or .vw.zst, .vw.gz); --only takes those
# whose name matches. A model is learned from train in one pass; it and its exports score test.
#
# A table: bytes, and AUC with its change against the model. Exits with 1 where 16 bits cost 1e-4 of
# AUC or more, or 8 bits 1e-3; what 4 bits cost is told.
set -euo pipefail
export LC_ALL=C
leveret='' data='' only=.
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  if [ "$1" = -- ]; then shift; break; fi
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --data) data=$2 ;; --only) only=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$data" ]; then usage; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck source=part.sh
source "$(dirname "$0")/part.sh"

auc_of() { "$leveret" evaluate -i "$1" -d "$2" | awk '$1 == "auc" { print $2 }'; }

status=0
printf '%-20s %5s %12s %10s %10s\n' set bits bytes AUC change
for folder in "$data"/*/; do
  name=$(basename "$folder")
  [[ $name =~ $only ]] || continue
  train=$(part "$name" train) test=$(part "$name" test)
  if [ -z "$train" ] || [ -z "$test" ]; then continue; fi
  "$leveret" train --quiet "$@" -d "$train" -f "$work/model"
  before=$(auc_of "$work/model" "$test")
  printf '%-20s %5s %12s %10s\n' "$name" model "$(stat -c %s "$work/model")" "$before"
  for bits in 32 16 8 4; do
    "$leveret" export -i "$work/model" -o "$work/export" --bits $bits
    after=$(auc_of "$work/export" "$test")
    awk -v name="$name" -v bits=$bits -v bytes="$(stat -c %s "$work/export")" -v a="$before" -v b="$after" '
      BEGIN {
        change = b - a
        most = bits == 32 ? 1e-9 : bits == 16 ? 1e-4 : bits == 8 ? 1e-3 : 1
        bad = change >= most || change <= -most
        printf "%-20s %5s %12s %10s %+10.6f%s\n", name, bits, bytes, b, change, bad ? "  TOO MUCH" : ""
        exit bad
      }' || status=1
  done
done
exit $status
