#!/usr/bin/env bash
# Logloss and AUC of predictions, whoever made them: "logloss<TAB>auc<TAB>rows".
#
#   score.sh LABELS PREDICTIONS [SKIP]
#
# LABELS: VW text, or bare labels; a first word that starts with "-" or is 0 is the negative class.
# PREDICTIONS: a probability in each line's first column. The first SKIP lines of both are left out.
# Ties share their mean rank.
set -euo pipefail
export LC_ALL=C
labels=$1
predictions=$2
skip=${3-0}

paste -d ' ' <(cut -d ' ' -f 1 "$labels") <(cut -d ' ' -f 1 "$predictions") |
  awk -v skip="$skip" '
    NR > skip {
      if (NF != 2) { print "score.sh: line " NR ": a label without a prediction, or the reverse" > "/dev/stderr"; exit 1 }
      print $2, ($1 ~ /^-/ || $1 == 0) ? 0 : 1
    }' | sort -g -k 1,1 |
  awk '
    # Closes a run of equal predictions: they share the mean of their ranks.
    function close_run(last) { if (run) { ranks += ones * (first + last) / 2; clicks += ones }; ones = 0; run = 0 }
    {
      if ($1 != value) { close_run(NR - 1); value = $1; first = NR }
      run = 1
      ones += $2
      p = $2 ? $1 : 1 - $1
      loss -= log(p < 1e-15 ? 1e-15 : p)
    }
    END {
      if (NR == 0) { print "score.sh: nothing to score" > "/dev/stderr"; exit 1 }
      close_run(NR)
      others = NR - clicks
      auc = clicks && others ? (ranks - clicks * (clicks + 1) / 2) / (clicks * others) : 0
      printf "%.5f\t%.4f\t%d\n", loss / NR, auc, NR
    }'
