#!/usr/bin/env bash
# Logloss and AUC of predictions, whoever made them: "logloss<TAB>auc<TAB>rows".
#
#   score.sh [--window ROWS] [--step ROWS] LABELS PREDICTIONS [SKIP]
#
# LABELS: VW text, or bare labels; a first word that starts with "-" or is 0 is the negative class.
# PREDICTIONS: a probability in each line's first column. The first SKIP lines of both are left out.
# Ties share their mean rank; AUC of one class alone is "-".
#
# --window: a line for each window of so many rows, of which one begins every --step rows (a window, unless given), and
# the last ends with the last row; the third column is the row with which it ends.
set -euo pipefail
export LC_ALL=C
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
window=0 step=0
while [ $# -ge 2 ]; do
  case $1 in
    --window) window=$2 ;; --step) step=$2 ;;
    *) break ;;
  esac
  shift 2
done
if [ $# -lt 2 ] || [ $# -gt 3 ]; then usage; fi
labels=$1
predictions=$2
skip=${3-0}
rows=$(($(wc -l <"$predictions") - skip))
if [ "$window" -eq 0 ]; then window=$rows; fi
if [ "$step" -eq 0 ]; then step=$window; fi
if [ "$rows" -le 0 ] || [ "$window" -gt "$rows" ]; then
  echo "score.sh: nothing to score" >&2
  exit 1
fi

# A row for each window that it is in: where that ends, the prediction, the label; of fixed widths, for which sort is
# fast.
paste -d ' ' <(cut -d ' ' -f 1 "$labels") <(cut -d ' ' -f 1 "$predictions") |
  awk -v skip="$skip" -v rows="$rows" -v window="$window" -v step="$step" '
    NR > skip {
      if (NF != 2) { print "score.sh: line " NR ": a label without a prediction, or the reverse" > "/dev/stderr"; exit 1 }
      row = NR - skip
      for (end = rows - int((rows - row) / step) * step; end < row + window; end += step) {
        if (end >= window && end <= rows) printf "%012d %.15f %d\n", end, $2, !($1 ~ /^-/ || $1 == 0)
      }
    }' | sort |
  awk '
    # Closes a run of equal predictions: they share the mean of their ranks.
    function close_run(last) { if (run) { ranks += ones * (first + last) / 2; clicks += ones }; ones = 0; run = 0 }
    function close_window(  others) {
      if (!n) return
      close_run(n)
      others = n - clicks
      printf "%.5f\t%s\t%d\n", loss / n, clicks && others ? sprintf("%.4f", (ranks - clicks * (clicks + 1) / 2) / (clicks * others)) : "-", end
      n = loss = ranks = clicks = 0
    }
    $1 != end { close_window(); end = $1 }
    {
      ++n
      if ($2 != value) { close_run(n - 1); value = $2 }
      if (!run) { first = n; run = 1 }
      ones += $3
      p = $3 ? $2 : 1 - $2
      loss -= log(p < 1e-15 ? 1e-15 : p)
    }
    END { close_window() }'
