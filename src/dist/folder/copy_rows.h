/// Copies what shards have of a row between them and a whole row. Private to gather and split.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "table/row_layout.h"
#include "table/slot.h"

namespace leveret::dist {

/// Calls copy(byte in the part's row, byte in the whole row, bytes) for each piece that a part of a
/// row has: slots by name, vectors as they are.
template <class Copy>
void for_each_piece(const table::RowLayout& part, const table::RowLayout& whole, Copy copy) {
  for (std::size_t p = 0; p < part.parts().size(); ++p) {
    const table::RowPart& of = part.parts()[p];
    for (std::uint32_t slot = 0; slot < of.slots; ++slot) {
      const std::size_t name = of.slot_name(slot);
      const auto piece = [&](const table::RowLayout::Column& mine,
                             const table::RowLayout::Column& all, std::size_t numbers) {
        copy(mine.begin + mine.codec.bytes(slot * numbers),
             all.begin + all.codec.bytes(name * numbers), mine.codec.bytes(numbers));
      };
      piece(part.weights(p), whole.weights(p), of.k);
      for (std::size_t s = 0; s < of.states.size(); ++s) {
        const bool by_weight = of.states[s].per == table::RowState::Per::kWeight;
        piece(part.state(p, s), whole.state(p, s), by_weight ? of.k : 1);
      }
    }
  }
}

inline void put_into_whole(const table::RowLayout& part, const std::byte* from,
                           const table::RowLayout& whole, std::byte* to) {
  for_each_piece(part, whole, [&](std::size_t mine, std::size_t all, std::size_t bytes) {
    std::memcpy(to + all, from + mine, bytes);
  });
}
inline void take_from_whole(const table::RowLayout& part, std::byte* to,
                            const table::RowLayout& whole, const std::byte* from) {
  for_each_piece(part, whole, [&](std::size_t mine, std::size_t all, std::size_t bytes) {
    std::memcpy(to + mine, from + all, bytes);
  });
}

/// All numbers of a slot's cell.
inline void copy_cell(table::CellKind kind, const table::Slot& from, table::Slot& to) {
  if (kind == table::CellKind::kNone) return;
  std::memcpy(static_cast<void*>(table::cell_of(&to)), table::cell_of(&from),
              table::cell_bytes(kind));
}

}  // namespace leveret::dist
