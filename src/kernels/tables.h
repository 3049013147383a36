/// The kernel tables by name, for `dispatch.cc` and the files that fill them. Which of them exist
/// is decided by `CMakeLists.txt`; `built_tables()` lives in the one `cpu_*.cc` that is built.
#pragma once

#include <span>

#include "kernels/kernels.h"

namespace leveret::kernels {

extern const Kernels kReference;
extern const TextKernels kReferenceText;
extern const Kernels kSse2;
extern const Kernels kAvx2;
extern const Kernels kAvx512;
extern const Kernels kNeon;

/// The tables of this build, slowest first.
std::span<const Kernels* const> built_tables();

/// True when processor and operating system can run `k`.
bool cpu_runs(const Kernels& k);

}  // namespace leveret::kernels
