#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "modelfile/cell_numbers.h"
#include "modelfile/columns.h"
#include "modelfile/hashed_io.h"
#include "modelfile/section_names.h"
#include "modelfile/tables_io.h"
#include "table/cell_columns.h"

namespace leveret::modelfile {
namespace {

using Json = nlohmann::ordered_json;
using store::Declaration;
using store::Dtype;
using store::Role;
using store::SectionView;
using table::Shard;
using table::Slot;

template <class T>
const std::byte* bytes_at(const T* at) {
  return reinterpret_cast<const std::byte*>(at);
}

/// The slots of a shard in the order of a file, those with a row first: made when the first section
/// is read, since each of them needs it, and gone with the last. About half a byte a feature, as
/// the next slot in order is near in the index: four bits say how far it is, forth and back by
/// turns (0, -1, 1, -2, ...), or kFar, behind which its number stands.
class FileOrder {
 public:
  enum class Of { kAll, kWithRow, kWithoutRow };
  static constexpr unsigned kFar = 15, kBits = 4, kNumberBits = 32;

  explicit FileOrder(const Shard& shard) : shard_(&shard) {}

  /// Where it begins, in fours of bits.
  std::size_t begin(Of of) {
    if (!made_) make();
    return of == Of::kWithoutRow ? with_row_ : 0;
  }
  unsigned four(std::size_t at) const { return bytes_[at / 2] >> (at % 2 * kBits) & kFar; }

 private:
  void make() {
    bytes_.reserve(shard_->index().size() * 3 / 4 + kNumberBits);
    add_all(true);
    with_row_ = fours_;
    add_all(false);
    made_ = true;
  }

  void add_all(bool with_row) {
    const table::Index& index = shard_->index();
    table::Index::InOrder walk(index);
    std::int64_t last = -std::int64_t{kFar};  // each part begins with a number
    while (const std::byte* const at = walk.next()) {
      if (reinterpret_cast<const Slot*>(at)->ref.has_row() != with_row) continue;
      const std::uint32_t number = index.number_of(at);
      const std::int64_t step = number - last;
      const std::int64_t turned = step >= 0 ? 2 * step : -2 * step - 1;
      last = number;
      if (turned < kFar) {
        add(static_cast<unsigned>(turned));
      } else {
        add(kFar);
        for (unsigned bit = 0; bit < kNumberBits; bit += kBits) add(number >> bit & kFar);
      }
    }
  }

  void add(unsigned four) {
    if (fours_++ % 2 == 0) {
      bytes_.push_back(static_cast<std::uint8_t>(four));
    } else {
      bytes_.back() = static_cast<std::uint8_t>(bytes_.back() | four << kBits);
    }
  }

  const Shard* shard_;
  bool made_ = false;
  std::vector<std::uint8_t> bytes_;
  std::size_t fours_ = 0, with_row_ = 0;
};

/// Walks through some of it, one slot after the other.
class SlotWalk {
 public:
  SlotWalk(const Shard& shard, FileOrder& order, FileOrder::Of of)
      : shard_(&shard), order_(&order), at_(order.begin(of)) {}

  const Slot& next() {
    const unsigned turned = order_->four(at_++);
    if (turned == FileOrder::kFar) {
      number_ = 0;
      for (unsigned bit = 0; bit < FileOrder::kNumberBits; bit += FileOrder::kBits) {
        number_ |= order_->four(at_++) << bit;
      }
    } else {
      number_ += turned % 2 == 0 ? turned / 2 : 0u - (turned + 1) / 2;
    }
    return *reinterpret_cast<const Slot*>(shard_->index().slot(number_));
  }

 private:
  const Shard* shard_;
  const FileOrder* order_;
  std::size_t at_;
  std::uint32_t number_ = 0;
};

/// Appends the sections of one shard, which read the shard and not this.
class ShardSections {
 public:
  ShardSections(std::vector<SectionView>& sections, const table::Tables& tables, std::size_t number)
      : sections_(sections),
        shard_(tables[number]),
        prefix_(shard_prefix(number)),
        clock_(tables.clock()) {
    keys_ = static_cast<std::uint32_t>(sections.size()) + 1;
    shard_.for_each([&](const Slot& slot) {
      rows_ += slot.ref.has_row();
      refused_ += slot.ref.is_refused();
      some_are_old_ |= tables.notes_use() && slot.ref.age(clock_) > 0;
    });
  }

  void add() {
    add_keys();
    if (some_are_old_) add_ages();
    add_cells();
    add_largest();
    if (shard_.has_rows()) {
      add_rows(prefix_, rows_, keys_, [shard = &shard_, order = order_] {
        return [shard, walk = SlotWalk(*shard, *order, FileOrder::Of::kWithRow)]() mutable {
          return shard->rows().at(walk.next().ref.row());
        };
      });
    }
    add_overflow();
  }

 private:
  std::uint64_t features() const { return shard_.index().size(); }

  /// A section of one number for each slot: get(slot, number) gives its address, nullptr for none.
  template <class Get>
  void add_words(std::string name, Dtype dtype, std::uint64_t count, Declaration says,
                 FileOrder::Of of, Get get) {
    sections_.push_back(
        section_of_pieces(prefix_ + std::move(name), dtype, {count}, says,
                          store::dtype_bits(dtype) / 8, [shard = &shard_, order = order_, of, get] {
                            return [walk = SlotWalk(*shard, *order, of), get,
                                    word = std::uint32_t{0}, number = std::uint32_t{0}]() mutable {
                              const std::byte* at = nullptr;
                              while (at == nullptr) at = get(walk.next(), number++, word);
                              return at;
                            };
                          }));
  }

