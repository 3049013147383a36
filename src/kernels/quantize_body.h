/// Arrays of an export: from floats to codes, and codes of 8 and 4 bits back.
///
/// Plain loops, of which compilers make several numbers at once: an `Isa` only says for which
/// instruction set.
#pragma once

#include <bit>

#include "kernels/kernels.h"

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

/// Calls put(i, code) for the first `length` codes.
template <class Isa, class Put>
[[gnu::always_inline]] inline void for_each_code(Codec codec, const std::byte* codes,
                                                 std::size_t length, Put&& put) {
  const auto* const bytes = reinterpret_cast<const std::int8_t*>(codes);
  if (codec.bits == 8) {
    for (std::size_t i = 0; i < length; ++i) put(i, bytes[i]);
    return;
  }
  for (std::size_t i = 0; i < length / 2; ++i) {
    put(2 * i, static_cast<std::int8_t>(static_cast<std::uint8_t>(bytes[i]) << 4) >> 4);
    put(2 * i + 1, bytes[i] >> 4);
  }
  if (length % 2 != 0) {
    const auto last = static_cast<std::uint8_t>(bytes[length / 2]);
    put(length - 1, static_cast<std::int8_t>(last << 4) >> 4);
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
float widen(Codec codec, const std::byte* array, std::size_t length, Fixed16* codes) {
  for_each_code<Isa>(codec, array + Codec::kScaleBytes, length, [codes](std::size_t i, int code) {
    codes[i].code = static_cast<std::int16_t>(code);
  });
  return scale_of<Isa>(array);
}

/// decode of a kScaled array.
template <class Isa>
void decode_scaled(Codec codec, const std::byte* array, std::size_t length, float* out) {
  const float scale = scale_of<Isa>(array);
  for_each_code<Isa>(codec, array + Codec::kScaleBytes, length,
                     [=](std::size_t i, int code) { out[i] = scale * static_cast<float>(code); });
}

}  // namespace leveret::kernels::generic
