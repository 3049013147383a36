#!/usr/bin/env bash
# Figure 5 and Table 3 of the paper on Fwumious Wabbit, with our program: what instruction sets give to
# inference, and what the depth of the deep part costs. Prints both as Markdown.
#
#   fw_tables.sh --leveret PATH --synth PATH [--sparse PATH] [-d FILE] [--rows 100000] [--requests 1000]
#                [--candidates 100] [--times 5] [--simd LIST] [--options WORDS] [--width 32] [--cpu N]
#                [--instructions]
#
# Rows are generated, or those of FILE (VW text, packed by zstd or not), in order: of all that are asked
# for, --rows are learned, and from the rest come requests. Three quarters of a request's fields, its
# context, are one row's, each candidate's others those of another row. The model is one head with k = 4,
# or has the --options given (one argument), and hidden layers of --width.
#
# Figure 5: candidates per second of `predict`: each a whole line; with --context; with --context_lines,
# where the context is not parsed again, either; for each instruction set of LIST ("reference sse2 avx2
# avx512"), beside what the first gives. A set that this machine lacks has a row that says so.
#
# Table 3: rows learned and whole lines scored per second with one to four hidden layers, on the widest
# instruction set of LIST that is there. No option turns sparse updates off. What they are worth is told
# by --sparse, the program bench_sparse_updates of a release build (--width 32, 64 or 128; a model of its
# own, with default options): it does the work that was left out, too, on one trained model; the paper's
# own speedup stands beside it.
#
# Rates are of the CPU time of the whole program (user and system) less what a start takes: no row, or
# when learning the first 500. They are medians of --times runs, which take turns; a ratio is the median of
# the turns' ratios. --instructions counts instructions of a row instead, by callgrind, once, and learns a
# third of the rows for a start: the same however busy the machine is. Callgrind knows no AVX-512. It takes
# fewer --rows and --requests.
set -euo pipefail
# A dynamic program has OpenBLAS's threads, which spin for as long as they like.
export LC_ALL=C OPENBLAS_NUM_THREADS=1
leveret='' synth='' sparse='' file='' rows=100000 requests=1000 candidates=100 times=5 width=32 counted=no
simds='reference sse2 avx2 avx512' options='--heads one --ffm_k 4' cpu=$(($(nproc) - 1))
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  if [ "$1" = --instructions ]; then counted=yes; shift; continue; fi
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --synth) synth=$2 ;; --sparse) sparse=$2 ;; -d) file=$2 ;; --rows) rows=$2 ;;
    --requests) requests=$2 ;; --candidates) candidates=$2 ;; --times) times=$2 ;; --simd) simds=$2 ;;
    --options) options=$2 ;; --width) width=$2 ;; --cpu) cpu=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ]; then usage; fi
if [ -z "$file$synth" ]; then usage; fi
read -r -a simds <<<"$simds"
read -r -a options <<<"$options"
for simd in "${simds[@]}"; do
  case $simd in reference | sse2 | avx2 | avx512) ;; *) usage ;; esac
done

# shellcheck source=scripts/bench/lib.sh
. "$(dirname "$0")/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
first=500
if [ $counted = yes ]; then times=1 first=$((rows / 3)); fi

fail() { echo "fw_tables.sh: $*" >&2; exit 1; }

# Makes $work/{train,start} to learn from, and $work/{lines,blocks} to score.
make_rows() {
  local asked=$((rows + requests * (candidates + 1))) have names fields own
  if [ -n "$file" ]; then
    zstd -dcqf "$file" | awk -v n=$asked 'NR <= n' >"$work/all"
  else
    "$synth" --quiet --rows $asked >"$work/all"
  fi
  have=$(wc -l <"$work/all")
  rows=$((rows * have / asked)) requests=$((requests * have / asked))
  if [ $rows -le $first ] || [ $requests -eq 0 ]; then fail "$have rows are too few"; fi
  head -n $rows "$work/all" >"$work/train"
  head -n $first "$work/all" >"$work/start"
  names=$(namespaces_of "$work/train")
  fields=$(wc -l <<<"$names")
  [ "$fields" -gt 1 ] || fail "these rows have one namespace, and candidates none of their own"
  own=$((fields < 4 ? 1 : fields / 4))
  context=$(head -n -$own <<<"$names" | paste -s -d ,)
  sed "1,${rows}d" "$work/all" | sed "$((requests * (candidates + 1)))q" >"$work/rows"
  write_requests "$work/rows" "$context" "$candidates" "$work"
  printf '%s learned from, %s requests of %s candidates, %s fields of context and %s others\n' \
    "$(if [ -n "$file" ]; then echo "$rows rows of $(basename "$file")"; else echo "$rows generated rows"; fi)" \
    $requests "$candidates" $((fields - own)) $own
}

# cost NAME WORD...: CPU seconds of a run of the program, or instructions, to $work/cost.NAME
cost() {
  local name=$1 TIMEFORMAT='%3U %3S'
  shift
  if [ $counted = yes ]; then
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$leveret" "$@" >/dev/null 2>"$work/log" ||
      fail "$(grep -v == "$work/log")"
    sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$work/log" >>"$work/cost.$name"
  else
    { time taskset -c "$cpu" "$leveret" "$@" >/dev/null 2>"$work/log"; } 2>"$work/time" ||
      fail "$(cat "$work/log")"
    awk '{ print $1 + $2 }' "$work/time" >>"$work/cost.$name"
  fi
}

