#!/usr/bin/env bash
# Whether two builds learn the same, section by section: what a change that moves code must not alter.
#
#   same_files.sh --before DIR --after DIR [--words FILE] [--rows 1000] [--only REGEX] [--jobs N] [FILE.vw.zst...]
#
# DIR has leveret and leveret-mpi (build/bin of a release). For each set of options below and each FILE
# (the sample alone if none is given) both learn from so many rows: as text and from a cache, one by one
# and in batches of 256, with --deterministic, and on 1, 2 and 4 ranks, in 8 shards and as many as
# ranks; in two passes, from a saved model, with rows held out, and by two threads. Sections and headers of
# models and exports, predictions, and a patch between two models must be the same (same_sections.py);
# predictions with a kept context the same within 1e-5 of log-odds; the loss of two threads the same within
# 3 %. What one build refuses the other must refuse, too. FILE of --words maps what the older build calls
# options, keys of headers and sections to what the newer one does, two words a line; the sets below are in
# the newer one's words. A line for each difference; the last line counts, and the exit code is 1 if there
# were any.
set -euo pipefail
export LC_ALL=C
before='' after='' words=/dev/null rows=1000 only='' jobs=$(nproc) data=()
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --before | --after | --words | --rows | --only | --jobs)
      [ $# -ge 2 ] || usage
      declare "${1#--}=$2"
      shift
      ;;
    -*) usage ;;
    *) data+=("$(realpath "$1")") ;;
  esac
  shift
done
if [ -z "$before" ] || [ -z "$after" ]; then usage; fi
before=$(realpath "$before") after=$(realpath "$after") words=$(realpath "$words")
for program in "$before"/leveret{,-mpi} "$after"/leveret{,-mpi}; do
  [ -x "$program" ] || { echo "same_files.sh: there is no program $program" >&2; exit 2; }
