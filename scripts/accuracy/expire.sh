#!/usr/bin/env bash
# What forgetting features costs and saves: --expire and --when_full evict beside never forgetting.
#
#   expire.sh --leveret PATH --synth PATH [--rows 2000000] [--seeds 3] [--memory "16M 8M"] [--expire "1m 300k 100k"]
#   expire.sh --leveret PATH --synth PATH --stream 50000000 [--every 5000000] [--forget 2m]
#
# The first prints a table of generated rows of 12 fields whose values stay (still) and whose values give way to others
# (vocabulary: each lives for 50,000 rows): mean progressive logloss and AUC over the seeds, features of the model at the
# end, those that were forgotten, bytes of the model file, and the most memory of the process.
#
# The second learns one stream of rows of 6 fields whose values give way to others twice in a million rows, as long as
# is said, once with --expire and once without, and prints what each process holds after so many examples.
set -euo pipefail
export LC_ALL=C
leveret='' synth='' rows=2000000 seeds=3 memory='16M 8M' expire='1m 300k 100k' stream='' every=5000000 forget=2m
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --synth) synth=$2 ;; --rows) rows=$2 ;; --seeds) seeds=$2 ;; --memory) memory=$2 ;;
    --expire) expire=$2 ;; --stream) stream=$2 ;; --every) every=$2 ;; --forget) forget=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$synth" ]; then usage; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# held NAME OPTION...: a line of figures for each --every examples of the stream.
held() {
  local name=$1 line pid
  shift
  mkfifo "$work/$name.rows" "$work/$name.log"
  "$synth" --quiet --rows "$stream" --fields 6 --numeric 0 --drift_kind vocabulary --drift 2 >"$work/$name.rows" &
  "$leveret" train -P "$every" -f "$work/$name.lvt" "$@" <"$work/$name.rows" 2>"$work/$name.log" &
  pid=$!
  while read -r line; do
    case $line in
      [0-9.]*[0-9]\ *)
        awk -v name="$name" -v line="$line" '
          /^VmRSS/ { split(line, at, " "); printf "| %s | %s | %s | %.0f |\n", name, at[3], at[1], $2 / 1024 }' \
          "/proc/$pid/status" 2>/dev/null || true
        ;;
      examples* | forgotten* | peak*) echo "$name: $line" >&2 ;;
    esac
  done <"$work/$name.log"
  wait "$pid"
}
if [ -n "$stream" ]; then
  printf '| model | examples | average loss | MB held |\n|---|---|---|---|\n'
  held "expire_$forget" --expire "$forget"
  held never
  exit 0
fi

# row KIND NAME OPTION...: a row of the table, the mean over the seeds.
row() {
  local kind=$1 name=$2 seed
  shift 2
  : >"$work/figures"
  for ((seed = 1; seed <= seeds; ++seed)); do
    "$leveret" train -d "$work/$kind.$seed" --json --quiet -f "$work/model" "$@" >"$work/json"
    "$leveret" inspect --json "$work/model" >"$work/inspect"
    python3 - "$work/json" "$work/inspect" >>"$work/figures" <<'PY'
import json, sys
run, model = (json.load(open(path)) for path in sys.argv[1:])
print(run["logloss"], run["auc"], model["linear"]["features"], run.get("forgotten", 0), model["bytes"] / 2**20,
      run["peak_memory"] / 2**20, run["examples_per_second"])
PY
  done
  awk -v kind="$kind" -v name="$name" '
    { for (i = 1; i <= NF; ++i) sum[i] += $i }
    END {
      printf "| %s | %s | %.5f | %.4f | %.0f | %.0f | %.1f | %.0f | %.0f |\n", kind, name, sum[1] / NR, sum[2] / NR,
        sum[3] / NR, sum[4] / NR, sum[5] / NR, sum[6] / NR, sum[7] / NR
    }' "$work/figures"
}
printf '| values | forgets | logloss | auc | features | forgotten | MB of the file | MB at most | examples/s |\n'
printf '|---|---|---|---|---|---|---|---|---|\n'
for kind in still vocabulary; do
  drift=()
  if [ "$kind" != still ]; then drift=(--drift_kind "$kind"); fi
  for ((seed = 1; seed <= seeds; ++seed)); do
    "$synth" --quiet --rows "$rows" --seed "$seed" --fields 12 --vocabulary 100000 "${drift[@]}" >"$work/$kind.$seed"
  done
  row "$kind" never
  for n in $expire; do row "$kind" "\`--expire $n\`" --expire "$n"; done
  for m in $memory; do
    row "$kind" "\`--max_memory $m\`" --max_memory "$m"
    row "$kind" "\`--max_memory $m --when_full evict\`" --max_memory "$m" --when_full evict
  done
  rm -f "$work/$kind".*
done
