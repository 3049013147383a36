#!/usr/bin/env bash
# Leveret beside Fwumious Wabbit and Vowpal Wabbit on generated rows: ratios, medians of pairs.
#
#   compare.sh --leveret PATH (--synth PATH | --data FILE) [--fw PATH] [--vw PATH] [--roofline PATH]
#              [--rows 300000] [--fields 39] [--k LIST] [--hidden LIST] [--pairs 5] [--cpu N]
#              [--only REGEX] [--quick]
#
# Each case runs A B A B …, pinned to one core; a pair gives a ratio, and the table has the medians.
# What a run on the first rows alone takes (start-up, allocation) is taken off on both sides, so both
# rates are those of the loop. Cases: linear, FFM and DeepFFM, the same model on both sides (ours with
# --heads one; linear as theirs with 2^22 hashed slots, and with a table that grows; DeepFFM also with
# groups of 8 and 16 for the MLP), and our defaults beside FW's DeepFFM;
# from text and from the caches; hogwild on two cores; peak memory. --k and --hidden (as "8 4" and
# "32 64,64") replace the shapes of the table.
#
# Rates come from CPU time where the machine is shared: the load is printed, and above .5 a core the
# table is marked provisional. --roofline adds what bounds each case. --quick: 30,000 rows, 3 pairs.
set -euo pipefail
export LC_ALL=C
leveret='' synth='' data='' fw='' vw='' roofline='' rows='' fields=39 ks='' hiddens='' pairs='' only=. quick=no
cpu=$(($(nproc) - 1))
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  if [ "$1" = --quick ]; then quick=yes; shift; continue; fi
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --synth) synth=$2 ;; --data) data=$2 ;; --fw) fw=$2 ;; --vw) vw=$2 ;;
    --roofline) roofline=$2 ;; --rows) rows=$2 ;; --fields) fields=$2 ;; --k) ks=$2 ;;
    --hidden) hiddens=$2 ;; --pairs) pairs=$2 ;; --cpu) cpu=$2 ;; --only) only=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$synth$data" ]; then usage; fi
if [ $quick = yes ]; then : "${rows:=30000}" "${pairs:=3}"; else : "${rows:=300000}" "${pairs:=5}"; fi

# shellcheck source=scripts/bench/lib.sh
. "$(dirname "$0")/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -n "$data" ]; then sed "${rows}q" "$data" >"$work/all.vw"; else
  "$synth" --quiet --rows "$rows" --fields "$fields" >"$work/all.vw"
fi
data=$work/all.vw
sed 500q "$data" >"$work/start.vw"
fw_namespaces "$data" "$work"
fw_memory=(-b 22 --ffm_bit_precision 22)

# ---- the two sides: NAME_command FILE prints nothing, fills the array `command` ----
ours=() theirs=() # options of the case at hand

leveret_command() {
  case $verb in
    train) command=("$leveret" train --quiet -d "$1" "${ours[@]}") ;;
    predict) command=("$leveret" predict -i "$work/ours.model" -d "$1" -p "$work/ours.out") ;;
  esac
  if [ "$from" = cache ]; then command+=(--cache "$1.lvcache"); fi
}
fw_command() {
  case $verb in
    train) command=("${fw_base[@]}" "${fw_memory[@]}" --data "$1" "${theirs[@]}") ;;
    predict) command=("$fw" -t -i "$work/theirs.inference" --data "$1" -p "$work/theirs.out") ;;
  esac
  if [ "$from" = cache ]; then command+=(--cache); fi
}
vw_command() {
  command=("$vw" --quiet --loss_function logistic --link logistic --hash all -b 22 -d "$1" "${theirs[@]}")
  if [ "$from" = cache ]; then command+=(--cache_file "$1.vwcache"); fi
}

# once SIDE FILE: runs it once, uncounted: makes the caches, warms the page cache.
once() { "$1_command" "$2"; OPENBLAS_CORETYPE=$openblas "${command[@]}" >"$work/log" 2>&1 || fail; }
fail() { echo "compare.sh: failed: ${command[*]}" >&2; tail -n 5 "$work/log" >&2; exit 1; }

