/// Numbers the distinct places that a batch meets, in the order in which it meets them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace leveret::optim {

/// Which number a place gets depends on the order of calls alone, not on addresses: these only
/// decide where it is looked for. Keeps its memory; owned by one thread.
class Distinct {
 public:
  /// Forgets all places and makes room for `most` of them.
  void start(std::size_t most) {
    places_.clear();
    places_.reserve(most);
    const std::size_t size = std::bit_ceil(2 * most + 1);
    shift_ = 64 - std::countr_zero(size);
    numbers_.assign(size, kNone);
  }

  /// The number of a place: size() as it was before the call, where it is new.
  std::uint32_t number(const void* place) {
    const std::size_t mask = numbers_.size() - 1;
    const auto bits = reinterpret_cast<std::uintptr_t>(place);
    for (std::size_t at = (bits >> 3) * 0x9e3779b97f4a7c15u >> shift_;; at = (at + 1) & mask) {
      std::uint32_t& number = numbers_[at];
      if (number == kNone) {
        number = static_cast<std::uint32_t>(places_.size());
        places_.push_back(place);
        return number;
      }
      if (places_[number] == place) return number;
    }
  }

  std::size_t size() const { return places_.size(); }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  std::vector<const void*> places_;     ///< by number
  std::vector<std::uint32_t> numbers_;  ///< open addressing, at most half full
  int shift_ = 0;
};

}  // namespace leveret::optim
