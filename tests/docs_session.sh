#!/usr/bin/env bash
# The sessions in docs/*.md are real: all blocks of a page are run in one shell, as they stand there,
# and what they print is compared.
#
#   tests/docs_session.sh LEVERET PAGE [--update]
#
# As tests/readme_session.sh, by the same digits: exit 77 where this machine has no AVX2.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/readme_blocks.sh"
program=$(realpath "$1")
page=$root/docs/$2
update=${3-}
begin_session "$program" "docs/$2"

names=$(sed -nE 's/^<!-- ([a-z]+) -->$/\1/p' "$page")
[ -n "$names" ] || { echo "docs/$2 has no session"; exit 1; }
for name in $names; do
  block "$name" "$page" >"$work/$name.expected"
  echo "exec >$work/$name.got 2>&1"
  commands "$work/$name.expected"
done >"$work/commands"
# A server that a page has started ends with it.
echo 'jobs -p | xargs -r kill' >>"$work/commands"
(cd "$work/cwd" && LEVERET_SIMD=avx2 timeout 300 bash "$work/commands") </dev/null
for name in $names; do
  if [ "$update" = --update ]; then
    put_block "$name" "$page" "$work/$name.got"
  else
    diff -u --label "docs/$2, $name" --label "what it prints" "$work/$name.expected" "$work/$name.got"
  fi
done