# timed SIDE FILE: "wall cpu megabytes" of one run.
timed() {
  local times
  "$1_command" "$2"
  times=$({ TIMEFORMAT='%3R %3U %3S'; time OPENBLAS_CORETYPE=$openblas taskset -c "$cores" \
    /usr/bin/time -f %M -o "$work/memory" "${command[@]}" >"$work/log" 2>&1 || fail; } 2>&1) || { echo "$times" >&2; exit 1; }
  awk -v times="$times" '{ split(times, t, " "); printf "%s %.3f %.0f\n", t[1], t[2] + t[3], $1 / 1024 }' \
    <(tail -n 1 "$work/memory")
}

# start_up SIDE: the least CPU time of three runs on the first rows.
start_up() { for _ in 1 2 3; do timed "$1" "$work/start.vw"; done | sort -n -k 2 | awk 'NR == 1 { print $1, $2 }'; }

# compare NAME GOAL PEER: the case that $verb, $from, $ours and $theirs describe, as one table row.
compare() {
  local name=$1 goal=$2 peer=$3 a b a0 b0 i
  [[ $name =~ $only ]] || return 0
  if [ "$from" = cache ]; then
    [ $caches = yes ] || return 0
    once leveret "$data"; once leveret "$work/start.vw"; once "$peer" "$data"; once "$peer" "$work/start.vw"
  fi
  a0=$(start_up leveret) b0=$(start_up "$peer")
  : >"$work/pairs"
  for ((i = 0; i < pairs; ++i)); do
    a=$(timed leveret "$data") b=$(timed "$peer" "$data")
    echo "$a $a0 $b $b0" >>"$work/pairs"
  done
  awk -v rows="$rows" '{ a = $2 - $5; b = $7 - $10; print rows / a, rows / b, b / a, $3, $8 }' "$work/pairs" >"$work/rates"
  printf '| %s | %s | %s | %s× | %s | %s MB | %s MB | %s |\n' "$name" "$(median 1 "$work/rates" thousands)" \
    "$peer $(median 2 "$work/rates" thousands)" "$(median 3 "$work/rates" %.2f)" "$goal" \
    "$(median 4 "$work/rates" %d)" "$(median 5 "$work/rates" %d)" "$(bound "$(median 1 "$work/rates" %d)")"
}

# bound RATE: which share of the tighter bound of the machine the rate is.
bound() {
  if [ -z "$roofline" ] || [ "$verb" != train ]; then echo –; return; fi
  case_costs "${ours[@]}" | awk -v rate="$1" -v memory="$random_rows" -v arithmetic="$flops" '{
    m = memory * 1e9 / $1
    f = arithmetic * 1e9 / $2
    printf "%.1f KB, %.1f kFLOP; %.0f %% of %s", $1 / 1e3, $2 / 1e3, 100 * rate / (m < f ? m : f), m < f ? "memory" : "arithmetic"
  }'
}

# apart CORE CORE: wall time of two runs of one thread side by side, which share nothing but the
# machine: what two cores are worth here.
apart() {
  local begin end core run runs=()
  leveret_command "$data"
  begin=$(date +%s%N)
  for core in "$@"; do taskset -c "$core" "${command[@]}" >"$work/log" 2>&1 & runs+=($!); done
  for run in "${runs[@]}"; do wait "$run" || fail; done
  end=$(date +%s%N)
  awk -v ns="$((end - begin))" 'BEGIN { printf "%.3f\n", ns / 1e9 }'
}

# hogwild NAME OPTIONS: two threads on two cores against one thread on one, by wall time.
hogwild() {
  local name=$1 goal=$2 i one two both cores other=$(((cpu + $(nproc) - 1) % $(nproc)))
  shift 2
  [[ $name =~ $only ]] || return 0
  ours=("$@")
  : >"$work/pairs"
  for ((i = 0; i < pairs; ++i)); do
    ours=("$@" --threads 1)
    one=$(cores=$cpu; timed leveret "$data")
    both=$(apart "$other" "$cpu")
    ours=("$@" --threads 2)
    two=$(cores="$other,$cpu"; timed leveret "$data")
    echo "$one $two $both" >>"$work/pairs"
  done
  awk -v rows="$rows" '{ print rows / $1, rows / $4, $1 / $4, 2 * $1 / $7, $7 / 2 / $4 }' \
    "$work/pairs" >"$work/rates"
  printf '| %s | %s | %s | %s× | %s | %s× | %s |\n' "$name" "$(median 1 "$work/rates" thousands)" \
    "$(median 2 "$work/rates" thousands)" "$(median 3 "$work/rates" %.2f)" "$goal" \
    "$(median 4 "$work/rates" %.2f)" "$(median 5 "$work/rates" %.2f)"
}

