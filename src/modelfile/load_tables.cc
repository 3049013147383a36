// All columns of a shard are read side by side, so that each slot and each row is gone to once, in
// the order in which they lie.
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "modelfile/cell_numbers.h"
#include "modelfile/hashed_io.h"
#include "modelfile/section_loader.h"
#include "modelfile/section_names.h"
#include "modelfile/tables_io.h"
#include "store/layout.h"
#include "table/cell_columns.h"

namespace leveret::modelfile {
namespace {

using Json = nlohmann::ordered_json;
using store::Dtype;
using store::Role;
using store::StoredSection;
using table::CellColumn;
using table::Key;
using table::Row;
using table::RowRef;
using table::Shard;
using table::Slot;

/// So much of each column is read at a time, so that all of them stay in the second-level cache.
constexpr std::uint64_t kSlotsAtOnce = 4096;
constexpr std::size_t kRowBytesAtOnce = std::size_t{128} << 10;

/// Keys are some ten slots from home at most, on average. Those that somebody has chosen to lie
/// side by side would make loading, and learning, take time in proportion to their square.
constexpr std::uint64_t kMostProbes = 10'000'000, kMostProbesOfKey = 200;

template <class T>
T word_at(std::span<const std::byte> part, std::uint64_t i) {
  T word;
  std::memcpy(&word, part.data() + i * sizeof word, sizeof word);
  return word;
}

/// One shard of a model.
class ShardLoader {
 public:
  ShardLoader(Shard& shard, std::size_t number, SectionLoader& sections)
      : shard_(shard),
        prefix_(shard_prefix(number)),
        sections_(sections),
        keys_number_(sections.number_of(prefix_ + "keys")) {}

  void load(const Json& state, LoadBy by) {
    const StoredSection& keys = sections_.section(prefix_ + "keys", Dtype::kU32, {kAnyLength},
                                                  declared(Role::kIndex, keys_number_));
    keys_ = keys.shape[0];
    if (keys_ > table::Index::kMaxSlots / 2) damaged("has more keys than there is room for");
    if (shard_.has_rows()) rows_ = rows_section().shape[0];
    if (rows_ > RowRef::kMaxRows) damaged("has more rows than there is room for");
    load_refused();
    load_slots(keys);
    if (shard_.has_rows()) load_rows(by);
    load_overflow(state);
    load_largest();
  }

 private:
  const StoredSection& rows_section() const {
    const table::RowLayout& layout = shard_.rows().layout();
    const table::RowPart& first = layout.parts()[0];
    return sections_.section(weights_name(prefix_, 0), dtype_of(layout.weights(0).codec),
                             {kAnyLength, first.slots, first.k},
                             declared(Role::kParameter, keys_number_, layout.weights(0).codec));
  }

  /// Places of keys, in ascending order.
  void load_refused() {
    const std::string name = prefix_ + "refused";
    if (!shard_.has_rows() || !sections_.has(name)) return;
    const StoredSection& stored =
        sections_.section(name, Dtype::kU32, {kAnyLength}, declared(Role::kIndex));
    if (stored.shape[0] > keys_ - rows_)
      damaged("lists more refused keys than it has keys without a row");
    refused_.resize(stored.shape[0]);
    sections_.numbers(stored, std::span(refused_));
    for (std::size_t i = 0; i < refused_.size(); ++i) {
      if (refused_[i] < rows_ || refused_[i] >= keys_ ||
          (i > 0 && refused_[i] <= refused_[i - 1])) {
        damaged("lists refused keys that it does not have, or that have a row");
      }
    }
  }

