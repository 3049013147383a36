#!/usr/bin/env bash
# Learning over a network (the DES paper's Figure 8, in shape): two ranks in network namespaces of their
# own, joined by links of a given rate, beside two ranks with shared memory and one process.
#
#   des_network.sh --leveret PATH --leveret_mpi PATH --synth PATH [--rows 100000] [--batch_size 1024]
#                  [--rates "1gbit 100mbit"] [--times 3] [--models REGEX]
#
# For a linear model and DeepFFM (k 8, 32 neurons), both with one head, and the default model: examples
# per second of wall time, start-up included, medians of --times runs, which take turns; and the bytes of
# an example that rank 0 sends. With one head beside the mesh (--strategy mesh), which learns the same.
# What a link costs is the time beside that of two ranks with shared memory: "on the link" is that
# difference, in seconds.
#
# The namespaces are made within one that ends with the script (unshare), which root may do, and others
# where the system lets users have namespaces; else it says so and exits with 77. Each has a hostname of
# its own, as Open MPI would take shared memory else. Needs ip and tc (iproute2).
set -euo pipefail
export LC_ALL=C
leveret='' leveret_mpi='' synth='' rows=100000 batch=1024 rates='1gbit 100mbit' times=3 only=.
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
options=("$@")
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --leveret_mpi) leveret_mpi=$2 ;; --synth) synth=$2 ;; --rows) rows=$2 ;;
    --batch_size) batch=$2 ;; --rates) rates=$2 ;; --times) times=$2 ;; --models) only=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$leveret_mpi" ] || [ -z "$synth" ]; then usage; fi

skip() { echo "des_network.sh: skipped: $*" >&2; exit 77; }
for tool in ip tc unshare mpirun; do
  command -v $tool >/dev/null || skip "$tool is not installed"
done
# All links and namespaces are made in here, and are gone with it.
if [ -z "${LEVERET_IN_NAMESPACE-}" ]; then
  alone=(unshare --net --mount)
  [ "$(id -u)" -eq 0 ] || alone=(unshare --user --map-root-user --net --mount)
  "${alone[@]}" true 2>/dev/null || skip "this system does not let $(id -un) make network namespaces"
  LEVERET_IN_NAMESPACE=yes exec "${alone[@]}" "$0" "${options[@]}"
fi

# shellcheck source=scripts/bench/lib.sh
. "$(dirname "$0")/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# nodes_up: the nodes n2 and n3 behind a bridge, whose address is 10.77.0.1.
nodes_up() {
  mount -t tmpfs none /run && ip link set lo up && ip link add switch0 type bridge &&
    ip addr add 10.77.0.1/24 dev switch0 && ip link set switch0 up && node_up 2 && node_up 3
}
node_up() {
  ip netns add "n$1" && ip link add "to_n$1" type veth peer name eth0 netns "n$1" &&
    ip link set "to_n$1" master switch0 up && ip -n "n$1" addr add "10.77.0.$1/24" dev eth0 &&
    ip -n "n$1" link set eth0 up && ip -n "n$1" link set lo up
}
nodes_up 2>"$work/errors" || skip "no links can be made here: $(head -n 1 "$work/errors")"

# set_rate RATE: of both links, both ways
set_rate() {
  local i
  for i in 2 3; do
    tc qdisc replace dev to_n$i root tbf rate "$1" burst 256kb latency 50ms
    ip netns exec n$i tc qdisc replace dev eth0 root tbf rate "$1" burst 256kb latency 50ms
  done
}

# Stands for ssh: agent HOST COMMAND… runs the command on the node.
cat >"$work/agent" <<'AGENT'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
node=n${1##*.}
shift
exec ip netns exec "$node" unshare --uts sh -c "hostname $node; $*"
AGENT
chmod +x "$work/agent"
over_network=(mpirun --host 10.77.0.2:1,10.77.0.3:1 -n 2 --mca plm_rsh_agent "$work/agent"
  --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24)
together=(mpirun --oversubscribe -n 2)

"$synth" --quiet --rows "$rows" >"$work/rows"
describe_machine
echo "$rows rows of 39 fields, batches of $batch"

# timed NAME COMMAND...: its wall seconds, to $work/time.NAME
timed() {
  local name=$1 begin
  shift
  begin=$(date +%s.%N)
  "$@" >"$work/out" 2>&1 || { cat "$work/out" >&2; exit 1; }
  awk -v begin="$begin" -v end="$(date +%s.%N)" 'BEGIN { print end - begin }' >>"$work/time.$name"
}
rate_of() { awk -v rows="$rows" '{ print rows / $1 }' "$work/time.$1" >"$work/rate"; median 1 "$work/rate" thousands; }

measure() { # measure MODEL OPTION...
  local model=$1 i rate strategy strategies=des
  shift
  [[ " $* " != *" --heads one "* ]] || strategies='des mesh'
  local learn=(train -d "$work/rows" --quiet --batch_size "$batch" --batch_warmup 0 "$@")
  rm -f "$work"/time.* "$work"/metrics.*
  for ((i = 0; i < times; ++i)); do
    timed one "$leveret" "${learn[@]}"
    timed threads "$leveret" "${learn[@]}" --threads 2
    for strategy in $strategies; do
      timed "$strategy.shared" "${together[@]}" "$leveret_mpi" "${learn[@]}" --strategy "$strategy"
      for rate in $rates; do
        set_rate "$rate"
        timed "$strategy.$rate" "${over_network[@]}" "$leveret_mpi" "${learn[@]}" --strategy "$strategy" \
          --metrics "$work/metrics.$strategy" --window "$rows"
      done
    done
  done
  printf '%-8s  one process %s, two threads %s\n' "$model" "$(rate_of one)" "$(rate_of threads)"
  for strategy in $strategies; do tell_of "$strategy"; done
}

tell_of() { # tell_of STRATEGY
  local rate
  printf '          %-4s  two ranks %s' "$1" "$(rate_of "$1.shared")"
  for rate in $rates; do
    printf ', at %s %s (%s s on the link)' "$rate" "$(rate_of "$1.$rate")" "$(on_link "$1" "$rate")"
  done
  printf '\n'
  tail -n 1 "$work/metrics.$1" | sed 's/[{}"]//g' | tr ',' '\n' | awk -F : -v rows="$rows" '
    { value[$1] = $2 }
    END {
      printf "                bytes an example (by formula):"
      split("sums pull push input", kinds, " ")
      for (k = 1; k <= 4; ++k) {
        of = kinds[k] "_bytes"
        if (!(of in value)) continue
        printf " %s %.0f (%.0f)", kinds[k], value[of] / rows, value[of "_by_formula"] / rows
      }
      printf "\n"
    }'
}
# on_link STRATEGY RATE: how many seconds longer a run takes than with shared memory
on_link() {
  awk -v with="$(median 1 "$work/time.$1.$2" %.9f)" -v without="$(median 1 "$work/time.$1.shared" %.9f)" \
    'BEGIN { printf "%.1f", with - without }'
}
each() { if grep -qE "$only" <<<"$1"; then measure "$@"; fi; }
each linear --heads one --ffm_k 0
each deepffm --heads one --ffm_k 8 --hidden 32
each default
describe_load
