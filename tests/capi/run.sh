#!/usr/bin/env bash
# What libleveret says is what `leveret predict` says; its errors, its threads, its symbols.
#
#   tests/capi/run.sh scores|cut|widths|errors|replace|patch|watch|files|limit|symbols LEVERET FOLDER LIBRARY
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
32 bits|--ffm_precision 32 --ffm_k 5 --admit 1
hash all|--hash all --hash_seed 3
declared fields|--field a,b --field A,c --field never --field a
KINDS
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
  cp data kept
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
    cmp kept data
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
