/// Where the bytes stand that the grammar knows: space, tab, newline, `|` and `:`. A kernel puts the
/// positions into a flat list, so that the parser steps from delimiter to delimiter and never over
/// single bytes. Private to src/text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/text/text_kernels.h"

namespace leveret::text {

/// A cursor over the delimiters of a text of less than 4 GiB, which must outlive it. Behind the
/// last delimiter it stands at the text's size, for any number of steps.
class DelimiterCursor {
 public:
  /// Text that is indexed at a time: its list fits the L1 cache.
  static constexpr std::uint32_t kWindow = 4096;

  explicit DelimiterCursor(const kernels::TextKernels& kernels) : kernels_(kernels) {}

  void start(std::string_view text);

  std::uint32_t position() const { return positions_[next_]; }

  void advance() {
    if (++next_ == end_) refill();
  }

  /// The positions from the current one on that are at hand, at least one.
  std::span<const std::uint32_t> ahead() const { return {&positions_[next_], end_ - next_}; }
  /// Steps over `count` of them, which must leave one.
  void skip(std::size_t count) { next_ += static_cast<std::uint32_t>(count); }

 private:
  void refill();

  const kernels::TextKernels& kernels_;
  const char* text_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t indexed_ = 0;  ///< the text before has its positions in the list
  std::uint32_t next_ = 0, end_ = 0;
  // Room for a window of nothing but delimiters.
  std::array<std::uint32_t, kWindow + kernels::TextKernels::kSpare> positions_;
};

}  // namespace leveret::text
