/// The kernels over plain vectors, generic in the instruction set.
#pragma once

#include "kernels/lanes.h"
#include "kernels/rows/quantize_body.h"
#include "kernels/tables.h"

namespace leveret::kernels::generic {

/// A fused multiply-add takes four cycles and two may start per cycle: with fewer sums than this
/// under way a reduction waits for itself.
constexpr std::size_t kSumsUnderWay = 4;

/// The sum of what add(sum, i, lanes) makes of each register's worth of `length` floats from float
/// i on.
template <class Isa, class Add>
[[gnu::always_inline]] inline float sum_of(std::size_t length, Add&& add) {
  using V = typename Isa::V;
  constexpr std::size_t N = kLanes<Isa>;
  V sums[kSumsUnderWay];
  for (V& s : sums) s = V(0.0f);
  std::size_t i = 0;
  for (; i + kSumsUnderWay * N <= length; i += kSumsUnderWay * N) {
#pragma GCC unroll 4
    for (std::size_t u = 0; u < kSumsUnderWay; ++u) sums[u] = add(sums[u], i + u * N, Whole<Isa>{});
  }
  sweep<Isa>(length - i,
             [&](std::size_t at, auto lanes) { sums[0] = add(sums[0], i + at, lanes); });
  return Isa::sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

template <class Isa>
[[gnu::flatten]] float dot(const float* a, const float* b, std::size_t length) {
  return sum_of<Isa>(length, [&](auto sum, std::size_t i, auto lanes) {
    return Isa::fma(lanes.load(a + i), lanes.load(b + i), sum);
  });
}

template <class Isa>
[[gnu::flatten]] float total(const float* x, std::size_t length) {
  return sum_of<Isa>(length,
                     [&](auto sum, std::size_t i, auto lanes) { return sum + lanes.load(x + i); });
}

template <class Isa>
[[gnu::flatten]] float centre(const float* x, std::size_t length, float mean, float* out) {
  return sum_of<Isa>(length, [&](auto sum, std::size_t i, auto lanes) {
    const auto v = lanes.load(x + i) - lanes.all(mean);
    lanes.store(out + i, v);
    return Isa::fma(v, v, sum);
  });
}

template <class Isa>
[[gnu::flatten]] void scale(const float* x, std::size_t length, float factor, float* out) {
  const typename Isa::V times(factor);
  sweep<Isa>(length,
             [&](std::size_t i, auto lanes) { lanes.store(out + i, lanes.load(x + i) * times); });
}

template <class Isa>
[[gnu::flatten]] void normalise_back(const float* x, std::size_t length, float mean, float along,
                                     float scale, float* d) {
  using V = typename Isa::V;
  const V centre(mean), slope(along), times(scale);
  sweep<Isa>(length, [&](std::size_t i, auto lanes) {
    lanes.store(d + i, times * Isa::fnma(lanes.load(x + i), slope, lanes.load(d + i) - centre));
  });
}

template <class Isa>
[[gnu::flatten]] void axpy(float x, const float* row, std::size_t length, float* row_sum) {
  using V = typename Isa::V;
  const V factor(x);
  sweep<Isa>(length, [&](std::size_t i, auto lanes) {
    lanes.store(row_sum + i, Isa::fma(factor, lanes.load(row + i), lanes.load(row_sum + i)));
  });
}

template <class Isa>
[[gnu::flatten]] void decode(Codec codec, const std::byte* in, std::size_t length, float* out) {
  if (codec.is_scaled()) return decode_scaled<Isa>(codec, in, length, out);
  if (codec.is_narrow()) {
    const float unit = codec.unit();
    return for_each_code<Isa>(codec, in, length, [=](std::size_t i, int code) {
      out[i] = unit * static_cast<float>(code);
    });
  }
  with_numbers(
      codec,
      [&]<class T>(T) {
        const T* const from = reinterpret_cast<const T*>(in);
        const Units<Isa, T> units(codec);
        sweep<Isa>(length, [&](std::size_t i, auto lanes) {
          lanes.store(out + i, units.numbers(lanes.load(from + i)));
        });
      },
      [&] { kReference.decode(codec, in, length, out); });
}

template <class Isa>
[[gnu::flatten]] void add_numbers(Codec codec, const std::byte* in, float x, std::size_t length,
                                  float* out) {
  using V = typename Isa::V;
  if (codec.is_scaled() || codec.is_narrow()) {
    const bool scaled = codec.is_scaled();
    const float factor = x * (scaled ? scale_of<Isa>(in) : codec.unit());
    in += scaled ? Codec::kScaleBytes : 0;
    return for_each_code<Isa>(codec, in, length, [=](std::size_t i, int code) {
      out[i] += factor * static_cast<float>(code);
    });
  }
  with_numbers(
      codec,
      [&]<class T>(T) {
        const T* const from = reinterpret_cast<const T*>(in);
        const V factor = Units<Isa, T>(codec).numbers(V(x));
        sweep<Isa>(length, [&](std::size_t i, auto lanes) {
          lanes.store(out + i, Isa::fma(factor, lanes.load(from + i), lanes.load(out + i)));
        });
      },
      [&] { kReference.add_numbers(codec, in, x, length, out); });
}

template <class Isa>
[[gnu::flatten]] void encode(Codec codec, const float* in, std::size_t length, std::uint32_t noise,
                             std::byte* out) {
  using V = typename Isa::V;
  if (codec.is_narrow() || codec.nearest) {
    return encode_codes<Isa>(codec, in, length, LaneNoise<Isa>(noise), out);
  }
  with_numbers(
      codec,
      [&]<class T>(T) {
        T* const to = reinterpret_cast<T*>(out);
        Rounding<Isa, T> rounded(noise);
        sweep<Isa>(length, [&](std::size_t i, auto lanes) {
          V v = lanes.load(in + i);
          if constexpr (std::is_same_v<T, Fixed16>) v = v * V(codec.units_in_one());
          lanes.store(to + i, rounded(v));
        });
      },
      [&] { kReference.encode(codec, in, length, noise, out); });
}

template <class Isa>
[[gnu::flatten]] void update(float* w, float* acc, const float* g, std::size_t length,
                             StepRule rule) {
  using V = typename Isa::V;
  with_step<Isa>(rule, [&](const auto& step) {
    const V kept(step.decay);
    sweep<Isa>(length, [&](std::size_t i, auto lanes) {
      V weight = lanes.load(w + i);
      V squares = lanes.load(acc + i);
      step.apply(lanes.load(g + i), weight, squares, kept);
      lanes.store(w + i, weight);
      lanes.store(acc + i, squares);
    });
  });
}

/// g, and 0 where that is beyond kMaxGradient.
template <class Isa>
inline typename Isa::V bounded(typename Isa::V g) {
  using V = typename Isa::V;
  return xsimd::select(g * g <= V(kMaxSquare), g, V(0.0f));
}

template <class Isa>
[[gnu::flatten]] void squares(const float* x, float scale, std::size_t length, float* g,
                              float* squares) {
  using V = typename Isa::V;
  sweep<Isa>(length, [&](std::size_t i, auto lanes) {
    const V scaled = bounded<Isa>(V(scale) * lanes.load(x + i));
    lanes.store(g + i, scaled);
    lanes.store(squares + i, scaled * scaled);
  });
}

template <class Isa>
[[gnu::flatten]] void adagrad_deltas(const float* g, const float* acc, std::size_t length,
                                     float rate, float* steps) {
  using V = typename Isa::V;
  sweep<Isa>(length, [&](std::size_t i, auto lanes) {
    const V squares = lanes.load(acc + i);
    const V step = Isa::divide(V(rate) * lanes.load(g + i), Isa::root(squares));
    lanes.store(steps + i, xsimd::select(squares > V(0.0f), step, V(0.0f)));
  });
}

template <class Isa>
[[gnu::flatten]] void log(const float* x, std::size_t length, float* out) {
  sweep<Isa>(length,
             [&](std::size_t i, auto lanes) { lanes.store(out + i, Isa::log(lanes.load(x + i))); });
}

}  // namespace leveret::kernels::generic
