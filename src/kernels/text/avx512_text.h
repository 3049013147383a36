/// Kernels of the text for AVX-512: positions by compression, and sixteen names at a time. Part of
/// avx512.cc.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/text/short_hash.h"
#include "kernels/text/text_body.h"

namespace leveret::kernels {
namespace {

/// Bit i: whether byte i is a delimiter. Their low four bits tell all but ':' and '\n' apart, so
/// one look-up names the only delimiter that a byte can be.
inline __mmask64 delimiter_mask(__m512i bytes) {
  const __m512i candidates = _mm512_broadcast_i32x4(
      _mm_setr_epi8(' ', -1, -1, -1, -1, -1, -1, -1, -1, '\t', '\n', -1, '|', -1, -1, -1));
  return _mm512_cmpeq_epi8_mask(bytes, _mm512_shuffle_epi8(candidates, bytes)) |
         _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(':'));
}

std::uint32_t* delimiters_512(const char* text, std::size_t size, std::uint32_t base,
                              std::uint32_t* out) {
  const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m512i place = _mm512_add_epi32(first, _mm512_set1_epi32(static_cast<int>(base)));
  for (std::size_t at = 0; at < size; at += 64) {
    const std::size_t left = size - at;
    const __mmask64 there = left >= 64 ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
    // Bytes beyond the end are read as zero: no delimiters.
    std::uint64_t bits = delimiter_mask(_mm512_maskz_loadu_epi8(there, text + at));
    for (int quarter = 0; quarter < 4; ++quarter, bits >>= 16) {
      _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(static_cast<__mmask16>(bits), place));
      out += std::popcount(bits & 0xffff);
      place = _mm512_add_epi32(place, _mm512_set1_epi32(16));
    }
  }
  return out;
}

/// Sixteen names of up to 8 bytes: those of lanes 0 to 7, then 8 to 15.
struct Words {
  __m512i low, high;
};

/// The lower or the upper halves of the words, in lanes of 32 bits.
inline __m512i halves(Words words, int upper) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  return _mm512_permutex2var_epi32(words.low, _mm512_add_epi32(even, _mm512_set1_epi32(upper)),
                                   words.high);
}

inline __m512i murmur_mix(__m512i k) {
  k = _mm512_mullo_epi32(k, _mm512_set1_epi32(static_cast<int>(0xcc9e2d51u)));
  return _mm512_mullo_epi32(_mm512_rol_epi32(k, 15), _mm512_set1_epi32(0x1b873593));
}

inline __m512i murmur_step(__m512i h) {
  h = _mm512_rol_epi32(h, 13);
  return _mm512_add_epi32(_mm512_add_epi32(_mm512_slli_epi32(h, 2), h),
                          _mm512_set1_epi32(static_cast<int>(0xe6546b64u)));
}

/// murmur3_short of sixteen names.
inline __m512i murmur3_short(Words words, __m512i length, __m512i seed) {
  const __m512i below4 = _mm512_xor_si512(seed, murmur_mix(halves(words, 0)));
  const __m512i below8 = _mm512_xor_si512(murmur_step(below4), murmur_mix(halves(words, 1)));
  const __mmask16 short_one = _mm512_cmplt_epi32_mask(length, _mm512_set1_epi32(4));
  const __mmask16 whole = _mm512_cmpeq_epi32_mask(length, _mm512_set1_epi32(8));
  __m512i h = _mm512_mask_blend_epi32(short_one, below8, below4);
  h = _mm512_xor_si512(_mm512_mask_mov_epi32(h, whole, murmur_step(below8)), length);
  h = _mm512_xor_si512(h, _mm512_srli_epi32(h, 16));
  h = _mm512_mullo_epi32(h, _mm512_set1_epi32(static_cast<int>(0x85ebca6bu)));
  h = _mm512_xor_si512(h, _mm512_srli_epi32(h, 13));
  h = _mm512_mullo_epi32(h, _mm512_set1_epi32(static_cast<int>(0xc2b2ae35u)));
  return _mm512_xor_si512(h, _mm512_srli_epi32(h, 16));
}

