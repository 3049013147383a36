#!/usr/bin/env bash
# The shell session in README.md is real: its commands are run, and what they print is compared.
#
#   tests/readme_session.sh LEVERET [--update]
#
# The session is the block that follows the line "<!-- session -->": lines "$ command", each followed
# by what it prints. It runs in a temporary folder that has datasets/, with the plain reference
# kernels (the same numbers on every CPU). --update writes what is printed now into README.md.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
program=$(realpath "$1")
update=${2-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/cwd"
ln -s "$program" "$work/bin/leveret"
ln -s "$root/datasets" "$work/cwd/datasets"
export PATH=$work/bin:$PATH LEVERET_SIMD=reference LC_ALL=C

# session FILE: the lines of its block
session() {
  awk '/^<!-- session -->$/ { armed = 1; next }
    armed && /^```/ { inside = !inside; if (!inside) exit; next }
    inside { print }' "$1"
}

session "$root/README.md" >"$work/expected"
if ! grep -q '^\$ ' "$work/expected"; then
  echo "README.md has no session"
  exit 1
fi
cd "$work/cwd"
while IFS= read -r line; do
  case $line in
    '$ '*)
      printf '%s\n' "$line"
      # head may close a pipe before its writer is done: that is no failure.
      bash -c "${line#\$ }" 2>&1 </dev/null
      ;;
  esac
done <"$work/expected" >"$work/got"

if [ "$update" = --update ]; then
  awk -v got="$work/got" '
    inside && /^```/ { while ((getline text < got) > 0) print text; inside = 0; armed = 0 }
    !inside { print }
    /^<!-- session -->$/ { armed = 1 }
    armed && /^```/ { inside = 1 }' "$root/README.md" >"$work/README.md"
  cp "$work/README.md" "$root/README.md"
else
  diff -u --label README.md --label "what it prints" "$work/expected" "$work/got"
fi
