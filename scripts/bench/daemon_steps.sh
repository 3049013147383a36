# The steps of daemon.sh; sourced.
# shellcheck shell=bash
# shellcheck disable=SC2154  # variables belong to daemon.sh

# show_way LABEL ADDRESS REQUESTS BESIDE WORD...: a line of the table. BESIDE: a rate in candidates per
# second that it is to come near, or empty.
show_way() {
  local label=$1 address=$2 requests=$3 beside=$4 peak half rate out cost
  shift 4
  ask_for_cost "$address" --requests "$requests" --seconds "$seconds" "$@"
  peak=$out
  rate=$(figure rate "$peak")
  half=$(ask_server "$address" --requests "$requests" --seconds "$seconds" "$@" \
    --rate "$(awk -v r="$rate" 'BEGIN { print r / 2 }')") || die "$label: $half"
  awk -v label="$label" -v rate="$rate" -v candidates="$(figure candidates_per_s "$peak")" \
    -v p50="$(figure p50 "$half")" -v p99="$(figure p99 "$half")" -v max="$(figure max "$half")" \
    -v beside="$beside" -v cpu="$cost" 'BEGIN {
      printf "%-26s %10.0f %12.1f k %9.1f %9.2f %9.2f %9.2f", label, rate, candidates / 1000, cpu, p50, p99, max
      if (beside != "") printf "   %.2fx", candidates / beside
      printf "\n" }'
}

# ask_library WAY REQUESTS: candidates per second
ask_library() {
  [ -n "$library" ] || return 0
  "${pin_server[@]}" "$library" --model "$work/A.lvt" --context "$context" --requests "$2" --way "$1" \
    --seconds "$seconds" | cut -d ' ' -f 1
}

show_peak() {
  local n count plain blocks
  printf 'requests per second at the peak, and CPU time of the server for each; milliseconds at half of it (aim:\n'
  printf 'p99 below 5 with 100 candidates)\n'
  [ -z "$library" ] || printf 'The last column: candidates beside those of the C library (aim: 0.8x)\n'
  printf '%-26s %10s %14s %9s %9s %9s %9s\n' '' requests candidates 'CPU us' p50 p99 max
  for n in 1 100 500; do
    count=$((n == 1 ? 5000 : n == 100 ? 200 : 40))
    make_requests "$work/asked" $count $n "$work/requests.$n"
    plain=$(ask_library plain "$work/requests.$n.blocks")
    blocks=$(ask_library text "$work/requests.$n.blocks")
    # Contexts return, as the requests do; that is for another step.
    start_server -i "$work/A.lvt" --quiet --context_cache 0
    show_way "$n whole lines" "$lines" "$work/requests.$n.plain" "$plain"
    [ $n != 1 ] || show_way "$n whole line, pipelined" "$lines" "$work/requests.$n.plain" "$plain" --pipeline 64
    show_way "$n by HTTP" "$http" "$work/requests.$n.blocks" "$blocks" --protocol http --context_lines
    show_way "$n by JSON" "$http" "$work/requests.$n.blocks" "$blocks" --protocol json --context_lines
    stop_server
    start_server -i "$work/A.lvt" --quiet --context_cache 0 --context_lines
    show_way "$n in a block" "$lines" "$work/requests.$n.blocks" "$blocks" --context_lines
    stop_server
  done
  [ -z "$vw" ] || show_vw
  [ -z "$fw" ] || show_fw
}

# port_of PID: that a process, or a child, listens on
port_of() { python3 "$tools/listening_port.py" "$1"; }

# show_daemon NAME COMMAND...: another program's daemon, which gets whole lines
show_daemon() {
  local name=$1 n
  shift
  "${pin_server[@]}" "$@" >"$work/their.log" 2>&1 &
  server_pid=$!
  wait_until 30 port_of $server_pid >"$work/port" || die "$name does not listen: $(tail -n 3 "$work/their.log")"
  for n in 1 100 500; do
    show_way "$name: $n whole lines" "127.0.0.1:$(tail -n 1 "$work/port")" "$work/requests.$n.plain" ''
  done
  # shellcheck disable=SC2046 # a word for each
  kill -TERM $(pgrep -P $server_pid) $server_pid || true
  wait $server_pid || true
  server_pid=''
}

show_vw() {
  "$vw" --quiet --loss_function logistic -d "$work/train" -f "$work/vw.model"
  show_daemon VW "$vw" --daemon --foreground --num_children 1 --port 0 --port_file "$work/vw.port" --quiet -t \
    --link logistic -i "$work/vw.model"
}

