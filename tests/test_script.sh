#!/usr/bin/env bash
# scripts/test runs what has to be run, and says what it skipped: the script itself in a small tree,
# with programs in place of cmake, ctest and the others that only note that they were called.
set -euo pipefail
scripts=$(cd "$(dirname "$0")/../scripts" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree bin=$work/bin calls=$work/calls
mkdir -p "$tree/scripts/bench" "$tree/src" "$tree/include" "$tree/build" "$bin" "$work/tmp"
export TMPDIR=$work/tmp XDG_CACHE_HOME=$work/cache
cp "$scripts/test" "$scripts/tree" "$scripts/memory_folder" "$tree/scripts/"
echo "int x;" >"$tree/src/x.cc"
touch "$tree/model.lvt" "$tree/build/object"

# program PATH: a program that runs what comes on standard input after noting its name and arguments
program() {
  { printf '#!/bin/bash\necho "%s $*" >>"%s"\n' "$(basename "$1")" "$calls" && cat; } >"$1"
  chmod +x "$1"
}
program "$tree/scripts/install-deps" </dev/null
program "$tree/scripts/bench/instructions.sh" </dev/null
program "$tree/scripts/check_debian.sh" <<<'bash '"$work/debian"' "$*"'
touch "$tree/scripts/demo" "$tree/CMakePresets.json" "$tree/CMakeLists.txt" "$work/debian"
for name in cmake c++ cc clang++; do program "$bin/$name" </dev/null; done
program "$bin/dpkg-query" <<<'cat '"$work/packages"
program "$bin/ctest" <<END
case "\$*" in
  *asan*) echo ' 7/9 Test  #7: unit.other .......***Skipped   0.01 sec' ;;
  *) echo ' 8/9 Test #12: conformance.some ...***Skipped   0.01 sec' ;;
esac
bash $work/trouble "\$*"
END
echo "g++ 12" >"$work/packages"
: >"$work/trouble"

failed=0
# expect WHAT STATUS RUNS LAST [OPTION...]: runs scripts/test, which must end with STATUS after RUNS
# calls of ctest, and print a last line that matches LAST
expect() {
  local what=$1 status=$2 runs=$3 last=$4 got=0
  shift 4
  : >"$calls"
  env -u CI PATH="$bin:$PATH" ${env[@]+"${env[@]}"} "${from:-$tree}/scripts/test" "$@" >"$work/out" 2>&1 || got=$?
  local got_runs got_last
  got_runs=$(grep -c '^ctest ' "$calls" || true)
  got_last=$(tail -n 1 "$work/out")
  if [ "$got" = "$status" ] && [ "$got_runs" = "$runs" ] && [[ $got_last =~ $last ]]; then return; fi
  echo "FAIL $what: exit $got (should be $status), ctest $got_runs times ($runs), and at the end:"
  tail -n 5 "$work/out"
  failed=1
}
env=()
skips=', 2 skipped: conformance\.some, unit\.other$'
took="\\([0-9]+:[0-9]+ of 22:00\\)"
all="^All tests passed $took$skips"
already="^All tests passed already for this tree $took$skips"

expect "the first time" 0 6 "$all"
expect "again" 0 0 "$already"
expect "again by request" 0 6 "$all" --again
env=(CI=true) && expect "where CI is true" 0 6 "$all"
env=() && expect "once more" 0 0 "$already"
mkdir "$tree/src/__pycache__"
touch "$tree/other.lvt" "$tree/build/new" "$tree/src/__pycache__/x.pyc" "$tree/src/x.cc"
expect "after a change that tests cannot see" 0 0 "$already"

echo "int y;" >"$tree/src/x.cc" && expect "a file is changed" 0 6 "$all"
touch "$tree/src/new.cc" && expect "a file is added" 0 6 "$all"
chmod +x "$tree/src/new.cc" && expect "a mode is changed" 0 6 "$all"
rm "$tree/src/new.cc" && expect "a file is removed, as it was before" 0 0 "$already"
rm "$tree/CMakeLists.txt" && expect "another one is removed" 0 6 "$all"
echo "g++ 14" >"$work/packages" && expect "a package is another one" 0 6 "$all"
env=(LEVERET_SIMD=sse2) && expect "the environment is another one" 0 6 "$all"
env=() && expect "and the one before again" 0 0 "$already"

# Nothing may be left by what did not end well.
trouble() { cat >"$work/trouble"; }
trouble <<<'exit 1' && expect "a test fails that had passed" 1 1 . --again
trouble </dev/null && expect "after a failure" 0 3 "$all"
trouble <<<'case $1 in *tsan*) exit 1 ;; esac' && expect "the last step fails" 1 6 . --again
trouble </dev/null && expect "after a failure of the last step" 0 1 "$all"
trouble <<<'kill -TERM $PPID; sleep 0.1' && expect "it is ended" 143 1 . --again
trouble <<<'kill -KILL $PPID; sleep 0.1' && expect "it is killed" 137 1 .
trouble </dev/null && expect "after it was killed" 0 3 "$all"
trouble <<<"echo 'int z;' >>$tree/src/x.cc" && expect "the tree is edited meanwhile" 0 6 "$all" --again
echo "int y;" >"$tree/src/x.cc"
trouble </dev/null && expect "after it was edited and put back" 0 6 "$all"
expect "and then" 0 0 "$already"

program "$bin/ctest" </dev/null
expect "nothing is skipped" 0 6 "^All tests passed $took\$" --again
expect "nothing was skipped" 0 0 "^All tests passed already for this tree $took\$"

# What has passed is known to each checkout of the same tree, and told without running anything.
cp -r "$tree" "$work/clone"
from=$work/clone
expect "in a clone" 0 0 '^All tests passed already'
expect "told" 1 0 '^3 of 5 steps have passed for this tree$' --status
echo "int z;" >"$from/src/x.cc"
expect "told after an edit" 1 0 '^0 of 5 steps have passed for this tree$' --status
from=
# With a Debian beside it, and the older one where it may see something else.
debians() { [ "$(grep -c '^check_debian.sh' "$calls")" = "$1" ] || { echo "FAIL $2: not $1 Debians"; failed=1; }; }
ci="^All tests passed \\([0-9]+:[0-9]+ of 40:00\\)\$"
expect "ci" 0 6 "$ci" --ci && debians 2 "the first time"
expect "ci again" 0 6 "$ci" --ci && debians 1 "ci again"
expect "told after ci" 0 0 '^5 of 5 steps have passed for this tree$' --status
echo "#include <new>" >"$tree/src/x.cc" && expect "ci with a header more" 0 6 "$ci" --ci && debians 2 "a header more"
echo 'echo "no Debian here"; exit 1' >"$work/debian" && expect "a Debian fails" 1 6 '^no Debian here$' --ci
echo 'sleep 100' >"$work/debian" && program "$bin/ctest" <<<'exit 1' && expect "a test fails beside it" 1 1 . --ci
expect "misuse" 2 0 '^usage: ' --agian
exit $failed
