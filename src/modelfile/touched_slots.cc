#include "modelfile/touched_slots.h"

#include <algorithm>
#include <bit>

namespace leveret::modelfile {
namespace {

/// A list of so few of the slots takes half as much as the bits.
constexpr std::uint64_t kListedShare = 64;

}  // namespace

TouchedSlots::TouchedSlots(const table::HashedCells& cells)
    : capacity_(cells.capacity()), bits_((capacity_ + 63) / 64) {
  for (std::uint64_t i = 0; i < capacity_; ++i) {
    const std::uint64_t touched = cells.in_use(i) ? 1 : 0;
    bits_[i / 64] |= touched << i % 64;
    size_ += touched;
  }
  is_listed_ = size_ <= capacity_ / kListedShare;
  if (!is_listed_) return;
  list_.reserve(size_);
  for (std::size_t word = 0; word < bits_.size(); ++word) {
    for (std::uint64_t left = bits_[word]; left != 0; left &= left - 1) {
      list_.push_back(static_cast<std::uint32_t>(word * 64) +
                      static_cast<std::uint32_t>(std::countr_zero(left)));
    }
  }
  std::ranges::sort(list_, {}, store::key_place);
  bits_ = {};
}

}  // namespace leveret::modelfile
