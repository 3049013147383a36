/// Kernels of the text for instruction sets without a way of their own: 64 bytes at a time, of which
/// Isa::delimiter_bits(p) says with one bit each which are delimiters.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/instruction_set.h"
#include "kernels/kernels.h"
#include "kernels/text/short_hash.h"

namespace leveret::kernels::generic {

/// std::popcount is a call into the compiler's library where there is no instruction for it.
template <class Isa>
inline std::uint32_t count_bits(std::uint64_t bits) {
  bits -= (bits >> 1) & 0x5555555555555555;
  bits = (bits & 0x3333333333333333) + ((bits >> 2) & 0x3333333333333333);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return static_cast<std::uint32_t>((bits * 0x0101010101010101) >> 56);
}

/// Writes the positions of the lowest kSlots of `bits`, which are cleared; meaningless ones if
/// there are fewer. A fixed run of stores leaves the branch predictor nothing to guess.
template <class Isa, int kSlots>
inline void write_slots(std::uint64_t& bits, std::uint32_t base, std::uint32_t* out) {
  for (int i = 0; i < kSlots; ++i) {
    const std::uint64_t never_zero = bits | (std::uint64_t{1} << 63);
    out[i] = base + static_cast<std::uint32_t>(std::countr_zero(never_zero));
    bits &= bits - 1;
  }
}

/// Writes the positions of `bits` and up to 15 meaningless ones behind them.
template <class Isa>
inline std::uint32_t* write_positions(std::uint64_t bits, std::uint32_t base, std::uint32_t* out) {
  std::uint32_t* const end = out + count_bits<Isa>(bits);
  write_slots<Isa, 16>(bits, base, out);
  for (out += 16; out < end; out += 8) write_slots<Isa, 8>(bits, base, out);
  return end;
}

template <class Isa>
std::uint32_t* delimiters(const char* text, std::size_t size, std::uint32_t base,
                          std::uint32_t* out) {
  constexpr std::size_t kBlock = 64;
  std::size_t at = 0;
  for (; size - at >= kBlock; at += kBlock) {
    out = write_positions<Isa>(Isa::delimiter_bits(text + at),
                               base + static_cast<std::uint32_t>(at), out);
  }
  if (at < size) {
    char block[kBlock] = {};
    __builtin_memcpy(block, text + at, size - at);
    out = write_positions<Isa>(Isa::delimiter_bits(block), base + static_cast<std::uint32_t>(at),
                               out);
  }
  return out;
}

/// Goes on behind the `names` namespaces that are found already.
template <class Isa>
std::size_t more_usual_namespaces(const char* text, std::uint32_t size,
                                  const std::uint32_t* delimiters, std::size_t count,
                                  std::size_t names, std::uint64_t* out_names,
                                  std::uint64_t* features, std::uint32_t* lengths) {
  if (size < 8) return names;
  const std::uint32_t last_word = size - 8;
  bool last = false;
  for (const std::uint32_t* at = delimiters; !last && names < TextKernels::kNames && 3 <= count;
       at += 3, count -= 3, ++names) {
    const std::uint32_t bar = at[0], blank = at[1], end = at[2];
    const std::uint32_t name_length = blank - bar - 1, length = end - blank - 1;
    if (name_length - 1 > 6 || length - 1 > 7 || blank + 1 > last_word) break;
    if (text[bar] != '|' || text[blank] != ' ') break;
    last = text[end] == '\n';
    if (!last && !(count > 3 && at[3] == end + 1 && text[end] == ' ' && text[end + 1] == '|')) {
      break;
    }
    const std::uint64_t feature = load_le64(text + blank + 1);
    if (blank_ends_short(feature & kLowBytes[length], length)) break;
    const std::uint64_t name = load_le64(text + bar + 1) & kLowBytes[name_length];
    out_names[names] = name | std::uint64_t{name_length} << 56;
    features[names] = feature;
    lengths[names] = length;
  }
  return names;
}

template <class Isa>
std::size_t usual_namespaces(const char* text, std::uint32_t size, const std::uint32_t* delimiters,
                             std::size_t count, std::uint64_t* names, std::uint64_t* features,
                             std::uint32_t* lengths) {
  return more_usual_namespaces<Isa>(text, size, delimiters, count, 0, names, features, lengths);
}

template <class Isa>
void hash_features(const std::uint64_t* features, const std::uint32_t* lengths,
                   const std::uint32_t* seeds, std::size_t count, bool numbers, Feature* out) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t word = features[i] & kLowBytes[lengths[i]];
    out[i] = {hash_short(word, lengths[i], seeds[i], numbers), 1.0f};
  }
}

/// Which of 64 bytes are delimiters, by the compilers' portable vectors: SSE2 and NEON both compare
/// 16 bytes at a time.
template <class Isa>
inline std::uint64_t delimiter_bits_16(const char* block) {
  using Bytes16 = unsigned char __attribute__((vector_size(16)));
  std::uint64_t bits = 0;
  for (int i = 0; i < 4; ++i) {
    Bytes16 b;
    __builtin_memcpy(&b, block + 16 * i, sizeof b);
    const auto found = (b == ' ') | (b == '\t') | (b == '\n') | (b == '|') | (b == ':');
    std::uint64_t halves[2];
    __builtin_memcpy(halves, &found, sizeof halves);
    for (std::uint64_t& half : halves) {
      // One bit per byte, which is 0 or 0xff.
      half = ((half & 0x8040201008040201) * 0x0101010101010101) >> 56;
    }
    bits |= (halves[0] | halves[1] << 8) << (16 * i);
  }
  return bits;
}

template <FindsDelimiters Isa>
constexpr TextKernels kTextKernels = {.delimiters = delimiters<Isa>,
                                      .usual_namespaces = usual_namespaces<Isa>,
                                      .hash_features = hash_features<Isa>};

}  // namespace leveret::kernels::generic
