/// Adding to an array what a copy of it has learned.
#pragma once

#include "kernels/ffm/pairs_update_body.h"
#include "kernels/tables.h"

namespace leveret::kernels::generic {

/// Fixed-point numbers are added as codes, so that sums within their range are exact.
template <class Isa>
[[gnu::flatten]] void add_changes(Codec codec, const std::byte* copy, const std::byte* before,
                                  std::size_t length, std::uint32_t noise, std::byte* to) {
  using V = typename Isa::V;
  with_numbers(
      codec,
      [&]<class T>(T) {
        const T* const now = reinterpret_cast<const T*>(copy);
        const T* const then = reinterpret_cast<const T*>(before);
        T* const sum = reinterpret_cast<T*>(to);
        std::conditional_t<std::is_same_v<T, Bf16>, StateRounding<Isa, T>, Rounding<Isa, T>>
            rounded(noise);
        sweep<Isa>(length, [&](std::size_t i, auto lanes) {
          const V a = lanes.load(now + i), b = lanes.load(then + i);
          const V change = xsimd::select(a == b, V(0.0f), a - b);
          lanes.store(sum + i, rounded(lanes.load(sum + i) + change));
        });
      },
      [&] { kReference.add_changes(codec, copy, before, length, noise, to); });
}

}  // namespace leveret::kernels::generic
