#!/usr/bin/env bash
# The shell session in README.md is real: its commands are run as they stand there, one after the
# other in one shell, and what they print is compared.
#
#   tests/readme_session.sh LEVERET [--update]
#
# It runs in a temporary folder that has what a built source tree has, with each instruction set that
# this machine has, and has to print the same with all of them. --update writes what is printed with the
# last one into README.md.
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
for simd in reference sse2 avx2 avx512; do
  LEVERET_SIMD=$simd "$program" --version >/dev/null 2>&1 || continue
  (cd "$work/cwd" && LEVERET_SIMD=$simd bash "$work/commands") >"$work/got" 2>&1 </dev/null
  [ "$update" = --update ] && continue
  diff -u --label README.md --label "what it prints with $simd" "$work/expected" "$work/got"
done
if [ "$update" = --update ]; then put_block session "$root/README.md" "$work/got"; fi
# Only what .gitignore names stays.
left=$(cd "$work/cwd" && ls -A | grep -vxE 'build|datasets|.*\.lvt') && {
  echo "README's session leaves in the tree: $left"
  exit 1
}

# It fits: 120 lines of 100 columns, but for tables and pictures.
awk '/^\||^!|^ .*-->|^ .*--</ { next } length($0) > 100 { print "a long line: " $0; bad = 1 }
  END { if (NR > 120) { print NR " lines"; bad = 1 }; exit bad }' "$root/README.md"
# Pages that are not installed yet.
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
