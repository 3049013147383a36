/// Codes as planes of their bytes, which general compressors like better than whole codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "store/section.h"

namespace leveret::patch {

/// Differences of the codes of a piece, byte by byte of each code: the lowest bytes of all, then
/// the next ones.
template <class T>
void split_planes(std::span<const std::byte> predicted, std::span<const std::byte> rows,
                  std::byte* to) {
  const std::size_t codes = rows.size() / sizeof(T);
  for (std::size_t i = 0; i < codes; ++i) {
    T was, is;
    std::memcpy(&was, predicted.data() + i * sizeof(T), sizeof(T));
    std::memcpy(&is, rows.data() + i * sizeof(T), sizeof(T));
    const T delta = static_cast<T>(is - was);
    for (std::size_t b = 0; b < sizeof(T); ++b) {
      to[b * codes + i] = static_cast<std::byte>(delta >> (8 * b));
    }
  }
}

template <class T>
void join_planes(const std::byte* planes, std::span<std::byte> rows) {
  const std::size_t codes = rows.size() / sizeof(T);
  for (std::size_t i = 0; i < codes; ++i) {
    T code;
    std::memcpy(&code, rows.data() + i * sizeof(T), sizeof(T));
    for (std::size_t b = 0; b < sizeof(T); ++b) {
      code = static_cast<T>(code + (std::to_integer<T>(planes[b * codes + i]) << (8 * b)));
    }
    std::memcpy(rows.data() + i * sizeof(T), &code, sizeof(T));
  }
}

/// Calls run with a number of the width of the type's codes.
template <class Run>
void with_width(store::Dtype dtype, Run&& run) {
  const std::uint64_t bits = store::dtype_bits(dtype);
  if (bits <= 8 || bits == 12) return run(std::uint8_t{});  // pairs of codes as bytes
  if (bits == 16) return run(std::uint16_t{});
  run(std::uint32_t{});
}

}  // namespace leveret::patch
