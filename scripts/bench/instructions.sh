#!/usr/bin/env bash
# The guard of speed: instructions per example, counted by callgrind. They are the same on any machine,
# however busy it is, so that a regression is seen where times say nothing.
#
#   instructions.sh --programs DIR --synth PATH [--simd avx2] [--only REGEX] [--update REASON] [--beside DIR]
#
# DIR has leveret and leveret-mpi (build/bin of a release). Counts what 700 examples cost
# beyond the first 400 (no start-up in it), with kernels that callgrind can run: avx2 (77 where the processor
# lacks it) or reference. Compares with instructions.tsv beside this script, which has figures for each
# compiler: exit 1 when a case takes more than 1 % (batches: 3 %) more than is written there, or is not there.
# --update writes what is counted now for the compiler of these programs; REASON, which stands in the table
# beside each figure that moved, says what users got for it. Figures of a compiler that the table does not
# have are told, and not judged. --beside counts another build too, and shows both, for a look at what a
# change costs.
set -euo pipefail
export LC_ALL=C
# OpenBLAS has kernels by processor, too.
export OPENBLAS_CORETYPE=Haswell OPENBLAS_NUM_THREADS=1
here=$(cd "$(dirname "$0")" && pwd)
kept=$here/instructions.tsv
programs='' synth='' beside='' simd=avx2 only=. reason=''
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --programs) programs=$2 ;; --synth) synth=$2 ;; --beside) beside=$2 ;; --simd) simd=$2 ;; --only) only=$2 ;; --update) reason=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$programs" ] || [ -z "$synth" ]; then usage; fi
programs=$(realpath "$programs") LEVERET_SIMD=$simd
export LEVERET_SIMD
[ -z "$beside" ] || beside=$(realpath "$beside")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! "$programs/leveret" --version >"$work/version" 2>&1; then
  cat "$work/version" >&2
  exit 77
fi
few=400 many=1100
"$synth" --quiet --rows $many --vocabulary 1000 >"$work/$many.vw"
sed ${few}q "$work/$many.vw" >"$work/$few.vw"

# A case: a name, how it is run (below), and options of train.
cases=(
  'linear, one head|text|--heads one --ffm_k 0'
  'linear, mixed|text|--ffm_k 0'
  'linear, one head, cache|cache|--heads one --ffm_k 0'
  'linear, one head, -b 22, cache|cache|--heads one --ffm_k 0 -b 22'
  'linear, one head, -b 22|text|--heads one --ffm_k 0 -b 22'
  'FFM k=4, one head|text|--heads one --hidden none'
  'FFM k=8, one head|text|--heads one --hidden none --ffm_k 8'
  'DeepFFM k=8 32, one head|text|--heads one --ffm_k 8'
  'defaults|text|'
  'defaults, cache|cache|'
  'defaults, 8-bit rows|text|--row_bits 8'
  'defaults, forgetting|text|--expire 300'
  'defaults, batches of 256|text|--batch_size 256 --batch_warmup 0'
  'FFM k=4, one head, batches of 256|text|--heads one --hidden none --batch_size 256 --batch_warmup 0'
  'defaults, one rank, batches of 256|rank|--batch_size 256 --batch_warmup 0'
  'DCNv2|text|--model dcnv2'
  'DeepFM, batches of 256|text|--model deepfm --batch_size 256 --batch_warmup 0'
  'defaults, predict|predict|'
  'defaults, candidate with a context|context|'
  'defaults, served line|serve|'
)

callgrind=(valgrind --tool=callgrind --callgrind-out-file=/dev/null)

# run FOLDER COMMAND...
run() {
  local folder=$1
  shift
  "$@" >"$folder/out" 2>"$folder/log"
}
# valgrind has fewer addresses to give away than tables would reserve.
learn=(train --quiet --max_memory 512M)

