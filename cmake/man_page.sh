#!/bin/sh
# A man page of its source and of what it includes, by scdoc. The first line asks man for tbl(1), which
# makes tables.
#
#   cmake/man_page.sh SCDOC INCLUDE.AWK SOURCE PAGE
set -eu
awk -f "$2" "$3" >"$4.scd"
{
  printf "%s\n" "'\\\" t"
  "$1" <"$4.scd"
} >"$4.new"
rm "$4.scd"
mv "$4.new" "$4"
