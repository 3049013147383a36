#!/usr/bin/env bash
# Where a thread cannot be started, whichever of a run it is, this is said, the exit status is 1, and
# files are as they were.
#
#   tests/no_threads.sh NO_THREADS LEVERET [LEVERET_MPI]
#
# NO_THREADS: the library of no_threads.c. With LEVERET_MPI its verbs are run, else those of LEVERET.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
library=$(realpath "$1")
leveret=$(realpath "$2")
program=$(realpath "${3:-$2}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
rows() { zstd -dcq "$here/../datasets/sample/train.vw.zst" | sed -n "$1,$2p"; }
rows 1 2000 >data
"$leveret" train --quiet -f model.lvt data
rows 2001 2100 | "$leveret" train --quiet -i model.lvt -f new.lvt
"$leveret" diff model.lvt new.lvt -o a.patch
"$leveret" train --quiet -c cache data
[ $# = 2 ] || "$program" train --quiet -f folder data
seq 3 >kept
ls -A >before
echo before >>before
failed=0 most=0
fail() {
  echo "FAIL $*"
  failed=1
}
while read -r verb; do
  refused=0
  # What -k makes anew must be a cache.
  kept=kept
  case $verb in *' -k '*) kept=cache ;; esac
  for ((thread = 1; ; ++thread)); do
    cp $kept out
    code=0
    rm -f "$work.refused"
    # shellcheck disable=SC2086 # several words
    LEVERET_NO_THREAD=$thread LEVERET_NO_THREAD_SAYS=$work.refused LD_PRELOAD=$library \
      timeout 60 "$program" $verb <data >"$work.out" 2>"$work.said" || code=$?
    [ -e "$work.refused" ] || break
    refused=$((refused + 1))
    [ $code = 1 ] || fail "$verb, thread $thread: exit $code: $(cat "$work.said")"
    grep -q 'error: .*cannot start .*ulimit -u' "$work.said" ||
      fail "$verb, thread $thread: $(cat "$work.said")"
    cmp -s out $kept || fail "$verb, thread $thread: another file"
    others=$(ls -A | grep -vxFf before | grep -vx out || true)
    [ -z "$others" ] || fail "$verb, thread $thread: left $others"
  done
  [ $code = 0 ] || fail "$verb: exit $code: $(cat "$work.said")"
  rm -rf out out.lvtcache
  echo "ok   $refused threads: $verb"
  # One processor reads without threads of its own.
  most=$((most + refused))
done < <(
  if [ $# = 2 ]; then
    cat <<'VERBS'
train --quiet -f out data
train --quiet -f out
train --quiet -f out -c cache data
train --quiet -k -c out data
train --quiet --threads 4 -f out data
train --quiet --threads 3 -f out -p - data
train --quiet --threads 3 -f out -c cache data
train --quiet --threads 3 -k -c out data
train --quiet --batch_size 64 --deterministic -f out data
predict -i model.lvt -p out data
predict -i model.lvt --threads 4 -p out data
predict -i model.lvt --threads 4 data
predict -i model.lvt --threads 4 -c cache -p out data
predict -i model.lvt --threads 2 -k -c out data
predict -i model.lvt --context A --threads 3 -p out data
evaluate -i model.lvt data
evaluate -i model.lvt -c cache data
audit -i model.lvt data
inspect cache
diff --threads 4 model.lvt new.lvt -o out
diff --threads 3 --bytes model.lvt new.lvt -o out
patch --threads 4 model.lvt a.patch -o out
export -i model.lvt -o out
VERBS
  else
    cat <<'VERBS'
train --quiet -c cache data
train --quiet -k -c out data
train --quiet --strategy mesh --heads one -f out data
predict -i folder -p out data
evaluate -i folder data
gather -i folder -o out
export -i folder -o out
VERBS
  fi
)
rm -f "$work.refused" "$work.out" "$work.said"
[ "${most-0}" -ge 6 ] || fail "only ${most-0} threads were refused"
[ $failed = 0 ] && echo "no_threads: ok"
exit $failed
