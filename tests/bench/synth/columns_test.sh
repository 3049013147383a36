#!/bin/sh
# leveret-synth --columns: the same table on every platform, and the truth of its labels.
set -eu
synth=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }
"$synth" --columns --rows 20000 --truth "$dir/truth" --quiet >"$dir/rows"
got=$(cksum <"$dir/rows"; cksum <"$dir/truth")
[ "$(echo "$got" | xargs)" = "3350023055 870672 952788013 180000" ] || fail "golden checksum: $got"
[ "$(sed 1q "$dir/rows")" = clicked,age,income,dwell,device,os,country,site,ad,user ] || fail header
# A later part continues the rows.
{ "$synth" --columns --rows 500 --quiet; "$synth" --columns --rows 500 --first 500 --quiet | sed 1d; } >"$dir/parts"
sed 1001q "$dir/rows" | cmp - "$dir/parts" || fail "in two parts others"
awk -F, 'NR == 1 { next }
  NF != 10 || $1 !~ /^[01]$/ || $2 < 18 || $2 > 90 || $3 <= 0 || $4 < 0 || $4 > 600 { exit 3 }
  { clicks += $1; age += $2; dwell += $4; for (i = 5; i <= 10; ++i) if (!seen[i, $i]++) ++different[i] }
  END { n = NR - 1
        if (clicks / n < .23 || clicks / n > .27 || age / n < 53 || age / n > 55 || dwell / n < 295 || dwell / n > 305) exit 4
        if (different[5] != 3 || different[6] != 5 || different[7] != 8 || different[10] != 60) exit 5 }' \
  "$dir/rows" || fail "awk exit $?"
# Truths are those of the labels: where they are high, there are clicks.
sed 1d "$dir/rows" | paste -d, - "$dir/truth" | awk -F, '
  { bin = $NF > .5; n[bin]++; clicks[bin] += $1; sum[bin] += $NF }
  END { for (bin in n) { d = (clicks[bin] - sum[bin]) / sqrt(n[bin] * .25); if (d < -4 || d > 4) exit 6 } }' || fail "truth"
for bad in '--fields 3' '--format vw' '--drift 2' '--populations'; do
  # shellcheck disable=SC2086
  ! "$synth" --columns $bad --rows 1 --quiet >"$dir/bad" 2>&1 || fail "$bad is taken"
done
