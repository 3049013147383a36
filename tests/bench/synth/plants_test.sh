#!/bin/sh
# leveret-synth --order, --numbers, --populations: the rows stay, and each plant is in the truth, where it can be
# seen, and nowhere else.
set -eu
synth=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }
# make NAME OPTION...: rows without labels, and truths
make() {
  name=$1
  shift
  "$synth" --rows 20000 --vocabulary 50 --fields 9 --truth "$dir/$name.truth" --quiet "$@" >"$dir/$name"
  cut -d' ' -f2- "$dir/$name" >"$dir/$name.rows"
}
# The bytes are promised to be the same on every platform.
golden() {
  wanted=$1
  shift
  got=$("$synth" --rows 2000 --truth "$dir/golden" --quiet "$@" | cksum; cksum <"$dir/golden")
  [ "$(echo "$got" | xargs)" = "$wanted" ] || fail "golden checksum of $*: $got"
}

make plain
make order --order 3
make two --populations
make numbers --numbers 4
for name in order two; do
  cmp "$dir/plain.rows" "$dir/$name.rows" || fail "$name: other rows"
  ! cmp -s "$dir/plain.truth" "$dir/$name.truth" || fail "$name: the same truth"
done
sed 's/ |N1 .*//' "$dir/numbers.rows" | cmp - "$dir/plain.rows" || fail "numbers: other rows"

# Each row has the numbers, with mean 0 and scales from 1 to 1000.
awk '{ n = 0
       for (i = 2; i <= NF; ++i) if ($(i - 1) ~ /^\|N[1-4]$/ && $i ~ /^:-?[0-9]+\.[0-9][0-9][0-9]$/) {
         split($i, part, ":"); ++n; sum[n] += part[2]; squares[n] += part[2] * part[2] }
       if (n != 4) exit 3 }
     END { for (i = 1; i <= 4; ++i) {
             mean = sum[i] / NR; deviation = sqrt(squares[i] / NR - mean * mean)
             if (deviation < .9 || deviation > 1100 || mean > .03 * deviation || mean < -.03 * deviation) exit 4 } }' \
  "$dir/numbers.rows" || fail "numbers: awk exit $?"
"$synth" --rows 10 --format csv --numbers 2 --fields 4 --quiet >"$dir/csv"
[ "$(head -n 1 "$dir/csv" | cut -d, -f6-)" = N1,N2 ] || fail "csv header"
awk -F, 'NF != 7 || (NR > 1 && $7 !~ /^-?[0-9]+\.[0-9][0-9][0-9]$/) { exit 1 }' "$dir/csv" || fail "csv columns"

# The values of one field tell the population. In the first one the log odds are nearly those without populations, but
# for a constant; in the second one they are others. So the change of the log odds varies little among the rows with
# some values of that field, which have 15 to 85 % of the rows, and much with those of any other field.
for name in one both; do
  populations=$([ $name = both ] && echo --populations || true)
  "$synth" --rows 30000 --fields 3 --numeric 0 --vocabulary 20 --quiet --truth "$dir/$name.truth" $populations >"$dir/$name"
done
paste -d' ' "$dir/one" "$dir/one.truth" "$dir/both.truth" | awk '{
    change = log($NF / (1 - $NF)) - log($(NF - 1) / (1 - $(NF - 1)))
    for (i = 2; i < NF - 1; i += 2) {
      key = $i " " $(i + 1); field[key] = $i
      ++n[key]; sum[key] += change; squares[key] += change * change } }
  END { for (key in n) {
      mean = sum[key] / n[key]; still[field[key]] += (squares[key] / n[key] - mean * mean < .3) * n[key]; rows[field[key]] += n[key] }
    for (f in rows) { share = still[f] / rows[f]; some += share > .15 && share < .85; none += share < .02
      printf "%s %.3f; ", f, share }
    exit !(some == 1 && none == 2) }' >"$dir/shares" || fail "populations: shares of rows that change alike: $(cat "$dir/shares")"

for bad in "--order 1" "--order 4" "--order 3 --fields 2" "--numbers -1" "--numbers 1001" "--numbers 3 --format criteo" \
  "--populations --fields 3 --numeric 3"; do
  code=0
  # shellcheck disable=SC2086 # the words of each case are several arguments
  "$synth" $bad >"$dir/out" 2>"$dir/err" || code=$?
  [ $code = 2 ] && [ ! -s "$dir/out" ] && [ -s "$dir/err" ] || fail "$bad: exit $code"
done
golden "2880310094 746436 1813181300 18000" --order 3
golden "4053870579 872400 1989920350 18000" --numbers 5
golden "2904190387 799805 3194986480 18000" --populations --numbers 2 --order 3
echo ok
