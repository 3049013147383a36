/// What a copy of a row has learned, added to the row.
#pragma once

#include "kernels/pairs_slice_body.h"

namespace leveret::kernels::generic {

template <class Isa, class T, class Rounded>
inline void add_changes_of(const std::byte* copy, const std::byte* before, std::size_t length,
                           Rounded rounded, std::byte* row) {
  using V = typename Isa::V;
  const T* const now = reinterpret_cast<const T*>(copy);
  const T* const then = reinterpret_cast<const T*>(before);
  T* const to = reinterpret_cast<T*>(row);
  sweep<Isa>(length, [&](std::size_t i, auto lanes) {
    const V a = lanes.load(now + i), b = lanes.load(then + i);
    const V change = xsimd::select(a == b, V(0.0f), a - b);
    lanes.store(to + i, rounded(lanes.load(to + i) + change));
  });
}

template <class Isa>
[[gnu::flatten]] void add_changes(RowFormat format, const std::byte* copy, const std::byte* before,
                                  std::size_t length, std::byte* row) {
  with_format(format, [&]<class T>(T) {
    add_changes_of<Isa, T>(copy, before, length, Rounding<Isa, T>(0), row);
  });
}

template <class Isa>
[[gnu::flatten]] void add_slice_changes(RowFormat format, const std::byte* copy,
                                        const std::byte* before, std::size_t length,
                                        std::uint32_t noise, std::byte* row) {
  with_format(format, [&]<class T>(T) {
    using A = SliceOf<T>;
    add_changes_of<Isa, A>(copy, before, length, SliceRounding<Isa, A>(noise), row);
  });
}

}  // namespace leveret::kernels::generic
