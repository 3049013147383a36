#!/usr/bin/env bash
# The house has floors: a folder under src/ includes only what stands below it, prints only if it is
# the command line, asks about the CPU only if it is the kernels, knows MPI only if it is dist, BLAS only
# if it is block/dense/gemm.cc, and sockets only if it is daemon/net. No folder has more than 40 files.
#
#   tests/include_direction.sh [SRC]      default: the src/ of this tree
#
# Prints file:line of each breach and fails. Comments and (but for #include) strings do not count.
set -euo pipefail
src=$(cd "${1:-$(dirname "$0")/../src}" && pwd)

# What each folder may include besides itself, all the way down. `model`: what a model is made of.
model="kernels text feature table rules tape ffm block optim net spec"
declare -A below=(
  [kernels]=""
  [text]="kernels"
  [files]=""
  [convert]="kernels text"
  [metrics]="text"
  [schema]="kernels text convert"
  [stream]="text files convert schema"
  [cache]="stream text files convert schema"
  [feature]="text"
  [table]="kernels"
  [rules]="kernels"
  [tape]="kernels table rules feature text"
  [ffm]="kernels table rules tape feature text"
  [block]="kernels table rules tape ffm feature text"
  [optim]="kernels table rules tape ffm block feature text"
  [net]="kernels table rules tape ffm block optim feature text"
  [spec]="kernels table rules tape ffm block optim net feature text"
  [model]="$model convert schema"
  [skew]="$model model"
  [store]="files"
  [patch]="store files"
  [modelfile]="$model model store files schema"
  [predict]="$model model modelfile skew store files"
  [train]="$model model modelfile skew predict store metrics stream files"
  [options]="$model model stream files"
  [serve]="$model model modelfile skew predict store patch files schema"
  [publish]="$model model modelfile skew predict store metrics stream patch files serve"
  [api]="$model model modelfile skew predict train options store metrics stream patch files serve publish"
  [daemon]="$model model modelfile skew predict store metrics stream patch files serve publish schema convert"
  [dist]="$model model modelfile skew predict train store metrics stream files"
  [cli]="$model model modelfile skew predict train store metrics stream files cache convert schema patch options serve publish daemon dist"
)

status=0
breach() { # breach FILE LINE WHAT
  printf '%s:%s: %s\n' "${1#"$src"/}" "$2" "$3"
  status=1
}

# code FILE: the file with comments and strings blanked, its lines kept
code() {
  sed -E -e 's|"([^"\\]\|\\.)*"|""|g' -e 's|//.*||' -e 's|/\*.*\*/||g' "$1"
}

check_includes() { # FILE FOLDER
  local line target upper
  while IFS=: read -r line target; do
    upper=${target%%/*}
    if [[ $target != */* || $target == *..* ]]; then
      breach "$1" "$line" "includes \"$target\": name files from src/ on, as \"folder/file.h\""
    elif [[ $upper == leveret && ($2 == serve || $2 == publish || $2 == api || $2 == cli) ]]; then
      continue # the public header
    elif [[ ! -v below[$upper] ]]; then
      breach "$1" "$line" "includes \"$target\": '$upper' is not a folder of the house"
    elif [[ $upper != "$2" && " ${below[$2]} " != *" $upper "* ]]; then
      breach "$1" "$line" "$2 includes \"$target\", but may use only: ${below[$2]:-nothing}"
    fi
  done < <(sed -nE 's/^[ \t]*#[ \t]*include[ \t]*"([^"]*)".*/\1/;T;=;p' "$1" | paste -d: - -)
}

# forbid FILE PATTERN WHAT: every line of code that matches is a breach
forbid() {
  local line
  while IFS=: read -r line _; do
    breach "$1" "$line" "$3"
  done < <(code "$1" | grep -nE "$2" || true)
}

printing='\b(v?f?printf|f?puts|f?putc|putchar|perror|vprint)[ \t]*\(|std::(cout|cerr|clog)\b|fmt::print\b|std::print\b'
cpu='^[ \t]*#[ \t]*(if|ifdef|ifndef|elif)\b.*(__AVX|__SSE|__FMA|__BMI|__F16C|__x86_64|__i386|__amd64|_M_X64|_M_IX86|__ARM|__arm|__aarch64|_M_ARM|XSIMD)'
blas='^[ \t]*#[ \t]*include[ \t]*[<"](cblas|openblas)'
boost='^[ \t]*#[ \t]*include[ \t]*[<"](boost/|sys/socket|netinet)'
mpi='^[ \t]*#[ \t]*include[ \t]*[<"]mpi'

while IFS= read -r file; do
  relative=${file#"$src"/}
  folder=${relative%%/*}
  if [[ ! -v below[$folder] ]]; then
    breach "$file" 1 "'$folder' is not a folder of the house: give it a place in tests/include_direction.sh"
    continue
  fi
  check_includes "$file" "$folder"
  [ "$folder" = dist ] || forbid "$file" "$mpi" "includes MPI outside src/dist"
  [[ $relative == daemon/net/* ]] || forbid "$file" "$boost" "knows sockets outside src/daemon/net"
  [ "$relative" = block/dense/gemm.cc ] || forbid "$file" "$blas" "includes BLAS outside src/block/dense/gemm.cc"
  [ "$folder" = cli ] || forbid "$file" "$printing" "prints outside src/cli"
  [ "$folder" = kernels ] || forbid "$file" "$cpu" "asks about the CPU outside src/kernels"
done < <(find "$src" -mindepth 2 -type f \( -name '*.h' -o -name '*.cc' -o -name '*.c' -o -name '*.inc' \) | sort)

while read -r count folder; do
  [ "$count" -le 40 ] || breach "$folder" 1 "the folder has $count files, and may have 40: give some a room"
done < <(find "$src" -mindepth 2 -type f -printf '%h\n' | sort | uniq -c)

exit $status
