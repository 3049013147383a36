#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "modelfile/section_loader.h"
#include "modelfile/section_names.h"
#include "modelfile/tables_io.h"

namespace leveret::modelfile {
namespace {

using Json = nlohmann::ordered_json;
using store::Dtype;
using store::StoredSection;
using table::Key;
using table::Row;
using table::RowRef;
using table::Shard;

/// One shard of a model.
class ShardLoader {
 public:
  ShardLoader(Shard& shard, std::size_t number, SectionLoader& sections)
      : shard_(shard), number_(number), prefix_(shard_prefix(number)), sections_(sections) {}

  void load(const Json& state, LoadBy by) {
    load_keys();
    if (shard_.has_rows()) load_rows(by);
    const Row overflow_row = state.at("overflow_row").get<Row>();
    if (overflow_row != table::kNoRow) name_row(overflow_row);
    load_refs();
    if (std::ranges::find(named_, false) != named_.end()) damaged("has a row that no key names");
    shard_.load_overflow(overflow_row, state.at("overflow_rows_given").get<std::uint64_t>(),
                         state.at("overflow_lookups").get<std::uint64_t>());
    load_cells();
    load_largest();
  }

 private:
  void load_keys() {
    const StoredSection& keys = sections_.section(prefix_ + "keys", Dtype::kU32, {kAnyLength});
    const std::uint64_t count = keys.shape[0];
    if (count > table::Index::kMaxSlots / 2) damaged("has more keys than there is room for");
    sections_.numbers<Key>(keys, [&](std::span<const Key> some) {
      if (!shard_.load_keys(some, count)) damaged("has keys in the wrong order, or no memory");
    });
    order_ = shard_.index().in_order();
  }

  void load_rows(LoadBy by) {
    table::Rows& rows = shard_.rows();
    const table::RowLayout& layout = rows.layout();
    const auto section = [&](const std::string& name, const table::RowLayout::Column& column,
                             Shape shape) -> const StoredSection& {
      return sections_.section(name, dtype_of(column.codec), shape);
    };
    const table::RowPart& first = layout.parts()[0];
    const StoredSection& weights =
        section(weights_name(number_, 0), layout.weights(0), {kAnyLength, first.slots, first.k});
    named_.resize(weights.shape[0]);
    const bool one_column = layout.parts().size() == 1 && first.states.empty();
    if (by == LoadBy::kMapping && one_column && weights.bytes > 0) {
      if (table::Arena mapped = sections_.map(weights); mapped.size() > 0) {
        return rows.load_mapped(std::move(mapped));
      }
    }
    rows.load_zeros(weights.shape[0]);
    const auto put = [&](const StoredSection& stored, const table::RowLayout::Column& column) {
      if (column.bytes() == 0) return;
      sections_.pieces(stored, column.bytes(), [&rows, begin = column.begin](std::uint64_t i) {
        return rows.at(static_cast<Row>(i)) + begin;
      });
    };
    for (std::size_t p = 0; p < layout.parts().size(); ++p) {
      const table::RowPart& part = layout.parts()[p];
      const auto& column = layout.weights(p);
      put(section(weights_name(number_, p), column, {weights.shape[0], part.slots, part.k}),
          column);
      for (std::size_t s = 0; s < part.states.size(); ++s) {
        const auto& state = layout.state(p, s);
        if (!is_stored(state.codec)) continue;
        put(section(state_name(number_, p, s), state, {weights.shape[0], state.count}), state);
      }
    }
  }

  /// Each row has one name.
  void name_row(Row row) {
    if (row >= named_.size()) damaged("names a row that it has not");
    if (named_[row]) damaged("names a row twice");
    named_[row] = true;
  }

  void load_refs() {
    if (!shard_.has_rows() && !sections_.has(prefix_ + "refs")) return;
    const auto& refs = sections_.section(prefix_ + "refs", Dtype::kU32, {order_.size()});
    std::size_t i = 0;
    sections_.numbers<std::uint32_t>(refs, [&](std::span<const std::uint32_t> some) {
      for (const std::uint32_t word : some) {
        const RowRef ref = RowRef::from_word(word);
        if (ref.has_row()) name_row(ref.row());
        if (ref.is_being_made()) damaged("has a row that is being made");
        shard_.slot(order_[i++])->ref = ref;
      }
    });
  }

  void load_cells() {
    const std::size_t floats = table::cell_floats(shard_.cells());
    if (floats == 0) return;
    const auto& cells = sections_.section(prefix_ + "cells", Dtype::kF32, {order_.size(), floats});
    sections_.pieces(cells, floats * sizeof(float), [this](std::uint64_t i) {
      return reinterpret_cast<std::byte*>(table::cell_of(shard_.slot(order_[i])));
    });
    if (shard_.overflow_slot() == nullptr) return;
    sections_.floats(prefix_ + "overflow_cell", {floats},
                     {&table::cell_of(shard_.overflow())->weight, floats});
  }

  void load_largest() {
    std::uint64_t features = 0;
    for (const std::uint32_t i : order_) features += shard_.slot(i)->ref.has_largest_value();
    if (!sections_.has(prefix_ + "largest.keys")) {
      if (features > 0) damaged("lacks the largest value of a feature");
      return;
    }
    std::vector<Key> keys;
    sections_.numbers<Key>(
        sections_.section(prefix_ + "largest.keys", Dtype::kU32, {features}),
        [&](std::span<const Key> some) { keys.insert(keys.end(), some.begin(), some.end()); });
    std::size_t i = 0;
    sections_.numbers<float>(sections_.section(prefix_ + "largest.values", Dtype::kF32, {features}),
                             [&](std::span<const float> some) {
                               for (const float value : some) {
                                 const table::Slot* const slot = shard_.find(keys[i]);
                                 if (slot == nullptr || !slot->ref.has_largest_value()) {
                                   damaged("has a largest value of a feature that has none");
                                 }
                                 shard_.load_largest(keys[i++], value);
                               }
                             });
    if (shard_.largest_values().size() != features) damaged("has a largest value twice");
  }

  Shard& shard_;
  std::size_t number_;
  std::string prefix_;
  SectionLoader& sections_;
  std::vector<std::uint32_t> order_;  ///< slots, in the order of the file
  std::vector<bool> named_;           ///< rows that a key or the header names
};

}  // namespace

void load_tables(table::Tables& tables, SectionLoader& sections, const Json& states, LoadBy by) {
  if (table::HashedCells* const cells = tables.hashed()) {
    const std::size_t bytes = cells->number_bytes();
    sections.pieces(
        sections.section("cells", Dtype::kF32, {cells->capacity(), bytes / sizeof(float)}), bytes,
        [cells](std::uint64_t i) { return reinterpret_cast<std::byte*>(cells->at(i)); });
  }
  if (states.size() != tables.size()) {
    throw std::runtime_error("names another number of fields than it has shards");
  }
  for (std::size_t s = 0; s < tables.size(); ++s) {
    ShardLoader(tables[s], s, sections).load(states.at(s), by);
  }
}

}  // namespace leveret::modelfile
