#include "text/delimiters.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace leveret::text {
namespace {

// The compilers' portable vectors: SSE2 and NEON both compare 16 bytes at a time.
using Bytes16 = unsigned char __attribute__((vector_size(16)));

/// One bit per byte of `word`, whose bytes are 0 or 0xff.
std::uint64_t byte_mask(std::uint64_t word) {
  return ((word & 0x8040201008040201) * 0x0101010101010101) >> 56;
}

std::uint64_t delimiter_bits(const char* block) {
  std::uint64_t bits = 0;
  for (int i = 0; i < 4; ++i) {
    Bytes16 b;
    std::memcpy(&b, block + 16 * i, sizeof b);
    const auto found = (b == ' ') | (b == '\t') | (b == '\n') | (b == '|') | (b == ':');
    std::uint64_t halves[2];
    std::memcpy(halves, &found, sizeof halves);
    bits |= (byte_mask(halves[0]) | byte_mask(halves[1]) << 8) << (16 * i);
  }
  return bits;
}

constexpr std::uint32_t kBlock = 64;

/// Writes the positions of `bits` to `out`, and up to 15 meaningless ones behind them: fixed runs
/// of stores leave the branch predictor less to guess than a loop over the bits.
std::uint32_t* write_positions(std::uint64_t bits, std::uint32_t base, std::uint32_t* out) {
  const int count = std::popcount(bits);
  for (int done = 0; done < count; done += 16) {
    for (int i = 0; i < 16; ++i) {
      const std::uint64_t never_zero = bits | (std::uint64_t{1} << 63);
      out[done + i] = base + static_cast<std::uint32_t>(std::countr_zero(never_zero));
      bits &= bits - 1;
    }
  }
  return out + count;
}

}  // namespace

void DelimiterCursor::start(std::string_view text) {
  text_ = text.data();
  size_ = static_cast<std::uint32_t>(text.size());
  indexed_ = 0;
  refill();
}

void DelimiterCursor::index(std::uint32_t size) {
  const char* window = text_ + indexed_;
  std::uint32_t* out = positions_.data();
  std::uint32_t at = 0;
  for (; size - at >= kBlock; at += kBlock) {
    out = write_positions(delimiter_bits(window + at), indexed_ + at, out);
  }
  if (at < size) {
    char block[kBlock] = {};
    std::memcpy(block, window + at, size - at);
    out = write_positions(delimiter_bits(block), indexed_ + at, out);
  }
  indexed_ += size;
  end_ = static_cast<std::uint32_t>(out - positions_.data());
}

void DelimiterCursor::refill() {
  next_ = end_ = 0;
  while (end_ == 0 && indexed_ < size_) index(std::min(size_ - indexed_, kWindow));
  if (end_ == 0) positions_[end_++] = size_;
}

}  // namespace leveret::text
