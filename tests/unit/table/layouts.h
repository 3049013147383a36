/// Rows of every kind there is, for tests that hold for all of them, and what they hold.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/rows/codec.h"
#include "table/row_layout.h"
#include "table/rows.h"

namespace leveret::table {

using kernels::Codec;

/// Enough for every test; small enough for the sanitizers' addresses.
inline constexpr std::uint64_t kMemory = std::uint64_t{64} << 20;

inline RowPart part_of(std::uint32_t slots, std::uint32_t k, Codec codec,
                       std::vector<RowState> states = {}) {
  RowPart part;
  part.slots = slots;
  part.k = part.used_k = k;
  part.codec = codec;
  part.init_width = 0.5f;
  part.states = std::move(states);
  return part;
}

/// One whose slots are as many whatever the number of fields.
inline RowPart fixed_part_of(std::uint32_t slots, std::uint32_t k, Codec codec,
                             std::vector<RowState> states = {}) {
  RowPart part = part_of(slots, k, codec, std::move(states));
  part.by_field = false;
  return part;
}

/// FFM slots of 16 bits with an accumulator each, as the usual model has them.
inline RowLayout layout_of_slots(std::uint32_t slots) {
  return RowLayout(
      {part_of(slots, 5, Codec::fixed(16, 12), {{Codec::bf16(), RowState::Per::kSlot, 0.5f}})});
}
/// The same beside an embedding of floats.
inline RowLayout layout_of_two_parts(std::uint32_t slots) {
  return RowLayout(
      {part_of(slots, 4, Codec::fixed(16, 12), {{Codec::bf16(), RowState::Per::kSlot, 0.5f}}),
       fixed_part_of(1, 6, Codec::f32(),
                     {{Codec::f32(), RowState::Per::kWeight, 0.25f},
                      {Codec::f32(), RowState::Per::kRow, 2.0f}})});
}

struct NamedLayout {
  const char* name;
  RowLayout layout;
};

/// Their first parts have `slots` slots.
inline std::vector<NamedLayout> all_layouts(std::uint32_t slots) {
  using Per = RowState::Per;
  const RowState per_weight{Codec::f32(), Per::kWeight, 0.25f};
  const RowState per_slot{Codec::bf16(), Per::kSlot, 0.5f};
  const RowState per_row{Codec::f32(), Per::kRow, 2.0f};
  const Codec i8 = Codec::fixed(8, 5), i16 = Codec::fixed(16, 12);
  RowPart padded = part_of(slots, 8, i16, {per_slot});
  padded.used_k = 5;
  return {
      {"floats", RowLayout({part_of(slots, 3, Codec::f32(), {per_weight})})},
      {"16 bits, an odd number of them", layout_of_slots(slots)},
      {"16 bits, padded", RowLayout({padded})},
      {"8 bits", RowLayout({part_of(slots, 3, i8, {per_slot, per_weight})})},
      {"bfloat16", RowLayout({part_of(slots, 1, Codec::bf16(), {per_row, per_slot})})},
      {"a state that is not stored",
       RowLayout({part_of(slots, 2, Codec::f32(), {{Codec::none(), Per::kSlot, 0}, per_row})})},
      {"no states", RowLayout({part_of(slots, 4, i16)})},
      {"8 bits without states", RowLayout({part_of(slots, 7, i8)})},
      {"slots and an embedding", layout_of_two_parts(slots)},
      {"three parts", RowLayout({part_of(slots, 3, i8, {per_row}), fixed_part_of(1, 5, i8),
                                 fixed_part_of(2, 3, Codec::bf16(), {per_slot, per_slot})})},
  };
}

/// The numbers of one array of a row.
inline std::vector<float> numbers(const std::byte* row, const RowLayout::Column& column) {
  std::vector<float> all;
  for (std::size_t i = 0; i < column.count; ++i) {
    all.push_back(kernels::decode(column.codec, row + column.begin, i));
  }
  return all;
}
inline std::vector<float> weights_of(const Rows& rows, Row row, std::size_t part = 0) {
  return numbers(rows.at(row), rows.layout().weights(part));
}

/// Calls visit(array of `layout`, the same array of `other`) for all arrays.
template <class Visit>
void for_each_column(const RowLayout& layout, const RowLayout& other, Visit visit) {
  for (std::size_t p = 0; p < layout.parts().size(); ++p) {
    visit(layout.weights(p), other.weights(p));
    for (std::size_t s = 0; s < layout.parts()[p].states.size(); ++s) {
      visit(layout.state(p, s), other.state(p, s));
    }
  }
}

/// All numbers of a row, array after array.
inline std::vector<float> content(const Rows& rows, Row row) {
  std::vector<float> all;
  for_each_column(rows.layout(), rows.layout(), [&](const auto& column, const auto&) {
    const std::vector<float> some = numbers(rows.at(row), column);
    all.insert(all.end(), some.begin(), some.end());
  });
  return all;
}

inline std::vector<std::byte> bytes_of(const Rows& rows, Row row) {
  return {rows.at(row), rows.at(row) + rows.layout().stride()};
}

/// Writes other numbers, which every codec holds, to the first numbers of each array: as many as a
/// row of `as_far_as` has.
inline void learn(std::byte* row, const RowLayout& layout, const RowLayout& as_far_as,
                  std::uint32_t what) {
  std::uint32_t array = 0;
  for_each_column(layout, as_far_as, [&](const auto& column, const auto& shorter) {
    ++array;
    for (std::size_t i = 0; i < shorter.count; ++i) {
      const std::uint32_t code = (what * 31 + array * 7 + static_cast<std::uint32_t>(i)) % 13;
      kernels::encode(column.codec, row + column.begin, i, static_cast<float>(code) * 0.25f);
    }
  });
}
inline void learn(Rows& rows, Row row, std::uint32_t what) {
  learn(rows.at(row), rows.layout(), rows.layout(), what);
}

}  // namespace leveret::table
