#!/usr/bin/env bash
# How the defaults follow generated rows that drift, beside every learning rate's power fixed by hand.
#
#   drift.sh --leveret PATH --synth PATH [--rows 300000] [--seeds 3] [--powers ".5 .4 .3 .2"] [OPTION...]
#
# For each kind of drift (leveret-synth --drift_kind) the mean progressive logloss over the seeds: of the
# defaults, with OPTION... (of leveret train) where some are given, and how much worse that is than the best
# of the common powers, with --fast_head off and --power_t, --ffm_power_t and --nn_power_t alike; then that
# of each power. A row is a line of a Markdown table (datasets/README.md).
set -euo pipefail
export LC_ALL=C
leveret='' synth='' rows=300000 seeds=3 powers='.5 .4 .3 .2'
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -ge 2 ]; do
  case $1 in
    --leveret) leveret=$2 ;; --synth) synth=$2 ;; --rows) rows=$2 ;; --seeds) seeds=$2 ;;
    --powers) powers=$2 ;;
    *) break ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$synth" ]; then usage; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# loss OPTION...: progressive logloss of all rows at hand
loss() {
  "$leveret" train -d "$work/rows" --quiet --metrics "$work/metrics" --window 1000000000000 "$@"
  sed -n '$s/.*"logloss": *\([0-9.e-]*\).*/\1/p' "$work/metrics"
}

printf '| drift | defaults | beside the best |'
for power in $powers; do printf ' %s |' "$power"; done
printf '\n|---|---|---|'
for power in $powers; do printf -- '---|'; done
echo
for kind in sudden gradual recurring vocabulary mixed; do
  rm -f "$work"/loss.*
  for ((seed = 1; seed <= seeds; ++seed)); do
    "$synth" --quiet --rows "$rows" --seed "$seed" --drift_kind "$kind" >"$work/rows"
    loss "$@" >>"$work/loss.default"
    for power in $powers; do
      loss --fast_head off --power_t "$power" --ffm_power_t "$power" --nn_power_t "$power" \
        >>"$work/loss.$power"
    done
  done
  mean() { awk '{ sum += $1 } END { printf "%.5f", sum / NR }' "$work/loss.$1"; }
  best=$(for power in $powers; do mean "$power"; echo; done | sort -g | head -n 1)
  awk -v kind="$kind" -v ours="$(mean default)" -v best="$best" \
    'BEGIN { printf "| %s | %s | %+.2f %% |", kind, ours, 100 * (ours / best - 1) }'
  for power in $powers; do printf ' %s |' "$(mean "$power")"; done
  echo
done
