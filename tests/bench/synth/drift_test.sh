#!/bin/sh
# leveret-synth --drift_kind: what is true of the same features, before and after each change.
#
# Rows of four fields with small vocabularies: the same row comes again and again. The correlation of
# its true log odds in two windows of 1,000 rows is 1 where the world stood still, and small where its
# weights were drawn anew (the network's part stays). No learner takes part.
set -eu
synth=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }
world="--fields 4 --numeric 0 --vocabulary 60 --quiet"

# stream OPTIONS: truth and features, "probability |a … |b …", of 60,000 rows; a change every 10,000
stream() {
  # shellcheck disable=SC2086 # options are words
  "$synth" $world --rows 60000 --truth "$dir/truth" "$@" >"$dir/rows"
  cut -d ' ' -f 2- "$dir/rows" | paste -d ' ' "$dir/truth" - >"$dir/stream"
}

# same FIRST SECOND: correlation of the log odds of what comes in both windows
same() {
  awk -v a="$1" -v b="$2" '
    function log_odds(p) { return log((p + 1e-6) / (1 - p + 1e-6)) }
    NR > a && NR <= a + 1000 { p = $1; $1 = ""; before[$0] += log_odds(p); ++n[$0] }
    NR > b && NR <= b + 1000 { p = $1; $1 = ""; after[$0] += log_odds(p); ++m[$0] }
    END {
      for (f in after) if (f in before) {
        x = before[f] / n[f]; y = after[f] / m[f]
        ++k; sx += x; sy += y; sxx += x * x; syy += y * y; sxy += x * y
      }
      if (k < 20) exit 1
      printf "%.4f\n", (sxy - sx * sy / k) / sqrt((sxx - sx * sx / k) * (syy - sy * sy / k))
    }' "$dir/stream"
}

# check WHAT FIRST SECOND LOW HIGH
check() {
  r=$("${statistic:-same}" "$2" "$3") || fail "$1: too few rows come in both windows"
  awk -v r="$r" -v low="$4" -v high="$5" 'BEGIN { exit !(r >= low && r <= high) }' ||
    fail "$1: rows $2 and $3 correlate by $r, not by $4 to $5"
  echo "$1: $2 and $3: $r"
}

# same_pairs FIRST SECOND: of two fields, the second with two values: the correlation of how the first
# field's values move the log odds between those two. Linear weights cancel out.
same_pairs() {
  awk -v a="$1" -v b="$2" '
    function log_odds(p) { return log((p + 1e-6) / (1 - p + 1e-6)) }
    NF != 5 { next }
    !($5 in column) { column[$5] = ++columns }
    NR > a && NR <= a + 1000 { before[column[$5], $3] = log_odds($1) }
    NR > b && NR <= b + 1000 { after[column[$5], $3] = log_odds($1); other[$3] }
    END {
      for (v in other) if ((1, v) in before && (2, v) in before && (1, v) in after && (2, v) in after) {
        x = before[1, v] - before[2, v]; y = after[1, v] - after[2, v]
        ++k; sx += x; sy += y; sxx += x * x; syy += y * y; sxy += x * y
      }
      if (k < 20 || columns != 2) exit 1
      printf "%.4f\n", (sxy - sx * sy / k) / sqrt((sxx - sx * sx / k) * (syy - sy * sy / k))
    }' "$dir/stream"
}

# known FIRST SECOND: share of the second window's features that came in the first
known() {
  awk -v a="$1" -v b="$2" '
    NR > a && NR <= a + 1000 { for (i = 2; i <= NF; i += 2) seen[$i, $(i + 1)] }
    NR > b && NR <= b + 1000 { for (i = 2; i <= NF; i += 2) { ++n; k += ($i, $(i + 1)) in seen } }
    END { printf "%.4f\n", k / n }' "$dir/stream"
}
known_between() {
  share=$(known "$2" "$3")
  awk -v r="$share" -v low="$4" -v high="$5" 'BEGIN { exit !(r >= low && r <= high) }' ||
    fail "$1: of the features at $3 $share came at $2, not $4 to $5"
  echo "$1: of the features at $3, $share came at $2"
}

