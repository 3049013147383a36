/// The columns of divided layers that a frame has, in a whole model and in the frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dist/learn/frame.h"

namespace leveret::dist {

/// Calls visit(array, i, j) for each number of those columns, of weights and of what their rule
/// keeps of each: it is number i of the whole model's array and number j of the frame's, padding
/// counted.
template <class Visit>
void for_each_frame_number(const spec::Spec& spec, const tape::Parameters& whole,
                           const tape::Parameters& frame, Visit visit) {
  const tape::Declarations &all = whole.declared(), &frames = frame.declared();
  for (std::size_t l = 0; l < all.layers.size(); ++l) {
    const std::vector<std::uint32_t> names = frame_columns(spec, whole, l);
    for (const tape::ArrayId id : all.with_states(all.layers[l].weights)) {
      if (all[id].shape.size() < 2) continue;  // it has no columns, and is the same in both
      for (std::size_t o = 0; o < all[id].rows(); ++o) {
        for (std::size_t c = 0; c < names.size(); ++c) {
          if (names[c] == tape::kNewColumn) continue;
          visit(id, o * all[id].stride() + names[c], o * frames[id].stride() + c);
        }
      }
    }
  }
}

}  // namespace leveret::dist
