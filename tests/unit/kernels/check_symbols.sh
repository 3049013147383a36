#!/bin/sh
# check_symbols.sh NM OBJECT...: the object file of an instruction set defines its kernel table and
# no other symbol that another file could be linked to. A weak copy of an inline function, built for
# AVX-512, would otherwise be picked for the whole program and fault on older processors.
nm=$1
shift
[ $# -gt 0 ] || { echo "check_symbols.sh: no object files given" >&2; exit 2; }
status=0
for object in "$@"; do
  symbols=$("$nm" --defined-only -C "$object") || exit 2
  tables=$(printf '%s\n' "$symbols" | grep -c ' [DRB] leveret::kernels::k[A-Z][A-Za-z0-9]*$')
  others=$(printf '%s\n' "$symbols" | grep ' [A-Zuvw] ' |
           grep -v ' [DRB] leveret::kernels::k[A-Z][A-Za-z0-9]*$')
  if [ "$tables" != 1 ] || [ -n "$others" ]; then
    echo "$object: $tables kernel tables (should be 1), and these symbols besides:"
    printf '%s\n' "$others"
    status=1
  fi
done
exit $status
