#!/usr/bin/env bash
# Every man page in the given folder must pass mandoc's checks without an error or a warning about
# its content, and every page in man/ must have been built. A page of ours that is named, in pages, documents or
# public headers, is there, and so is the section that is named with it: leveret-x(1), SECTION.
#
#   tests/man_pages.sh BUILD/man
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
sources=$root/man
if ! command -v mandoc >/dev/null || ! command -v scdoc >/dev/null; then
  echo "mandoc or scdoc is not installed"
  exit 77
fi
status=0
for source in "$sources"/*.scd; do
  page=$1/$(basename "$source" .scd)
  if [ ! -s "$page" ]; then
    echo "$page was not built"
    status=1
    continue
  fi
  # Warnings about the macros that scdoc itself writes are not ours to mend.
  if ! mandoc -Tlint -Werror "$page"; then status=1; fi
  if grep -H @include "$page"; then status=1; fi
done
while read -r name number section; do
  page=$sources/$name.$number.scd
  if [ ! -e "$page" ]; then
    echo "$name($number) is named, but not there"
    status=1
  elif [ -n "$section" ] && ! awk -f "$sources/include.awk" "$page" | grep -x "# $section" >/dev/null; then
    echo "$name($number) has no section $section"
    status=1
  fi
done < <(cd "$root" && cat man/*.scd man/shared/*.scd include/leveret/*.h python/leveret/*.py README.md docs/*.md contrib/*/* |
  tr -d '*' | tr -s '[:space:]' ' ' | grep -oE 'leveret(-[a-z]+)?\([1-9]\)(, "?[A-Z][A-Z0-9 ]+[A-Z])?' | tr -d '",' | tr '()' '  ' | sort -u)
exit $status
