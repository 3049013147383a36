/// The slots of a hashed table that have learned something: those of a file.
#pragma once

#include <cstdint>
#include <vector>

#include "store/first_keys.h"
#include "table/hashed_cells.h"

namespace leveret::modelfile {

/// The numbers of the cells that are not all zero bytes, counted from the first cell of the table,
/// in the order of keys in files (store::key_place). It takes a bit for each cell, and, where few
/// are touched, half a bit more for a list of them, so that no walk looks at all. It reads the
/// table when it is made and not again.
class TouchedSlots {
 public:
  explicit TouchedSlots(const table::HashedCells& cells);

  std::uint64_t size() const { return size_; }

  /// One of them after the other; the slots outlive it.
  class Walk {
   public:
    explicit Walk(const TouchedSlots& slots) : slots_(&slots), all_(slots.capacity_) {}
    /// Called size() times at most.
    std::uint32_t next() {
      if (slots_->is_listed_) return slots_->list_[at_++];
      std::uint32_t slot = all_.next();
      while (!slots_->is_touched(slot)) slot = all_.next();
      return slot;
    }

   private:
    const TouchedSlots* slots_;
    std::size_t at_ = 0;
    store::FirstKeys all_;
  };

 private:
  bool is_touched(std::uint32_t slot) const { return (bits_[slot / 64] >> slot % 64 & 1) != 0; }

  std::uint64_t capacity_, size_ = 0;
  bool is_listed_ = false;
  std::vector<std::uint64_t> bits_;  ///< by slot; empty when they are listed
  std::vector<std::uint32_t> list_;
};

}  // namespace leveret::modelfile
