#!/usr/bin/env bash
# What libleveret says is what `leveret predict` says, and what it learns, what `leveret train` does; its
# errors, its threads, its symbols. PART is a function below.
#
#   tests/capi/run.sh PART LEVERET FOLDER LIBRARY
#
# FOLDER has the C programs of this folder, built.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
leveret=$2 programs=$3 library=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
rows() { zstd -dcq "$here/../../datasets/sample/$1.vw.zst" | sed -n "$2,$3p"; }

scores() {
  rows train 1 1500 >data
  # Values, several features in a namespace, one that comes twice, and strangers.
  rows test 1 300 | awk '{ print }
    NR % 3 == 0 { print $0 " |A b1:0.5 |a x:2 y:-3 |new z |c" }' >lines
  while IFS='|' read -r name options; do
    # shellcheck disable=SC2086 # several words
    "$leveret" train --quiet $options -f model.lvt data 2>/dev/null
    "$leveret" predict -i model.lvt lines >expected
    for context in '' ABCDEF cab; do
      "$programs/capi_scores" model.lvt lines $context >got
      cmp got expected
    done
    echo "ok   $name"
  done <<'KINDS'
default|
linear|--ffm_k 0
one head|--heads one --hidden none
hashed|-b 12
interactions|-q AB -q aA
32 bits|--row_bits 32 --ffm_k 5 --admit 1
12 bits|--row_bits 12 --embedding_dim 4 --tower fwfm
4 bits|--row_bits 4 --rounding nearest
hash all|--hash all --hash_seed 3
declared fields|--field a,b --field A,c --field never --field a
KINDS
}

# Raw rows say what `leveret predict` says of them; with a context, nearly so.
raw_rows() {
  awk 'BEGIN { for (i = 0; i < 400; ++i)
    printf "{\"label\": %d, \"age\": %s, \"city\": \"c %d\", \"tags\": [\"t%d\", \"u\"]}\n", i % 3 == 0,
           (i % 11 ? i % 40 : "null"), i % 7, i % 5 }' >log.jsonl
  "$leveret" train --quiet -f model.lvt log.jsonl
  "$leveret" train --quiet -f text.lvt <(rows train 1 200)
  "$leveret" predict --quiet -i model.lvt log.jsonl >expected
  "$programs/capi_rows" model.lvt text.lvt log.jsonl >got
  cmp got expected
  test "$(sort -u got | wc -l)" -gt 20
}

# Lines whose namespaces are cut and lie anywhere say what whole lines say: text, arrays, contexts.
cut() {
  rows train 1 1500 >data
  # Each namespace with a second feature, behind the first or in a piece of its own.
  rows test 1 200 | awk 'BEGIN { srand(5) } {
    whole = $1; first = second = ""
    for (i = 2; i < NF; i += 2) {
      whole = whole " " $i " " $(i + 1) " " $(i + 1) "x:0.5"
      a = " " $i " " $(i + 1); b = " " $i " " $(i + 1) "x:0.5"
      if (rand() < .5) first = first a; else first = a first
      if (rand() < .5) second = second b; else second = b second
    }
    print whole >"whole"; print $1 first " |empty" second >"cut" }'
  while read -r options; do
    # shellcheck disable=SC2086 # several words
    "$leveret" train --quiet $options -f model.lvt data 2>/dev/null
    "$leveret" predict -i model.lvt whole >expected
    for context in '' ABCDEF cab; do
      "$programs/capi_scores" model.lvt cut $context | paste - expected |
        awk '{ d = $1 - $2; if (d > .0000011 || d < -.0000011) { print "line " NR ": " $0; exit 1 } }'
    done
    echo "ok   $options"
  done <<'KINDS'
--admit 0
--ffm_k 0
--heads one --hidden none
-b 12
--max_fields 5
--field a,b --field A,c --field never --field a
KINDS
}

