#!/usr/bin/env bash
# scripts/accuracy/score.sh says of predictions what the program says of them, by windows and as a whole, and what can
# be counted by hand.
#
#   tests/score.sh LEVERET
set -euo pipefail
export LC_ALL=C
leveret=$1
here=$(cd "$(dirname "$0")" && pwd)
score=$here/../scripts/accuracy/score.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# expect WHAT WANTED OPTION…: what score.sh prints of the labels and predictions at hand
expect() {
  local what=$1 wanted=$2 got
  shift 2
  got=$("$score" "$@" | tr '\t\n' ' ;')
  if [ "$got" = "$wanted" ]; then return; fi
  echo "FAIL $what: $got instead of $wanted"
  failed=1
}
printf '1 |A x\n-1 |A x\n1 |A x\n-1 |A x\n' >"$work/labels"
printf '.9\n.9\n.2\n.1\n' >"$work/predictions"
# Of the four pairs one is a tie, two are right. -(ln .9 + ln .1 + ln .2 + ln .9) / 4 = 1.03069
expect "a tie" "1.03069 0.6250 4;" "$work/labels" "$work/predictions"
expect "two windows" "1.20397 0.5000 2;0.85740 1.0000 4;" --window 2 "$work/labels" "$work/predictions"
expect "windows that overlap" "1.33913 0.2500 3;1.33913 0.5000 4;" --window 3 --step 1 "$work/labels" "$work/predictions"
expect "a part of a window" "1.33913 0.5000 4;" --window 3 "$work/labels" "$work/predictions"
expect "without the first" "0.85740 1.0000 2;" "$work/labels" "$work/predictions" 2
expect "one class" "0.10536 - 1;" --window 1 "$work/labels" "$work/predictions" 3
if "$score" --window 5 "$work/labels" "$work/predictions" 2>"$work/said"; then
  echo "FAIL: a window of more rows than there are"
  failed=1
fi

zstd -dcq "$here/../datasets/sample/test.vw.zst" >"$work/labels"
"$leveret" train -d "$work/labels" --quiet -p "$work/predictions" --metrics "$work/metrics" --window 1000
sed -E 's/.*"logloss": *([0-9.]+).*"auc": *([0-9.]+).*/\1 \2/' "$work/metrics" >"$work/theirs"
"$score" --window 1000 "$work/labels" "$work/predictions" | paste -d ' ' "$work/theirs" - | awk '
  function apart(a, b) { return a - b > .0002 || b - a > .0002 }
  apart($1, $3) || apart($2, $4) { print "FAIL window " NR ": " $0; wrong = 1 }
  END { if (NR != 4) print "FAIL: " NR " windows"; exit wrong || NR != 4 }' || failed=1
exit $failed
