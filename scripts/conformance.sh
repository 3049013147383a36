#!/usr/bin/env bash
# Compares Leveret with Vowpal Wabbit, line by line: the features and hashes of generated lines that
# use all of the grammar, and the predictions of plain stochastic gradient descent.
#
#   scripts/conformance.sh --vw PATH --leveret PATH [--lines N] [--seed N]
#
# Without --vw the environment's LEVERET_VW names it; where that is empty too there is nothing to
# compare with, and the exit code is 77.
#
# Lines that VW repairs in silence and Leveret refuses (man leveret-text) are not generated here;
# tests/unit/text and tests/cli have those.
set -euo pipefail

vw=${LEVERET_VW-} leveret='' lines=2000 seed=1
while [ $# -gt 0 ]; do
  case $1 in
    --vw) vw=$2 ;;
    --leveret) leveret=$2 ;;
    --lines) lines=$2 ;;
    --seed) seed=$2 ;;
    *)
      echo "usage: scripts/conformance.sh --vw PATH --leveret PATH [--lines N] [--seed N]" >&2
      exit 2
      ;;
  esac
  shift 2
done
if [ -z "$vw" ]; then
  echo "conformance: no vw to compare with (--vw PATH or LEVERET_VW)"
  exit 77
fi
if [ ! -x "$vw" ] || [ ! -x "$leveret" ]; then
  echo "conformance: --vw and --leveret must name programs" >&2
  exit 2
fi
vw=$(realpath "$vw") leveret=$(realpath "$leveret")
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# generate SEED LINES KIND: lines of VW text. KIND hashes: everything the grammar has; labels: each
# line has a label, values stay near 1, so that learning does not run away.
generate() {
  awk -v seed="$1" -v lines="$2" -v kind="$3" '
    function pick(n) { return int(rand() * n) }
    function chance(p) { return rand() < p }
    function word(  n, s) {
      if (chance(.15)) return pick(1000)
      if (chance(.05)) return "00" pick(100)
      if (chance(.05)) return "18446744073709551" pick(100000)
      if (chance(.08)) return "\303\251t\303\251" pick(9)
      n = 1 + pick(chance(.1) ? 40 : 9)
      for (s = ""; n > 0; --n) s = s substr(letters, 1 + pick(length(letters)), 1)
      return s
    }
    function number(  r) {
      r = pick(9)
      if (kind == "labels") return r < 4 ? sprintf("%.3f", rand() + .5) : r < 6 ? "1." : "-.5"
      if (r == 0) return pick(100)
      if (r == 1) return "-" pick(100) "." pick(1000)
      if (r == 2) return "." (1 + pick(99))
      if (r == 3) return (1 + pick(9)) ".5e" (pick(9) - 4)
      if (r == 4) return "+" pick(50)
      if (r == 5) return (1 + pick(99)) "."
      if (r == 6) return "0"
      if (r == 7) return (1 + pick(9)) "E" (pick(5) - 2)
      return pick(1000) / 8
    }
    function space() {
      if (kind == "labels") return " "
      return chance(.1) ? "  " : chance(.06) ? "\t" : chance(.03) ? " \t " : " "
    }
    function colon() { return chance(.1) ? ":  " : ":" }
    function feature(  r) {
      r = rand()
      if (r < .55) return word()
      if (r < .75) return word() colon() number()
      if (r < .83) return colon() number()
      if (r < .97) return word() colon() value_text()
      return word() ":1"
    }
    # A text that cannot be taken for a number.
    function value_text() { return substr("bcdfghjklmpqrstvwz", 1 + pick(18), 1) word() }
    function namespace(  r) {
      r = rand()
      if (r < .12) return ""
      if (r < .65) return substr("abcdef", 1 + pick(6), 1)
      if (r < .80) return substr("abc", 1 + pick(3), 1) word()
      return pick(2) ? pick(50) : word()
    }
    function label(  s) {
      if (kind == "labels") return (chance(.3) ? "1" : "-1") (chance(.2) ? " " (1 + pick(3)) : "") " "
      s = chance(.2) ? "" : chance(.5) ? "1" : "-1"
      if (s != "" && chance(.3)) s = s " " pick(3) (chance(.3) ? ".5" : "")
      if (s != "" && s ~ / / && chance(.3)) s = s " 0.25"
      if (s != "") s = s " "
      if (chance(.2)) return s "tag" pick(99)
      if (chance(.1)) return s "\047quoted" pick(99) " "
      return s
    }
    BEGIN {
      srand(seed)
      letters = "abcdefghijklmnopqrstuvwxyzABCXYZ0123456789_-.,;/=?!@#$%&*()[]{}<>~\"\047\\+"
      for (i = 0; i < lines; ++i) {
        line = label()
        for (n = 1 + pick(5); n > 0; --n) {
          name = namespace()
          line = line "|" name (name != "" && chance(.15) ? ":" number() : "")
          for (f = pick(6); f > 0; --f) line = line space() feature()
          line = line space()
        }
        if (chance(.05)) line = line "\r"
        print line
      }
    }'
}

