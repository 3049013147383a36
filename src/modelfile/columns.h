/// Arrays that lie apart in memory and in one piece in a file: a column of rows, numbers of cells.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "store/section.h"

namespace leveret::modelfile {

using Shape = std::vector<std::uint64_t>;

/// Pieces of equal length one after the other, as a stream of bytes that may be cut anywhere.
/// `next()` gives the address of the next piece, which is read before it is called again.
template <class Next>
class Pieces {
 public:
  Pieces(std::size_t piece_bytes, Next next) : piece_(piece_bytes), next_(std::move(next)) {}

  void read(std::span<std::byte> part) {
    if (piece_ == sizeof(float) && left_ == 0) part = read_numbers(part);
    while (!part.empty()) {
      if (left_ == 0) {
        at_ = next_();
        left_ = piece_;
      }
      const std::size_t count = std::min(left_, part.size());
      std::memcpy(part.data(), at_, count);
      part = part.subspan(count);
      at_ += count;
      left_ -= count;
    }
  }

 private:
  /// As most columns are: copies whose length the compiler knows. Returns what is left.
  std::span<std::byte> read_numbers(std::span<std::byte> part) {
    std::byte* to = part.data();
    for (std::size_t i = part.size() / sizeof(float); i > 0; --i, to += sizeof(float)) {
      std::memcpy(to, next_(), sizeof(float));
    }
    return part.last(part.size() % sizeof(float));
  }

  std::size_t piece_, left_ = 0;
  const std::byte* at_ = nullptr;
  Next next_;
};

/// A section whose bytes are made piece by piece: open() gives the `next` of its Pieces.
template <class Open>
store::SectionView section_of_pieces(std::string name, store::Dtype dtype, Shape shape,
                                     store::Declaration declared, std::size_t piece_bytes,
                                     Open open) {
  const auto bytes = store::array_bytes(dtype, shape).value_or(0);
  const auto reader = [piece_bytes, open]() -> store::SectionReader {
    auto stream = std::make_shared<Pieces<decltype(open())>>(piece_bytes, open());
    return [stream](std::span<std::byte> part) { stream->read(part); };
  };
  return {std::move(name), dtype, std::move(shape), declared, nullptr, bytes, reader};
}

}  // namespace leveret::modelfile
