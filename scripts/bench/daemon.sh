#!/usr/bin/env bash
# leveret serve under load: how fast, how soon, and whether every answer is right whatever happens.
#
#   daemon.sh STEP... --leveret PATH --load PATH [--data FILE.vw.zst] [--rows N] [--cpus "S L"]
#             [--seconds S] [--swaps N] [--soak S] [--library PATH] [--vw PATH] [--fw PATH]
#             [--train "OPTION..."]
#
# Steps, all if none is given:
#   peak      rate of requests of 1, 100 and 500 candidates, as whole lines, as blocks with a context, by
#             HTTP and as JSON; then p50 and p99 at half that rate, where requests are due at a fixed
#             rate and their time runs from then on. Beside the C library (--library: the program
#             bench_serve), and the daemons of VW and FW, which get whole lines
#   swaps     --swaps (1,000) new files under the watched name while three clients ask, each tenth a
#             damaged one: no answer is lost, and each is what predict says with the model that it names
#   pressure  twice the peak: the rate stays, nothing is lost, memory does not grow
#   soak      --soak (600) seconds of load with garbage, slow readers, half-closed sockets, a million
#             strange namespaces and a swap each second: memory stays, answers are right
#   contexts  what contexts that return save (--context_cache)
#   models    100 models in one server: memory, rate, answers
#
# --load: the program leveret-load. Models learn from --rows (20000) of FILE (the sample), with
# --train's words ("--ffm_k 4 --hidden 32"), and requests are made of its rows: three quarters of the
# namespaces are the context's. The server and the client each have a core, --cpus ("0 1"), or "any".
# --seconds (3): of each measurement. Exit code 1 where what must hold does not; rates are aims.
set -euo pipefail
export LC_ALL=C
leveret='' load='' data='' rows=20000 cpus='0 1' seconds=3 swaps=1000 soak=600 library='' vw='' fw=''
train_words='--ffm_k 4 --hidden 32' steps=()
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    peak | swaps | pressure | soak | contexts | models) steps+=("$1") && shift && continue ;;
    all) steps=() && shift && continue ;;
  esac
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --load) load=$2 ;; --data) data=$2 ;; --rows) rows=$2 ;;
    --cpus) cpus=$2 ;; --seconds) seconds=$2 ;; --swaps) swaps=$2 ;; --soak) soak=$2 ;;
    --library) library=$2 ;; --vw) vw=$2 ;; --fw) fw=$2 ;; --train) train_words=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$load" ]; then usage; fi
[ ${#steps[@]} -gt 0 ] || steps=(peak swaps pressure soak contexts models)

here=$(cd "$(dirname "$0")" && pwd)
tools=$here/../../tests/bench/daemon
[ -n "$data" ] || data=$here/../../datasets/sample/train.vw.zst
# shellcheck source=scripts/bench/lib.sh
. "$here/lib.sh"
# shellcheck source=scripts/bench/daemon_lib.sh
. "$here/daemon_lib.sh"
# shellcheck source=scripts/bench/daemon_steps.sh
. "$here/daemon_steps.sh"
work=$(mktemp -d)
server_pid='' asking=()
clean_up() {
  local pid
  exec 2>"$work/errors"
  # Those that have not ended.
  for pid in $(jobs -p); do kill -KILL "$pid" || true; done
  rm -rf "$work"
}
trap clean_up EXIT
use_cpus "$cpus"
describe_machine

zstd -dcq "$data" >"$work/unpacked"
sed "${rows}q" "$work/unpacked" >"$work/train"
tail -n 5000 "$work/unpacked" >"$work/asked"
split_names "$work/train"
read -ra train_options <<<"$train_words"
# train_model NAME SEED [ROWS]
train_model() {
  sed "${3:-$rows}q" "$work/train" | "$leveret" train --quiet --seed "$2" "${train_options[@]}" -f "$work/$1"
}
train_model A.lvt 1
train_model B.lvt 2
train_model C.lvt 3
printf 'Models of %s bytes\n' "$(stat -c %s "$work/A.lvt")"

for step in "${steps[@]}"; do
  printf '\n%s: ' "$step"
  "show_$step"
done
describe_load
