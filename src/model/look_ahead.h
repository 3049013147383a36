/// The order in which the examples of a batch are looked up and worked on.
#pragma once

#include <algorithm>
#include <cstddef>

namespace leveret::model {

/// So many examples ahead of the one at work, rows are on their way from memory; slots, in which
/// the places of rows are found, one example further.
enum class LookAhead : std::size_t {
  /// Where the work on an example takes longer than memory.
  kOne = 1,
  /// Where it does not: rows asked for one example ago would still be on their way.
  kThree = 3,
};

/// Calls prefetch(b), then find(b), then work(b) for each b < size, each in order. prefetch asks
/// for slots, find reads them and asks for rows (Lookup::resolve to learn, Lookup::find to
/// predict), work reads rows.
template <class Prefetch, class Find, class Work>
void look_ahead(LookAhead ahead, std::size_t size, Prefetch prefetch, Find find, Work work) {
  const auto rows = static_cast<std::size_t>(ahead), slots = rows + 1;
  for (std::size_t b = 0; b < std::min(size, slots); ++b) prefetch(b);
  for (std::size_t b = 0; b < std::min(size, rows); ++b) find(b);
  for (std::size_t b = 0; b < size; ++b) {
    if (b + slots < size) prefetch(b + slots);
    if (b + rows < size) find(b + rows);
    work(b);
  }
}

}  // namespace leveret::model
