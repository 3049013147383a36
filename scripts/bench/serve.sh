#!/usr/bin/env bash
# What a cached context is worth: candidates per second of `predict`, plain, with --context, and with
# --context_lines, by instruction set; then what remains of a candidate, part by part; then requests
# to the C library, and to FW's.
#
#   serve.sh --leveret PATH --synth PATH [--parts PATH] [--library PATH] [--requests N]
#            [--candidates N] [--times N] [--simd LIST] [--k LIST] [--processes N] [--seconds S]
#            [--fw PATH --fw_library PATH] [--load PATH]
#
# Requests are generated rows of 39 fields: the context's fields are one row's, each candidate's those
# of another one. Context and candidate have 30 + 9 and 20 + 19 of the fields, so that 306 and 551 of
# 741 pairs are left to a candidate, which is printed beside the ratios. Models: one head and the
# default ones, one hidden layer of 32, trained on 100,000 rows. Rates are of CPU time, the time of a
# run without requests subtracted; medians of --times runs (5), which take turns. LIST: words in one
# argument, "avx2 avx512".
#
# --parts: the program bench_context, whose parts, each timed alone, are added up; the whole is to be
# 1.2 times their sum at most.
#
# --library: the program bench_serve, which asks libleveret: from lines, with a context, and from
# arrays, on 1 and 2 threads of one model, in turns, medians of --times runs of --seconds (1) each; a
# request of 500 candidates (30 + 9 fields, k 4), which is to take less than 1 ms; and the first
# request after loading beside the later ones, in --processes (20) new processes, which is to take 2
# times theirs at most. --fw and --fw_library: FW's program and the library of its C interface, asked
# the same.
#
# --load: the program leveret-load, which asks `leveret serve` by HTTP: what contexts save that return.
set -euo pipefail
export LC_ALL=C
leveret='' synth='' parts='' library='' fw='' fw_library='' load='' requests=300 candidates=100 times=5 ks='4 8'
processes=20 duration=1
simds='reference sse2 avx2 avx512'
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --synth) synth=$2 ;; --parts) parts=$2 ;; --requests) requests=$2 ;;
    --candidates) candidates=$2 ;; --times) times=$2 ;; --simd) simds=$2 ;; --k) ks=$2 ;;
    --library) library=$2 ;; --processes) processes=$2 ;; --seconds) duration=$2 ;;
    --fw) fw=$2 ;; --fw_library) fw_library=$2 ;; --load) load=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$synth" ]; then usage; fi
if [ "${fw:+given}" != "${fw_library:+given}" ]; then usage; fi

# shellcheck source=scripts/bench/lib.sh
. "$(dirname "$0")/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
describe_machine
printf '%s requests of %s candidates; candidates per second of CPU time\n' "$requests" "$candidates"

"$synth" --quiet --rows 100000 >"$work/train"
long_requests=40 long=500 # requests of many candidates
rows=$((requests * (candidates + 1)))
if [ $rows -lt $((long_requests * (long + 1))) ]; then rows=$((long_requests * (long + 1))); fi
"$synth" --quiet --first 100000 --rows $rows >"$work/rows"
names=$(namespaces_of "$work/train")

# make_requests FIELDS REQUESTS CANDIDATES: the first so many fields are the context's. Fills
# $work/{lines,blocks} and `context`.
make_requests() {
  local pairs=$((39 * 38 / 2 - $1 * ($1 - 1) / 2))
  printf '%s of 741 pairs are left to a candidate beside %s fields of context: %sx\n' $pairs "$1" \
    "$(awk -v n=$pairs 'BEGIN { printf "%.2f", 741 / n }')"
  context=$(head -n "$1" <<<"$names" | paste -s -d ,)
  write_requests <(head -n $(($2 * ($3 + 1))) "$work/rows") "$context" "$3" "$work"
}