done
here=$(cd "$(dirname "$0")" && pwd)
[ ${#data[@]} -gt 0 ] || data=("$here/../../datasets/sample/train.vw.zst")
PATH=$here/../../tests/cli/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mapfile -t sets <<'SETS'

--heads one
--ffm_k 0
--ffm_k 0 --heads one
--ffm_k 0 -b 14
--ffm_k 0 --heads one -b 14
--ffm_k 0 --optimizer ftrl --heads one
--ffm_k 0 --optimizer sgd --heads one
--ffm_k 0 --embedding_dim 4 --tower fm:pairs=all --heads one
--ffm_k 0 --embedding_dim 8 --tower fm:pairs=all -b 14
--ffm_k 2
--ffm_k 3 --heads one
--ffm_k 4
--ffm_k 8
--ffm_k 8 --heads one --hidden none
--ffm_k 16 --hidden none
--ffm_k 4 --hidden none
--ffm_k 4 --hidden 16,8
--ffm_k 4 --heads one --hidden 32
--ffm_k 4 --embedding_dim 4 --tower fm:pairs=all
--ffm_k 2 --embedding_dim 8 --tower fm:pairs=all --hidden 16
--ffm_k 4 -b 14
--ffm_k 4 -b 14 --heads one --hidden 16
--optimizer adam --batch_size 64
--nn_batch_size 8
--hidden 64,32 --optimizer adam --batch_size 64
--noconstant
--heads one --noconstant
--admit 1
--admit 3
--max_memory 24M
--seed 7
-q Aa -q bc
--model fm
--model fwfm
--model wide_deep
--model deepfm
--model dcn
--model dcnv2
--embedding_dim 4 --tower fwfm --tower mlp:hidden=8,loss=own
--embedding_dim 4 --tower cross:layers=2 --tower cross2:layers=2,rank=2,hidden=4 --heads one
--ffm_k 0 --embedding_dim 3 --pool mean --tower fm:loss=own --tower mlp:hidden=6
--ffm_k 0 --embedding_dim 4 --tower autoint --tower dot
--ffm_k 0 --embedding_dim 4 --tower dhen:tokens=4
--row_bits 32
--row_bits 32 --state_bits 16 --heads one
--row_bits 12 --rounding nearest --embedding_dim 5 --tower fwfm
--row_bits 8
--row_bits 4 --embedding_dim 4 --tower fm:pairs=all
--expire 300
--expire 300 --ffm_k 0 --embedding_dim 4 --tower fm:pairs=all --heads one
--max_memory 24M --when_full evict
--optimizer linear=ftrl,rows=sgd,layers=adam --heads one
--optimizer linear=ftrl,rows=adagrad,layers=adam --nn_learning_rate .002 --ffm_k 0 --embedding_dim 4 --tower cross:layers=2
--ffm_k 0 -q :: --heads one
--ffm_k 0 --l2 1e-5 --heads one
-l .1
--ffm_learning_rate .2 --ffm_power_t .4
--ignore A --ffm_k 4
--keep a --keep b --keep c --keep A --ffm_k 4
SETS

# make_files PROGRAMS FOLDER INPUT OPTION...: all that a build makes of a set; exit codes in `log`.
make_files() {
  local bin=$1 folder=$2 input=$3 n
  shift 3
  mkdir -p "$folder"
  cd "$folder"
  run() {
    local name=$1 status=0
    shift
    "$@" >"$name.out" 2>"$name.err" || status=$?
    echo "$name $status" >>log
  }
  launch() { "$here/../../tests/dist/launch" -n "$@"; }
  local half=$input.half
  run text "$bin/leveret" train --quiet "$@" -f text.lvt -p text.scores "$input"
  run tee "$bin/leveret" train --quiet "$@" -c cache -f tee.lvt "$input"
  run cache "$bin/leveret" train --quiet "$@" -c cache -f cache.lvt -p cache.scores "$input"
  run batch "$bin/leveret" train --quiet --batch_size 256 "$@" -f batch.lvt -p batch.scores "$input"
  run shards "$bin/leveret" train --quiet --deterministic --batch_size 100 "$@" -f shards.lvt \
    -p shards.scores "$input"
  for n in 1 2 4; do
    run "des$n" launch $n "$bin/leveret-mpi" train --quiet --batch_size 100 "$@" -f "des$n" \
      -p "des$n.scores" "$input"
    run "gather$n" "$bin/leveret-mpi" gather -i "des$n" -o "des$n.lvt"
  done
  run equal2 launch 2 "$bin/leveret-mpi" train --quiet --deterministic --batch_size 100 "$@" -f equal2 \
    "$input"
  run gather_equal "$bin/leveret-mpi" gather -i equal2 -o equal2.lvt
  [ ! -e equal2.lvt ] || same_model equal2.lvt shards.lvt >cmp 2>&1 || echo "ranks differ from one process" >>log
  rm -rf des1 des2 des4 equal2 cache
  run half "$bin/leveret" train --quiet "$@" -f half.lvt "$half"
  run more "$bin/leveret" train --quiet -i half.lvt -f more.lvt "$input"
  run passes "$bin/leveret" train --quiet "$@" -c passes.cache --passes 2 -f passes.lvt "$half"
  run holdout "$bin/leveret" train "$@" --holdout_after 500 -f holdout.lvt -p holdout.scores "$half"
  rm -f passes.cache
  run threads "$bin/leveret" train --threads 2 "$@" -p threads.p "$input"
  for n in 32 16 8 4; do run "export$n" "$bin/leveret" export --bits $n -i text.lvt -o "export$n.lvt"; done
  run diff "$bin/leveret" diff half.lvt text.lvt -o models.patch
  run patch "$bin/leveret" patch half.lvt models.patch -o patched.lvt
  run predict "$bin/leveret" predict -i export16.lvt "$input" -p predict.scores
  run raw "$bin/leveret" predict -i export16.lvt -r context --context A,a,b "$input" -p context.p
  rm -f ./*.err cmp
}

# near A B: numbers line by line within 1e-5
near() {
  [ -e "$1" ] || [ -e "$2" ] || return 0
  paste "$1" "$2" | awk '{ d = $1 - $2; if (!(d <= 1e-5 && d >= -1e-5) && $1 != $2) bad = 1 } END { exit bad }'
}

# loss SCORES LABELS: the mean over all lines, by the probabilities that were predicted
loss() {
  paste -d ' ' "$1" "$2" | awk '{ p = $2 > 0 ? $1 : 1 - $1; sum -= log(p < 1e-9 ? 1e-9 : p) } END { print sum / NR }'
}

# near_loss A B LABELS: within 3 % of each other; threads meet rows in another order each time
near_loss() {
  [ -s "$1" ] || [ -s "$2" ] || return 0
  awk -v a="$(loss "$1" "$3")" -v b="$(loss "$2" "$3")" 'BEGIN { exit !(a < 1.03 * b && b < 1.03 * a) }'
}

# older_words OPTION...: what the older build calls them, a word a line
older_words() {
  printf '%s\n' "$@" | awk -v words="$words" '
    BEGIN { while ((getline line <words) > 0) if (split(line, w, " ") == 2 && w[1] != "-") older["--" w[2]] = "--" w[1] }
    { print ($0 in older) ? older[$0] : $0 }'
}

# one_case NUMBER INPUT OPTION...
one_case() {
  local folder=$work/$1 input=$2 name older=()
  shift 2
  [ $# -eq 0 ] || mapfile -t older < <(older_words "$@")
  (make_files "$before" "$folder/before" "$input" ${older[@]+"${older[@]}"})
  (make_files "$after" "$folder/after" "$input" "$@")
  cd "$folder"
  near before/context after/context || echo "$(basename "$input"): $*: contexts differ"
  near_loss before/threads.p after/threads.p "$input.labels" || echo "$(basename "$input"): $*: losses of two threads differ"
  rm -f {before,after}/context* {before,after}/threads.{p,out}
  ! grep -q "ranks differ" after/log || echo "$(basename "$input"): $*: ranks differ from one process"
  "$here/same_sections.py" before after --words "$words" >differ ||
    sed "s|^|$(basename "$input"): $*: |" differ
  find before -name '*.lvt' | wc -l >>"$work/models"
  rm -rf "$folder"
}

number=0 cases=0
: >"$work/models"
for file in "${data[@]}"; do
  number=$((number + 1))
  input=$work/$number-$(basename "$(dirname "$file")").vw
  zstd -dcq "$file" | sed -n "1,${rows}p" >"$input"
  sed "$((rows / 2))q" "$input" >"$input.half"
  cut -d ' ' -f 1 "$input" >"$input.labels"
  for set in "${sets[@]}"; do
    grep -qE -- "$only" <<<"$set" || continue
    cases=$((cases + 1))
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    # shellcheck disable=SC2086 # words of options
    one_case "$cases" "$input" $set >"$work/said$cases" 2>&1 &
  done
done
wait
cat "$work"/said* >"$work/said"
sort "$work/said"
differ=$(wc -l <"$work/said")
echo "$cases cases, $(awk '{ n += $1 } END { print n + 0 }' "$work/models") models: $differ differences"
[ "$differ" = 0 ]
