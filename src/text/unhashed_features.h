/// Short features of value 1 whose hashes are worked out later, many at a time: a line alone seldom
/// has as many as fill a kernel's registers. Private to src/text.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/text/text_kernels.h"

namespace leveret::text {

class UnhashedFeatures {
 public:
  static constexpr std::size_t kRoom = 256;  // arrays that stay in the L1 cache

  /// `numbers` as TextKernels::hash_features has it.
  UnhashedFeatures(const kernels::TextKernels& kernels, bool numbers)
      : kernels_(kernels), numbers_(numbers) {}

  bool has_room(std::size_t count) const { return size_ + count <= kRoom; }

  // Where the next ones go, as the kernels have them: for who writes them by itself, and then says
  // so to added(). There is room for has_room(), and for a kernel to write behind it.
  std::uint64_t* next_words() { return &words_[size_]; }
  std::uint32_t* next_lengths() { return &lengths_[size_]; }
  std::uint32_t* next_seeds() { return &seeds_[size_]; }

  /// The next `count` are features [at, at + count). None was said to be there or behind.
  void added(std::uint32_t at, std::uint32_t count) {
    size_ += count;
    if (places_ > 0 && place_[places_ - 1].end() == at) {
      place_[places_ - 1].count += count;
    } else if (count > 0) {
      place_[places_++] = {at, count};
    }
  }

  /// Features from `at` on shall not be.
  void drop_from(std::uint32_t at) {
    for (; places_ > 0 && place_[places_ - 1].end() > at; --places_) {
      Place& last = place_[places_ - 1];
      const std::uint32_t kept = at > last.at ? at - last.at : 0;
      size_ -= last.count - kept;
      last.count = kept;
      if (kept > 0) return;
    }
  }

  /// Writes them to their places in `features`, and forgets them.
  void hash_into(kernels::Feature* features) {
    std::array<kernels::Feature, kRoom + kernels::TextKernels::kSpare> hashed;
    kernels_.hash_features(words_.data(), lengths_.data(), seeds_.data(), size_, numbers_,
                           hashed.data());
    const kernels::Feature* from = hashed.data();
    for (std::size_t p = 0; p < places_; from += place_[p++].count) {
      std::copy_n(from, place_[p].count, features + place_[p].at);
    }
    size_ = places_ = 0;
  }

 private:
  struct Place {
    std::uint32_t at, count;
    std::uint32_t end() const { return at + count; }
  };
  static constexpr std::size_t kBehind = kernels::TextKernels::kNames;

  const kernels::TextKernels& kernels_;
  bool numbers_;
  std::size_t size_ = 0, places_ = 0;
  std::array<std::uint64_t, kRoom + kBehind> words_;
  std::array<std::uint32_t, kRoom + kBehind> lengths_, seeds_;
  std::array<Place, kRoom> place_;  ///< they ascend, and none touches the next
};

}  // namespace leveret::text