# seconds WORD...: CPU time of a predict
seconds() {
  /usr/bin/time -f '%U %S' -o "$work/usage" "$leveret" predict -i "$work/model" --quiet -p /dev/null "$@"
  tail -n 1 "$work/usage" | awk '{ print $1 + $2 }'
}

measure() { # measure SIMD LABEL
  local i way
  export LEVERET_SIMD=$1
  rm -f "$work"/times.*
  for ((i = 0; i < times; ++i)); do
    seconds -d /dev/null >>"$work/times.start"
    seconds -d "$work/lines" >>"$work/times.plain"
    seconds --context "$context" -d "$work/lines" >>"$work/times.lines"
    seconds --context "$context" --context_lines -d "$work/blocks" >>"$work/times.blocks"
  done
  for way in start plain lines blocks; do median 1 "$work/times.$way" '%g\n'; done |
    awk -v n=$((requests * candidates)) -v label="$2" '
      { t[NR] = $1 }
      END {
        for (i = 2; i <= 4; ++i) rate[i] = n / (t[i] - t[1] + 1e-9)
        printf "%-32s plain %8.1f k   --context %8.1f k (%.2fx)   --context_lines %8.1f k (%.2fx)\n", label, \
          rate[2] / 1000, rate[3] / 1000, rate[3] / rate[2], rate[4] / 1000, rate[4] / rate[2]
      }'
  unset LEVERET_SIMD
}

show_predict() {
  local k heads in_context simd
  for k in $ks; do
    for heads in one mixed; do
      "$leveret" train --quiet --heads $heads --ffm_k "$k" --hidden 32 -d "$work/train" -f "$work/model"
      for in_context in 30 20; do
        make_requests $in_context "$requests" "$candidates"
        for simd in $simds; do
          has "$simd" || continue
          measure "$simd" "$in_context+$((39 - in_context)) k=$k $heads $simd"
        done
      done
    done
  done
}

show_parts() {
  local simd
  printf '\nns of one candidate (bench_context): what it takes, and its parts\n'
  for simd in $simds; do
    has "$simd" || continue
    LEVERET_SIMD=$simd "$parts" --benchmark_format=csv 2>"$work/errors" |
      awk -F , -v simd="$simd" '
        NR == 1 { for (i = 1; i <= NF; ++i) if ($i ~ /ns/) column = i; next }
        /^"/ {
          gsub(/"/, "", $1)
          at = index($1, "/")
          part = substr($1, 1, at - 1)
          kind = substr($1, at + 1)
          if (!(kind in seen)) { seen[kind] = 1; order[++kinds] = kind }
          ns[kind, part] = $column
        }
        END {
          n = split("parse look_up sums finish", list, " ")
          for (k = 1; k <= kinds; ++k) {
            kind = order[k]
            printf "%s %s: whole line %.0f, from text %.0f:", simd, kind, ns[kind, "whole"], ns[kind, "text"]
            sum = 0
            for (i = 1; i <= n; ++i) {
              printf " %s %.0f", list[i], ns[kind, list[i]]
              sum += ns[kind, list[i]]
            }
            printf ", sum %.0f (%.2fx, aim 1.2 at most)\n", sum, ns[kind, "text"] / sum
          }
        }'
  done
}

# ask NAME WORD...: a line of bench_serve for the requests at hand, to $work/asked.NAME
ask() {
  local name=$1
  shift
  "$library" --model "$work/model" --context "$context" --requests "$work/blocks" \
    --seconds "$duration" "$@" >>"$work/asked.$name"
}

ask_fw() { # ask_fw NAME WORD...
  local name=$1
  shift
  OPENBLAS_CORETYPE=$openblas ask "$name" --fw "$fw_library" \
    --fw_command "$fw -t -i $work/theirs.inference" "$@" 2>"$work/errors"
}

rate_of() { median 1 "$work/asked.$1" thousands; }

