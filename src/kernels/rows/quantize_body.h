/// Arrays of an export: from floats to codes, and codes of few bits back.
///
/// Plain loops, of which compilers make several numbers at once: an `Isa` only says for which
/// instruction set.
#pragma once

#include <bit>

#include "kernels/rows/codes_body.h"

namespace leveret::kernels::generic {

/// By the order of their bits, which is that of magnitudes, with all that is not finite above.
template <class Isa>
float largest(const float* x, std::size_t length) {
  std::int32_t best = 0;
  for (std::size_t i = 0; i < length; ++i) {
    const std::int32_t bits = std::bit_cast<std::int32_t>(x[i]) & 0x7fffffff;
    best = best < bits ? bits : best;
  }
  return std::bit_cast<float>(best);
}

template <class Isa>
void quantize(const float* x, std::size_t length, float codes_in_one, int largest_code,
              std::int16_t* codes) {
  // Beside it floats are integers, so that adding it rounds.
  constexpr float kInteger = 0x1.8p23f;
  const auto end = static_cast<float>(largest_code);
  for (std::size_t i = 0; i < length; ++i) {
    float code = x[i] * codes_in_one;
    code = code < end ? code : end;
    code = code > -end ? code : -end;
    code = (code + kInteger) - kInteger;
    codes[i] = static_cast<std::int16_t>(static_cast<std::int32_t>(code));
  }
}

/// The scale of a kScaled array. (A function of this instruction set: what another file may share
/// must not be made here.)
template <class Isa>
[[gnu::always_inline]] inline float scale_of(const std::byte* array) {
  float scale;
  __builtin_memcpy(&scale, array, sizeof scale);
  return scale;
}

template <class Isa>
void widen_4_bits(const std::byte* array, std::size_t length, Fixed16* codes) {
  const auto* const bytes = reinterpret_cast<const std::int8_t*>(array);
  const auto lower = [](std::int8_t both) {
    return static_cast<std::int8_t>(static_cast<std::uint8_t>(both) << 4) >> 4;
  };
  for (std::size_t i = 0; i < length / 2; ++i) {
    const std::uint32_t two = (static_cast<std::uint32_t>(lower(bytes[i])) & 0xffff) |
                              static_cast<std::uint32_t>(bytes[i] >> 4) << 16;
    __builtin_memcpy(codes + 2 * i, &two, sizeof two);
  }
  if (length % 2 != 0) codes[length - 1].code = lower(bytes[length / 2]);
}

template <class Isa>
float widen(Codec codec, const std::byte* array, std::size_t length, Fixed16* codes) {
  const std::size_t begin = codec.is_scaled() ? Codec::kScaleBytes : 0;
  if (codec.bits == 4) {
    widen_4_bits<Isa>(array + begin, length, codes);
  } else {
    for_each_code<Isa>(codec, array + begin, length, [codes](std::size_t i, int code) {
      codes[i].code = static_cast<std::int16_t>(code);
    });
  }
  return codec.is_scaled() ? scale_of<Isa>(array) : 1.0f;
}

template <class Isa, int kBits>
[[gnu::always_inline]] inline void narrow_to(const Fixed16* codes, std::size_t length,
                                             std::byte* array) {
  constexpr std::int16_t kEnd = (1 << (kBits - 1)) - 1;
  alignas(64) std::int16_t within[kCodesAtOnce];
  for (std::size_t begin = 0; begin < length; begin += kCodesAtOnce) {
    const std::size_t some = length - begin < kCodesAtOnce ? length - begin : kCodesAtOnce;
    for (std::size_t i = 0; i < some; ++i) {
      const std::int16_t code = codes[begin + i].code < kEnd ? codes[begin + i].code : kEnd;
      within[i] = code > -kEnd - 1 ? code : -kEnd - 1;
    }
    pack_codes<Isa, kBits>(within, some, array + begin * kBits / 8);
  }
}

template <class Isa>
void narrow(Codec codec, const Fixed16* codes, std::size_t length, std::byte* array) {
  switch (codec.bits) {
    case 12:
      return narrow_to<Isa, 12>(codes, length, array);
    case 8:
      return narrow_to<Isa, 8>(codes, length, array);
    default:
      return narrow_to<Isa, 4>(codes, length, array);
  }
}

/// decode of a kScaled array.
template <class Isa>
void decode_scaled(Codec codec, const std::byte* array, std::size_t length, float* out) {
  const float scale = scale_of<Isa>(array);
  for_each_code<Isa>(codec, array + Codec::kScaleBytes, length,
                     [=](std::size_t i, int code) { out[i] = scale * static_cast<float>(code); });
}

}  // namespace leveret::kernels::generic
