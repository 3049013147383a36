#!/usr/bin/env bash
# What distributed equivalent substitution (DES) saves on the wire, by the paper's Table 2 and fairly.
#
#   des_tables.sh [--leveret_mpi PATH [--batches "512 1024"]]
#
# A mesh pulls the weights of a batch's unique features, each with a key of 8 bytes; DES sends partial
# sums, which an AllReduce sends twice, and no weight. With B samples a batch, U unique features, d
# weights a vector, h neurons in the first layer and F fields, in bytes a batch:
#
#   LR    8 B             instead of   U (8 + 4)
#   FM    8 B (d + 1)     instead of   U (8 + 4 d)
#   DNN   8 B h           instead of   U (8 + 4 d) + 4 F d h
#
# First table: the paper's, by these formulas, with its U, d 8, h 256 and F 600; each of the 15 cells is
# compared with what the paper prints, and a difference in its last digit is a failure. (FM is without the
# linear weights there.)
#
# Second table: the same at equal samples a step. The paper sets a DES step of B samples beside a mesh
# whose workers hold B samples each. Here 4 workers hold B samples each and DES takes the 4 B together;
# a mesh also pushes the gradients of what it has pulled (the owner knows the keys), and those of the
# dense layer by an AllReduce. Bytes are those that one worker sends and receives.
#
# Third table, with --leveret_mpi: what two ranks that hold B samples each really send, by leveret-mpi
# --strategy des and mesh, on rows made to have the paper's U features in each B of them (24 fields,
# 600 features a row; floats): LR, FM (d 8) and DeepFFM (d 8, h 256, one head). Bytes are those that
# rank 0 sends for a step, beside what the program expects by its own formulas (within 2 %, or the
# script fails), and what is saved of the mesh's. Keys take the program 5 bytes, not 8; the FM has
# linear weights, too.
set -euo pipefail
export LC_ALL=C
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
leveret_mpi='' batches='512 1024'
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret_mpi) leveret_mpi=$2 ;; --batches) batches=$2 ;;
    *) usage ;;
  esac
  shift 2
done

# B, U, and the savings of LR, FM and DNN that the paper prints, in percent.
paper='512 147664 99.769 99.376 90.310
1024 257757 99.735 99.285 86.226
2048 448814 99.696 99.179 81.658
4096 789511 99.654 99.066 77.015
8192 1389353 99.607 98.939 72.264'

echo "DES paper, Table 2: percent of a mesh's bytes that are saved"
echo " batch  unique features      LR      FM     DNN"
awk -v d=8 -v h=256 -v F=600 '
  function saved(des, mesh) { return sprintf("%.3f", 100 * (1 - des / mesh)) }
  {
    B = $1; U = $2; vector = U * (8 + 4 * d)
    lr = saved(8 * B, U * 12)
    fm = saved(8 * B * (d + 1), vector)
    dnn = saved(8 * B * h, vector + 4 * F * d * h)
    printf "%6d %16d  %6s  %6s  %6s\n", B, U, lr, fm, dnn
    if (lr != $3 || fm != $4 || dnn != $5) { wrong = 1; print "the paper says: " $3, $4, $5 }
  }
  END { exit wrong }' <<<"$paper"
echo "All 15 cells are those of the paper."

echo
echo "At equal samples a step, gradients counted: 4 workers with a batch each"
echo " batch     samples      LR      FM     DNN"
awk -v d=8 -v h=256 -v F=600 -v N=4 '
  function saved(des, mesh) { return sprintf("%.3f", 100 * (1 - des / mesh)) }
  # Of each worker an AllReduce of x bytes sends so many, and brings it as many.
  function reduce(x) { return 2 * (N - 1) / N * x }
  {
    B = $1; U = $2; S = N * B
    others = U * (N - 1) / N # features; a share 1 / N of the weights is its own
    dense = 2 * reduce(4 * F * d * h)
    printf "%6d %11d  %6s  %6s  %6s\n", B, S, saved(2 * reduce(4 * S), others * (8 + 2 * 4)),
      saved(2 * reduce(4 * S * (d + 1)), others * (8 + 2 * 4 * d)),
      saved(2 * reduce(4 * S * h), others * (8 + 2 * 4 * d) + dense)
  }' <<<"$paper"

[ -n "$leveret_mpi" ] || exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# rows B U: two batches of 2 B rows; each B of them have U features, each of which comes at least once.
rows() {
  awk -v B="$1" -v U="$2" -v F=24 -v m=25 'BEGIN {
    srand(1)
    per_field = int(U / F)
    for (half = 0; half < 4; ++half) {
      for (f = 0; f < F; ++f) next_new[f] = 0
      for (b = 0; b < B; ++b) {
        line = rand() < 0.2 ? "1" : "-1"
        for (f = 0; f < F; ++f) {
          line = line " |" sprintf("%c", 65 + f)
          for (i = 0; i < m; ++i) {
            v = next_new[f] < per_field ? next_new[f]++ : int(rand() * per_field)
            line = line " " v
          }
        }
        print line
      }
    }
  }'
}

# sent STRATEGY OPTION...: bytes that rank 0 sends for a step of the second batch, and by formula; without
# the input.
sent() {
  local strategy=$1
  shift
  mpirun --oversubscribe -n 2 "$leveret_mpi" train --quiet --strategy "$strategy" --heads one \
    --batch_size $((2 * batch)) --batch_warmup 0 --metrics "$work/metrics" --window $((2 * batch)) "$@" "$work/rows"
  tail -n 1 "$work/metrics" | tr -d '{}"' | tr ',' '\n' | awk -F : '
    { value[$1] = $2 }
    END {
      split("sums pull push", kinds, " ")
      for (k in kinds) {
        sent += value[kinds[k] "_bytes"]
        formula += value[kinds[k] "_bytes_by_formula"]
      }
      print sent / value["batches"], formula / value["batches"]
    }'
}

echo
echo "Measured: two ranks with a batch each, bytes that one sends for a step"
echo " batch  unique features  model        DES  by formula        mesh  by formula   saved"
models='LR --ffm_k 0
FM --ffm_k 0 --embedding_dim 8 --tower fm:pairs=all --row_bits 32 --admit 1
DeepFFM --ffm_k 8 --hidden 256 --row_bits 32 --admit 1'
while read -r batch unique _; do
  [[ " $batches " == *" $batch "* ]] || continue
  rows "$batch" "$unique" >"$work/rows"
  while read -r name options; do
    # shellcheck disable=SC2086 # words
    echo "$name $(sent des $options </dev/null) $(sent mesh $options </dev/null)" |
      awk -v B="$batch" -v U="$unique" '
        function near(a, b) { return a > 0 && a - b <= 0.02 * a && b - a <= 0.02 * a }
        {
          printf "%6d %16d  %-7s %8d %11d %11d %11d  %6.3f\n", B, U, $1, $2, $3, $4, $5,
            100 * (1 - $2 / $4)
          exit !near($2, $3) || !near($4, $5)
        }'
  done <<<"$models"
done <<<"$paper"
echo "All bytes are within 2 % of the formulas."
