/// The functions that all generic kernels share: walking an array register by register, and the
/// AdaGrad step. instruction_set.h says what they ask of an instruction set (`Isa`).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/instruction_set.h"
#include "kernels/kernels.h"
#include "kernels/root.h"
#include "kernels/xsimd.h"

namespace leveret::kernels::generic {

template <class Isa>
constexpr std::size_t kLanes = Isa::V::size;

/// A full register of an array.
template <class Isa>
struct Whole {
  using V = typename Isa::V;
  static V load(const float* p) { return V::load_unaligned(p); }
  static V load(const Fixed16* p) { return Isa::load_int16(p); }
  static V load(const Bf16* p) { return Isa::load_bf16(p); }
  static void store(float* p, V v) { v.store_unaligned(p); }
  static void store(Fixed16* p, V v) { Isa::store_int16(p, v); }
  static void store(Bf16* p, V v) { Isa::store_bf16(p, v); }
  static V all(float x) { return V(x); }
};

// The first n <= lanes of an array, by way of an array of a whole register: load_part and the like
// of instruction sets without masks for it, and of accumulators on all of them.
template <class Isa, class T>
inline typename Isa::V load_copied(const T* p, std::size_t n) {
  T lanes[kLanes<Isa>] = {};
  for (std::size_t i = 0; i < n && i < kLanes<Isa>; ++i) lanes[i] = p[i];
  return Whole<Isa>::load(lanes);
}
template <class Isa, class T>
inline void store_copied(T* p, typename Isa::V v, std::size_t n) {
  T lanes[kLanes<Isa>];
  Whole<Isa>::store(lanes, v);
  for (std::size_t i = 0; i < n && i < kLanes<Isa>; ++i) p[i] = lanes[i];
}

/// A register of an array that may end within it: n <= lanes.
template <class Isa>
struct Part {
  using V = typename Isa::V;
  std::size_t n;
  V load(const float* p) const { return Isa::load_part(p, n); }
  V load(const Fixed16* p) const { return Isa::load_int16_part(p, n); }
  V load(const Bf16* p) const { return load_copied<Isa>(p, n); }
  void store(float* p, V v) const { Isa::store_part(p, v, n); }
  void store(Fixed16* p, V v) const { Isa::store_int16_part(p, v, n); }
  void store(Bf16* p, V v) const { store_copied<Isa>(p, v, n); }
  /// 0 beyond n.
  V all(float x) const {
    alignas(64) float same[kLanes<Isa>];
    for (std::size_t i = 0; i < kLanes<Isa>; ++i) same[i] = i < n ? x : 0.0f;
    return V::load_aligned(same);
  }
};

template <class Isa>
using Lanes32 = xsimd::batch<std::uint32_t, typename Isa::V::arch_type>;

/// Lane l of register t is seed + t * a + l * b: each lane is uniform over the calls, as the seed
/// is, and one operation is all it costs.
template <class Isa>
struct LaneNoise {
  using Seed = std::uint32_t;
  Lanes32<Isa> lanes;

  explicit LaneNoise(Seed seed) {
    alignas(64) std::uint32_t first[kLanes<Isa>];
    for (std::uint32_t l = 0; l < kLanes<Isa>; ++l) first[l] = seed + l * 0x85ebca6bu;
    lanes = Lanes32<Isa>::load_aligned(first);
  }
  Lanes32<Isa> next() { return lanes = lanes + Lanes32<Isa>(0x9e3779b9u); }
};

/// Registers of weights on their way to a store. What becomes fixed point (it is in units) is
/// stored as the upper halves of integers (fixed.h) to which noise was added, and short floats as
/// their own upper halves.
template <class Isa, class T, class Noise = LaneNoise<Isa>>
struct Rounding {
  using V = typename Isa::V;
  explicit Rounding(typename Noise::Seed) {}
  V operator()(V v) const { return v; }
};

template <class Isa, class Noise>
struct Rounding<Isa, Fixed16, Noise> {
  using V = typename Isa::V;
  Noise noise;

