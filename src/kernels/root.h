/// Rates over roots, rate / sqrt(x), to 1e-6: what AdaGrad's steps are made of. x >= 0; where it is
/// 0, denormal or infinite, a normal number stands for it.
///
/// The same bits on every processor that has the instruction set. rsqrtps and rcpps, whose digits
/// each maker chose for himself, must not be used (tests/unit/kernels/check_approximations.sh).
#pragma once

#include <cstdint>

#include "kernels/xsimd.h"

namespace leveret::kernels::generic {

/// From a guess that the instruction set has (Isa::rsqrt_guess, within 2^-11.5) by a Newton step:
/// y/2 * (3 - x y²). Its factor 1/2 is folded into the rate.
template <class Isa>
struct RootByGuess {
  using V = typename Isa::V;
  V half_rate;

  explicit RootByGuess(float rate) : half_rate(0.5f * rate) {}

  /// w - g * rate / sqrt(x)
  V moved(V w, V g, V x) const {
    x = Isa::clamp_normal(x);
    const V y = Isa::rsqrt_guess(x);
    return Isa::fnma(g * half_rate * y, Isa::fnma(x * y, y, V(3.0f)), w);
  }
  /// rate / sqrt(x)
  V scale(V x) const {
    x = Isa::clamp_normal(x);
    const V y = Isa::rsqrt_guess(x);
    return half_rate * y * Isa::fnma(x * y, y, V(3.0f));
  }
};

/// By integers, additions and multiplications, which all round alike. Half the bits of x from those
/// of a constant make a y whose x y² is within [.75, .84375] for every normal x, and 1 / sqrt(x y²)
/// is a polynomial there: by Remez's algorithm, off by 4.1e-7 at most. The rate is folded into its
/// coefficients. Two Newton steps in its place would take longer, and so would an exact root and a
/// division (on a Zen 3 the default model then learns 6 % and 10 % slower than with rsqrtps). Where
/// x is 0 or denormal, y is finite.
template <class Isa>
struct RootByBits {
  using V = typename Isa::V;
  V c0, c1, c2, c3, coarse_c1;

  explicit RootByBits(float rate)
      : c0(1.1202236072f * rate),
        c1(-0.7028844762f * rate),
        c2(0.6632130300f * rate),
        c3(-0.6941170202f * rate),
        coarse_c1(-0.7040283117f * rate) {}

  V moved(V w, V g, V x) const {
    x = xsimd::min(x, V(__FLT_MAX__));
    const V y = start(x);
    return Isa::fnma(g * y, rest(x, y), w);
  }
  V scale(V x) const {
    x = xsimd::min(x, V(__FLT_MAX__));
    const V y = start(x);
    return y * rest(x, y);
  }
  /// The same within 2^-15: the polynomial without its last term.
  V coarse_scale(V x) const {
    x = xsimd::min(x, V(__FLT_MAX__));
    const V y = start(x), off = from_middle(x, y);
    return y * Isa::fma(Isa::fma(c2, off, coarse_c1), off, c0);
  }

 private:
  static V start(V x) {
    using U = xsimd::batch<std::uint32_t, typename V::arch_type>;
    return bits_cast<V>(U(0x5f200000u) - (bits_cast<U>(x) >> 1));
  }
  static V from_middle(V x, V y) { return Isa::fma(x * y, y, V(-0.796875f)); }
  V rest(V x, V y) const {
    const V off = from_middle(x, y);
    return Isa::fma(Isa::fma(Isa::fma(c3, off, c2), off, c1), off, c0);
  }
};

}  // namespace leveret::kernels::generic