# ---- the cases ----
caches=no
if "$leveret" train --help | grep -q -e '--cache'; then caches=yes; fi
if [ -n "$roofline" ]; then read_roofline; fi

describe_machine
printf '%s rows of %s fields, %s; medians of %s pairs, one core (CPU time less start-up)\n\n' "$rows" "$fields" \
  "$(du -h "$data" | cut -f 1)" "$pairs"
echo '| case | examples/s | peer | ratio | goal | peak | peer'"'"'s | touched, needed per example; bound |'
echo '|---|---|---|---|---|---|---|---|'

cores=$cpu verb=train from=text
if [ -n "$vw" ]; then
  theirs=(-l .5)
  for hashed in '-b 22' ''; do
    read -ra ours <<<"--heads one --ffm_k 0 $hashed"
    compare "linear${hashed:+, $hashed}, text, against VW" '≥ 8' vw
    from=cache compare "linear${hashed:+, $hashed}, cache, against VW" '' vw
  done
fi
if [ -n "$fw" ]; then
  fw_deep 0 none
  for hashed in '-b 22' ''; do
    read -ra ours <<<"--heads one --ffm_k 0 $hashed"
    compare "linear${hashed:+, $hashed}, text" '≥ 2' fw
    from=cache compare "linear${hashed:+, $hashed}, cache" '≥ 1.5' fw
  done
  ours=(--ffm_k 0)
  compare 'linear, mixed heads, text' '' fw

  # shape GOAL K HIDDEN: FFM where HIDDEN is "none".
  shape() {
    local label="DeepFFM k=$2 $3"
    if [ "$3" = none ]; then label="FFM k=$2"; fi
    ours=(--heads one --ffm_k "$2" --hidden "$3")
    fw_deep "$2" "$3"
    from=text compare "$label, text" "$1" fw
    from=cache compare "$label, cache" "$1" fw
    if [ "$3" = none ]; then return; fi
    local group
    for group in 8 16; do
      ours=(--heads one --ffm_k "$2" --hidden "$3" --nn_batch_size $group)
      from=text compare "$label, --nn_batch_size $group, text" "$1" fw
    done
  }
  # predicting GOAL K HIDDEN: with models learned from the same rows.
  predicting() {
    local name="DeepFFM k=$2 $3, predict, text"
    [[ $name =~ $only ]] || return 0
    ours=(--heads one --ffm_k "$2" --hidden "$3" -f "$work/ours.model")
    fw_deep "$2" "$3"
    theirs+=(--save_resume -f "$work/theirs.model")
    verb=train from=text
    once leveret "$data"; once fw "$data"
    "$fw" -i "$work/theirs.model" --convert_inference_regressor "$work/theirs.inference" >"$work/log" 2>&1
    verb=predict compare "$name" "$1" fw
    verb=train
  }
  if [ -z "$ks$hiddens" ]; then
    shape '≥ 8' 8 none
    shape '≥ 8' 4 none
    shape '≥ 6' 8 32
    shape '≥ 6' 4 64,64
    predicting '≥ 5' 8 32
  else
    for k in ${ks:-4}; do
      for hidden in ${hiddens:-32}; do
        shape '' "$k" none; shape '' "$k" "$hidden"; predicting '' "$k" "$hidden"
      done
    done
  fi
  fw_deep 4 32
  ours=()
  compare 'our defaults against DeepFFM k=4 32, text' '' fw
fi

if "$leveret" train --help | grep -q -e '--threads' && [ "$(nproc)" -ge 2 ]; then
  printf '\n| hogwild, wall time | one thread | two threads on two cores | ratio | goal |'
  printf ' two runs side by side against one | share of that |\n|---|---|---|---|---|---|---|\n'
  verb=train from=text
  hogwild 'FFM k=8' '≥ 1.85' --heads one --ffm_k 8 --hidden none
  hogwild 'DeepFFM k=8 32' '≥ 1.85' --heads one --ffm_k 8
  hogwild 'our defaults' '≥ 1.85'
  if [ $caches = yes ]; then
    from=cache
    for hashed in '-b 22' ''; do
      read -ra ours <<<"--heads one --ffm_k 0 $hashed"
      once leveret "$data"
      hogwild "linear${hashed:+, $hashed}, cache" '≥ 1.6' "${ours[@]}"
    done
  fi
fi
echo
describe_load
