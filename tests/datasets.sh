#!/usr/bin/env bash
# The recipes for public data sets (datasets/NAME/README.md) run from files in each set's own form to
# a scored model, and MovieLens 100K and 1M become the same text.
#
#   tests/datasets.sh LEVERET
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
LEVERET=$(realpath "$1")
export LEVERET
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

failed=0
# same WHAT EXPECTED GOT
same() {
  if ! diff -u --label expected --label "$1" <(printf '%s\n' "$2") <(printf '%s\n' "$3"); then
    echo "FAIL $1"
    failed=1
  fi
}

# recipe NAME TEST_ROWS FILE...: the last rows are scored, and all files are there
recipe() {
  local name=$1 rows=$2 got
  shift 2
  got=$(TEST_ROWS=$rows "$root/scripts/datasets/run.sh" "$name" "$@" -- --quiet 2>"$name.log") || {
    cat "$name.log"
    echo "FAIL $name"
    failed=1
    return
  }
  same "$name: scored" "examples     $rows" "$(grep examples <<<"$got")"
  grep -qE '^auc +[0-9.]+$' <<<"$got" || { echo "FAIL $name: no AUC"; failed=1; }
  local file
  for file in metrics.jsonl model.lvt; do
    [ -s "run-$name/$file" ] || { echo "FAIL $name: no $file"; failed=1; }
  done
}

# many FILE: its rows, over and over
many() { for _ in {1..20}; do awk 1 "$1"; done; }
cases=$root/tests/cli/convert
many "$cases/criteo/raw.tsv" >criteo.tsv
recipe criteo 10 criteo.tsv
{ cat "$cases/avazu/train.csv"; many "$cases/avazu/rest.csv"; sed 1d "$cases/avazu/train.csv"; } | gzip >avazu.gz
recipe avazu 4 avazu.gz
many "$cases/kdd2012/training.txt" | zstd -q >kdd.zst
recipe kdd2012 12 kdd.zst
for _ in {1..20}; do printf -- '-1 3:1 960:1 5040:1\n1 4:1 961:1 5041:1\n'; done >frappe.libfm
recipe frappe 10 frappe.libfm

mkdir 100k 1m
cat >100k/u.user <<'TXT'
1|24|M|technician|85711
2|53|F|other|94043
TXT
cat >100k/u.item <<'TXT'
7|Good, The: Bad (1966)|01-Jan-1966||http://x|0|1|0|0|1|0|0|0|0|0|0|0|0|0|0|0|0|0|1
8|unknown||||1|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0
TXT
printf '1\t7\t5\t1000003600\n2\t8\t3\t999999999\n2\t7\t4\t1000003600\n' >100k/u.data
printf '1::M::24::technician::85711\r\n2::F::53::other::94043\r\n' >1m/users.dat
printf "7::Good, The: Bad (1966)::Action|Children's|Western\r\n8::unknown::unknown\r\n" >1m/movies.dat
printf '1::7::5::1000003600\r\n2::8::3::999999999\r\n2::7::4::1000003600\r\n' >1m/ratings.dat
text='-1 |user 2 |item 8 |age 10 |gender F |occupation other |zip 94043 |genres unknown |title unknown |hour 1 |weekday 0
1 |user 1 |item 7 |age 4 |gender M |occupation technician |zip 85711 |year 1966 |genres Action Children'"'"'s Western |title good, the bad |hour 2 |weekday 0
1 |user 2 |item 7 |age 10 |gender F |occupation other |zip 94043 |year 1966 |genres Action Children'"'"'s Western |title good, the bad |hour 2 |weekday 0'
for set in 100k 1m; do
  same "MovieLens $set" "$text" "$("$root/scripts/datasets/movielens.sh" $set)"
done
same "MovieLens: no such set" "movielens: . holds neither u.data (100K) nor ratings.dat (1M)" \
  "$("$root/scripts/datasets/movielens.sh" . 2>&1 || true)"
for i in {1..20}; do printf '1\t7\t5\t%d\n2\t8\t3\t%d\n' $((2 * i)) $((2 * i + 1)); done >100k/u.data
recipe movielens 10 100k
[ $failed = 0 ] && echo "recipes: ok"
exit $failed
