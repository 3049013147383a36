/// The keys from 0 to before some number, in the order of keys in a file: without a list of them.
#pragma once

#include <cassert>
#include <cstdint>

#include "store/key_order.h"

namespace leveret::store {

/// Products key * kMixer, modulo 2^64, are points on a circle. Those of the first keys have only
/// two distances to the next one, and their sum (the three-gap theorem, V. T. Sós 1958): a step is
/// by the key whose point is the first behind 0, back by the key whose point is the last, or both.
///
/// Copies walk on their own.
class FirstKeys {
 public:
  /// As many first keys have mixed values that differ, so that the order is that of the products.
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 31;

  /// Keys below `count`, which is kMost at most.
  constexpr explicit FirstKeys(std::uint64_t count) : count_(count) {
    assert(count <= kMost);
    std::uint64_t behind = kMixer, before = 0 - kMixer;  // distances of both points from 0
    while (up_ + down_ < count) {
      if (behind > before) {
        up_ += down_;
        behind -= before;
      } else {
        down_ += up_;
        before -= behind;
      }
    }
    least_gap_ = behind < before ? behind : before;
  }

  /// The next key: called `count` times at most.
  constexpr std::uint32_t next() {
    const std::uint64_t key = key_;
    // Without jumps, which no processor foresees. At least one of the two steps is made.
    const bool fits = key + up_ < count_;
    key_ += fits || key < down_ ? up_ : 0;
    key_ -= fits ? 0 : down_;
    return static_cast<std::uint32_t>(key);
  }

  /// No two of the products are nearer.
  constexpr std::uint64_t least_gap() const { return least_gap_; }

 private:
  std::uint64_t count_, key_ = 0;
  std::uint64_t up_ = 1, down_ = 1;
  std::uint64_t least_gap_ = 0;
};
static_assert(FirstKeys(FirstKeys::kMost).least_gap() >= std::uint64_t{1} << 32);

}  // namespace leveret::store