# 1,000 lines by a training file and by exports of every width, plain and as requests.
widths() {
  rows train 1 3000 >data
  "$leveret" train --quiet -f model.lvt data
  rows test 1 1000 >lines
  for bits in 32 16 8 4; do
    "$leveret" export -i model.lvt -o export.lvt --bits $bits
    "$leveret" predict -i export.lvt lines >expected
    for context in '' ABCDEF; do
      "$programs/capi_scores" export.lvt lines $context >got
      cmp got expected
    done
    echo "ok   $bits bits"
  done
}

errors() {
  printf '1 |a x |b y\n-1 |a z |b y\n' >data
  for i in $(seq 5); do cat data data >more && mv more data; done
  "$leveret" train --quiet --admit 1 --field a --field b --field never -f model.lvt data 2>/dev/null
  : >empty
  head -c 5000 "$here/run.sh" >text
  head -c 3000 model.lvt >short
  { head -c 2000 model.lvt && printf x && tail -c +2002 model.lvt; } >changed
  mkdir folder
  "$programs/capi_errors" model.lvt 3 nowhere folder empty text short changed
}

replace() {
  rows train 1 600 >data
  "$leveret" train --quiet -f one.lvt data
  "$leveret" train --quiet --seed 5 --field a,b --field A -f two.lvt data 2>/dev/null
  rows test 1 40 | sed 's/^[-1]* //' >lines
  "$programs/capi_replace" one.lvt two.lvt lines A 30
}

same_model() { "$here/../cli/bin/same_model" "$@"; }

