#!/usr/bin/env bash
# Held-out accuracy and memory on generated rows whose true probabilities are known: our models
# beside Fwumious Wabbit's, on the same rows.
#
#   accuracy_1m.sh --leveret PATH (--synth PATH | --data FILE --truth FILE)
#                  [--fw PATH] [--rows 1000000] [--test 100000] [--seed 1] [--only REGEX] [--out TSV]
#
# Learns from the first --rows rows, in one pass, and scores the --test rows after them. --synth
# generates them; --data takes rows that leveret-synth wrote, --truth their probabilities. --only runs
# the models whose name matches. One process at a time. --out keeps the table as TSV, and a row that
# it holds already is not measured again: a run that was stopped goes on.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
leveret='' synth='' data='' truth='' fw='' rows=1000000 test=100000 seed=1 only=. out=''
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --synth) synth=$2 ;; --data) data=$2 ;; --truth) truth=$2 ;;
    --fw) fw=$2 ;; --rows) rows=$2 ;; --test) test=$2 ;; --seed) seed=$2 ;; --only) only=$2 ;;
    --out) out=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$synth$data" ]; then usage; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -n "$out" ] || out=$work/table.tsv
touch "$out"

if [ -z "$data" ]; then
  data=$work/generated.vw truth=$work/truth
  "$synth" --rows $((rows + test)) --seed "$seed" --truth "$truth" >"$data"
fi
have=$(wc -l <"$data")
[ "$have" -ge $((rows + test)) ] || { echo "$data holds $have rows, $((rows + test)) are needed" >&2; exit 1; }
if [ "$have" -gt $((rows + test)) ]; then
  head -n $((rows + test)) "$data" >"$work/all.vw"
else
  ln -s "$(realpath "$data")" "$work/all.vw"
fi
data=$work/all.vw
tail -n "$test" "$data" | cut -d ' ' -f 1 >"$work/labels"

# shellcheck source=scripts/bench/lib.sh
. "$here/lib.sh"
if [ -n "$fw" ]; then fw_namespaces "$data" "$work"; fi

# measure NAME PREDICTIONS COMMAND...: runs it, scores the last rows, adds a line to the table.
measure() {
  local name=$1 predictions=$2
  shift 2
  if [[ ! $name =~ $only ]] || grep -qF "$name"$'\t' "$out"; then return; fi
  rm -f "$predictions"
  if ! /usr/bin/time -f '%M %U' -o "$work/usage" "$@" >"$work/log" 2>&1; then
    echo "$name failed:" >&2
    tail -n 5 "$work/log" >&2
    exit 1
  fi
  tail -n "$test" "$predictions" >"$work/last"
  printf '%s\t%s\t%s\n' "$name" "$("$here/../accuracy/score.sh" "$work/labels" "$work/last" | cut -f 1,2)" \
    "$(tail -n 1 "$work/usage" | awk '{ printf "%d\t%s", $1 / 1024, $2 }')" | tee -a "$out"
}

ours() {
  local name=$1
  shift
  measure "leveret $name" "$work/p" "$leveret" train -d "$data" --holdout_after "$rows" -p "$work/p" "$@"
}

# theirs NAME BITS RATE K HIDDEN: FW with the FFM rate RATE; K 0: linear.
theirs() {
  [ -n "$fw" ] || return 0
  fw_deep "$4" "$5" "$3"
  measure "fw $1" "$work/p" env OPENBLAS_CORETYPE="$openblas" "${fw_base[@]}" --data "$data" \
    -b "$2" --ffm_bit_precision "$2" --holdout_after "$rows" -p "$work/p" "${theirs[@]}"
}

printf '# %s rows learned, %s rows scored; the models are\n# model\tlogloss\tAUC\tpeak MB\tCPU s\n' "$rows" "$test" >&2
if [ -n "$truth" ] && ! grep -q '^truth' "$out"; then
  sed -n "$((rows + 1)),$((rows + test))p;$((rows + test))q" "$truth" >"$work/last"
  printf 'truth\t%s\t-\t-\n' "$("$here/../accuracy/score.sh" "$work/labels" "$work/last" | cut -f 1,2)" | tee -a "$out"
fi

ours 'default'
# As much memory as FW with 22 bits, for a million rows of 39 fields.
ours 'default in 50 MB of tables' --max_memory 50M --admit 6
ours 'linear + FFM, mixed, in 50 MB of tables' --max_memory 50M --admit 6 --hidden none
theirs 'DeepFFM k=4 1x32, rate .1' 22 .1 4 32
ours 'linear + FFM, mixed' --hidden none
ours 'linear, mixed' --ffm_k 0
ours 'DeepFFM 1x32, one head' --heads one
ours 'FFM, one head' --heads one --hidden none
ours 'linear, one head' --heads one --ffm_k 0
ours 'default with k=8' --ffm_k 8
theirs 'linear' 22 0 0 none
for rate in .05 .1 .2; do
  theirs "FFM k=4, rate $rate" 22 $rate 4 none
  theirs "DeepFFM k=4 1x32, rate $rate" 22 $rate 4 32
done
for rate in .05 .1; do theirs "DeepFFM k=4 1x32, rate $rate, 28 bits" 28 $rate 4 32; done
