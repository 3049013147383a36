#include "modelfile/hashed_io.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "modelfile/cell_numbers.h"
#include "modelfile/columns.h"
#include "modelfile/section_names.h"
#include "modelfile/touched_slots.h"
#include "table/cell_columns.h"
#include "table/index.h"

namespace leveret::modelfile {
namespace {

using store::Dtype;
using store::Role;
using store::StoredSection;

/// So much of each column is read at a time, so that all of them stay in the second-level cache.
constexpr std::uint64_t kCellsAtOnce = 4096;

std::string hashed_name(const table::CellColumn& column) {
  return std::string("cells.") + column.name;
}

/// The numbers of the slots whose cells a file has, in its order.
class StoredSlots {
 public:
  StoredSlots(SectionLoader& sections, std::uint64_t capacity)
      : keys_(sections.number_of(kSlotKeys)),
        capacity_(capacity),
        section_(
            sections.section(kSlotKeys, Dtype::kU32, {kAnyLength}, declared(Role::kIndex, keys_))),
        stream_(sections, section_) {
    if (size() > capacity_) damaged("has more slots than -b says");
  }

  std::uint64_t size() const { return section_.shape[0]; }
  std::uint32_t keys() const { return keys_; }  ///< as in store::Declaration

  /// Reads the next `count`.
  void read(std::uint64_t count) { part_ = stream_.next(count * sizeof(std::uint32_t)); }
  /// Number i of what has been read, each once and in order.
  std::uint64_t next(std::uint64_t i) {
    std::uint32_t slot;
    std::memcpy(&slot, part_.data() + i * sizeof slot, sizeof slot);
    if (slot >= capacity_) damaged("has slots that -b does not have");
    if (!first_ && !table::Index::before(last_, slot)) {
      damaged("has slots in the wrong order or twice");
    }
    last_ = slot;
    first_ = false;
    return slot;
  }
  void finish() const { stream_.finish(); }

 private:
  std::uint32_t keys_;
  std::uint64_t capacity_;
  const StoredSection& section_;
  SectionLoader::Stream stream_;
  std::span<const std::byte> part_;
  bool first_ = true;
  std::uint32_t last_ = 0;
};

/// The cells of touched slots, one after the other. They lie far apart, so that some are fetched
/// into the cache ahead of their turn.
class CellWalk {
 public:
  CellWalk(const table::HashedCells& cells, const TouchedSlots& slots)
      : cells_(&cells), walk_(slots), left_(slots.size()) {}

  const table::Cell& next() {
    if (at_ == count_) fetch();
    return *ahead_[at_++];
  }

 private:
  void fetch() {
    at_ = 0;
    count_ = static_cast<std::size_t>(std::min<std::uint64_t>(left_, ahead_.size()));
    left_ -= count_;
    for (std::size_t i = 0; i < count_; ++i) {
      ahead_[i] = cells_->at(walk_.next());
      __builtin_prefetch(ahead_[i]);
    }
  }

  const table::HashedCells* cells_;
  TouchedSlots::Walk walk_;
  std::uint64_t left_;
  std::array<const table::Cell*, 32> ahead_;
  std::size_t at_ = 0, count_ = 0;
};

}  // namespace

void add_hashed(std::vector<store::SectionView>& sections, const table::HashedCells& cells) {
  const auto slots = std::make_shared<const TouchedSlots>(cells);
  const auto keys = static_cast<std::uint32_t>(sections.size()) + 1;
  const auto add = [&](std::string name, Dtype dtype, Role role, auto open) {
    sections.push_back(section_of_pieces(std::move(name), dtype, {slots->size()},
                                         declared(role, keys), store::dtype_bits(dtype) / 8,
                                         std::move(open)));
  };
  add(kSlotKeys, Dtype::kU32, Role::kIndex, [slots] {
    return [walk = TouchedSlots::Walk(*slots), slot = std::uint32_t{0}]() mutable {
      slot = walk.next();
      return reinterpret_cast<const std::byte*>(&slot);
    };
  });
  for (const table::CellColumn& column : table::cell_columns(cells.kind(), true)) {
    add(hashed_name(column), Dtype::kF32, role_of(column.kind), [&cells, slots, get = column.get] {
      return
          [walk = CellWalk(cells, *slots), get]() mutable { return number_of(walk.next(), get); };
    });
  }
}

void load_hashed(table::HashedCells& cells, SectionLoader& sections) {
  StoredSlots slots(sections, cells.capacity());
  CellColumns columns;
  for (const table::CellColumn& column : table::cell_columns(cells.kind(), true)) {
    columns.add(sections, hashed_name(column), slots.size(), column, slots.keys());
  }
  for (std::uint64_t at = 0, count = 0; at < slots.size(); at += count) {
    count = std::min(slots.size() - at, kCellsAtOnce);
    slots.read(count);
    columns.read(count);
    for (std::uint64_t i = 0; i < count; ++i) columns.put(i, cells.at(slots.next(i)));
  }
  slots.finish();
  columns.finish();
}

}  // namespace leveret::modelfile
