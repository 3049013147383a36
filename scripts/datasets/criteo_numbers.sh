#!/usr/bin/env bash
# Ways to make categories of Criteo's integers, compared: prints the table of datasets/criteo/README.md,
# progressive logloss and AUC of a linear model over the file.
#
#   scripts/datasets/criteo_numbers.sh train.txt      $LEVERET: the program
#
# With the plain reference kernels, which give the same digits on every machine.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: scripts/datasets/criteo_numbers.sh train.txt" >&2; exit 2; }
leveret=${LEVERET:-leveret}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C LEVERET_SIMD=reference

# text WAY: the file as VW text, with this expression of v >= 0 in place of each integer
text() {
  awk -F '\t' "function bucket(v) { return int($1 + 1e-9) }"'
    { line = $1 == 1 ? "1" : "-1"
      for (i = 2; i <= 14; ++i) {
        if ($i != "") line = line " |I" (i - 1) ($i < 0 ? " -b" bucket(-$i) : " b" bucket(0 + $i))
      }
      for (i = 15; i <= 40; ++i) if ($i != "") line = line " |C" (i - 14) " " $i
      print line }' "$file"
}
# row NAME: of the text on standard input
row() {
  "$leveret" train --ffm_k 0 -f "$work/model.lvt" 2>"$work/said" || { cat "$work/said" >&2; exit 1; }
  awk -v name="$1" '
    /^average loss/ { loss = $3 }
    /^auc/ { auc = $2 }
    END { printf "| %s | %s | %s |\n", name, substr(loss, 2, 6), substr(auc, 2) }' "$work/said"
}

file=$1
echo '| numbers as | logloss | AUC |'
echo '|---|---|---|'
"$leveret" convert criteo -d "$file" 2>/dev/null | row 'bN, N = 1 + floor(log2 v), 0 for 0 (ours)'
text 'log(v + 1) / log(2)' | row 'floor(log2(v + 1))'
text '2 * log(v + 1) / log(2)' | row 'floor(2 log2(v + 1))'
text '3 * log(v + 1) / log(2)' | row 'floor(3 log2(v + 1))'
text '(v > 0 ? log(v) ^ 2 : 0)' | row "floor(ln(v)^2), the challenge winners'"
