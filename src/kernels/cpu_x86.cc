/// x86-64: `__builtin_cpu_supports` looks at the processor and at what the operating system saves
/// (XCR0), which a bare CPUID bit does not say.
#include "kernels/tables.h"

namespace leveret::kernels {

std::span<const Kernels* const> built_tables() {
  static constexpr const Kernels* kTables[] = {&kReference, &kSse2, &kAvx2, &kAvx512};
  return kTables;
}

bool cpu_runs(const Kernels& k) {
  __builtin_cpu_init();
  const bool common = __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt") &&
                      __builtin_cpu_supports("avx2");
  if (&k == &kAvx2) return common && __builtin_cpu_supports("fma");
  if (&k == &kAvx512) {
    return common && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
  }
  return true;  // SSE2 belongs to x86-64
}

}  // namespace leveret::kernels
