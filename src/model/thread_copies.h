/// Private copies of the cells and rows that a thread of several writes most.
///
/// Threads that learn from one stream meet in the few features that nearly every line has, and a
/// cache line that two cores write in turn travels between them each time. So each thread keeps,
/// for some hundred examples, copies of the first rows of each field and of the cells that it
/// touched first (frequent ones come early), works on the copies, and Optimizer::apply_copies adds
/// what they have gained to the shared weights. What finds no place is written where it is, as
/// ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/aligned.h"
#include "model/model.h"

namespace leveret::model {

/// Copies of arrays of one length, of floats (cells) or bytes (rows). One thread's own; allocates
/// only when made.
template <class T>
class CopySet {
 public:
  /// Places for `slots` (a power of two) arrays of `length` elements.
  CopySet(std::size_t slots, std::size_t length);

  /// Where to work on the array at `home`: in its copy, when it has one or its place (the lower
  /// bits of `slot`) is free, else at `home`, which must not move until take_back.
  T* at(T* home, std::uint32_t slot) {
    const std::uint32_t i = slot & mask_;
    if (homes_[i] == home) return now(i);
    return homes_[i] == nullptr ? claim(home, i) : home;
  }

  /// Calls take(home, before, now, length) for every copy, in the order of their claims, and
  /// forgets it.
  template <class Take>
  void take_back(Take take) {
    for (const std::uint32_t i : claimed_) {
      take(homes_[i], before(i), now(i), length_);
      homes_[i] = nullptr;
    }
    claimed_.clear();
  }

 private:
  T* now(std::size_t i) { return data_.data() + i * stride_; }
  T* before(std::size_t i) { return now(homes_.size() + i); }
  T* claim(T* home, std::uint32_t i);

  std::size_t length_, stride_;
  std::uint32_t mask_;
  std::vector<T*> homes_;  ///< of each place; null: free
  /// Of all places: the arrays as they are, then as they were when claimed.
  std::vector<T, LineAllocator<T>> data_;
  std::vector<std::uint32_t> claimed_;
};

struct ThreadCopies {
  static constexpr std::size_t kCells = 1024;
  /// Of each field, the first so many rows: they are in the order of their admission, and frequent
  /// features come early. Copies of others would mostly be used once.
  static constexpr std::size_t kRows = 16;

  explicit ThreadCopies(std::uint32_t cell_floats) : cells(kCells, cell_floats) {}
  /// Makes places for the rows of the fields that the model has by now. Nothing may be claimed when
  /// there are new ones; nobody may change the model's shape meanwhile.
  void fit(const Model& model);

  CopySet<float> cells;
  std::vector<CopySet<std::byte>> rows;  ///< by field

 private:
  std::size_t row_bytes_ = 0;
};

}  // namespace leveret::model