# run_text|cache|... FOLDER ROWS OPTION...: runs what is to be counted, by callgrind
run_text() { run "$1" "${callgrind[@]}" "$bin/leveret" "${learn[@]}" -d "$work/$2.vw" "${@:3}"; }
run_cache() {
  run "$1" "$bin/leveret" "${learn[@]}" --heads one --ffm_k 0 --cache "$1/$2.cache" -d "$work/$2.vw"
  run "$1" "${callgrind[@]}" "$bin/leveret" "${learn[@]}" --cache "$1/$2.cache" -d "$work/$2.vw" "${@:3}"
}
run_rank() {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  run "$1" "${callgrind[@]}" "$bin/leveret-mpi" "${learn[@]}" -d "$work/$2.vw" "${@:3}"
}
trained() { [ -e "$1/model" ] || run "$1" "$bin/leveret" "${learn[@]}" -d "$work/$few.vw" -f "$1/model" "${@:3}"; }
run_predict() {
  trained "$@"
  run "$1" "${callgrind[@]}" "$bin/leveret" predict --quiet -i "$1/model" -d "$work/$2.vw" -p /dev/null
}
run_context() {
  trained "$@"
  # Ten candidates of 9 fields beside 30 of one row.
  awk '{ shared = own = ""
         for (i = 2; i <= NF; ++i) {
           if ($i ~ /^\|/) on = $i ~ /^\|[A-Ma-q]/
           if (on) shared = shared " " $i; else own = own " " $i
         }
         if (NR % 10 == 1) printf "%s%s\n", (NR > 1 ? "\n" : ""), shared
         print own }' "$work/$2.vw" >"$1/requests"
  run "$1" "${callgrind[@]}" "$bin/leveret" predict --quiet -i "$1/model" --context "$(printf '%s,' {A..M} {a..p})q" --context_lines \
    -d "$1/requests" -p /dev/null
}
run_serve() {
  trained "$@"
  printf '#!/bin/sh\nexec %s "$@"\n' "${callgrind[*]} $bin/leveret" >"$1/counted"
  chmod +x "$1/counted"
  PYTHONPATH=$here/../../tests/daemon PYTHONDONTWRITEBYTECODE=1 python3 - "$1" "$work/$2.vw" >"$1/log" <<'END'
import sys
from server import Server
folder, lines = sys.argv[1], open(sys.argv[2], "rb").read()
with Server(folder + "/counted", "-i", folder + "/model", "--threads", 1, http=False) as server:
    assert server.lines(lines).count(b"\n") == lines.count(b"\n")
    server.end()
    print(server.read_said())
END
}

# count_case NUMBER BIN FOLDER: "name TAB instructions"
count_case() {
  local name how options bin=$2 folder=$3 rows total=()
  IFS='|' read -r name how options <<<"${cases[$1]}"
  mkdir -p "$folder"
  for rows in $few $many; do
    # shellcheck disable=SC2086 # words of options
    if ! "run_$how" "$folder" $rows $options; then
      echo "instructions.sh: failed: $name" >&2
      grep -v == "$folder/log" >&2 || true
      return 1
    fi
    total+=("$(sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$folder/log" | tail -n 1)")
  done
  printf '%s\t%d\n' "$name" $(((total[1] - total[0]) / (many - few)))
}

# count_all BIN NAME: all cases, in their order, side by side; NAME is where they leave what they make
count_all() {
  local i
  for i in "${!cases[@]}"; do
    [[ ${cases[i]%%|*} =~ $only ]] || continue
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
    count_case "$i" "$1" "$work/$2.$i" >"$work/$2.$(printf '%03d' "$i").counted" &
  done
  wait
  cat "$work/$2".*.counted
}

compiler_of() { strings -a "$1/leveret" | sed -n 's/^\(GCC: .*\|.*clang version .*\)$/\1/p' | sort -u | sed 1q; }

count_all "$programs" now >"$work/figures"
if [ "$(wc -l <"$work/figures")" -ne "$(printf '%s\n' "${cases[@]%%|*}" | grep -cE -- "$only")" ]; then exit 1; fi
if [ -n "$beside" ]; then
  count_all "$beside" beside >"$work/others"
  awk -F '\t' 'NR == FNR { other[$1] = $2; next }
    $1 in other { printf "%-36s %9d, beside it %9d: %+.1f %%\n", $1, $2, other[$1], 100 * ($2 / other[$1] - 1) }' \
    "$work/others" "$work/figures"
  exit
fi

key="$(compiler_of "$programs"), $simd"
# The table: compiler and instruction set, case, instructions, what users got for the last change.
awk -F '\t' -v OFS='\t' -v key="$key" -v reason="$reason" -v update="$([ -z "$reason" ] || echo yes)" '
  FILENAME == ARGV[1] { now[$1] = $2; order[++n] = $1; next }
  /^#/ { if (update) print >out; next }
  $1 == key { kept[$2] = $3; why[$2] = $4; known = 1; if (!($2 in now)) rest[++m] = $0; next }
  { rest[++m] = $0 }
  function judge(name,  change, most, verdict) {
    if (!(name in kept)) {
      printf "%-36s %9d, %s\n", name, now[name], known ? "NOT IN THE TABLE" : "another compiler: not judged"
      return known
    }
    change = 100 * (now[name] / kept[name] - 1)
    most = name ~ /batches/ ? 3 : 1
    verdict = change > most ? "  TOO MANY" : (change < -most ? "  fewer: --update keeps it" : "")
    printf "%-36s %9d, was %9d: %+.2f %%%s\n", name, now[name], kept[name], change, verdict
    return change > most
  }
  BEGIN { out = ARGV[2] ".new" }
  END {
    for (i = 1; i <= n; ++i) bad += judge(order[i])
    if (!update) exit bad > 0
    for (i = 1; i <= m; ++i) print rest[i] >out
    for (i = 1; i <= n; ++i) {
      name = order[i]
      moved = !(name in kept) || now[name] > 1.001 * kept[name] || now[name] < .999 * kept[name]
      print key, name, moved ? now[name] : kept[name], moved ? reason : why[name] >out
    }
  }' "$work/figures" "$kept" || exit 1
[ -z "$reason" ] || mv "$kept.new" "$kept"