stream
check still 0 59000 .9999 1
known_between still 0 59000 .97 1
cp "$dir/rows" "$dir/still"
cp "$dir/truth" "$dir/still_truth"

stream --drift_kind sudden --drift 100
check sudden 0 9000 .9999 1
check sudden 9000 10000 -1 .5
check sudden 10000 19000 .9999 1
check sudden 10000 20000 -1 .5
check sudden 0 50000 -1 .5
# Only what is true changes, not the rows; and nothing before the first change.
cut -d ' ' -f 2- "$dir/rows" >"$dir/features"
cut -d ' ' -f 2- "$dir/still" | cmp - "$dir/features" || fail "sudden: other features"
head -n 10000 "$dir/still_truth" >"$dir/head"
head -n 10000 "$dir/truth" | cmp - "$dir/head" || fail "sudden: changed before its time"
! cmp -s "$dir/still_truth" "$dir/truth" || fail "sudden: the truth is as ever"

stream --drift_kind sudden --drift 100 --drift_strength .3
check "sudden, .3" 9000 10000 .5 .98
stream --drift_kind sudden --drift 100 --drift_strength 0
check "sudden, 0" 9000 10000 .9999 1

stream --drift_kind gradual --drift 100
check gradual 9000 10000 .9 .9999
check gradual 0 4500 .4 .95
check gradual 0 10000 -1 .5

stream --drift_kind recurring --drift 100
check recurring 9000 10000 -1 .5
check recurring 0 20000 .9999 1
check recurring 10000 50000 .9999 1

stream --drift_kind mixed --drift 100
check mixed 0 9000 .9999 1
check mixed 9000 10000 .9 .9999
check mixed 10000 19000 -1 .6
check mixed 20000 29000 .9999 1
check mixed 20000 40000 -1 .5

# Pairs change, too: two fields, of 2 and of 200 values.
world="--fields 2 --numeric 0 --vocabulary 200 --quiet" statistic=same_pairs
for kind in sudden gradual recurring; do
  stream --drift_kind $kind --drift 100
  check "pairs, $kind" 0 10000 -1 .7
done
check "pairs, recurring" 0 20000 .9999 1
stream --drift_kind vocabulary --drift 100 --drift_strength 0
check "pairs, still" 0 10000 .9999 1
world="--fields 4 --numeric 0 --vocabulary 60 --quiet" statistic=same

# Values come and go; what is true of one of them stays.
stream --drift_kind vocabulary --drift 100
check vocabulary 0 2000 .9999 1
known_between vocabulary 0 5000 .3 .7
known_between vocabulary 0 10000 0 .1
known_between vocabulary 50000 52000 .6 .95
stream --drift_kind vocabulary --drift 100 --drift_strength .3
known_between "vocabulary, .3" 0 10000 .5 .95

# A row depends on its number only, under drift as well.
for kind in sudden gradual recurring vocabulary mixed; do
  # shellcheck disable=SC2086
  "$synth" $world --rows 30000 --drift_kind $kind --drift 100 >"$dir/whole"
  # shellcheck disable=SC2086
  "$synth" $world --first 18000 --rows 12000 --drift_kind $kind --drift 100 >"$dir/part"
  tail -n 12000 "$dir/whole" | cmp - "$dir/part" || fail "$kind: --first is not the same stream"
done
# Its default is a change every 50,000 rows.
"$synth" --rows 300 --first 70000 --quiet --drift_kind gradual >"$dir/default"
"$synth" --rows 300 --first 70000 --quiet --drift_kind gradual --drift 20 --drift_strength 1 |
  cmp - "$dir/default" || fail "defaults"

for bad in "--drift_kind slow" "--drift_kind sudden --drift 0" "--drift_kind sudden --drift 1e-9" \
  "--drift_strength .5" "--drift 5 --drift_strength .5" "--drift_kind sudden --drift_strength 1.5" \
  "--drift_kind sudden --drift_strength nan"; do
  code=0
  # shellcheck disable=SC2086
  "$synth" $bad >"$dir/out" 2>"$dir/err" || code=$?
  [ $code = 2 ] || fail "$bad: exit $code"
  [ ! -s "$dir/out" ] || fail "$bad: wrote rows"
  [ -s "$dir/err" ] || fail "$bad: no message"
done
echo ok