show_fw() {
  local port
  fw_namespaces "$work/train" "$work"
  fw_deep 4 32
  "${fw_base[@]}" -b 22 --ffm_bit_precision 22 --data "$work/train" "${theirs[@]}" --save_resume \
    -f "$work/fw.model" >"$work/errors" 2>&1
  # It takes no port 0.
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  show_daemon FW env OPENBLAS_CORETYPE="$openblas" "$fw" --daemon --foreground --num_children 1 --port "$port" -t \
    -i "$work/fw.model"
}

# expect NAME BLOCKS MODEL...: what predict says of these requests with each model; fills `expected`, words
# of leveret-load. The server is told the same namespaces of contexts as predict: what is computed once for
# a context decides how sums are rounded.
expect() {
  local name=$1 requests=$2 model words=()
  shift 2
  case $requests in *.blocks) words=(--context "$context" --context_lines) ;; esac
  expected=()
  for model in "$@"; do
    "$leveret" predict --quiet -i "$model" "${words[@]}" -d "$requests" -p "$work/$name.$(basename "$model")"
    expected+=(--answers "$(fingerprint "$model")=$work/$name.$(basename "$model")")
  done
}
fingerprint() { "$leveret" inspect "$1" | awk '$1 == "fingerprint" { print $2 }'; }

# start_asking NAME ADDRESS WORD...: a client in the background, which writes $work/NAME.json
start_asking() {
  local name=$1
  shift
  # Not by a function, which would be a process of its own.
  "${pin_load[@]}" "$load" "$@" >"$work/$name.json" 2>"$work/$name.said" &
  asking+=("$name:$!")
}

# end_asking VERSIONS: all clients end; their answers were right, and came of each version
end_asking() {
  local client name json
  for client in "${asking[@]}"; do kill -TERM "${client##*:}" || true; done
  for client in "${asking[@]}"; do
    name=${client%%:*}
    wait "${client##*:}" || die "$name: $(cat "$work/$name.json" "$work/$name.said")"
    json=$(cat "$work/$name.json")
    printf '%-12s %9s requests, right, of %s versions; lost %s, p99 %s ms\n' "$name" "$(figure answered "$json")" \
      "$1" "$(figure lost "$json")" "$(figure p99 "$json")"
    # Each version has answered.
    [ "$(grep -o '"[0-9a-f]\{32\}":[1-9]' <<<"$json" | wc -l)" = "$1" ] || die "$name: versions are missing: $json"
  done
  asking=()
}

# start_clients WORD...: three, whose answers are compared with those of A, B and C
start_clients() {
  local models=("$work/A.lvt" "$work/B.lvt" "$work/C.lvt")
  asking=()
  make_requests "$work/asked" 100 10 "$work/compared"
  expect plain "$work/compared.plain" "${models[@]}"
  start_asking lines "$lines" --requests "$work/compared.plain" "${expected[@]}" --connections 4 "$@"
  expect blocks "$work/compared.blocks" "${models[@]}"
  start_asking http "$http" --requests "$work/compared.blocks" "${expected[@]}" --protocol http \
    --context_lines --connections 4 "$@"
  start_asking json "$http" --requests "$work/compared.blocks" "${expected[@]}" --protocol json \
    --context_lines --connections 4 "$@"
}

show_swaps() {
  printf '%s files, each tenth damaged, while three clients ask\n' "$swaps"
  cp "$work/A.lvt" "$work/served.lvt"
  start_server -i "$work/served.lvt" --watch "$work/served.lvt" --context "$context"
  start_clients --seconds 100000
  sleep .5
  "$tools/swap_files.py" --file "$work/served.lvt" --log "$server_log" --pid "$server_pid" --times "$swaps" \
    "$work/A.lvt" "$work/B.lvt" "$work/C.lvt"
  end_asking 3
  [ "$(metric leveret_swaps_total 'done="yes"')" = $((swaps - swaps / 10)) ] || die "not all were taken"
  stop_server
}

# watch_memory: kB of the server to $work/memory, each half second, in the background, until end_watch
watch_memory() {
  rm -f "$work/memory"
  touch "$work/watching"
  while [ -e "$work/watching" ]; do
    resident >>"$work/memory"
    sleep .5
  done &
  watcher=$!
}
end_watch() {
  rm "$work/watching"
  wait "$watcher" || die "the server has gone"
}