# features FILE: "LINE<TAB>name:index:value" for each feature of an audit, in a stable order. VW
# gathers the namespaces of a line that begin with the same byte, hence the sort.
features() {
  awk -F '\t' '
    /^\t/ { ++line; for (i = 2; i <= NF; ++i) print line "\t" $i }' "$1" |
    sed -E 's/(:[0-9]+:[^:]*):[^:]*$/\1/' | sort -t "$(printf '\t')" -k1,1n -k2,2
}

failed=0
# same_features WHAT VW_OPTIONS -- LEVERET_OPTIONS: values may differ by VW rounding (1e-5)
same_features() {
  local what=$1
  shift
  local vw_options=()
  while [ "$1" != -- ]; do
    vw_options+=("$1")
    shift
  done
  shift
  "$vw" --quiet --audit -t "${vw_options[@]}" -d "$work/lines" >"$work/vw.audit" 2>"$work/vw.err"
  # Without a model ours has no weight at the end: one is put there, to be taken off again.
  "$leveret" audit "$@" -d "$work/lines" | sed -e 's/\t/:0\t/2g' -e 's/$/:0/' -e 's/^:0$//' \
    >"$work/our.audit"
  features "$work/vw.audit" >"$work/vw.features"
  features "$work/our.audit" >"$work/our.features"
  if awk -F '\t' -v ours="$work/our.features" '
    function fail(text) { print text; bad = 1; exit 1 }
    # name:index and value, split at the last colon.
    function cut(text) { at = match(text, /:[^:]*$/); key = substr(text, 1, at - 1); value = substr(text, at + 1) + 0 }
    {
      if ((getline other < ours) <= 0) fail("line " $1 ": only VW has " $2)
      split(other, part, "\t")
      cut($2); vw_key = key; vw_value = value
      cut(part[2])
      difference = value - vw_value; if (difference < 0) difference = -difference
      size = vw_value < 0 ? -vw_value : vw_value
      if ($1 != part[1] || vw_key != key || difference > 1e-5 * (1 + size))
        fail("VW: line " $1 " " $2 "\nours: line " part[1] " " part[2])
    }
    END { if (!bad && (getline other < ours) > 0) fail("only ours has " other); exit bad }
  ' "$work/vw.features"; then
    echo "ok   $what: $(wc -l <"$work/vw.features") features of $(wc -l <"$work/lines") lines"
  else
    echo "FAIL $what"
    failed=1
  fi
}

# same_predictions WHAT OPTIONS...: progressive predictions of plain SGD, to 1e-5
same_predictions() {
  local what=$1
  shift
  "$vw" --quiet --sgd --power_t 0 --initial_t 1 -l 0.02 --loss_function logistic --link logistic \
    -b 24 "$@" -d "$work/lines" -p "$work/vw.p" 2>/dev/null
  "$leveret" train --quiet --heads one --optimizer sgd -l 0.02 --ffm_k 0 --hidden none -b 24 "$@" \
    -d "$work/lines" -p "$work/our.p"
  if paste -d ' ' "$work/vw.p" "$work/our.p" | awk '
    { d = $1 - $2; if (d < 0) d = -d; if (d > most) { most = d; at = NR } }
    NF != 2 { print "line " NR ": " $0; wrong = 1 }
    END { printf "largest difference %.6f in line %d of %d\n", most, at, NR; exit wrong || most > 1e-5 || NR == 0 }
  ' >"$work/difference"; then
    echo "ok   $what: $(cat "$work/difference")"
  else
    echo "FAIL $what: $(cat "$work/difference")"
    failed=1
  fi
}

generate "$seed" "$lines" hashes >"$work/lines"
same_features "--hash strings -b 18" -b 18 -- -b 18
same_features "--hash all" --hash all -b 22 -- --hash all -b 22
same_features "--hash_seed 7" --hash_seed 7 -b 18 -- --hash_seed 7 -b 18
same_features "--noconstant" --noconstant -b 18 -- --noconstant -b 18

generate "$((seed + 1))" "$((lines / 10))" hashes | grep -v '|[a-f][^ |:]' >"$work/lines"
same_features "-q ab" -q ab -b 20 -- -q ab -b 20
same_features "-q aa (a namespace with itself)" -q aa -b 20 -- -q aa -b 20
same_features "--interactions abc" --interactions abc -b 20 -- --interactions abc -b 20
same_features "--interactions aab" --interactions aab -b 20 -- --interactions aab -b 20

generate "$((seed + 2))" "$lines" labels | tr -d '\r' >"$work/lines"
same_predictions "SGD"
grep -v '|[a-f][^ |:]' "$work/lines" >"$work/less"
mv "$work/less" "$work/lines"
same_predictions "SGD, -q ab" -q ab
same_predictions "SGD, --noconstant --hash all" --noconstant --hash all
exit $failed
