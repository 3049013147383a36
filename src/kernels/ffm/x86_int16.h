/// Slots of fixed-point numbers, sixteen bytes of them.
///
/// Templates on an `Isa` of the including file, so that each of them has code of its own.
#pragma once

#include <immintrin.h>

#include "kernels/rows/fixed.h"

namespace leveret::kernels {

/// Slot s of K = 2, 4 or 8 numbers lies at p[s].
template <class Isa, std::size_t K>
inline __m128i load_eight(const Fixed16* const* p) {
  if constexpr (K == 8) return _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(p[0]));
  if constexpr (K == 4) {
    return _mm_unpacklo_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i_u*>(p[0])),
                              _mm_loadl_epi64(reinterpret_cast<const __m128i_u*>(p[1])));
  }
  if constexpr (K == 2) {
    return _mm_unpacklo_epi64(_mm_unpacklo_epi32(_mm_loadu_si32(p[0]), _mm_loadu_si32(p[1])),
                              _mm_unpacklo_epi32(_mm_loadu_si32(p[2]), _mm_loadu_si32(p[3])));
  }
}

template <class Isa, std::size_t K>
inline void store_eight(Fixed16* const* p, __m128i v) {
  if constexpr (K == 8) _mm_storeu_si128(reinterpret_cast<__m128i_u*>(p[0]), v);
  if constexpr (K == 4) {
    _mm_storel_epi64(reinterpret_cast<__m128i_u*>(p[0]), v);
    _mm_storeh_pi(reinterpret_cast<__m64*>(p[1]), _mm_castsi128_ps(v));
  }
  if constexpr (K == 2) {
    _mm_storeu_si32(p[0], v);
    _mm_storeu_si32(p[1], _mm_srli_si128(v, 4));
    _mm_storeu_si32(p[2], _mm_srli_si128(v, 8));
    _mm_storeu_si32(p[3], _mm_srli_si128(v, 12));
  }
}

}  // namespace leveret::kernels
