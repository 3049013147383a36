/// Arrays of codes of 4, 8, 12 and 16 bits (Codec::Kind::kFixed and kScaled), packed.
///
/// Plain loops, of which compilers make several numbers at once. Codes of 12 bits do not come so:
/// eight of them are shuffled in a register, where there is an instruction for that.
#pragma once

#include "kernels/lanes.h"

namespace leveret::kernels::generic {

// ---- eight codes of 12 bits ----

template <class Isa>
inline constexpr bool kShufflesBytes = kLanes<Isa> >= 8;  // not so SSE2

using Bytes16 [[gnu::vector_size(16)]] = std::uint8_t;
using Words8 [[gnu::vector_size(16)]] = std::uint16_t;  // whose products are modulo 2^16
using Signed8 [[gnu::vector_size(16)]] = std::int16_t;
using Halves2 [[gnu::vector_size(16)]] = std::uint64_t;

/// From 12 bytes.
template <class Isa>
[[gnu::always_inline]] inline void unpack_eight(const std::int8_t* bytes, std::int16_t* codes) {
  std::uint64_t first, last;
  __builtin_memcpy(&first, bytes, sizeof first);
  __builtin_memcpy(&last, bytes + 4, sizeof last);
  const Bytes16 all = reinterpret_cast<Bytes16>(Halves2{first, last});
  const auto two_each = reinterpret_cast<Words8>(
      __builtin_shufflevector(all, all, 0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 12, 13, 14, 14, 15));
  const Signed8 eight =
      reinterpret_cast<Signed8>(two_each * Words8{16, 1, 16, 1, 16, 1, 16, 1}) >> 4;
  __builtin_memcpy(codes, &eight, sizeof eight);
}

/// To 12 bytes.
template <class Isa>
[[gnu::always_inline]] inline void pack_eight(const std::int16_t* codes, std::uint8_t* bytes) {
  Words8 eight;
  __builtin_memcpy(&eight, codes, sizeof eight);
  const auto even = reinterpret_cast<Bytes16>(eight & Words8{0xfff, 0, 0xfff, 0, 0xfff, 0, 0xfff});
  const auto odd = reinterpret_cast<Bytes16>(eight * Words8{0, 16, 0, 16, 0, 16, 0, 16});
  const auto all = reinterpret_cast<Halves2>(
      __builtin_shufflevector(even, even, 0, 1, 2, 4, 5, 2, 8, 9, 2, 12, 13, 2, 2, 2, 2, 2) |
      __builtin_shufflevector(odd, odd, 0, 2, 3, 0, 6, 7, 0, 10, 11, 0, 14, 15, 0, 0, 0, 0));
  const std::uint64_t first = all[0];
  const auto last = static_cast<std::uint32_t>(all[1]);
  __builtin_memcpy(bytes, &first, sizeof first);
  __builtin_memcpy(bytes + sizeof first, &last, sizeof last);
}

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
      std::size_t i = 0, at = 0;
      if constexpr (kShufflesBytes<Isa>) {
        for (; i + 8 <= length; i += 8, at += 12) {
          std::int16_t eight[8];
          unpack_eight<Isa>(bytes + at, eight);
          for (std::size_t s = 0; s < 8; ++s) put(i + s, eight[s]);
        }
      }
      for (; i < even; i += 2, at += 3) {
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

/// Packs codes, which are within their range. An odd count leaves the other half of its last byte
/// as it is.
template <class Isa, int kBits>
[[gnu::always_inline]] inline void pack_codes(const std::int16_t* codes, std::size_t count,
                                              std::byte* to) {
  auto* const bytes = reinterpret_cast<std::uint8_t*>(to);
  const auto byte = [](unsigned bits) { return static_cast<std::uint8_t>(bits); };
  const auto other_half = [&](std::size_t at, int bits) {
    bytes[at] = byte((bytes[at] & 0xf0u) | (static_cast<unsigned>(bits) & 0xfu));
  };
  if constexpr (kBits == 16) {
    __builtin_memcpy(bytes, codes, count * sizeof *codes);
  } else if constexpr (kBits == 8) {
    for (std::size_t i = 0; i < count; ++i) bytes[i] = byte(static_cast<unsigned>(codes[i]));
  } else if constexpr (kBits == 4) {
    for (std::size_t i = 0; i < count / 2; ++i) {
      std::uint32_t two;
      __builtin_memcpy(&two, codes + 2 * i, sizeof two);
      bytes[i] = byte((two & 0xf) | (two >> 12 & 0xf0));
    }
    if (count % 2 != 0) other_half(count / 2, codes[count - 1]);
  } else {
    std::size_t i = 0, at = 0;
    if constexpr (kShufflesBytes<Isa>) {
      for (; i + 8 <= count; i += 8, at += 12) pack_eight<Isa>(codes + i, bytes + at);
    }
    for (; i < count; i += 2, at += 3) {
      bytes[at] = byte(static_cast<unsigned>(codes[i]));
      if (i + 1 == count) return other_half(at + 1, codes[i] >> 8);
      bytes[at + 1] = byte((static_cast<unsigned>(codes[i]) >> 8 & 0xf) |
                           static_cast<unsigned>(codes[i + 1]) << 4);
      bytes[at + 2] = byte(static_cast<unsigned>(codes[i + 1]) >> 4);
    }
  }
}

/// A multiple of every register, so that a number's lane does not change.
constexpr std::size_t kCodesAtOnce = 256;

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
  const auto codes_of = [&](V v) {
    v = xsimd::min(V(kEnd - 1.0f), xsimd::max(V(-kEnd), v * units));
    const Signed fine = xsimd::to_int(v * V(static_cast<float>(1u << (32 - kBits))));
    const Lanes32<Isa> added = codec.nearest ? half : noise.next();
    return (fine + bits_cast<Signed>(added >> kBits)) >> (32 - kBits);
  };
  alignas(64) std::int32_t lanes[N];
  alignas(64) std::int16_t codes[kCodesAtOnce];
  for (std::size_t begin = 0; begin < length; begin += kCodesAtOnce) {
    const std::size_t some = length - begin < kCodesAtOnce ? length - begin : kCodesAtOnce;
    const float* const from = in + begin;
    for (std::size_t i = 0; i < some; i += N) {
      const std::size_t count = some - i < N ? some - i : N;
      codes_of(count == N ? V::load_unaligned(from + i) : Isa::load_part(from + i, count))
          .store_aligned(lanes);
      for (std::size_t s = 0; s < N; ++s) codes[i + s] = static_cast<std::int16_t>(lanes[s]);
    }
    pack_codes<Isa, kBits>(codes, some, out + begin * kBits / 8);
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
