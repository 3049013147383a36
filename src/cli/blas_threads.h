/// OpenBLAS starts a thread for each processor as it is loaded, and we use none of them: products
/// run in the threads that ask for them (block/dense/gemm.h). In a static program the function here
/// runs before OpenBLAS does, and keeps it from that. A dynamic program has those threads, asleep,
/// unless the user sets OPENBLAS_NUM_THREADS: libc makes its environment anew afterwards.
#pragma once

#include <cstdlib>

namespace leveret::cli {

inline void start_no_blas_threads(int, char**, char**) { setenv("OPENBLAS_NUM_THREADS", "1", 0); }

/// The function that a program calls before all others.
[[gnu::section(".preinit_array"),
  gnu::used]] static void (*const before_libraries)(int, char**, char**) = start_no_blas_threads;

}  // namespace leveret::cli