/// Numbers that are worked out for eight names in lanes of 64 bits.
struct EightNames {
  __m512i word;  ///< bytes behind the name are zero
  __mmask8 digits;
  __m512i unused;  ///< bits of the word that are not the name's: 64 - 8 * length

  /// `words` begin with the names.
  EightNames(const std::uint64_t* words, __m256i length) {
    unused = _mm512_sub_epi64(_mm512_set1_epi64(64),
                              _mm512_slli_epi64(_mm512_cvtepu32_epi64(length), 3));
    const __m512i mask = _mm512_srlv_epi64(_mm512_set1_epi64(-1), unused);
    word = _mm512_and_si512(_mm512_loadu_si512(words), mask);
    // all_digits_short.
    const __m512i high = _mm512_set1_epi64(static_cast<long long>(0xf0f0f0f0f0f0f0f0));
    const __m512i zeros = _mm512_set1_epi64(static_cast<long long>(kAsciiZeros));
    const __m512i filled = _mm512_or_si512(word, _mm512_andnot_si512(mask, zeros));
    const __m512i above9 =
        _mm512_and_si512(_mm512_add_epi64(filled, _mm512_set1_epi64(0x0606060606060606)), high);
    digits = _mm512_cmpeq_epi64_mask(
        _mm512_or_si512(_mm512_and_si512(filled, high), _mm512_srli_epi64(above9, 4)),
        _mm512_set1_epi64(0x3333333333333333));
  }

  /// digits_value_short, in the upper half of each lane.
  __m512i digits_value() const {
    const __m512i values = _mm512_and_si512(word, _mm512_set1_epi64(0x0f0f0f0f0f0f0f0f));
    __m512i v = _mm512_sllv_epi64(values, unused);
    const __m512i times10 = _mm512_add_epi64(_mm512_slli_epi64(v, 3), _mm512_slli_epi64(v, 1));
    v = _mm512_add_epi64(times10, _mm512_srli_epi64(v, 8));
    const __m512i pairs = _mm512_set1_epi64(0x000000ff000000ff);
    const __m512i odd = _mm512_and_si512(v, pairs);
    const __m512i even = _mm512_and_si512(_mm512_srli_epi64(v, 16), pairs);
    return _mm512_add_epi64(_mm512_mullo_epi64(odd, _mm512_set1_epi64(0x000f424000000064)),
                            _mm512_mullo_epi64(even, _mm512_set1_epi64(0x0000271000000001)));
  }
};

/// Elements offset, offset + 3, … of 48.
inline __m512i every_third(__m512i a, __m512i b, __m512i c, int offset) {
  const __m512i step =
      _mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45);
  const __m512i index = _mm512_add_epi32(step, _mm512_set1_epi32(offset));
  const __mmask16 in_c = _mm512_cmpge_epi32_mask(index, _mm512_set1_epi32(32));
  // Five bits of an index count here, and four there.
  return _mm512_mask_permutexvar_epi32(_mm512_permutex2var_epi32(a, index, b), in_c, index, c);
}

