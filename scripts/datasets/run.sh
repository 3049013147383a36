#!/usr/bin/env bash
# From a public data set as downloaded to a scored model: convert, split in time, learn in one pass,
# score the part that comes later.
#
#   scripts/datasets/run.sh NAME FILE... [-- TRAIN OPTIONS]
#   NAME: criteo, avazu, kdd2012, frappe, movielens
#
# Files may be gzip or zstd (MovieLens: the zip archive, or the folder it was unpacked to). TEST_ROWS=N
# sets how many examples at the end are the test; the default suits the whole set (see
# datasets/NAME/README.md) and is a tenth where the input is shorter than twice that. Everything is kept
# in $OUT (default: run-NAME): all.vw.zst, model.lvt, metrics.jsonl.
set -euo pipefail
usage() {
  echo "usage: scripts/datasets/run.sh criteo|avazu|kdd2012|frappe|movielens FILE... [-- TRAIN OPTIONS]" >&2
  exit 2
}
[ $# -ge 2 ] || usage
name=$1
shift
case $name in
  criteo) format=(criteo) test_rows=6548660 ;; # a seventh: the last of seven days
  avazu) format=(avazu) test_rows=4218938 ;;   # 2014-10-30, the last of ten days
  kdd2012) format=(kdd2012) test_rows=2000000 ;; # as in the Fwumious Wabbit paper
  frappe) # feature numbers of its ten columns
    format=(libffm --fields
      user=0,item=957,daytime=5039,weekday=5046,isweekend=5053,homework=5055,cost=5058,weather=5060,country=5069,city=5149)
    test_rows=28860
    ;;
  movielens) test_rows=0 ;; # a tenth: the ratings given last
  *) usage ;;
esac
files=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  files+=("$1")
  shift
done
[ ${#files[@]} -gt 0 ] || usage
[ $# -eq 0 ] || shift
leveret=${LEVERET:-leveret}
out=${OUT:-run-$name}
mkdir -p "$out"

# text: the files as VW text, in the order of time
text() {
  case $name in
    movielens) "$(dirname "$0")/movielens.sh" "${files[@]}" ;;
    *) "$leveret" convert "${format[@]}" -d "${files[@]}" ;;
  esac
}
text | zstd -q -f -o "$out/all.vw.zst"
rows=$(zstd -q -dc "$out/all.vw.zst" | wc -l)
test_rows=${TEST_ROWS:-$((test_rows > 0 && rows >= 2 * test_rows ? test_rows : rows / 10))}
train_rows=$((rows - test_rows))
echo "$name: $train_rows examples to learn from, $test_rows to be scored" >&2

# head closes the pipe when it has enough, which is no failure of zstd's.
{ zstd -q -dc "$out/all.vw.zst" || true; } 2>"$out/zstd.log" | head -n "$train_rows" |
  "$leveret" train -f "$out/model.lvt" --metrics "$out/metrics.jsonl" "$@"
zstd -q -dc "$out/all.vw.zst" | tail -n "+$((train_rows + 1))" |
  "$leveret" evaluate -i "$out/model.lvt"