  /// Keys, what is known of their rows, and cells.
  void load_slots(const StoredSection& keys) {
    SectionLoader::Stream stream(sections_, keys);
    std::optional<SectionLoader::Stream> occurrences;
    if (shard_.has_rows() && sections_.wants(Role::kState)) {
      store::Declaration last = declared(Role::kState, keys_number_);
      last.last_keys = true;
      occurrences.emplace(sections_, sections_.section(prefix_ + "occurrences", Dtype::kU32,
                                                       {keys_ - rows_}, last));
    }
    std::optional<SectionLoader::Stream> ages;
    if (sections_.has(prefix_ + "ages") && sections_.wants(Role::kState)) {
      ages.emplace(sections_, sections_.section(prefix_ + "ages", Dtype::kU8, {keys_},
                                                declared(Role::kState, keys_number_)));
    }
    CellColumns cells;
    for (const CellColumn& column : table::cell_columns(shard_.cells())) {
      cells.add(sections_, prefix_ + column.name, keys_, column, keys_number_);
    }
    shard_.reserve_to_load(keys_);
    Key last = table::kNoKey;
    for (std::uint64_t at = 0, count = 0; at < keys_; at += count) {
      const bool rows = at < rows_;
      if (at == rows_) last = table::kNoKey;  // the second run
      count = std::min((rows ? rows_ : keys_) - at, kSlotsAtOnce);
      const auto some = stream.next(count * sizeof(Key));
      const auto seen = !rows && occurrences ? occurrences->next(count * sizeof(std::uint32_t))
                                             : std::span<const std::byte>();
      const auto old = ages ? ages->next(count) : std::span<const std::byte>();
      cells.read(count);
      for (std::uint64_t i = 0; i < count; ++i) {
        const Key key = word_at<Key>(some, i);
        Slot* const slot = add_key(key, last, at + i);
        slot->ref = rows ? RowRef().with_row(static_cast<Row>(at + i))
                         : ref_without_row(at + i, seen.empty() ? 0 : word_at<Row>(seen, i));
        if (ages) slot->ref = aged(slot->ref, std::to_integer<unsigned>(old[i]));
        cells.put(i, table::cell_of(slot));
        last = key;
      }
    }
    stream.finish();
    if (occurrences) occurrences->finish();
    if (ages) ages->finish();
    cells.finish();
  }

  Slot* add_key(Key key, Key last, std::uint64_t number) {
    const bool in_order =
        key != table::kNoKey && (last == table::kNoKey || table::Index::before(last, key));
    Slot* const slot = in_order ? shard_.load_key(key) : nullptr;
    if (slot == nullptr || shard_.index().size() != number + 1) {
      damaged("has keys in the wrong order or twice, or there is no memory for them");
    }
    probes_ += shard_.probes(*slot);
    if (probes_ > kMostProbes + kMostProbesOfKey * keys_) {
      damaged("has keys that no hash makes: they would all have one home");
    }
    return slot;
  }

  RowRef ref_without_row(std::uint64_t number, std::uint32_t occurrences) {
    if (occurrences >= RowRef::kMaxRows) damaged("has an impossible number of occurrences");
    if (next_refused_ == refused_.size() || refused_[next_refused_] != number) {
      return RowRef().with_occurrences(occurrences);
    }
    ++next_refused_;
    if (occurrences != 0) damaged("counts a refused key");
    return RowRef().refused();
  }

  /// Tables that are loaded begin with a clock of 0.
  static RowRef aged(RowRef ref, unsigned age) {
    if (age >= RowRef::kAges) damaged("has a feature of an impossible age");
    return ref.used(0u - age);
  }

  void load_rows(LoadBy by) {
    table::Rows& rows = shard_.rows();
    const StoredSection& weights = rows_section();
    const table::RowPart& first = rows.layout().parts()[0];
    const bool one_column =
        rows.layout().parts().size() == 1 && first.states.empty() && !first.codec.is_scaled();
    const std::string overflow = overflow_prefix(prefix_);
    const std::uint64_t more = sections_.has(weights_name(overflow, 0)) ? 1 : 0;
    if (more > 0) {  // before there is memory for it
      sections_.section(weights_name(overflow, 0), weights.dtype, {1, first.slots, first.k},
                        declared(Role::kParameter, 0, rows.layout().weights(0).codec));
    }
    bool mapped = false;
    if (by == LoadBy::kMapping && one_column && weights.bytes >= store::kLargeFrom) {
      const std::uint64_t row_bytes = weights.bytes / rows_;
      if (table::Arena arena = sections_.map(weights, more * row_bytes); arena.size() > 0) {
        rows.load_mapped(std::move(arena));
        mapped = true;
      }
    }
    if (!mapped) {
      rows.load_zeros(rows_ + more);
      load_columns(prefix_, 0, rows_, keys_number_);
    }
    if (more == 0) return;
    load_columns(overflow, rows_, 1, 0);
    overflow_row_ = static_cast<Row>(rows_);
  }

