# Servers and requests to them; sourced, after lib.sh.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034  # variables belong to the scripts that source this

# On a core of its own: the words in front of a command.
pin_server=() pin_load=()
# use_cpus "SERVER LOAD": nothing is pinned where it is "any", or the machine has not both.
use_cpus() {
  local server=${1%% *} client=${1##* }
  [ "$1" != any ] || return 0
  if ! taskset -c "$server" true 2>/dev/null || ! taskset -c "$client" true 2>/dev/null; then return 0; fi
  pin_server=(taskset -c "$server") pin_load=(taskset -c "$client")
}

# wait_until SECONDS COMMAND...: whether it succeeds in time
wait_until() {
  local i
  for ((i = $1 * 50; i > 0; --i)); do
    if "${@:2}"; then return 0; fi
    sleep .02
  done
  return 1
}

# start_server WORD...: of leveret, on ports that are free. Fills server_pid, server_log, lines, http.
start_server() {
  server_log=$work/server.log
  : >"$server_log"  # what the one before has said is not this one's
  "${pin_server[@]}" "$leveret" serve --port 0 --http 0 "$@" 2>>"$server_log" &
  server_pid=$!
  if ! wait_until 30 grep -q '(HTTP)$' "$server_log"; then
    cat "$server_log" >&2
    die "the server does not start"
  fi
  lines=$(sed -n 's/.*listens on \(.*\) (lines)$/\1/p' "$server_log")
  http=$(sed -n 's/.*listens on \(.*\) (HTTP)$/\1/p' "$server_log")
}

# stop_server: it is to end by itself, and well
stop_server() {
  local status=0
  kill -TERM "$server_pid" || die "the server has ended: $(tail -n 3 "$server_log")"
  wait "$server_pid" || status=$?
  server_pid=''
  [ "$status" = 0 ] || die "the server has ended with $status: $(tail -n 3 "$server_log")"
}

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# ask_server WORD...: a line of leveret-load
ask_server() { "${pin_load[@]}" "$load" "$@"; }
# figure NAME JSON
figure() {
  local text=${2#*\""$1"\":}
  [ "$text" != "$2" ] || die "no $1 in $2"
  printf '%s' "${text%%[,\}]*}"
}
# cpu_ticks: of the server and its children
cpu_ticks() {
  local pid
  for pid in "$server_pid" $(pgrep -P "$server_pid"); do sed 's/.*) //' "/proc/$pid/stat"; done |
    awk '{ n += $12 + $13 } END { print n }'
}
# resident: kB of the server
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$server_pid/status"; }
# metric NAME [LABEL]: a counter of the server, summed over its labels, or over those with this one
metric() {
  python3 -c 'import sys, urllib.request
text = urllib.request.urlopen(f"http://{sys.argv[1]}/metrics").read().decode()
print(sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines()
          if line.split("{")[0].split(" ")[0] == sys.argv[2] and sys.argv[3] in line))' "$http" "$1" "${2-}"
}

# holds A RELATION B: of numbers
holds() { awk -v a="$1" -v b="$3" "BEGIN { exit !(a $2 b) }"; }

# split_names ROWS: three quarters of the namespaces are the context's. Fills `context`.
split_names() {
  context=$(sed 500q "$1" | awk '{ for (i = 2; i <= NF; ++i) if ($i ~ /^\|./ && !seen[$i]++) print substr($i, 2) }' |
    LC_ALL=C sort | awk '{ name[NR] = $1 } END { for (i = 1; i <= NR * .75; ++i) printf "%s%s", (i > 1 ? "," : ""), name[i] }')
}

# make_requests ROWS REQUESTS CANDIDATES TO [USERS]: TO.blocks, a context, its candidates, an empty
# line; and TO.plain, the same as whole lines. Each context is that of a row, each candidate's part that
# of another one. USERS: contexts are those of so many rows, drawn from a Zipf distribution.
make_requests() {
  awk -v context="$context" -v requests="$2" -v candidates="$3" -v to="$4" -v users="${5:-0}" '
    BEGIN { n = split(context, list, ","); for (i = 1; i <= n; ++i) in_context["|" list[i]] = 1 }
    {
      on = 0
      for (i = 1; i <= NF; ++i) {
        if ($i ~ /^\|/) on = $i in in_context ? 1 : 2
        if (on == 1) shared[NR] = shared[NR] " " $i
        if (on == 2) own[NR] = own[NR] " " $i
      }
    }
    function draw(  low, high, middle, x) {
      x = rand() * zipf[users]
      low = 1
      high = users
      while (low < high) {
        middle = int((low + high) / 2)
        if (zipf[middle] < x) low = middle + 1; else high = middle
      }
      return low
    }
    END {
      srand(1)
      for (u = 1; u <= users; ++u) zipf[u] = zipf[u - 1] + 1 / u
      for (r = 1; r <= requests; ++r) {
        row = users > 0 ? (draw() - 1) % NR + 1 : next_row++ % NR + 1
        print substr(shared[row], 2) >(to ".blocks")
        for (c = 1; c <= candidates; ++c) {
          other = next_row++ % NR + 1
          print substr(own[other], 2) >(to ".blocks")
          print substr(shared[row] own[other], 2) >(to ".plain")
        }
        print "" >(to ".blocks")
        print "" >(to ".plain")
      }
    }' "$1"
}

# ask_for_cost ADDRESS WORD...: leveret-load's line to `out`; CPU time of the server for a request, in us, to
# `cost`
ask_for_cost() {
  local before
  before=$(cpu_ticks)
  out=$(ask_server "$@") || die "$out"
  cost=$(awk -v a="$before" -v b="$(cpu_ticks)" -v hz="$(getconf CLK_TCK)" -v n="$(figure answered "$out")" \
    'BEGIN { print (b - a) / hz / n * 1e6 }')
}

# show_returning MODEL ROWS: what contexts that return save, by candidates of a request. They are those
# of 2,000 users, drawn from a Zipf distribution.
show_returning() {
  local candidates cache found rates costs
  printf 'Contexts of 2,000 users, drawn from a Zipf distribution; requests by HTTP: CPU time of the server for one\n'
  printf '(us), and candidates per second\n'
  printf '%10s %24s %24s %8s %8s\n' candidates 'made anew' 'with the cache' saves found
  for candidates in 1 10 100; do
    make_requests "$2" $((60000 / (candidates + 9))) $candidates "$work/returning" 2000
    rates=() costs=()
    for cache in 0 64M; do
      start_server -i "$1" --context_cache $cache --quiet
      ask_for_cost "$http" --protocol http --context_lines --requests "$work/returning.blocks" --seconds "$seconds"
      rates+=("$(figure candidates_per_s "$out")")
      costs+=("$cost")
      found=$(awk -v f="$(metric leveret_contexts_found_total)" -v m="$(metric leveret_contexts_made_total)" \
        'BEGIN { printf "%.0f %%", 100 * f / (f + m) }')
      stop_server
    done
    awk -v n=$candidates -v a="${rates[0]}" -v b="${rates[1]}" -v x="${costs[0]}" -v y="${costs[1]}" \
      -v found="$found" 'BEGIN {
        printf "%10s %9.1f, %11.1f k %9.1f, %11.1f k %6.0f %% %8s\n", n, x, a / 1000, y, b / 1000, 100 * (1 - y / x), found }'
  done
}
