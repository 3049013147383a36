#!/bin/sh
# leveret-synth: the same options give the same bytes, a part of the stream is the stream's part,
# the truth file scores as the summary says, and misuse exits 2.
set -eu
synth=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }

"$synth" --rows 3000 --truth "$dir/truth" >"$dir/a" 2>"$dir/summary"
"$synth" --rows 3000 --quiet >"$dir/b" 2>"$dir/silence"
cmp "$dir/a" "$dir/b" || fail "two runs differ"
[ ! -s "$dir/silence" ] || fail "--quiet is not quiet"
[ "$(wc -l <"$dir/a")" = 3000 ] || fail "row count"
"$synth" --rows 3000 --seed 2 --quiet >"$dir/other"
! cmp -s "$dir/a" "$dir/other" || fail "--seed changes nothing"
"$synth" --first 2000 --rows 1000 --quiet >"$dir/tail"
tail -n 1000 "$dir/a" | cmp - "$dir/tail" || fail "--first is not the same stream"

# The bytes are promised to be the same on every platform, and what no option asks for to stay away.
golden=$("$synth" --rows 2000 --drift 100 --numeric-as both --quiet | cksum)
[ "$golden" = "2228172870 960901" ] || fail "golden checksum: $golden"
golden=$("$synth" --rows 2000 --truth "$dir/golden" --quiet | cksum; cksum <"$dir/golden")
[ "$(echo "$golden" | xargs)" = "1766364990 746388 1820229427 18000" ] || fail "golden checksum without drift: $golden"

# The truth file: one probability a line, whose logloss is what the summary claims.
paste -d' ' "$dir/truth" "$dir/a" | awk -v claim="$(sed 's/.*logloss \([0-9.]*\),.*/\1/' "$dir/summary")" '
  { p = $1; if (p < 0 || p > 1) exit 3; n++; positives += $2 == 1; sum += p
    loss -= log($2 == 1 ? p : 1 - p) }
  END { if (n != 3000) exit 4
        if (loss / n - claim > .0005 || claim - loss / n > .0005) exit 5
        if (sum / n < .22 || sum / n > .28 || positives / n < .22 || positives / n > .28) exit 6 }' ||
  fail "truth file: awk exit $?"

# Shapes of the other formats.
"$synth" --rows 500 --format criteo --quiet |
  awk -F'\t' 'NF != 40 || $1 !~ /^[01]$/ || $2 !~ /^[0-9]*$/ || $40 !~ /^[0-9a-f]*$/ || (length($40) != 8 && $40 != "") { exit 1 }' ||
  fail "--format criteo"
"$synth" --rows 500 --format csv --fields 5 --numeric 2 --quiet >"$dir/csv"
[ "$(head -n 1 "$dir/csv")" = "label,I1,I2,C1,C2,C3" ] || fail "csv header"
awk -F, 'NF != 6 { exit 1 }' "$dir/csv" || fail "csv columns"
for fields in 2 200; do
  "$synth" --rows 300 --fields $fields --quiet >"$dir/wide"
  [ "$(wc -l <"$dir/wide")" = 300 ] || fail "--fields $fields"
done
[ "$("$synth" --rows 5000 --fields 2 --numeric 0 --vocabulary 30 --quiet |
  grep -o '|[ab] [0-9a-f]*' | sort -u | wc -l)" = 32 ] || fail "--vocabulary"
"$synth" --rows 20000 --base-rate .01 --quiet | awk '$1 == 1 { p++ } END { exit !(p > 140 && p < 260) }' ||
  fail "--base-rate"
[ -z "$("$synth" --rows 0 --quiet)" ] || fail "--rows 0"

for bad in "--rows x" "--rows -1" "--fields 1" "--fields 201" "--fields 5 --numeric 6" \
  "--base-rate 0" "--base-rate nan" "--drift -1" "--format arff" "--format criteo --fields 20" "--vocabulary 1" \
  "--format csv --numeric-as value" "--nonsense"; do
  code=0
  # shellcheck disable=SC2086 # the words of each case are several arguments
  "$synth" $bad >"$dir/out" 2>"$dir/err" || code=$?
  [ $code = 2 ] || fail "$bad: exit $code"
  [ ! -s "$dir/out" ] || fail "$bad: wrote rows"
  [ -s "$dir/err" ] || fail "$bad: no message"
done
code=0
"$synth" --rows 5 --truth "$dir/no/such" >/dev/null 2>"$dir/err" || code=$?
[ $code = 1 ] && grep -q "$dir/no/such" "$dir/err" || fail "--truth in a missing folder"

# Rows and probabilities do not go to one file, by whatever name.
echo kept >"$dir/one"
ln "$dir/one" "$dir/hard"
ln -s one "$dir/soft"
for name in "$dir/one" "$dir/hard" "$dir/soft" /dev/stdout; do
  code=0
  "$synth" --rows 5 --truth "$name" >>"$dir/one" 2>"$dir/err" || code=$?
  [ $code = 2 ] && grep -q "is where the rows go" "$dir/err" || fail "--truth $name: exit $code"
done
[ "$(cat "$dir/one")" = kept ] || fail "--truth wrote to standard output's file"
"$synth" --rows 5 --truth /dev/null >/dev/null 2>&1 || fail "--truth /dev/null"
if [ -w /dev/full ]; then
  code=0
  "$synth" --rows 5 >/dev/full 2>"$dir/err" || code=$?
  [ $code = 1 ] && grep -q "stdout" "$dir/err" || fail "full disk"
fi
"$synth" --help >"$dir/help"
grep -q -- --base-rate "$dir/help" || fail "--help"
echo ok