# show_rates LABEL: what libleveret answers, on one instruction set
show_rates() {
  local i way threads
  rm -f "$work"/asked.*
  for ((i = 0; i < times; ++i)); do
    for way in plain text arrays; do
      for threads in 1 2; do ask $way.$threads --way $way --threads $threads; done
    done
  done
  printf '%-24s' "$1"
  for way in plain text arrays; do
    printf '   %s %s, 2 threads %s' $way "$(rate_of $way.1)" "$(rate_of $way.2)"
  done
  printf '\n'
}

train_fw() { # train_fw K
  rm -f "$work/vw_namespace_map.csv"
  fw_namespaces "$work/train" "$work"
  fw_deep "$1" 32
  "${fw_base[@]}" -b 22 --ffm_bit_precision 22 --data "$work/train" "${theirs[@]}" --save_resume \
    -f "$work/theirs.model" >"$work/errors" 2>&1
  "$fw" -i "$work/theirs.model" --convert_inference_regressor "$work/theirs.inference" \
    >"$work/errors" 2>&1
}

show_fw() { # show_fw LABEL
  local i
  for ((i = 0; i < times; ++i)); do
    ask_fw fw.plain --way plain
    ask_fw fw.text --way text
  done
  printf '%-24s   plain %s   with its cache %s\n' "$1" "$(rate_of fw.plain)" "$(rate_of fw.text)"
}

# Of requests with many candidates, and of the first request of a process.
show_latency() {
  local i simd=$1
  rm -f "$work"/asked.*
  for ((i = 0; i < times; ++i)); do ask long; done
  printf '%s: a request of %s candidates: median %s us (aim below 1000), 99 %% in %s us\n' "$simd" $long \
    "$(median 2 "$work/asked.long" %.0f)" "$(median 3 "$work/asked.long" %.0f)"
  for ((i = 0; i < processes; ++i)); do duration=0 ask first; done
  awk '{ print $4 / $2, $4 }' "$work/asked.first" >"$work/ratios"
  printf '%s: the first request after loading, %s processes: median %s us, %sx the later ones (aim 2 at most), %sx at most\n' \
    "$simd" "$processes" "$(median 2 "$work/ratios" %.0f)" "$(median 1 "$work/ratios" %.2f)" \
    "$(sort -g "$work/ratios" | awk 'END { printf "%.2f", $1 }')"
}

show_library() {
  local simd k in_context label
  printf '\nRequests to libleveret (bench_serve), one head: candidates per second\n'
  for k in $ks; do
    "$leveret" train --quiet --heads one --ffm_k "$k" --hidden 32 -d "$work/train" -f "$work/model"
    [ -z "$fw" ] || train_fw "$k"
    for in_context in 30 20; do
      make_requests $in_context "$requests" "$candidates"
      label="$in_context+$((39 - in_context)) k=$k"
      for simd in $simds; do
        if has "$simd"; then LEVERET_SIMD=$simd show_rates "$label $simd"; fi
      done
      [ -z "$fw" ] || show_fw "$label FW"
    done
  done
  "$leveret" train --quiet --heads one --ffm_k 4 --hidden 32 -d "$work/train" -f "$work/model"
  make_requests 30 $long_requests $long
  for simd in $simds; do
    if has "$simd"; then LEVERET_SIMD=$simd show_latency "30+9 k=4 $simd"; fi
  done
}

# Of users who come again.
show_server() {
  # shellcheck source=scripts/bench/daemon_lib.sh
  . "$(dirname "$0")/daemon_lib.sh"
  seconds=3
  use_cpus '0 1'
  "$leveret" train --quiet --ffm_k 4 --hidden 32 -d "$work/train" -f "$work/model"
  sed 5000q "$work/rows" >"$work/asked"
  split_names "$work/asked"
  printf '\n'
  show_returning "$work/model" "$work/asked"
}

show_predict
if [ -n "$parts" ]; then show_parts; fi
if [ -n "$library" ]; then show_library; fi
if [ -n "$load" ]; then show_server; fi
