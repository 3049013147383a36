#!/usr/bin/env bash
# How steady engines are over configurations, as in Table 1 and Figure 3 of the Fwumious Wabbit paper: AUC in rolling
# windows while a set is learned in one pass, over 20 configurations of each engine and model.
#
#   windows.sh --leveret PATH --data DIR [--synth PATH] [--rows 1000000] [--vw PATH] [--fw PATH]
#              [--only REGEX] [--models "NAME…"] [--results TSV] [--update FILE] [--figure SVG]
#
# DIR holds a folder per data set, with train.vw and test.vw (or .vw.zst, .vw.gz), which are learned train then test;
# --only takes those whose name matches. --synth adds a set of --rows generated rows. Every row is predicted before it
# is learned, and score.sh takes the AUC of each engine's predictions: windows have a tenth of a set's rows, at most
# 30,000, begin every fifth of that, and the last one ends with the set: in most sets it is the test rows.
#
# Models are those of --model, "default" being ours without one; with --vw VW-linear and VW-mlp (--nn 10 --inpass),
# with --fw FW-FFM and FW-DeepFFM (k = 4, a layer of 32). Configurations are those of configurations.txt. Where a model
# has no rows or no layers some of them are the same, and it has fewer.
#
# The table: over all windows of all configurations the average, median, largest, standard deviation and smallest AUC;
# "test" is the last window's of the configuration that is best there, the largest in bold. --update puts it into FILE
# between "<!-- windows begin -->" and "<!-- windows end -->". --figure draws (gnuplot) for each set and model the mean
# over configurations with its 95 % interval, in grey all that configurations had, and dotted the best single window
# and "test". --results keeps every run; what it holds is not run again.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
leveret='' data='' synth='' rows=1000000 vw='' fw='' only=. results='' update='' figure=''
models='lr ffm deepffm dcnv2 default'
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --data) data=$2 ;; --synth) synth=$2 ;; --rows) rows=$2 ;; --vw) vw=$2 ;;
    --fw) fw=$2 ;; --only) only=$2 ;; --models) models=$2 ;; --results) results=$2 ;; --update) update=$2 ;;
    --figure) figure=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$data$synth" ]; then usage; fi
if [ -n "$fw" ]; then models="FW-FFM FW-DeepFFM $models"; fi
if [ -n "$vw" ]; then models="VW-linear VW-mlp $models"; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -n "$results" ] || results=$work/results.tsv
touch "$results"

# shellcheck source=part.sh
source "$here/part.sh"
# shellcheck source=../bench/lib.sh
source "$here/../bench/lib.sh"

# unpack SET: its rows as one file of text, $work/SET/rows.vw, for engines that read no other.
unpack() {
  local file
  mkdir -p "$work/$1"
  if [ -f "$work/$1/rows.vw" ]; then return; fi
  while read -r file; do
    case $file in
      *.zst) zstd -dcq "$file" ;;
      *.gz) gzip -dc "$file" ;;
      *) cat "$file" ;;
    esac
  done < <(files_of "$1") >"$work/$1/rows.vw"
}

# command_of SET MODEL HEADS LINEAR ROWS LAYERS POWER VW_RATE VW_L2: fills `command`, all but where predictions go,
# and `options`, what configurations of a model differ in.
command_of() {
  local model=$2
  command=(--data "$work/$1/rows.vw")
  case $model in
    VW-*)
      options="-l $8 --power_t $7 --l2 $9"
      command=("$vw" --quiet --loss_function logistic --link logistic --hash all -b 22 "${command[@]}")
      if [ "$model" = VW-mlp ]; then command+=(--nn 10 --inpass); fi
      ;;
    FW-*)
      # The options of fields are the set's, and found once.
      if [ "$fw_set" != "$1" ]; then fw_set=$1; fw_namespaces "$work/$1/rows.vw" "$work/$1"; fi
      if [ "$model" = FW-FFM ]; then fw_deep 4 none "$5" "$4" "$6" "$7"; else fw_deep 4 32 "$5" "$4" "$6" "$7"; fi
      command=(env OPENBLAS_CORETYPE="$openblas" "${fw_base[@]}" -b 22 --ffm_bit_precision 22 "${command[@]}" "${theirs[@]}")
      options="-l $4 --power_t $7 --ffm_learning_rate $5"
      if [ "$model" = FW-DeepFFM ]; then options+=" --nn_learning_rate $6"; fi
      return
      ;;
    *)
      options=$(options_of "$model" "$3" "$4" "$5" "$6")
      command=("$leveret" train --quiet "${command[@]}")
      if [ "$model" != default ]; then command+=(--model "$model"); fi
      ;;
  esac
  # shellcheck disable=SC2206  # options are words
  command+=($options)
}

# run SET MODEL CONFIGURATION…: "SET MODEL OPTIONS rows window step AUC,…", unless it is there.
run() {
  local set=$1 model=$2 rows window step
  command_of "$@"
  if grep -qF -e "$set"$'\t'"$model"$'\t'"$options"$'\t' "$results"; then return; fi
  rm -f "$work/predictions"
  if ! "${command[@]}" -p "$work/predictions" >"$work/log" 2>&1; then
    echo "windows.sh: failed: ${command[*]}" >&2
    tail -n 5 "$work/log" >&2
    exit 1
  fi
  rows=$(wc -l <"$work/$set/rows.vw")
  window=$((rows / 10 < 30000 ? rows / 10 : 30000))
  step=$((window / 5))
  "$here/score.sh" --window $window --step $step "$work/$set/rows.vw" "$work/predictions" >"$work/scores"
  printf '%s\t%s\t%s\t%d\t%d\t%d\t%s\n' "$set" "$model" "$options" "$rows" "$window" "$step" \
    "$(cut -f 2 "$work/scores" | paste -sd ,)" >>"$results"
}