  void add_keys() {
    using Of = FileOrder::Of;
    const auto key = [](const Slot& slot, std::uint32_t, std::uint32_t&) {
      return bytes_at(&slot.key);
    };
    add_words("keys", Dtype::kU32, features(), declared(Role::kIndex, keys_), Of::kAll, key);
    if (!shard_.has_rows()) return;
    Declaration last = declared(Role::kState, keys_);
    last.last_keys = true;
    add_words("occurrences", Dtype::kU32, features() - rows_, last, Of::kWithoutRow,
              [](const Slot& slot, std::uint32_t, std::uint32_t& word) {
                word = slot.ref.is_refused() ? 0 : slot.ref.occurrences();
                return bytes_at(&word);
              });
    if (refused_ == 0) return;
    add_words("refused", Dtype::kU32, refused_, declared(Role::kIndex), Of::kAll,
              [](const Slot& slot, std::uint32_t number, std::uint32_t& word) {
                word = number;
                return slot.ref.is_refused() ? bytes_at(&word) : nullptr;
              });
  }

  /// In ticks of the clock, which a file does not have.
  void add_ages() {
    add_words("ages", Dtype::kU8, features(), declared(Role::kState, keys_), FileOrder::Of::kAll,
              [clock = clock_](const Slot& slot, std::uint32_t, std::uint32_t& word) {
                word = slot.ref.age(clock);  // below 256: its first byte
                return bytes_at(&word);
              });
  }

  void add_cells() {
    for (const table::CellColumn& column : table::cell_columns(shard_.cells())) {
      add_words(column.name, Dtype::kF32, features(), declared(role_of(column.kind), keys_),
                FileOrder::Of::kAll,
                [get = column.get](const Slot& slot, std::uint32_t, std::uint32_t&) {
                  return number_of(*table::cell_of(&slot), get);
                });
    }
  }

  /// Largest |value|s where they are not 1: keys, and values beside them.
  void add_largest() {
    const table::Index& index = shard_.largest_values();
    if (index.size() == 0) return;
    const auto keys = static_cast<std::uint32_t>(sections_.size()) + 1;
    const auto add = [&](const char* name, Dtype dtype, Role role, std::size_t offset) {
      sections_.push_back(section_of_pieces(
          prefix_ + name, dtype, {index.size()}, declared(role, keys), 4, [&index, offset] {
            return [walk = table::Index::InOrder(index), offset]() mutable {
              return walk.next() + offset;
            };
          }));
    };
    add("largest.keys", Dtype::kU32, Role::kIndex, offsetof(table::LargestValue, key));
    add("largest.values", Dtype::kF32, Role::kStatistic, offsetof(table::LargestValue, value));
  }

  /// open() gives what gives one row after the other.
  template <class Open>
  void add_rows(const std::string& prefix, std::uint64_t count, std::uint32_t keys, Open open) {
    const table::RowLayout& layout = shard_.rows().layout();
    const auto add = [&](std::string name, const table::RowLayout::Column& column, Role role,
                         Shape shape) {
      if (!is_stored(column.codec)) return;
      sections_.push_back(section_of_pieces(
          std::move(name), dtype_of(column.codec), std::move(shape),
          declared(role, keys, column.codec), column.bytes(), [open, begin = column.begin] {
            return [next = open(), begin]() mutable { return next() + begin; };
          }));
    };
    for (std::size_t p = 0; p < layout.parts().size(); ++p) {
      const table::RowPart& part = layout.parts()[p];
      add(weights_name(prefix, p), layout.weights(p), Role::kParameter,
          {count, part.slots, part.k});
      for (std::size_t s = 0; s < part.states.size(); ++s) {
        add(state_name(prefix, p, s), layout.state(p, s), Role::kState,
            {count, part.count(part.states[s])});
      }
    }
  }

  void add_overflow() {
    const std::string prefix = overflow_prefix(prefix_);
    if (const Slot* const slot = shard_.overflow_slot()) {
      for (const table::CellColumn& column : table::cell_columns(shard_.cells())) {
        const std::byte* const at = number_of(*table::cell_of(slot), column.get);
        sections_.push_back({prefix + column.name,
                             Dtype::kF32,
                             {1},
                             declared(role_of(column.kind)),
                             at,
                             sizeof(float),
                             {}});
      }
    }
    if (shard_.overflow_row() == table::kNoRow) return;
    add_rows(prefix, 1, 0,
             [row = shard_.rows().at(shard_.overflow_row())] { return [row] { return row; }; });
  }

  std::vector<SectionView>& sections_;
  const Shard& shard_;
  std::string prefix_;
  std::shared_ptr<FileOrder> order_ = std::make_shared<FileOrder>(shard_);  ///< all sections'
  std::uint32_t keys_;  ///< as in store::Declaration
  std::uint64_t rows_ = 0, refused_ = 0;
  unsigned clock_;
  bool some_are_old_ = false;
};

}  // namespace

Json add_tables(std::vector<SectionView>& sections, const table::Tables& tables) {
  if (tables.hashed() != nullptr) add_hashed(sections, *tables.hashed());
  Json states = Json::array();
  for (std::size_t s = 0; s < tables.size(); ++s) {
    const Shard& shard = tables[s];
    ShardSections(sections, tables, s).add();
    states.push_back({{"overflow_rows_given", shard.overflow_rows_given()},
                      {"overflow_lookups", shard.index().overflow_lookups()}});
  }
  return states;
}

}  // namespace leveret::modelfile