  explicit Rounding(typename Noise::Seed seed) : noise(seed) {}
  V operator()(V v) {
    v = xsimd::min(V(kLargestCode<Fixed16>), xsimd::max(V(kSmallestCode<Fixed16>), v));
    return bits_cast<V>(Lanes32<Isa>(Isa::fine(v)) + (noise.next() >> kBitsLost<Fixed16>));
  }
};

template <class Isa, class Noise>
struct Rounding<Isa, Bf16, Noise> {
  using V = typename Isa::V;
  Noise noise;

  explicit Rounding(typename Noise::Seed seed) : noise(seed) {}
  V operator()(V v) {
    return bits_cast<V>(bits_cast<Lanes32<Isa>>(v) + (noise.next() >> kBf16BitsLost));
  }
};

/// Number i of an array gets the noise seed + steps[i], or without steps seed + i * kNoiseStep,
/// whichever its register.
template <class Isa>
struct IndexNoise {
  struct Seed {
    std::uint32_t seed;
    const std::uint32_t* steps;  ///< of as many as registers have
  };
  /// Those of the first register.
  alignas(64) static constexpr std::uint32_t kFirst[16] = {
      0 * kNoiseStep,  1 * kNoiseStep,  2 * kNoiseStep,  3 * kNoiseStep,
      4 * kNoiseStep,  5 * kNoiseStep,  6 * kNoiseStep,  7 * kNoiseStep,
      8 * kNoiseStep,  9 * kNoiseStep,  10 * kNoiseStep, 11 * kNoiseStep,
      12 * kNoiseStep, 13 * kNoiseStep, 14 * kNoiseStep, 15 * kNoiseStep};
  static_assert(kLanes<Isa> <= 16);
  Lanes32<Isa> lanes;
  const std::uint32_t* steps;

  explicit IndexNoise(Seed of) : lanes(of.seed), steps(of.steps) {
    if (steps == nullptr) lanes = lanes + Lanes32<Isa>::load_aligned(kFirst);
  }
  Lanes32<Isa> next() {
    if (steps != nullptr) {
      const Lanes32<Isa> places = Lanes32<Isa>::load_unaligned(steps);
      steps += kLanes<Isa>;
      return lanes + places;
    }
    const Lanes32<Isa> now = lanes;
    lanes = lanes + Lanes32<Isa>(static_cast<std::uint32_t>(kLanes<Isa>) * kNoiseStep);
    return now;
  }
};

template <class Isa, class T>
using IndexRounding = Rounding<Isa, T, IndexNoise<Isa>>;

/// From what kernels have in registers to numbers. For fixed-point numbers they have the codes,
/// which do not depend on the shift, and it is enough to multiply sums of products of codes.
template <class Isa, class T>
struct Units {
  using V = typename Isa::V;
  explicit Units(Codec) {}
  V numbers(V v) const { return v; }
  V products(V v) const { return v; }
};

template <class Isa>
struct Units<Isa, Fixed16> {
  using V = typename Isa::V;
  float unit;
  explicit Units(Codec codec) : unit(codec.unit()) {}
  V numbers(V codes) const { return codes * V(unit); }
  V products(V codes) const { return codes * V(unit * unit); }
};

/// Calls body(offset, Whole or Part) for each register of an array of `length` floats.
template <class Isa, class Body>
inline void sweep(std::size_t length, Body&& body) {
  std::size_t i = 0;
  for (; i + kLanes<Isa> <= length; i += kLanes<Isa>) body(i, Whole<Isa>{});
  if (i < length) body(i, Part<Isa>{length - i});
}

/// G after a gradient of which it takes the square, and keeps so much of what it was. Without a
/// gradient it stays as it is.
template <class Isa>
inline typename Isa::V with_square(typename Isa::V decay, typename Isa::V acc, typename Isa::V g) {
  using V = typename Isa::V;
  return xsimd::select(g == V(0.0f), acc, Isa::fma(g, g, decay * acc));
}

/// AdaGrad with power 1/2.
template <class Isa, bool kL2>
struct RootStep {
  using V = typename Isa::V;
  static constexpr bool kHasL2 = kL2;
  typename Isa::Root root;
  V l2;
  float decay;