  /// Rows `from` to from + count - 1.
  void load_columns(const std::string& prefix, std::uint64_t from, std::uint64_t count,
                    std::uint32_t keys) {
    struct Column {
      std::size_t begin, bytes;
      SectionLoader::Stream stream;
      bool scales = false;
    };
    table::Rows& rows = shard_.rows();
    const table::RowLayout& layout = rows.layout();
    std::vector<Column> columns;
    const auto add = [&](const std::string& name, const table::RowLayout::Column& column, Role role,
                         const Shape& shape) {
      if (!is_stored(column.codec)) return;
      const StoredSection& stored = sections_.section(name, dtype_of(column.codec), shape,
                                                      declared(role, keys, column.codec));
      std::size_t begin = column.begin, bytes = column.bytes();
      if (column.codec.is_scaled()) {
        const StoredSection& scales =
            sections_.section(scales_name(name), Dtype::kF32, {count}, declared(role, keys));
        columns.push_back({begin, sizeof(float), SectionLoader::Stream(sections_, scales), true});
        begin += sizeof(float);
        bytes -= sizeof(float);
      }
      columns.push_back({begin, bytes, SectionLoader::Stream(sections_, stored)});
    };
    for (std::size_t p = 0; p < layout.parts().size(); ++p) {
      const table::RowPart& part = layout.parts()[p];
      add(weights_name(prefix, p), layout.weights(p), Role::kParameter,
          {count, part.slots, part.k});
      for (std::size_t s = 0; s < part.states.size(); ++s) {
        const auto& state = layout.state(p, s);
        add(state_name(prefix, p, s), state, Role::kState, {count, state.count});
      }
    }
    const std::uint64_t at_once = std::max<std::uint64_t>(1, kRowBytesAtOnce / layout.stride());
    for (std::uint64_t at = 0; at < count; at += at_once) {
      const std::uint64_t some = std::min(at_once, count - at);
      for (Column& column : columns) {
        const std::span<const std::byte> part = column.stream.next(some * column.bytes);
        if (column.scales) check_scales(part);
        if (part.empty()) continue;  // a shard of several ranks has vectors of no slots
        for (std::uint64_t i = 0; i < some; ++i) {
          std::memcpy(rows.at(static_cast<Row>(from + at + i)) + column.begin,
                      part.data() + i * column.bytes, column.bytes);
        }
      }
    }
    for (const Column& column : columns) column.stream.finish();
  }

  static void check_scales(std::span<const std::byte> part) {
    for (std::uint64_t i = 0; i < part.size() / sizeof(float); ++i) {
      if (!is_scale(word_at<float>(part, i))) damaged("has rows with an impossible scale");
    }
  }

  void load_overflow(const Json& state) {
    shard_.load_overflow(overflow_row_, state.at("overflow_rows_given").get<std::uint64_t>(),
                         state.at("overflow_lookups").get<std::uint64_t>());
    if (shard_.overflow_slot() == nullptr) return;
    CellColumns cells;
    for (const CellColumn& column : table::cell_columns(shard_.cells())) {
      cells.add(sections_, overflow_prefix(prefix_) + column.name, 1, column, 0);
    }
    cells.read(1);
    cells.put(0, table::cell_of(shard_.overflow()));
    cells.finish();
  }

  void load_largest() {
    const std::string name = prefix_ + "largest.keys";
    if (!sections_.has(name)) return;
    const std::uint32_t number = sections_.number_of(name);
    const StoredSection& keys =
        sections_.section(name, Dtype::kU32, {kAnyLength}, declared(Role::kIndex, number));
    if (keys.shape[0] > keys_) damaged("has more largest values than features");
    const StoredSection& values =
        sections_.section(prefix_ + "largest.values", Dtype::kF32, {keys.shape[0]},
                          declared(Role::kStatistic, number));
    SectionLoader::Stream key_stream(sections_, keys), value_stream(sections_, values);
    Key last = table::kNoKey;
    for (std::uint64_t at = 0, count = 0; at < keys.shape[0]; at += count) {
      count = std::min(keys.shape[0] - at, kSlotsAtOnce);
      const auto some = key_stream.next(count * sizeof(Key));
      const auto largest = value_stream.next(count * sizeof(float));
      for (std::uint64_t i = 0; i < count; ++i) {
        const Key key = word_at<Key>(some, i);
        const bool in_order = last == table::kNoKey || table::Index::before(last, key);
        if (!in_order || !shard_.load_largest(key, word_at<float>(largest, i))) {
          damaged("has a largest value twice, or of a feature that it does not know");
        }
        last = key;
      }
    }
    key_stream.finish();
    value_stream.finish();
  }

  Shard& shard_;
  std::string prefix_;
  SectionLoader& sections_;
  std::uint32_t keys_number_;  ///< as in store::Declaration
  std::uint64_t keys_ = 0, rows_ = 0;
  Row overflow_row_ = table::kNoRow;
  std::uint64_t probes_ = 0;  ///< how far keys are from home, together
  std::vector<std::uint32_t> refused_;
  std::size_t next_refused_ = 0;
};

}  // namespace

void load_tables(table::Tables& tables, SectionLoader& sections, const Json& states, LoadBy by) {
  if (tables.hashed() != nullptr) load_hashed(*tables.hashed(), sections);
  if (states.size() != tables.size()) {
    throw std::runtime_error("names another number of fields than it has shards");
  }
  for (std::size_t s = 0; s < tables.size(); ++s) {
    ShardLoader(tables[s], s, sections).load(states.at(s), by);
  }
}

}  // namespace leveret::modelfile
