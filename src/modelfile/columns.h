/// Arrays that lie apart in memory and in one piece in a file: a column of rows, cells of slots.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <utility>

#include "store/section.h"

namespace leveret::modelfile {

/// Pieces of equal length one after the other, as a stream of bytes that may be cut anywhere.
/// `at(i)` gives the address of piece i.
template <class At>
class Pieces {
 public:
  Pieces(std::size_t piece_bytes, At at) : piece_(piece_bytes), at_(std::move(at)) {}

  /// Calls copy(piece's bytes, bytes of `part`) for all of the next part of the stream.
  template <class Byte, class Copy>
  void next(std::span<Byte> part, Copy copy) {
    while (!part.empty()) {
      const std::size_t count = std::min(piece_ - offset_, part.size());
      copy(at_(i_) + offset_, part.data(), count);
      part = part.subspan(count);
      offset_ += count;
      if (offset_ == piece_) {
        offset_ = 0;
        ++i_;
      }
    }
  }
  void read(std::span<std::byte> part) {
    next(part, [](const std::byte* piece, std::byte* to, std::size_t count) {
      std::memcpy(to, piece, count);
    });
  }
  void write(std::span<const std::byte> part) {
    next(part, [](std::byte* piece, const std::byte* from, std::size_t count) {
      std::memcpy(piece, from, count);
    });
  }

 private:
  std::size_t piece_, offset_ = 0;
  std::uint64_t i_ = 0;
  At at_;
};

}  // namespace leveret::modelfile