# numbers SET MODEL: "window average median max std min test configurations" over the results; windows of one class
# have no AUC.
numbers() {
  awk -F '\t' -v set="$1" -v model="$2" '
    $1 == set && $2 == model {
      ++runs
      window = $5
      n = split($7, auc, ",")
      for (i = 1; i <= n; ++i) if (auc[i] != "-") print auc[i]
      if (auc[n] != "-" && auc[n] > best) best = auc[n]
    }
    END { print "end", window, best, runs }' "$results" | sort -g | awk '
    $1 == "end" { window = $2; best = $3; runs = $4; next }
    { a[++n] = $1; sum += $1; squares += $1 * $1 }
    END {
      mean = sum / n
      print window, mean, (a[int((n + 1) / 2)] + a[int((n + 2) / 2)]) / 2, a[n], sqrt(squares / n - mean * mean), a[1], best, runs
    }'
}

table() {
  local set model
  echo '| set | window | model | average | median | max | std | min | test | configurations |'
  echo '|---|---|---|---|---|---|---|---|---|---|'
  for set in "${sets[@]}"; do
    for model in $models; do echo "$set $model $(numbers "$set" "$model")"; done | awk '
      { line[NR] = $0; if ($9 > most) most = $9 }
      END {
        for (i = 1; i <= NR; ++i) {
          split(line[i], f, " ")
          test = sprintf(f[9] == most ? "**%.4f**" : "%.4f", f[9])
          printf "| %s | %s | %s | %.4f | %.4f | %.4f | %.4f | %.4f | %s | %d |\n", f[1], f[3], f[2], f[4], f[5], f[6], f[7], f[8], test, f[10]
        }
      }'
  done
}

# traces SET MODEL: a line for each window: the row it ends with; mean, interval and extremes over configurations.
traces() {
  awk -F '\t' -v set="$1" -v model="$2" '
    $1 == set && $2 == model {
      n = split($7, auc, ",")
      for (i = 1; i <= n; ++i) {
        end[i] = $4 - (n - i) * $6
        if (auc[i] == "-") continue
        if (!seen[i] || auc[i] < low[i]) low[i] = auc[i]
        if (!seen[i] || auc[i] > high[i]) high[i] = auc[i]
        ++seen[i]
        sum[i] += auc[i]
        squares[i] += auc[i] * auc[i]
      }
    }
    END {
      for (i = 1; i <= n; ++i) {
        if (!seen[i]) continue
        mean = sum[i] / seen[i]
        variance = seen[i] > 1 ? (squares[i] - seen[i] * mean * mean) / (seen[i] - 1) : 0
        half = variance > 0 ? 1.96 * sqrt(variance / seen[i]) : 0
        print end[i], mean, mean - half, mean + half, low[i], high[i]
      }
    }' "$results"
}

draw() {
  local set model columns panels='' low high last best test
  columns=$(wc -w <<<"$models")
  for set in "${sets[@]}"; do
    for model in $models; do traces "$set" "$model" >"$work/$set/$model"; done
    read -r low high last < <(for model in $models; do cat "$work/$set/$model"; done |
      awk '{ if (low == "" || $5 < low) low = $5; if ($6 > high) high = $6 } END { print low - .01, high + .01, $1 }')
    for model in $models; do
      read -r _ _ _ best _ _ test _ < <(numbers "$set" "$model")
      panels+="set title '$set, $model' noenhanced; set yrange [$low:$high]; set xrange [0:$last]; set xtics $((last / 2))
plot '$work/$set/$model' using 1:5:6 with filledcurves lc rgb '#dddddd', \
  '' using 1:3:4 with filledcurves lc rgb '#9fc0e6', '' using 1:2 with lines lc rgb '#1f5fa8' lw 1.5, \
  $best with lines dt 3 lc rgb 'black', $test with lines dt 3 lc rgb 'black'
"
    done
  done
  gnuplot <<PLOT
set terminal svg size $((columns * 200)),$((${#sets[@]} * 170 + 30)) font 'sans-serif,10' background 'white'
set output '$work/windows.svg'
set border 3
set tics nomirror out scale 0.5
set format x '%.0s%c'
set key off
set multiplot layout ${#sets[@]},$columns title "AUC in rolling windows, by rows"
$panels
unset multiplot
PLOT
  mv "$work/windows.svg" "$figure"
}

fw_set=''
find_sets "$only"
for set in "${sets[@]}"; do
  unpack "$set"
  for model in $models; do
    while read -r -a configuration; do
      case ${configuration[0]} in '#'*) continue ;; esac
      run "$set" "$model" "${configuration[@]}"
    done <"$here/configurations.txt"
  done
done
table >"$work/table"
put_table windows "$work/table" "$update"
if [ -n "$figure" ]; then draw; fi
