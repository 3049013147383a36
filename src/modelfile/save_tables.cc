#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "modelfile/columns.h"
#include "modelfile/section_names.h"
#include "modelfile/tables_io.h"

namespace leveret::modelfile {
namespace {

using Json = nlohmann::ordered_json;
using store::Dtype;
using store::SectionReader;
using store::SectionView;
using table::Row;
using table::Shard;
using table::Slot;

using Shape = std::vector<std::uint64_t>;

/// A section whose bytes are made piece by piece: open() gives a function from a piece's number to
/// its address.
template <class Open>
SectionView pieces(std::string name, Dtype dtype, Shape shape, std::size_t piece_bytes, Open open) {
  const auto bytes = store::array_bytes(dtype, shape).value_or(0);
  const auto reader = [piece_bytes, open]() -> SectionReader {
    auto stream = std::make_shared<Pieces<decltype(open())>>(piece_bytes, open());
    return [stream](std::span<std::byte> part) { stream->read(part); };
  };
  return {std::move(name), dtype, std::move(shape), nullptr, bytes, reader};
}

/// The rows of a shard in the order of their numbers, without those that are free.
class RowsInUse {
 public:
  explicit RowsInUse(const Shard& shard) : all_(shard.rows().size() == shard.rows().end()) {
    count_ = shard.rows().end();
    if (all_) return;
    shard.for_each([&](const Slot& slot) {
      if (slot.ref.has_row()) rows_.push_back(slot.ref.row());
    });
    if (shard.overflow_row() != table::kNoRow) rows_.push_back(shard.overflow_row());
    std::ranges::sort(rows_);
    count_ = rows_.size();
  }
  std::uint64_t count() const { return count_; }
  Row row(std::uint64_t i) const { return all_ ? static_cast<Row>(i) : rows_[i]; }
  Row number_of(Row row) const {
    if (all_ || row == table::kNoRow) return row;
    return static_cast<Row>(std::ranges::lower_bound(rows_, row) - rows_.begin());
  }

 private:
  bool all_;
  std::uint64_t count_ = 0;
  std::vector<Row> rows_;
};

/// Keys, what is known of their rows, and cells, in the order of Index::in_order.
void add_slots(std::vector<SectionView>& sections, const Shard& shard, std::size_t number,
               const std::shared_ptr<const RowsInUse>& rows) {
  const std::string prefix = shard_prefix(number);
  const std::uint64_t count = shard.index().size();
  // The order is made again whenever it is needed, as it takes memory in proportion to the keys.
  sections.push_back(pieces(prefix + "keys", Dtype::kU32, {count}, sizeof(table::Key), [&shard] {
    return [&shard, order = shard.index().in_order()](std::uint64_t i) {
      return reinterpret_cast<const std::byte*>(&shard.slot(order[i])->key);
    };
  }));
  if (shard.has_rows()) {
    sections.push_back(
        pieces(prefix + "refs", Dtype::kU32, {count}, sizeof(std::uint32_t), [&shard, rows] {
          return [&shard, rows, word = std::uint32_t{0},
                  order = shard.index().in_order()](std::uint64_t i) mutable {
            const table::RowRef ref = shard.slot(order[i])->ref;
            word = ref.has_row() ? ref.with_row(rows->number_of(ref.row())).word() : ref.word();
            return reinterpret_cast<const std::byte*>(&word);
          };
        }));
  } else if (shard.largest_values().size() > 0) {
    sections.push_back(pieces(prefix + "refs", Dtype::kU32, {count}, sizeof(std::uint32_t), [&] {
      return [&shard, order = shard.index().in_order()](std::uint64_t i) {
        return reinterpret_cast<const std::byte*>(&shard.slot(order[i])->ref);
      };
    }));
  }
  const std::size_t floats = table::cell_floats(shard.cells());
  if (floats == 0) return;
  sections.push_back(
      pieces(prefix + "cells", Dtype::kF32, {count, floats}, floats * sizeof(float), [&shard] {
        return [&shard, order = shard.index().in_order()](std::uint64_t i) {
          return reinterpret_cast<const std::byte*>(table::cell_of(shard.slot(order[i])));
        };
      }));
  if (const Slot* const overflow = shard.overflow_slot()) {
    sections.push_back({prefix + "overflow_cell",
                        Dtype::kF32,
                        {floats},
                        reinterpret_cast<const std::byte*>(table::cell_of(overflow)),
                        floats * sizeof(float),
                        {}});
  }
}

/// Largest |value|s where they are not 1: keys, and values beside them.
void add_largest(std::vector<SectionView>& sections, const Shard& shard, std::size_t number) {
  const table::Index& index = shard.largest_values();
  if (index.size() == 0) return;
  const auto column = [&](const char* name, Dtype dtype, std::size_t offset) {
    sections.push_back(
        pieces(shard_prefix(number) + name, dtype, {index.size()}, 4, [&index, offset] {
          return [&index, offset, order = index.in_order()](std::uint64_t i) {
            return index.slot(order[i]) + offset;
          };
        }));
  };
  column("largest.keys", Dtype::kU32, offsetof(table::LargestValue, key));
  column("largest.values", Dtype::kF32, offsetof(table::LargestValue, value));
}

void add_rows(std::vector<SectionView>& sections, const Shard& shard, std::size_t number,
              const std::shared_ptr<const RowsInUse>& in_use) {
  const table::Rows& rows = shard.rows();
  const table::RowLayout& layout = rows.layout();
  const auto column = [&](std::string name, const table::RowLayout::Column& from, Shape shape) {
    if (!is_stored(from.codec)) return;
    sections.push_back(pieces(std::move(name), dtype_of(from.codec), std::move(shape), from.bytes(),
                              [&rows, in_use, begin = from.begin] {
                                return [&rows, in_use, begin](std::uint64_t i) {
                                  return rows.at(in_use->row(i)) + begin;
                                };
                              }));
  };
  for (std::size_t p = 0; p < layout.parts().size(); ++p) {
    const table::RowPart& part = layout.parts()[p];
    column(weights_name(number, p), layout.weights(p), {in_use->count(), part.slots, part.k});
    for (std::size_t s = 0; s < part.states.size(); ++s) {
      column(state_name(number, p, s), layout.state(p, s),
             {in_use->count(), part.count(part.states[s])});
    }
  }
}

}  // namespace

Json add_tables(std::vector<SectionView>& sections, const table::Tables& tables) {
  if (const table::HashedCells* const cells = tables.hashed()) {
    const std::size_t bytes = cells->number_bytes();
    sections.push_back(
        pieces("cells", Dtype::kF32, {cells->capacity(), bytes / sizeof(float)}, bytes, [cells] {
          return
              [cells](std::uint64_t i) { return reinterpret_cast<const std::byte*>(cells->at(i)); };
        }));
  }
  Json states = Json::array();
  for (std::size_t s = 0; s < tables.size(); ++s) {
    const Shard& shard = tables[s];
    const auto rows = std::make_shared<const RowsInUse>(shard);
    add_slots(sections, shard, s, rows);
    add_largest(sections, shard, s);
    if (shard.has_rows()) add_rows(sections, shard, s, rows);
    states.push_back({{"overflow_row", rows->number_of(shard.overflow_row())},
                      {"overflow_rows_given", shard.overflow_rows_given()},
                      {"overflow_lookups", shard.index().overflow_lookups()}});
  }
  return states;
}

}  // namespace leveret::modelfile
