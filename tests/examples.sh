#!/usr/bin/env bash
# The examples score 1,000 candidates of 50 requests, of a training file and of exports of every width,
# as `leveret predict` does, in all digits that are printed; and learn the file of `leveret train`.
#
#   tests/examples.sh LEVERET LIBRARY c|python|java...
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/.." && pwd)
leveret=$1 library=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH="${library%/*}:${LD_LIBRARY_PATH-}"
export LEVERET_LIBRARY=$library PYTHONPATH=$source_dir/python PYTHONDONTWRITEBYTECODE=1
jar=/usr/share/java/jna.jar

rows() { zstd -dcq "$source_dir/datasets/sample/$1.vw.zst" | sed -n "$2,$3p"; }

for language; do
  case $language in
    c)
      cc -std=c99 -pedantic -Wall -Wextra -Werror -I "$source_dir/include" \
        "$source_dir/examples/score.c" "$library" -o "$work/score"
      ;;
    java) javac -Xlint:all -Werror -cp $jar -d "$work" "$source_dir/examples/ScoreJna.java" ;;
  esac
done
score() { # score LANGUAGE
  case $1 in
    c) "$work/score" "$work/model" A,B,C,D,E,F ;;
    python) /usr/bin/python3 "$source_dir/examples/score.py" "$work/model" A,B,C,D,E,F ;;
    java) java -cp "$jar:$work" ScoreJna "$work/model" A,B,C,D,E,F ;;
  esac
}

# The context of the first of 21 rows, what the others have beside theirs.
rows train 1 2000 | "$leveret" train --quiet -f "$work/trained"
rows train 2001 3050 | awk '
  function part(context,  i, text) {
    for (i = 2; i < NF; i += 2) if (($i ~ /[A-F]/) == context) text = text " " $i " " $(i + 1)
    return text
  }
  NR % 21 == 1 { if (NR > 1) print ""; print part(1); next }
  { print part(0) }' >"$work/requests"
[ "$(grep -c ' |[a-z] ' "$work/requests")" = 1000 ]

failed=0
for width in trained 32 16 8 4; do
  rm -f "$work/model"
  if [ $width = trained ]; then cp "$work/trained" "$work/model"; fi
  [ $width = trained ] || "$leveret" export -i "$work/trained" -o "$work/model" --bits $width
  "$leveret" predict --quiet --context A,B,C,D,E,F --context_lines -i "$work/model" \
    "$work/requests" >"$work/expected"
  [ "$(grep -c . "$work/expected")" = 1000 ]
  for language; do
    if score "$language" <"$work/requests" | cmp - "$work/expected"; then
      echo "ok   $language, $width"
    else
      echo "FAIL $language, $width"
      failed=1
    fi
  done
done

for language; do
  [ "$language" = python ] || continue
  rows train 1 2000 >"$work/data"
  /usr/bin/python3 "$source_dir/examples/learn.py" "$work/learned" <"$work/data" >"$work/said"
  if cmp "$work/learned" "$work/trained" && grep -q '^2000 lines, logloss 0\.' "$work/said"; then
    echo "ok   python learns"
  else
    echo "FAIL python learns"
    failed=1
  fi
done
exit $failed
