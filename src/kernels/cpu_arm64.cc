/// arm64: Advanced SIMD belongs to the base architecture.
#include "kernels/tables.h"

namespace leveret::kernels {

std::span<const Kernels* const> built_tables() {
  static constexpr const Kernels* kTables[] = {&kReference, &kNeon};
  return kTables;
}

bool cpu_runs(const Kernels&) { return true; }

}  // namespace leveret::kernels
