/// Arrays of codes of 4, 8, 12 and 16 bits (Codec::Kind::kFixed and kScaled), packed.
///
/// From codes: plain loops, of which compilers make several numbers at once. To codes: numbers are
/// rounded in registers, and packed one or two at a time.
#pragma once

#include "kernels/lanes.h"

namespace leveret::kernels::generic {

// ---- from codes ----

/// Calls put(i, code) for the first `length` codes.
template <class Isa, class Put>
[[gnu::always_inline]] inline void for_each_code(Codec codec, const std::byte* codes,
                                                 std::size_t length, Put&& put) {
  const auto* const bytes = reinterpret_cast<const std::int8_t*>(codes);
  const auto lower = [bytes](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  const std::size_t even = length / 2 * 2;
  switch (codec.bits) {
    case 16:
      for (std::size_t i = 0; i < length; ++i) {
        put(i, bytes[2 * i + 1] * 256 + lower(2 * i));
      }
      return;
    case 12: {
      const auto first = [&](std::size_t at) {
        return static_cast<std::int8_t>(lower(at + 1) << 4) * 16 + lower(at);
      };
      for (std::size_t i = 0, at = 0; i < even; i += 2, at += 3) {
        put(i, first(at));
        put(i + 1, bytes[at + 2] * 16 + (lower(at + 1) >> 4));
      }
      if (even < length) put(even, first(even / 2 * 3));
      return;
    }
    case 8:
      for (std::size_t i = 0; i < length; ++i) put(i, bytes[i]);
      return;
    default:
      for (std::size_t i = 0; i < even; i += 2) {
        put(i, static_cast<std::int8_t>(lower(i / 2) << 4) >> 4);
        put(i + 1, bytes[i / 2] >> 4);
      }
      if (even < length) put(even, static_cast<std::int8_t>(lower(even / 2) << 4) >> 4);
  }
}

// ---- to codes ----

/// Stores `count` codes from number `first` on, which is even. An odd count leaves the other half
/// of its last byte as it is.
template <class Isa, int kBits>
[[gnu::always_inline]] inline void pack_codes(const std::int32_t* codes, std::size_t count,
                                              std::byte* to, std::size_t first) {
  auto* const bytes = reinterpret_cast<std::uint8_t*>(to) + first * kBits / 8;
  const auto byte = [](std::uint32_t bits) { return static_cast<std::uint8_t>(bits); };
  const auto bits = [codes](std::size_t s) { return static_cast<std::uint32_t>(codes[s]); };
  if constexpr (kBits % 8 == 0) {
    for (std::size_t s = 0; s < count; ++s) {
      for (std::size_t b = 0; b < kBits / 8; ++b) {
        bytes[s * (kBits / 8) + b] = byte(bits(s) >> 8 * b);
      }
    }
  } else {
    constexpr std::uint32_t kMask = (1u << kBits) - 1;
    std::size_t s = 0, at = 0;
    for (; s + 2 <= count; s += 2) {
      const std::uint32_t two = (bits(s) & kMask) | (bits(s + 1) & kMask) << kBits;
      for (std::size_t b = 0; b < kBits / 4; ++b) bytes[at++] = byte(two >> 8 * b);
    }
    if (s < count) {
      if constexpr (kBits == 12) bytes[at++] = byte(bits(s));
      bytes[at] = byte((bytes[at] & 0xf0u) | ((bits(s) & kMask) >> (kBits - 4)));
    }
  }
}

/// Rounds numbers as round_to_code (fixed.h) does, each by the noise that noise.next() gives its
/// lane.
template <class Isa, int kBits, class Noise>
[[gnu::always_inline]] inline void encode_bits(Codec codec, const float* in, std::size_t length,
                                               Noise noise, std::byte* out) {
  using V = typename Isa::V;
  using Signed = xsimd::batch<std::int32_t, typename V::arch_type>;
  constexpr std::size_t N = kLanes<Isa>;
  constexpr float kEnd = static_cast<float>(1u << (kBits - 1));
  const V units(codec.units_in_one());
  const Lanes32<Isa> half(kNearest);
  alignas(64) std::int32_t codes[N];
  for (std::size_t i = 0; i < length; i += N) {
    const std::size_t count = length - i < N ? length - i : N;
    V v = count == N ? V::load_unaligned(in + i) : Isa::load_part(in + i, count);
    v = xsimd::min(V(kEnd - 1.0f), xsimd::max(V(-kEnd), v * units));
    const Signed fine = xsimd::to_int(v * V(static_cast<float>(1u << (32 - kBits))));
    const Lanes32<Isa> added = codec.nearest ? half : noise.next();
    ((fine + bits_cast<Signed>(added >> kBits)) >> (32 - kBits)).store_aligned(codes);
    pack_codes<Isa, kBits>(codes, count, out, i);
  }
}

template <class Isa, class Noise>
[[gnu::always_inline]] inline void encode_codes(Codec codec, const float* in, std::size_t length,
                                                Noise noise, std::byte* out) {
  switch (codec.bits) {
    case 16:
      return encode_bits<Isa, 16>(codec, in, length, noise, out);
    case 12:
      return encode_bits<Isa, 12>(codec, in, length, noise, out);
    case 8:
      return encode_bits<Isa, 8>(codec, in, length, noise, out);
    default:
      return encode_bits<Isa, 4>(codec, in, length, noise, out);
  }
}

}  // namespace leveret::kernels::generic