/// The eight bytes of the text from each of eight places on. Into registers at once: a load of what
/// was stored piece by piece would wait for the last store.
inline __m512i eight_words(const char* text, const std::uint32_t* at) {
  const auto two = [&](int i) {
    const auto word = [&](int w) {
      return _mm_loadl_epi64(reinterpret_cast<const __m128i_u*>(text + at[w]));
    };
    return _mm_unpacklo_epi64(word(i), word(i + 1));
  };
  const __m256i low = _mm256_set_m128i(two(2), two(0)), high = _mm256_set_m128i(two(6), two(4));
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/// Four bytes of the text, two of them before each of four places, which are apart by three.
inline __m128i four_tails(const char* text, const std::uint32_t* at) {
  const auto tail = [&](int i) {
    return _mm_cvtsi32_si128(static_cast<int>(load_le32(text + at[3 * i] - 2)));
  };
  return _mm_unpacklo_epi64(_mm_unpacklo_epi32(tail(0), tail(1)),
                            _mm_unpacklo_epi32(tail(2), tail(3)));
}

/// The ends of sixteen namespaces, whose last delimiters are at `end`: the last two bytes of the
/// feature, the delimiter and the byte behind it.
inline __m512i sixteen_tails(const char* text, const std::uint32_t* end) {
  const auto eight = [&](int i) {
    return _mm256_set_m128i(four_tails(text, end + 3 * i + 12), four_tails(text, end + 3 * i));
  };
  return _mm512_inserti64x4(_mm512_castsi256_si512(eight(0)), eight(8), 1);
}

/// Byte i of each tail.
inline __m512i byte_of(__m512i tails, int i) {
  return _mm512_and_si512(tails, _mm512_set1_epi32(0xff << 8 * i));
}

/// For eight namespaces, whose bytes from the name on are `words`: cuts off what is not the name,
/// puts its length into the upper byte, and says which have a space behind it.
inline __mmask8 cut_names(__m512i words, __m256i length, std::uint64_t* name) {
  const __m512i bytes = _mm512_cvtepu32_epi64(length);
  const __m512i bits = _mm512_slli_epi64(bytes, 3);
  const __m512i behind = _mm512_and_si512(_mm512_srlv_epi64(words, bits), _mm512_set1_epi64(0xff));
  const __m512i others = _mm512_sllv_epi64(_mm512_set1_epi64(-1), bits);
  _mm512_storeu_si512(name, _mm512_or_si512(_mm512_andnot_si512(others, words),
                                            _mm512_slli_epi64(bytes, 56)));
  return _mm512_cmpeq_epi64_mask(behind, _mm512_set1_epi64(' '));
}

/// Copies eight features' words from `at` on. Which do not begin with a blank byte.
inline __mmask8 copy_features(const char* text, const std::uint32_t* at, std::uint64_t* feature) {
  const __m512i words = eight_words(text, at);
  _mm512_storeu_si512(feature, words);
  return _mm512_cmpgt_epu64_mask(_mm512_and_si512(words, _mm512_set1_epi64(0xff)),
                                 _mm512_set1_epi64(0x20));
}

/// How many of sixteen namespaces, whose 49 delimiters are `at`, have the shape, up to the first
/// that has not, or to the end of the line. It reads single words, which is faster than gathering
/// them.
std::size_t sixteen_namespaces(const char* text, std::uint32_t size, const std::uint32_t* at,
                               std::uint64_t* name, std::uint64_t* feature,
                               std::uint32_t* lengths) {
  const __m512i a = _mm512_loadu_si512(at), b = _mm512_loadu_si512(at + 16);
  const __m512i c = _mm512_loadu_si512(at + 32);
  const __m512i bar = every_third(a, b, c, 0), end = every_third(a, b, c, 2);
  const auto add = [](__m512i x, int n) { return _mm512_add_epi32(x, _mm512_set1_epi32(n)); };
  const __m512i begin = add(every_third(a, b, c, 1), 1);
  // A place too near the end of the text gets another's bytes. It does not count in the end.
  const __m512i last_word = _mm512_set1_epi32(static_cast<int>(size - 8));
  alignas(64) std::uint32_t from[16], features_from[16];
  _mm512_store_si512(from, _mm512_min_epu32(add(bar, 1), last_word));
  _mm512_store_si512(features_from, _mm512_min_epu32(begin, last_word));

  const __m512i length = _mm512_sub_epi32(end, begin);
  const __m512i name_length = add(_mm512_sub_epi32(begin, bar), -2);
  const __m512i next_bar =
      _mm512_alignr_epi32(_mm512_set1_epi32(static_cast<int>(at[48])), bar, 1);
  // Another delimiter lies behind each, so there is a byte to be read.
  const __m512i tails = sixteen_tails(text, at + 2);
  const __mmask16 last =
      _mm512_cmpeq_epi32_mask(byte_of(tails, 2), _mm512_set1_epi32('\n' << 16));
  __mmask16 ok = _mm512_cmpeq_epi32_mask(next_bar, add(end, 1));
  ok = _mm512_mask_cmpeq_epi32_mask(ok, _mm512_srli_epi32(tails, 16),
                                    _mm512_set1_epi32(' ' | '|' << 8));
  ok = _mm512_mask_cmpgt_epu32_mask(ok | last, byte_of(tails, 1), _mm512_set1_epi32(0x20 << 8));
  ok = _mm512_mask_cmple_epu32_mask(ok, add(length, -1), _mm512_set1_epi32(7));
  ok = _mm512_mask_cmple_epu32_mask(ok, add(name_length, -1), _mm512_set1_epi32(6));
  ok = _mm512_mask_cmple_epu32_mask(ok, begin, last_word);
  const __mmask8 low_begin = copy_features(text, features_from, feature);
  const __mmask8 high_begin = copy_features(text, features_from + 8, feature + 8);
  const __m256i low_length = _mm512_castsi512_si256(name_length);
  const __m256i high_length = _mm512_extracti64x4_epi64(name_length, 1);
  const __mmask8 low = cut_names(eight_words(text, from), low_length, name);
  const __mmask8 high = cut_names(eight_words(text, from + 8), high_length, name + 8);
  ok &= static_cast<__mmask16>((low & low_begin) | (high & high_begin) << 8);
  _mm512_storeu_si512(lengths, length);
  if (text[at[0]] != '|') return 0;
  // Behind the end of the line, nobody has looked for the bar.
  const int line = std::countr_zero(static_cast<std::uint32_t>(last) | 1u << 15) + 1;
  return static_cast<std::size_t>(std::min(std::countr_one(ok), line));
}

template <class Isa>
std::size_t usual_namespaces_512(const char* text, std::uint32_t size,
                                 const std::uint32_t* delimiters, std::size_t count,
                                 std::uint64_t* out_names, std::uint64_t* features,
                                 std::uint32_t* lengths) {
  std::size_t names = 0;
  while (names < TextKernels::kNames && count >= 49 && size >= 8) {
    const std::size_t good = sixteen_namespaces(text, size, delimiters, out_names + names,
                                                features + names, lengths + names);
    names += good;
    if (good < 16 || text[delimiters[47]] == '\n') return names;
    delimiters += 48;
    count -= 48;
  }
  return generic::more_usual_namespaces<Isa>(text, size, delimiters, count, names, out_names,
                                             features, lengths);
}

void hash_features_512(const std::uint64_t* features, const std::uint32_t* lengths,
                       const std::uint32_t* seeds, std::size_t count, bool numbers, Feature* out) {
  const __m512i ones = _mm512_castps_si512(_mm512_set1_ps(1.0f));
  const __m512i first = _mm512_setr_epi32(0, 16, 1, 16, 2, 16, 3, 16, 4, 16, 5, 16, 6, 16, 7, 16);
  const __m512i second = _mm512_add_epi32(
      first, _mm512_setr_epi32(8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0));
  for (std::size_t i = 0; i < count; i += 16) {
    const __m512i length = _mm512_loadu_si512(lengths + i);
    const __m512i seed = _mm512_loadu_si512(seeds + i);
    const EightNames low(features + i, _mm512_castsi512_si256(length));
    const EightNames high(features + i + 8, _mm512_extracti64x4_epi64(length, 1));
    __m512i hash = murmur3_short({low.word, high.word}, length, seed);
    const auto digits = static_cast<__mmask16>(low.digits | high.digits << 8);
    if (numbers && digits != 0) {
      const __m512i value = halves({low.digits_value(), high.digits_value()}, 1);
      hash = _mm512_mask_add_epi32(hash, digits, value, seed);
    }
    _mm512_storeu_si512(out + i, _mm512_permutex2var_epi32(hash, first, ones));
    _mm512_storeu_si512(out + i + 8, _mm512_permutex2var_epi32(hash, second, ones));
  }
}

template <class Isa>
constexpr TextKernels kTextKernels512 = {.delimiters = delimiters_512,
                                         .usual_namespaces = usual_namespaces_512<Isa>,
                                         .hash_features = hash_features_512};

}  // namespace
}  // namespace leveret::kernels
