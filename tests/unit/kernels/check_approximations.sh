#!/bin/sh
# check_approximations.sh OBJDUMP FILE...: no object file or library has an instruction of SSE or AVX
# that approximates 1/sqrt(x) or 1/x. Their digits are each maker's own, and models would differ
# between processors. (vrsqrt14ps and its like of AVX-512 are others, defined to the last bit.)
objdump=$1
shift
[ $# -gt 0 ] || { echo "check_approximations.sh: no files given" >&2; exit 2; }
status=0
for file in "$@"; do
  # In two steps, so that a disassembler that fails is not taken for a file without any.
  listing=$(mktemp) || exit 2
  if ! "$objdump" -d --no-show-raw-insn "$file" >"$listing" || ! [ -s "$listing" ]; then
    rm -f "$listing"
    exit 2
  fi
  found=$(awk '/^[0-9a-f]+ </ { name = $0; sub(/^[0-9a-f]+ /, "", name) }
    $2 ~ /^v?(rsqrt|rcp)[ps]s$/ { print "  " $2 " in " name }' "$listing" | sort | uniq -c | head -n 20)
  rm -f "$listing"
  if [ -n "$found" ]; then
    echo "$file: approximations that differ between processors:"
    printf '%s\n' "$found"
    status=1
  fi
done
exit $status
