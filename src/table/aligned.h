/// Arrays that begin on a cache line: a register that lies across two lines costs two
/// accesses, which nearly doubles the time of a dense layer's update.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace leveret::table {

inline constexpr std::size_t kLineBytes = 64;
inline constexpr std::size_t kLineFloats = kLineBytes / sizeof(float);

template <class T>
struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) noexcept {}
  T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{kLineBytes}));
  }
  void deallocate(T* at, std::size_t) noexcept {
    ::operator delete (at, std::align_val_t{kLineBytes});
  }
  bool operator==(const LineAllocator&) const = default;
};

using AlignedFloats = std::vector<float, LineAllocator<float>>;
using AlignedBytes = std::vector<std::byte, LineAllocator<std::byte>>;

/// `floats` rounded up to whole lines.
constexpr std::size_t whole_lines(std::size_t floats) {
  return (floats + kLineFloats - 1) / kLineFloats * kLineFloats;
}

/// `bytes` rounded up to an odd number of lines, so that the same place of many rows does not fall
/// on few sets of a cache (kernels.h).
constexpr std::size_t odd_lines(std::size_t bytes) {
  return ((bytes + kLineBytes - 1) / kLineBytes | 1) * kLineBytes;
}

/// `bytes` rounded up to a multiple of `grain`, a power of two, but not to an even number of lines.
constexpr std::size_t packed(std::size_t bytes, std::size_t grain) {
  const std::size_t up = (bytes + grain - 1) / grain * grain;
  return up > 0 && up % (2 * kLineBytes) == 0 ? up + grain : up;
}

}  // namespace leveret::table
