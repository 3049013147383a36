#!/usr/bin/env bash
# Learning in batches beside PyTorch on one core: generated rows of 39 fields, embeddings of 16 numbers, 1,024 rows a
# batch, AdaGrad for all, sparse for the embeddings. The whole step is in both times; PyTorch has its tensors in
# memory, ours are decoded from a cache.
#
#   torch.sh --leveret PATH --synth PATH [--rows 60000] [--turns 5] [--only REGEX] [--cpu N]
#
# The rows of attention and DHEN are a quarter. A line of the table: thousands of examples a second, medians of
# `--turns` turns in which both learn, one behind the other; the median over turns of ours by theirs; and, if perf is
# here, the share of OpenBLAS in our time and that of all products of matrices. It needs python3-torch, and no ratio is
# made where PyTorch has another BLAS than OpenBLAS.
set -euo pipefail
export LC_ALL=C OPENBLAS_NUM_THREADS=1
leveret='' synth='' rows=60000 turns=5 only=. cpu=$(($(nproc) - 1)) python=/usr/bin/python3
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --synth) synth=$2 ;; --rows) rows=$2 ;; --turns) turns=$2 ;;
    --only) only=$2 ;; --cpu) cpu=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$synth" ]; then usage; fi
here=$(dirname "$0")

# shellcheck source=scripts/bench/lib.sh
. "$here/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

describe_machine
"$python" "$here/torch_models.py" --describe

# Name, that of torch_models.py, which part of the rows, options.
models='two small layers|layers|1|--tower mlp:hidden=64+32
DCNv2|dcnv2|1|--tower cross2:layers=2,rank=16 --tower mlp:hidden=64+32
DLRM|dlrm|1|--tower dot:keep=products,hidden=64+32
attention of 4 heads|attention|4|--tower dhen:layers=1,modules=attention,heads=4
DHEN of 4 layers|dhen|4|--tower dhen:layers=4,modules=attention+linear,heads=4'

fail() { echo "torch.sh: failed: $*" >&2; tail -n 5 "$work/log" >&2; exit 1; }

# learn FILE OPTIONS...: examples a second
learn() {
  local file=$1
  shift
  local command=("$leveret" train --json --threads 1 --heads one --ffm_k 0 --embedding_dim 16 --batch_size 1024
                 --learning_rate .05 --ffm_learning_rate .05 --nn_learning_rate .02 "$@" -c -d "$file")
  "${before[@]}" taskset -c "$cpu" "${command[@]}" >"$work/out" 2>"$work/log" || fail "${command[@]}"
  tail -n 1 "$work/out" | sed -n 's/.*"examples_per_second":\([0-9]*\).*/\1/p'
}

# shares: that of OpenBLAS, and that of products by it and by our kernels
shares() {
  command -v perf >/dev/null || { echo '— | —'; return; }
  before=(perf record --quiet --output "$work/perf")
  learn "$@" >/dev/null
  before=()
  perf report --input "$work/perf" --stdio --fields overhead,symbol 2>/dev/null | awk '
    /^ +[0-9.]+%/ { share = $1 + 0
                    if (/ sgemm_/) blas += share
                    if (/ sgemm_|::multiply_add<|::dense_backward<|::dense_forward<|::forward_bundle</) all += share }
    END { printf "%.0f %% | %.0f %%\n", blas, all }'
}

before=()
"$synth" --quiet --rows "$rows" >"$work/1.vw"
sed "$((rows / 4))q" "$work/1.vw" >"$work/4.vw"
for part in 1 4; do
  "$leveret" train --quiet --ffm_k 0 -c -d "$work/$part.vw" >"$work/log" 2>&1 || fail "the cache of $part.vw"
done

echo
echo '| Model | ours | PyTorch | ratio | OpenBLAS | products |'
echo '| --- | --- | --- | --- | --- | --- |'
while IFS='|' read -r name theirs part options; do
  [[ $name =~ $only ]] || continue
  read -ra words <<<"$options"
  : >"$work/$theirs"
  for _ in $(seq "$turns"); do
    ours=$(learn "$work/$part.vw" "${words[@]}")
    other=$(taskset -c "$cpu" "$python" "$here/torch_models.py" "$work/$part.vw" $((rows / part)) 1024 16 "$theirs" \
      2>"$work/log") || fail "torch_models.py $theirs"
    awk -v a="$ours" -v b="$other" 'BEGIN { print a, b, a / b }' >>"$work/$theirs"
  done
  printf '| %s | %s | %s | %s | %s |\n' "$name" "$(median 1 "$work/$theirs" thousands)" \
    "$(median 2 "$work/$theirs" thousands)" "$(median 3 "$work/$theirs" '%.2f×')" \
    "$(shares "$work/$part.vw" "${words[@]}")"
done <<<"$models"
describe_load
