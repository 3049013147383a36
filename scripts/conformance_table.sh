#!/usr/bin/env bash
# The table in tests/conformance/README.md says, line by line, what Vowpal Wabbit and Leveret make of a
# text. This runs every line of it and compares with what stands there.
#
#   scripts/conformance_table.sh --leveret PATH [--vw PATH] [--update]
#
# Without --vw (or the environment's LEVERET_VW) only Leveret's column is looked at. --update writes
# what the programs say now into the table; read the difference before you commit it.
#
# A row is `| construct | options | lines | VW | Leveret |`. In the lines | is \|, and printf's %b
# escapes hold; a newline is put at the end unless there is a \c. What the programs made of them is
# told as
#   label 1, importance 2, tag t, p 0.62: n^a:55346 n^b:233442:2
# with what is usual left out: importance 1, no tag, a prediction of one half, the value 1. The index
# is the hash at 18 bits. "Not learned" is an example that is predicted and counts for nothing. Several examples are separated by ;, and then only their features stand
# there. A NUL is shown as ?.
set -euo pipefail
vw=${LEVERET_VW-} leveret='' update=no
while [ $# -gt 0 ]; do
  case $1 in
    --vw) vw=$2 && shift ;;
    --leveret) leveret=$2 && shift ;;
    --update) update=yes ;;
    *)
      echo "usage: scripts/conformance_table.sh --leveret PATH [--vw PATH] [--update]" >&2
      exit 2
      ;;
  esac
  shift
done
for program in "$leveret" ${vw:+"$vw"}; do
  if [ ! -x "$program" ]; then
    echo "conformance_table: --leveret and --vw must name programs" >&2
    exit 2
  fi
done
leveret=$(realpath "$leveret")
[ -z "$vw" ] || vw=$(realpath "$vw")
table=$(realpath "$(dirname "$0")/../tests/conformance/README.md")
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# told FEATURES PROGRESS PREDICTIONS: the outcome, from an audit's lines of features (one per example),
# the columns of progress, and the predictions with their tags
told() {
  awk -F '\t' -v progress="$2" -v predictions="$3" '
    # A value of 1 is left out.
    function shorten(text) {
      sub(/:1$/, "", text)
      return text
    }
    function sorted(  i, j, t, text) {
      gsub(/\r/, "\\r")
      for (i = 2; i <= NF; ++i) f[i] = shorten($i)
      for (i = 3; i <= NF; ++i) {
        t = f[i]
        for (j = i; j > 2 && f[j - 1] > t; --j) f[j] = f[j - 1]
        f[j] = t
      }
      for (i = 2; i <= NF; ++i) text = text (i > 2 ? " " : "") f[i]
      return text == "" ? "no features" : text
    }
    { features[NR] = sorted() }
    END {
      if (NR == 0) { print "no example"; exit }
      if (NR > 1) { for (i = 1; i <= NR; ++i) printf "%s%s", (i > 1 ? "; " : ""), features[i]; print ""; exit }
      label = "not learned"
      while ((getline line < progress) > 0) {
        split(line, column, " ")
        label = column[5] == "unknown" ? "no label" : "label " (column[5] + 0)
        if (column[5] != "unknown") weight = column[4] == "inf" ? "inf" : column[4] + 0
      }
      getline line < predictions
      tag = line; sub(/^[^ ]* ?/, "", tag); gsub(/\t/, "\\t", tag)
      p = substr(line, 1, 4)
      print label (weight != "" && weight != 1 ? ", importance " weight : "") \
            (tag != "" ? ", tag " tag : "") (p != "0.50" ? ", p " p : "") ": " features[1]
    }' "$1"
}

# by_leveret OPTIONS...: what it makes of the file `lines`
by_leveret() {
  "$leveret" audit -b 18 --noconstant --bad_lines skip "$@" lines 2>errors | tr '\000' '?' >features || true
  "$leveret" train -b 18 --noconstant --bad_lines skip --heads one --ffm_k 0 -P 1 -p - \
    "$@" lines 2>&1 >predictions | awk '$3 ~ /^[0-9]+$/ && $4 ~ /^[0-9.]+$/ && NF > 6' >progress || true
  sed -nE 's/^leveret: lines:[0-9]+:([0-9]+): (.*)/bad line: \2 (column \1)/p' errors >bad
  if [ ! -s features ] && [ -s bad ]; then
    paste -s -d ';' bad
  else
    told features progress predictions
  fi
}

# by_vw OPTIONS...: the same
by_vw() {
  timeout 20 "$vw" --sgd -b 18 --noconstant --audit -P 1 --loss_function logistic --link logistic \
    -p predictions "$@" -d lines 2>errors | tr '\000' '?' >out || true
  # After each prediction the line of its features, without their weights; other lines are talk.
  awk 'after { print; after = 0 } /^-?[0-9.]+( |$)/ { after = 1 }' out |
    sed -E 's/:[^:\t]*(\t|$)/\1/g' >features
  awk '$3 ~ /^[0-9]+$/ && $4 ~ /^([0-9.]+|inf)$/ && NF > 6' errors >progress
  echo "$(told features progress predictions)$(grep -qE '^\[(warning|error)\]' out errors && echo ' (warns)')"
}

# cell TEXT: as code, with | written \|
cell() {
  printf '`%s`' "${1//|/\\|}"
}

failed=0 rows=0
while IFS= read -r row; do
  case $row in
    '| Construct'* | '|---'* | '') ;;
    '|'*)
      # The bars of the row itself, not those in its cells, become a byte that is in no cell.
      IFS=$'\x1f' read -r _ construct options lines theirs ours _ < <(
        sed -e 's/\\|/\x1e/g' -e 's/ *| */\x1f/g' -e 's/\x1e/|/g' <<<"$row")
      options=${options//\`/} lines=${lines#\`} lines=${lines%\`}
      printf '%b\n' "$lines" >lines
      # shellcheck disable=SC2086 # the options are several words
      got_ours=$(by_leveret $options) got_theirs=${theirs//\`/}
      # shellcheck disable=SC2086
      [ -z "$vw" ] || got_theirs=$(by_vw $options)
      rows=$((rows + 1))
      if [ $update = yes ]; then
        row="| $construct | ${options:+$(cell "$options")} | $(cell "$lines") | $(cell "$got_theirs") | $(cell "$got_ours") |"
      elif [ "$(cell "$got_ours")" != "${ours//|/\\|}" ] || [ "$(cell "$got_theirs")" != "${theirs//|/\\|}" ]; then
        printf 'FAIL %s: %s\n  VW      %s\n  table   %s\n  Leveret %s\n  table   %s\n' "$construct" "$lines" \
          "$got_theirs" "$theirs" "$got_ours" "$ours"
        failed=$((failed + 1))
      fi
      ;;
  esac
  printf '%s\n' "$row" >>updated
done <"$table"

if [ $update = yes ]; then
  cp updated "$table"
elif [ "$rows" -lt 50 ]; then
  echo "conformance_table: only $rows rows were found in $table"
  exit 1
fi
echo "$((rows - failed)) of $rows rows are as the table says$([ -n "$vw" ] || echo ', Leveret only')"
[ $failed = 0 ]