# make_chain OPTIONS...: what capi_patch wants, of exports with these options, or of models
make_chain() {
  rm -rf folder -- *.lvt *.patch
  rows train 1 600 >data
  "$leveret" train --quiet -f t0.lvt data 2>/dev/null
  for i in 1 2; do
    rows train $((500 + 100 * i)) $((600 + 100 * i)) |
      "$leveret" train --quiet -i t$((i - 1)).lvt -f t$i.lvt
  done
  for i in 0 1 2; do
    if [ $# -eq 0 ]; then mv t$i.lvt $i.lvt; else "$leveret" export -i t$i.lvt -o $i.lvt "$@"; fi
  done
  "$leveret" train --quiet --ffm_k 2 -f spare.lvt data 2>/dev/null
  "$leveret" train --quiet --again -i spare.lvt -f stranger.lvt data
  "$leveret" diff 0.lvt 1.lvt -o 1.patch
  "$leveret" diff 1.lvt 2.lvt -o 2.patch
  "$leveret" diff --bytes 0.lvt 1.lvt -o bytes.patch
  "$leveret" diff spare.lvt stranger.lvt -o strange.patch
  head -c -1 2.patch >cut.patch
  half=$(($(stat -c %s 2.patch) / 2))
  { head -c $half 2.patch && tail -c +$((half + 1)) 2.patch | tr '\000-\377' '\001-\377\000'; } >changed.patch
  cp 0.lvt live.lvt
  cp 0.lvt over.lvt
  cp 2.lvt other.lvt
  cp 0.lvt kept # of the kind that is saved
  mkdir folder
}

patch() {
  rows test 1 40 | sed 's/^[-1]* //' >lines
  export TMPDIR=$work/temporary
  mkdir "$TMPDIR"
  for options in "" "--bits 8"; do
    # shellcheck disable=SC2086 # several words
    make_chain $options
    "$programs/capi_patch" lines A 4
    same_model saved.lvt 2.lvt
    same_model live.lvt 2.lvt
    cmp kept 0.lvt
    # Nothing is left behind: neither files between two patches, nor what was refused.
    [ -z "$(ls -A "$TMPDIR")" ]
    ls -A | grep -E 'leveret-tmp|^new$' && exit 1
    echo "ok   ${options:-training files}"
  done
}

watch() {
  rows test 1 40 | sed 's/^[-1]* //' >lines
  export TMPDIR=$work/temporary
  mkdir "$TMPDIR"
  make_chain --bits 8
  for step in "-i 0.lvt" "-i 1.lvt" "--rollback 1"; do
    # shellcheck disable=SC2086 # several words
    "$leveret" publish published $step 2>/dev/null
  done
  # Step 1 is 0.lvt, whose predictions are known, too.
  cmp published/1.lvt 0.lvt
  "$programs/capi_watch" lines A 31
  [ -z "$(ls -A "$TMPDIR")" ]
}

files() {
  export TMPDIR=$work/temporary
  mkdir "$TMPDIR"
  make_chain --bits 8
  "$leveret" diff 1.lvt 0.lvt -o back.patch
  sha256sum [0-9].lvt *.patch kept >sums
  "$programs/capi_files" 200
  sha256sum --quiet -c sums
  cmp saved.lvt 2.lvt
  cmp long.lvt 1.lvt
  ls -A | grep leveret-tmp && exit 1
  return 0
}

limit() {
  export TMPDIR=$work/temporary
  mkdir "$TMPDIR"
  make_chain
  "$programs/capi_limit" 0.lvt 1.patch
  same_model saved.lvt 1.lvt
  [ -z "$(ls -A "$TMPDIR")" ]
  ! ls -A | grep leveret-tmp
}

# train_as OPTIONS...: expected and expected.lvt of the lines of data, told on standard error
train_as() { "$leveret" train "$@" -p expected -f expected.lvt data; }

# What a learner saves is what the program saves, however the lines come; what it predicts, too.
learn() {
  # Values, a feature that comes twice, lines without a label, and namespaces that come later.
  rows train 1 800 | awk '{ $1 = $1 (NR % 5 ? "" : " " 0.5 + NR % 3); print }
    NR % 50 == 0 { print $0 " |A b1:0.5 |late x:2 y:-3 |c"; sub(/^[^|]*/, ""); print }' >data
  while IFS='|' read -r name step options; do
    # shellcheck disable=SC2086 # several words
    train_as $options 2>told
    "$programs/capi_learn" lines "$options" '' data "$step" got.lvt >got 2>got_told
    cmp got expected
    cmp got.lvt expected.lvt
    sed 1d got_told >figures  # the program counts lines without a label, too
    grep -Fxf figures told | diff - figures
    echo "ok   $name"
  done <<'KINDS'
default|97|
one call|10000|
line by line|1|--ffm_k 2 --hidden 4
linear|97|--ffm_k 0
hashed|97|-b 12 --hash all
interactions|97|-q AB -q aA --noconstant
declared fields|97|--field a,b --field A,c --field never
one head|97|--heads one --hidden none --optimizer sgd -l 0.01
batches|156|--batch_size 4 --batch_warmup 0
groups|156|--nn_batch_size 4
transforms|97|--transform new=Combine(a,b)
KINDS
}

# Lines that wait for the rest of their batch when a call ends are learned by the next one.
learn_batches() {
  rows train 1 1000 >data
  options="--batch_size 64 --batch_warmup 4"
  # shellcheck disable=SC2086 # several words
  train_as $options 2>/dev/null
  "$programs/capi_learn" lines "$options" '' data 97 got.lvt 2>/dev/null >got
  cmp got.lvt expected.lvt
  [ "$(wc -l <got)" = 1000 ]
  ! grep -q nan got
}

# Arrays say what text says; only what text it was is noted beside.
learn_arrays() {
  rows train 1 1000 | awk 'NR % 3 == 0 { print $0 " |A b1:0.5 |late x:2 y:-3"; next } { print }' >data
  for options in "" "--batch_size 4 --batch_warmup 0 -q AB"; do
    # shellcheck disable=SC2086 # several words
    train_as $options 2>/dev/null
    "$programs/capi_learn" arrays "$options" '' data 100 got.lvt >got 2>/dev/null
    cmp got expected
    same_model got.lvt expected.lvt
  done
}

# A model's file is gone on with: the program's by the library, and the other way round.
learn_resume() {
  rows train 1 600 >first
  rows train 601 1200 >data
  "$leveret" train --quiet -f first.lvt first
  train_as -i first.lvt -l 0.05 2>/dev/null
  "$programs/capi_learn" lines '' '' first 1000 begun.lvt >/dev/null 2>&1
  cmp begun.lvt first.lvt
  "$programs/capi_learn" lines '-l 0.05' begun.lvt data 1000 got.lvt >got 2>/dev/null
  cmp got expected
  cmp got.lvt expected.lvt
  "$leveret" train -i got.lvt -f again.lvt data 2>&1 | grep -q 'data: the model has learned this chunk before'
  "$programs/capi_learn" evaluate got.lvt data | sed -E 's/(\.[0-9]*[1-9])0+([,}])/\1\2/g' >got
  "$leveret" evaluate --json -i got.lvt data | sed -E 's/,"skew":(null|\{[^}]*\})//' >expected
  diff got expected
}

# A call that is ended lies between two lines, whatever the lines.
learn_stop() {
  rows train 1 2000 >data
  train_as --ffm_k 2 2>/dev/null
  "$programs/capi_learn" stop '--ffm_k 2' '' data 2000 got.lvt >got 2>/dev/null
  cmp got expected
  cmp got.lvt expected.lvt
}

# Of bad lines and blank ones the others are learned, as by the program.
learn_bad_lines() {
  rows train 1 300 | awk 'NR % 40 == 0 { print "x |a b" } NR % 70 == 0 { print "" } { print }' >data
  train_as --bad_lines skip 2>/dev/null
  "$programs/capi_learn" lines '' '' data 100 got.lvt >got 2>told
  sed 's/^$/nan/' expected | cmp - got
  cmp got.lvt expected.lvt
  grep -q '^line 40, column 1: label is not a number$' told
}

# Several threads learn each line once.
learn_threads() {
  rows train 1 3000 >data
  "$programs/capi_learn" lines '--threads 3 --ffm_k 2' '' data 1100 got.lvt >got 2>told
  [ "$(grep -c '^0\.[0-9]*$' got)" = 3000 ]
  grep -q '^examples  *3000$' told
  "$leveret" inspect --json got.lvt | grep -q '"examples":3000,'
  "$programs/capi_learn" arrays '--threads 2 --ffm_k 2' '' data 3000 got.lvt >got 2>told
  [ "$(grep -c '^0\.[0-9]*$' got)" = 3000 ]
  # A part is of some megabytes.
  for i in 1 2 3 4 5; do cat data; done >more
  "$programs/capi_learn" stop '--threads 2 --ffm_k 0' '' more 15000 got.lvt >got 2>told
  [ "$(grep -c '^0\.[0-9]*$' got)" = 15000 ]
}

learn_errors() {
  rows train 1 100 >data
  "$leveret" train --quiet -f model.lvt data
  "$leveret" export -i model.lvt -o export.lvt
  printf 'a,b\n' >fields
  mkdir folder
  "$programs/capi_learn_errors" model.lvt export.lvt folder
  [ ! -e none.lvt ]
}

# The sentences of `leveret predict`, of whole windows.
skew() {
  rows train 1 4000 >data
  "$leveret" train --quiet --ffm_k 0 -f model.lvt data
  rows test 1 2000 >lines
  [ "$("$programs/capi_skew" model.lvt lines)" = "0 of 2" ]
  sed 's/ |a / |aa /' lines >renamed
  "$programs/capi_skew" model.lvt renamed >got
  "$leveret" predict -i model.lvt renamed 2>&1 >/dev/null | sed 's/^leveret: skew: //' >expected
  [ "$(wc -l <expected)" = 2 ]
  { echo "2 of 2" && cat expected; } | diff - got
}

symbols() {
  nm -D --defined-only "$library" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort >got
  diff "$here/symbols.txt" got
  # Nothing else, of the standard library's templates either.
  ! nm -D --defined-only "$library" | grep -vE ' (T leveret_[a-z_]*@@LEVERET_1|A LEVERET_1)$'
  # What the header declares is what there is.
  grep -E '^LEVERET_API' "$here/../../include/leveret/leveret.h" | grep -oE 'leveret_[a-z_]+\(' |
    tr -d '(' | sort | diff - got
  readelf -d "$library" | grep -q 'SONAME.*\[libleveret\.so\.[0-9]*\]'
}

"$1"
