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

/// std::popcount is a call into the compiler's library where the baseline has no instruction.
std::uint32_t count_bits(std::uint64_t bits) {
  bits -= (bits >> 1) & 0x5555555555555555;
  bits = (bits & 0x3333333333333333) + ((bits >> 2) & 0x3333333333333333);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return static_cast<std::uint32_t>((bits * 0x0101010101010101) >> 56);
}

/// Writes the positions of the lowest kSlots of `bits`, which are cleared; meaningless ones if
/// there are fewer. A fixed run of stores leaves the branch predictor nothing to guess.
template <int kSlots>
void write_slots(std::uint64_t& bits, std::uint32_t base, std::uint32_t* out) {
  for (int i = 0; i < kSlots; ++i) {
    const std::uint64_t never_zero = bits | (std::uint64_t{1} << 63);
    out[i] = base + static_cast<std::uint32_t>(std::countr_zero(never_zero));
    bits &= bits - 1;
  }
}

/// Writes the positions of `bits` and up to 15 meaningless ones behind them.
std::uint32_t* write_positions(std::uint64_t bits, std::uint32_t base, std::uint32_t* out) {
  std::uint32_t* const end = out + count_bits(bits);
  write_slots<16>(bits, base, out);
  for (out += 16; out < end; out += 8) write_slots<8>(bits, base, out);
  return end;
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
