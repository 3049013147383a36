#!/usr/bin/env bash
# include_direction.sh must find each kind of breach where it is planted, and nothing in a good tree.
set -euo pipefail
check=$(cd "$(dirname "$0")" && pwd)/include_direction.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

failed=0
# expect FOLDER pass|fail CODE [LINE]: CODE stands on line 2
expect() {
  rm -rf "$work/src"
  mkdir -p "$work/src/$1"
  printf '%s\n' "// first line" "$3" >"$work/src/$1/planted.cc"
  local got=pass
  "$check" "$work/src" >"$work/log" 2>&1 || got=fail
  if [ $got = fail ] && ! grep -q "^$1/planted.cc:${4-2}: " "$work/log"; then got="fail elsewhere"; fi
  if [ "$got" != "$2" ]; then
    echo "expected $2, got $got: $1: $3"
    cat "$work/log"
    failed=1
  fi
}

expect kernels pass '#include "kernels/kernels.h"'
expect model pass '#include "kernels/kernels.h"'
expect train pass '#include "text/example.h"'
expect cli pass '#include "train/learner.h"'
expect table pass '#include "kernels/rows/codec.h"'
expect table fail '#include "feature/feature_batch.h"'
expect table fail '#include "block/block.h"'
expect block pass '#include "table/rows.h"'
expect block fail '#include "optim/optimizer.h"'
expect block fail '#include <cblas.h>'
expect optim fail '  # include "openblas_config.h"'
expect optim pass '#include "tape/parameters.h"'
expect tape pass '#include "table/rows.h"'
expect tape fail '#include "block/block.h"'
expect net pass '#include "optim/optimizer.h"'
expect net fail '#include "model/model.h"'
expect cache pass '#include "stream/bad_lines.h"'
expect stream fail '#include "cache/cache_reader.h"'
expect convert fail '#include "stream/sniff.h"'
expect text fail '#include "convert/convert_rows.h"'
expect metrics fail '#include "train/learner.h"'
expect patch pass '#include "store/section.h"'
expect store fail '#include "patch/patch.h"'
expect patch fail '#include "model/model.h"'
expect optim fail '#include "model/model.h"'
expect model pass '#include "optim/optimizer.h"'
expect model fail '#include "modelfile/model_io.h"'
expect modelfile pass '#include "model/model.h"'
expect modelfile pass '#include "store/model_file.h"'
expect modelfile fail '#include "train/learner.h"'
expect store fail '#include "table/arena.h"'
expect train pass '#include "modelfile/model_io.h"'
expect options pass '#include "spec/entries.h"'
expect spec fail '#include "model/model.h"'
expect skew pass '#include "model/model.h"'
expect skew fail '#include "predict/predictor.h"'
expect options fail '#include "train/session.h"'
expect api pass '#include "options/learner_options.h"'
expect api pass '#include "leveret/leveret.h"'
expect api fail '#include "cli/input.h"'
expect serve fail '#include "api/online_learner.h"'
expect serve pass '#include "modelfile/model_io.h"'
expect serve fail '#include "publish/follower.h"'
expect publish pass '#include "serve/watch.h"'
expect publish fail '#include "train/learner.h"'
expect predict pass '#include "modelfile/model_io.h"'
expect predict fail '#include "train/learner.h"'
expect predict fail '#include "stream/text_reader.h"'
expect modelfile fail '#include "predict/predictor.h"'
expect train pass '#include "predict/predictor.h"'
expect serve pass '#include "predict/predictor.h"'
expect kernels fail '#include "text/example.h"'
expect text fail '#include "stream/source.h"'
expect feature fail '#include "spec/spec.h"'
expect store fail '#include "spec/spec.h"'
expect store pass '#include "files/atomic_file.h"'
expect files fail '#include "store/layout.h"'
expect feature fail '#include "files/atomic_file.h"'
expect model fail '#include "store/file.h"'
expect model fail '  #  include "train/learner.h"'
expect train fail '#include "cli/options.h"'
expect serve fail '#include "train/learner.h"'
expect serve pass '#include "leveret/leveret.h"'
expect model fail '#include "leveret/leveret.h"'
expect text fail '#include "example.h"'
expect text fail '#include "../kernels/kernels.h"'
expect text fail '#include "attic/old.h"'
expect attic fail '' 1

expect publish fail '#include "daemon/models.h"'
expect daemon pass '#include "publish/follower.h"'
expect daemon fail '#include <boost/asio/ip/tcp.hpp>'
expect serve fail '#include <sys/socket.h>'
expect train fail '#include <mpi.h>'
expect dist pass '#include <mpi.h>'

expect train fail 'void f() { std::cerr << 1; }'
expect train fail 'void f() { fprintf(stderr, "x"); }'
expect train fail 'void f() { fmt::print("x"); }'
expect train pass 'void f() { std::snprintf(buffer, 9, "printf("); }'
expect train pass '// std::cout is for src/cli'
expect train pass 'const char* kUrl = "http://x"; /* puts(1) */'
expect train fail 'const char* kUrl = "http://x"; std::puts(kUrl);'
expect cli pass 'void f() { fmt::print("x"); }'

expect model fail '#ifdef __AVX512F__'
expect model fail '#if defined(__x86_64__) && 1'
expect kernels pass '#ifdef __AVX512F__'
expect model pass '#ifdef NDEBUG'

rm -rf "$work/src"
mkdir -p "$work/src/model/room"
touch "$work"/src/model/room/{1..40}.cc
"$check" "$work/src" || failed=1
touch "$work/src/model/room/41.cc"
! "$check" "$work/src" >"$work/log" && grep -q '^model/room:1: .* 41 files' "$work/log" || {
  echo "expected a breach: 41 files in a folder"
  failed=1
}

[ $failed = 0 ] && echo "selftest: ok"
exit $failed
