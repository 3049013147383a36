/// Picks the kernels for this machine, once.
#pragma once

#include <span>
#include <string_view>

#include "kernels/kernels.h"

namespace leveret::kernels {

/// The tables built into this binary, slowest first: reference, sse2, avx2, avx512 (or neon).
std::span<const Kernels* const> all();

/// True when the machine and its operating system can run `k`.
bool runs_here(const Kernels& k);

/// The fastest table that runs here, or the one the environment variable LEVERET_SIMD names.
/// Throws std::runtime_error naming the variable, its value and the choices when that name is
/// unknown or cannot run here. Thread safe; decided at the first call.
const Kernels& active();

/// The table called `name`, or nullptr.
const Kernels* find(std::string_view name);

}  // namespace leveret::kernels
