#!/usr/bin/env bash
# What two ranks cost in accuracy, on generated rows: the same batches learned by one process, by ranks
# (leveret-mpi), and by ranks whose sums travel in 16 bits; with rows of 16 bits and of 32.
#
#   ranks.sh --leveret PATH --leveret_mpi PATH --synth PATH [--rows 1000000] [--test 200000]
#            [--ranks 2] [--batch_size 1024] [--seed 1] [-- OPTION_OF_TRAIN...]
#
# Prints logloss and AUC of the --test rows behind those that are learned, in one pass, and what ranks
# differ by from one process. The differences of sums of 16 bits are those of one seed of their noise.
set -euo pipefail
export LC_ALL=C
leveret='' leveret_mpi='' synth='' rows=1000000 test=200000 ranks=2 batch=1024 seed=1
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --leveret_mpi) leveret_mpi=$2 ;; --synth) synth=$2 ;; --rows) rows=$2 ;;
    --test) test=$2 ;; --ranks) ranks=$2 ;; --batch_size) batch=$2 ;; --seed) seed=$2 ;;
    *) usage ;;
  esac
  shift 2
done
[ $# -eq 0 ] || shift
if [ -z "$leveret" ] || [ -z "$leveret_mpi" ] || [ -z "$synth" ]; then usage; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
"$synth" --quiet --rows $((rows + test)) --seed "$seed" >"$work/all"
head -n "$rows" "$work/all" >"$work/rows"
tail -n "$test" "$work/all" >"$work/test"
rm "$work/all"

# tell BITS NAME: the model $work/model
tell() {
  "$leveret" evaluate -i "$work/model" "$work/test" |
    awk -v bits="$1" -v name="$2" -v file="$work/one.$1" '
      { value[$1] = $2 }
      END {
        printf "%4d  %-28s  %.6f  %.6f", bits, name, value["logloss"], value["auc"]
        if ((getline line < file) > 0) {
          split(line, one, " ")
          printf "  %+.6f  %+.6f", value["logloss"] - one[1], value["auc"] - one[2]
        } else {
          print value["logloss"], value["auc"] >file
        }
        printf "\n"
      }'
}
"$leveret" --version
echo "$rows rows learned in batches of $batch, $test rows predicted; options: ${*:-the defaults}"
echo "rows  learned by                    logloss   auc       difference"
for bits in 16 32; do
  learn=(train --quiet --batch_size "$batch" --per_example_updates off --row_bits "$bits" -d "$work/rows" "$@")
  "$leveret" "${learn[@]}" -f "$work/model"
  tell $bits "one process"
  for wire in 32 16; do
    mpirun --oversubscribe -n "$ranks" "$leveret_mpi" "${learn[@]}" --wire_bits $wire -f "$work/folder"
    "$leveret_mpi" gather -i "$work/folder" -o "$work/model"
    rm -r "$work/folder"
    tell $bits "$ranks ranks, sums of $wire bits"
  done
done
