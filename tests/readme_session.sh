#!/usr/bin/env bash
# The shell session in README.md is real: its commands are run as they stand there, one after the
# other in one shell, and what they print is compared.
#
#   tests/readme_session.sh LEVERET [--update]
#
# It runs in a temporary folder that has what a built source tree has, with the instruction set that
# README names. --update writes what is printed now into README.md. Exit 77:
# this machine does not have that instruction set.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/readme_blocks.sh"
program=$(realpath "$1")
update=${2-}
begin_session "$program" "README.md"

block session "$root/README.md" >"$work/expected"
if ! grep -q '^\$ ' "$work/expected"; then
  echo "README.md has no session"
  exit 1
fi
commands "$work/expected" >"$work/commands"
(cd "$work/cwd" && LEVERET_SIMD=avx2 bash "$work/commands") >"$work/got" 2>&1 </dev/null

if [ "$update" = --update ]; then
  put_block session "$root/README.md" "$work/got"
else
  diff -u --label README.md --label "what it prints" "$work/expected" "$work/got"
fi
# Only what .gitignore names stays.
left=$(cd "$work/cwd" && ls -A | grep -vxE 'build|datasets|.*\.lvt') && {
  echo "README's session leaves in the tree: $left"
  exit 1
}

# What README says of other machines and of pages that are not installed yet.
if LEVERET_SIMD=avx512 "$program" --version >/dev/null 2>&1; then
  export LEVERET_SIMD=avx512
  zstdcat "$root/datasets/sample/train.vw.zst" | "$program" train --quiet -f "$work/model.lvt"
  loss=$("$program" evaluate -i "$work/model.lvt" -d "$root/datasets/sample/test.vw.zst" |
    awk '$1 == "logloss" { print $2 }')
  grep -q "with AVX-512 the logloss is $loss" "$root/README.md" || {
    echo "README.md has another logloss of AVX-512 than $loss"
    exit 1
  }
fi
page=$(grep -oE 'man -l build/man/[a-z.1-9-]+' "$root/README.md" | sed 's|.*/||')
[ -s "$root/man/$page.scd" ] || {
  echo "README.md names a page that is not built: $page"
  exit 1
}
while IFS= read -r target; do
  [ -e "$root/$target" ] || {
    echo "README.md leads to $target, which is not there"
    exit 1
  }
done < <(grep -oE '\]\([^):]+\)' "$root/README.md" | tr -d '()]')
