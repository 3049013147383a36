#!/usr/bin/env bash
# Every man page in the given folder must pass mandoc's checks without an error or a warning about
# its content, and every page in man/ must have been built.
#
#   tests/man_pages.sh BUILD/man
set -euo pipefail
sources=$(cd "$(dirname "$0")/../man" && pwd)
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
done
exit $status