# row_cost NAME START ROWS: to $work/row.NAME what a row costs, turn by turn
row_cost() {
  paste -d ' ' "$work/cost.$1" "$work/cost.$2" |
    awk -v n="$3" '{ if ($1 <= $2) exit 1; print ($1 - $2) / n }' >"$work/row.$1" ||
    fail "$3 rows take no more than a start: too few"
}

# cell NAME BASE: rows per second and how many times BASE's, or instructions of a row and how many times fewer
cell() {
  paste -d ' ' "$work/row.$1" "$work/row.$2" |
    awk -v counted=$counted '{ print counted == "yes" ? $1 : 1 / $1, $2 / $1 }' >"$work/cell"
  printf ' %s (%s×) |' "$(median 1 "$work/cell" "$([ $counted = yes ] && echo %.0f || echo thousands)")" \
    "$(median 2 "$work/cell" %.2f)"
}

learn() { # learn HIDDEN NAME FILE WORD...
  cost "$2" train --quiet "${options[@]}" --hidden "$1" -d "$work/$3" "${memory[@]}" "${@:4}"
}

score() { cost "$1" predict --quiet -p /dev/null "${@:2}"; } # score NAME WORD...

# shellcheck disable=SC2016  # Markdown has backquotes
figure_5() {
  local simd way i
  printf '\nFigure 5: %s by `predict`, model `%s --hidden %s`\n\n' "$unit" "${options[*]}" "$width"
  printf '| Instructions | Whole lines | `--context` | `--context_lines` |\n| --- | --- | --- | --- |\n'
  learn "$width" model train -f "$work/model"
  for ((i = 0; i < times; ++i)); do
    for simd in "${there[@]}"; do
      export LEVERET_SIMD=$simd
      score "start.$simd" -i "$work/model" -d /dev/null
      score "plain.$simd" -i "$work/model" -d "$work/lines"
      score "context.$simd" -i "$work/model" -d "$work/lines" --context "$context"
      score "context_lines.$simd" -i "$work/model" -d "$work/blocks" --context "$context" --context_lines
    done
  done
  unset LEVERET_SIMD
  for simd in "${simds[@]}"; do
    printf '| %s |' "$simd"
    for way in plain context context_lines; do
      if [[ " ${there[*]} " != *" $simd "* ]]; then printf ' not on this machine |'; continue; fi
      row_cost "$way.$simd" "start.$simd" $((requests * candidates))
      cell "$way.$simd" "$way.${there[0]}"
    done
    printf '\n'
  done
}

# What sparse updates give, layers by layers: "fired gain step_gain", to $work/sparse
ask_sparse() {
  "$sparse" --benchmark_filter="/width:$width/" --benchmark_format=csv 2>"$work/log" | tr -d '"' | awk -F , '
    $1 == "name" { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    "gain" in at { printf "%.0f %% | %.2f× | %.2f× |\n", 100 * $at["fired"], $at["gain"], $at["step_gain"] }' \
    >"$work/sparse"
  [ "$(wc -l <"$work/sparse")" -eq 4 ] || fail "$sparse --benchmark_filter=/width:$width/ tells of no four depths"
}

# shellcheck disable=SC2016
table_3() {
  local i depth hidden=('') said=(1.3× 1.8× 2.4× 3.5×)
  export LEVERET_SIMD=${there[-1]}
  printf '\nTable 3: %s by hidden layers of %s, %s, model `%s`\n\n' "$unit" "$width" "$LEVERET_SIMD" "${options[*]}"
  if [ -n "$sparse" ]; then ask_sparse; else printf '– | – | – |\n%.0s' 1 2 3 4 >"$work/sparse"; fi
  printf '| Layers | Learned | Scored | Neurons that fire | Sparse updates: way back | a whole step | FW, in the paper |\n'
  printf '| --- | --- | --- | --- | --- | --- | --- |\n'
  for depth in 1 2 3 4; do
    hidden[depth]=${hidden[depth - 1]:+${hidden[depth - 1]},}$width
    learn "${hidden[depth]}" model train -f "$work/model.$depth"
  done
  for ((i = 0; i < times; ++i)); do
    for depth in 1 2 3 4; do
      learn "${hidden[depth]}" "learn_start.$depth" start
      learn "${hidden[depth]}" "learn.$depth" train
      score "score_start.$depth" -i "$work/model.$depth" -d /dev/null
      score "score.$depth" -i "$work/model.$depth" -d "$work/lines"
    done
  done
  for depth in 1 2 3 4; do
    row_cost "learn.$depth" "learn_start.$depth" $((rows - first))
    row_cost "score.$depth" "score_start.$depth" $((requests * candidates))
    printf '| %s |' $depth
    cell "learn.$depth" learn.1
    cell "score.$depth" score.1
    printf ' %s %s |\n' "$(sed -n "${depth}p" "$work/sparse")" "${said[depth - 1]}"
  done
}

there=() memory=()
for simd in "${simds[@]}"; do
  if [ $counted = yes ] && [ "$simd" = avx512 ]; then continue; fi
  if has "$simd"; then there+=("$simd"); fi
done
[ ${#there[@]} -gt 0 ] || fail "this machine has none of: ${simds[*]}"
unit="rows per second"
if [ $counted = yes ]; then
  # valgrind has fewer addresses to give away than tables would otherwise reserve.
  unit="instructions of a row" memory=(--max_memory 512M)
fi
describe_machine
make_rows
figure_5
table_3
