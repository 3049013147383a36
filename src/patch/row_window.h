/// Rows of a file, for who asks for them in ascending order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace leveret::patch {

/// Reads bytes of a file at an offset, all of them, or throws std::runtime_error. Any thread.
using ReadAt = std::function<void(std::uint64_t offset, std::span<std::byte> to)>;

/// Reads old rows that are asked for in ascending order: ahead, as far as that has been of use.
class RowWindow {
 public:
  /// `rows` rows of `row_bytes` bytes lie at `offset`. `read` outlives it.
  RowWindow(const ReadAt& read, std::uint64_t offset, std::uint64_t rows, std::uint64_t row_bytes)
      : read_(read), offset_(offset), row_bytes_(row_bytes), rows_(rows), ahead_(rows_in(kNear)) {}

  /// Good until the next call. They must be there.
  const std::byte* rows(std::uint64_t first, std::uint64_t count) {
    if (first < first_ || first + count > first_ + count_) fill(first, count);
    return memory_.data() + (first - first_) * row_bytes_;
  }

 private:
  static constexpr std::uint64_t kNear = 4096, kFar = std::uint64_t{256} << 10;

  std::uint64_t rows_in(std::uint64_t bytes) const {
    return std::max<std::uint64_t>(1, bytes / row_bytes_);
  }

  void fill(std::uint64_t first, std::uint64_t count) {
    const bool goes_on = first >= first_ && first <= first_ + count_ + ahead_;
    ahead_ = goes_on ? std::min(4 * ahead_, rows_in(kFar)) : rows_in(kNear);
    first_ = first;
    count_ = std::min(std::max(count, ahead_), rows_ - first);
    memory_.resize(count_ * row_bytes_);
    read_(offset_ + first * row_bytes_, memory_);
  }

  const ReadAt& read_;
  std::uint64_t offset_, row_bytes_, rows_, ahead_;
  std::uint64_t first_ = 0, count_ = 0;
  std::vector<std::byte> memory_;
};

}  // namespace leveret::patch