  explicit RootStep(const StepRule& rule) : root(rule.rate), l2(rule.l2), decay(rule.decay) {}

  V gradient(V g, V w) const {
    if constexpr (!kL2) return g;
    return xsimd::select(g == V(0.0f), g, Isa::fma(l2, w, g));
  }

  void apply(V g, V& w, V& acc) const {
    g = gradient(g, w);
    acc = Isa::fma(g, g, acc);
    w = root.moved(w, g, acc);
  }
  void apply(V g, V& w, V& acc, V kept) const {
    g = gradient(g, w);
    acc = with_square<Isa>(kept, acc, g);
    w = root.moved(w, g, acc);
  }

  /// rate / sqrt(acc)
  V scale(V acc) const { return root.scale(acc); }
  /// The same, as exact as a factor of 14 bits needs it.
  V coarse_scale(V acc) const { return root.coarse_scale(acc); }
};

/// Any other power, with L2.
template <class Isa>
struct PowerStep {
  using V = typename Isa::V;
  static constexpr bool kHasL2 = true;
  V rate, power, l2;
  float decay;
  bool plain;

  explicit PowerStep(const StepRule& rule)
      : rate(rule.rate),
        power(rule.power),
        l2(rule.l2),
        decay(rule.decay),
        plain(rule.power == 0.0f) {}

  V gradient(V g, V w) const { return xsimd::select(g == V(0.0f), g, Isa::fma(l2, w, g)); }

  void apply(V g, V& w, V& acc) const {
    g = gradient(g, w);
    acc = Isa::fma(g, g, acc);
    w = Isa::fnma(scale(acc), g, w);
  }
  void apply(V g, V& w, V& acc, V kept) const {
    g = gradient(g, w);
    acc = with_square<Isa>(kept, acc, g);
    w = Isa::fnma(scale(acc), g, w);
  }

  /// rate / acc^power. All of xsimd's exp and log is pulled in here: a copy of them left outside
  /// would be a weak symbol.
  [[gnu::noinline, gnu::flatten]] V scale(V acc) const {
    if (plain) return rate;
    return rate * Isa::exp(-power * Isa::log(Isa::clamp_normal(acc)));
  }
  V coarse_scale(V acc) const { return scale(acc); }
};

/// Calls body(number) with a number of the codec's type, or otherwise(), where registers take none
/// such.
template <class Body, class Else>
inline void with_numbers(Codec codec, Body&& body, Else&& otherwise) {
  if (codec.is_fixed(16)) return body(Fixed16{});
  if (codec == Codec::bf16()) return body(Bf16{});
  if (codec == Codec::f32()) return body(float{});
  otherwise();
}

/// The one place where the length of a slot chooses code: calls fixed<k>() for the lengths that
/// have code of their own, the powers of two from kSmallest (1 or 2) to 16, any() for the others.
template <std::size_t kSmallest, class Fixed, class Any>
inline auto with_slot_length(std::size_t k, Fixed&& fixed, Any&& any) {
  switch (k) {
    case 2:
      return fixed.template operator()<2>();
    case 4:
      return fixed.template operator()<4>();
    case 8:
      return fixed.template operator()<8>();
    case 16:
      return fixed.template operator()<16>();
    case 1:
      if constexpr (kSmallest == 1) return fixed.template operator()<1>();
      [[fallthrough]];
    default:
      return any();
  }
}

/// Calls body(step) with the step that fits the rule.
template <class Isa, class Body>
inline void with_step(const StepRule& rule, Body&& body) {
  if (rule.power != 0.5f) {
    body(PowerStep<Isa>(rule));
  } else if (rule.l2 != 0.0f) {
    body(RootStep<Isa, true>(rule));
  } else {
    body(RootStep<Isa, false>(rule));
  }
}

}  // namespace leveret::kernels::generic