show_pressure() {
  local way address words peak rate before out most
  printf 'twice the peak, by 16 connections that send without waiting\n'
  make_requests "$work/asked" 200 100 "$work/requests"
  start_server -i "$work/A.lvt" --quiet
  for way in lines http; do
    address=$lines words=()
    [ $way = lines ] || address=$http words=(--protocol http)
    out=$(ask_server "$address" --requests "$work/requests.plain" --seconds "$seconds" "${words[@]}") || die "$out"
    peak=$(figure rate "$out")
    before=$(resident)
    watch_memory
    rate=$(awk -v r="$peak" 'BEGIN { print 2 * r }')
    out=$(ask_server "$address" --requests "$work/requests.plain" --seconds "$(awk -v s="$seconds" 'BEGIN { print 2 * s }')" "${words[@]}" \
      --pipeline 0 --rate "$rate" --grace 60) || die "$way: $out"
    end_watch
    most=$(sort -n "$work/memory" | tail -n 1)
    printf '%-6s peak %s, asked for %s, answered %s requests per second; lost %s, errors %s; RSS %s kB, then %s at most\n' \
      $way "$peak" "$rate" "$(figure rate "$out")" "$(figure lost "$out")" "$(figure errors "$out")" "$before" "$most"
    # A connection has its incoming bytes and its answers: less than a megabyte.
    [ "$most" -lt $((before + 16 * 1024)) ] || die "$way: memory has grown"
    holds "$(figure rate "$out")" '>' "$(awk -v r="$peak" 'BEGIN { print .3 * r }')" || die "$way: the rate falls"
  done
  stop_server
}

# mean FILE FROM TO: of these shares of a file's numbers
mean() {
  awk -v from="$2" -v to="$3" '{ x[NR] = $1 }
    END { for (i = int(NR * from) + 1; i <= NR * to; ++i) { sum += x[i]; ++n } printf "%.0f", sum / n }' "$1"
}

show_soak() {
  local early late
  printf '%s s of load, with nuisances and a swap each second\n' "$soak"
  cp "$work/A.lvt" "$work/served.lvt"
  start_server -i "$work/served.lvt" --watch "$work/served.lvt" --request_time 2 --context "$context"
  start_clients --rate 50 --seconds 100000
  "$tools/swap_files.py" --file "$work/served.lvt" --log "$server_log" --pid "$server_pid" --times "$soak" --every 1 \
    "$work/A.lvt" "$work/B.lvt" "$work/C.lvt" &
  local swapping=$!
  watch_memory
  "$tools/nuisance.py" --lines "$lines" --http "$http" --rows "$work/compared.plain" --seconds "$soak"
  wait $swapping || die "swaps ended with $?"
  end_asking 3
  end_watch
  # Each of the slow readers that are there by chance has some hundred kilobytes.
  local slack=$((soak < 60 ? 16384 : 4096))
  # Memory is taken from the second fifth on: the first has what every server comes to have.
  early=$(mean "$work/memory" .2 .5) late=$(mean "$work/memory" .7 1)
  printf 'RSS: %s kB at first, %s kB on average between 20 and 50 %% of the time, %s kB in its last 30 %%, %s kB at most\n' \
    "$(sed 1q "$work/memory")" "$early" "$late" "$(sort -n "$work/memory" | tail -n 1)"
  printf 'closed for their time: %s; strange namespaces: %s\n' "$(metric leveret_connections_timed_out_total)" \
    "$(metric leveret_unknown_namespaces_total)"
  holds "$late" '<' "$((early + early / 20 + slack))" || die "memory grows"
  stop_server
}

show_contexts() { show_returning "$work/A.lvt" "$work/asked"; }

show_models() {
  local i name out one
  printf '100 models in one server\n'
  mkdir -p "$work/models"
  make_requests "$work/asked" 500 10 "$work/requests"
  # Five requests for each, answered by predict with its own model.
  : >"$work/many" && : >"$work/many.answers"
  for ((i = 0; i < 100; ++i)); do
    name=$(printf 'm%02d' $i)
    train_model models/"$name".lvt $((i + 1)) 2000
    awk -v i=$i 'BEGIN { RS = ""; ORS = "\n\n" } NR > 5 * i && NR <= 5 * i + 5' "$work/requests.plain" >"$work/part"
    "$leveret" predict --quiet -i "$work/models/$name.lvt" -d "$work/part" >>"$work/many.answers"
    sed "s/^|/@$name |/" "$work/part" >>"$work/many"
  done
  start_server -i "$work/models" --quiet
  out=$(ask_server "$lines" --requests "$work/many" --answers "all=$work/many.answers" --seconds "$seconds") || die "$out"
  printf 'files of %s kB in all; RSS %s kB; %s k candidates per second, each answer right' \
    "$(du -ck "$work"/models/*.lvt | awk 'END { print $1 }')" "$(resident)" \
    "$(awk -v r="$(figure candidates_per_s "$out")" 'BEGIN { printf "%.1f", r / 1000 }')"
  one=$(ask_server "$lines" --requests "$work/requests.plain" --seconds "$seconds") || die "$one"
  printf '; %s k for one of them\n' "$(awk -v r="$(figure candidates_per_s "$one")" 'BEGIN { printf "%.1f", r / 1000 }')"
  stop_server
}
