#!/usr/bin/env bash
# What distributed equivalent substitution (DES) saves on the wire, by the paper's Table 2 and fairly.
#
#   des_tables.sh
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
set -euo pipefail
export LC_ALL=C
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
[ $# -eq 0 ] || usage

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
