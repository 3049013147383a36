/// The kernels over plain vectors, generic in the instruction set.
#pragma once

#include <limits>

#include "kernels/lanes.h"

namespace leveret::kernels::generic {

/// A fused multiply-add takes four cycles and two may start per cycle: with fewer sums than this
/// under way a reduction waits for itself.
constexpr std::size_t kSumsUnderWay = 4;

template <class Isa>
[[gnu::flatten]] float dot(const float* a, const float* b, std::size_t length) {
  using V = typename Isa::V;
  constexpr std::size_t N = kLanes<Isa>;
  V sums[kSumsUnderWay];
  for (V& s : sums) s = V(0.0f);
  std::size_t i = 0;
  for (; i + kSumsUnderWay * N <= length; i += kSumsUnderWay * N) {
    for (std::size_t u = 0; u < kSumsUnderWay; ++u) {
      sums[u] =
          Isa::fma(V::load_unaligned(a + i + u * N), V::load_unaligned(b + i + u * N), sums[u]);
    }
  }
  sweep<Isa>(length - i, [&](std::size_t at, auto lanes) {
    sums[0] = Isa::fma(lanes.load(a + i + at), lanes.load(b + i + at), sums[0]);
  });
  return Isa::sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

template <class Isa>
[[gnu::flatten]] void moments(const float* x, std::size_t length, float* sum, float* sum_squares) {
  using V = typename Isa::V;
  constexpr std::size_t N = kLanes<Isa>;
  V first[kSumsUnderWay], second[kSumsUnderWay];
  for (V& s : first) s = V(0.0f);
  for (V& s : second) s = V(0.0f);
  std::size_t i = 0;
  for (; i + kSumsUnderWay * N <= length; i += kSumsUnderWay * N) {
    for (std::size_t u = 0; u < kSumsUnderWay; ++u) {
      const V v = V::load_unaligned(x + i + u * N);
      first[u] = first[u] + v;
      second[u] = Isa::fma(v, v, second[u]);
    }
  }
  sweep<Isa>(length - i, [&](std::size_t at, auto lanes) {
    const V v = lanes.load(x + i + at);
    first[0] = first[0] + v;
    second[0] = Isa::fma(v, v, second[0]);
  });
  *sum = Isa::sum((first[0] + first[1]) + (first[2] + first[3]));
  *sum_squares = Isa::sum((second[0] + second[1]) + (second[2] + second[3]));
}

template <class Isa>
[[gnu::flatten]] void affine(const float* x, std::size_t length, float shift, float scale,
                             float* out) {
  using V = typename Isa::V;
  const V minus(shift), times(scale);
  sweep<Isa>(length, [&](std::size_t i, auto lanes) {
    lanes.store(out + i, (lanes.load(x + i) - minus) * times);
  });
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
[[gnu::flatten]] void read_weights(RowFormat format, const std::byte* row, std::size_t length,
                                   float* out) {
  with_format(format, [&]<class T>(T) {
    const T* const w = reinterpret_cast<const T*>(row);
    sweep<Isa>(length, [&](std::size_t i, auto lanes) { lanes.store(out + i, lanes.load(w + i)); });
  });
}

template <class Isa>
[[gnu::flatten]] void write_weights(RowFormat format, const float* in, std::size_t length,
                                    std::uint32_t noise, std::byte* row) {
  with_format(format, [&]<class T>(T) {
    T* const w = reinterpret_cast<T*>(row);
    Rounding<Isa, T> rounded(noise);
    sweep<Isa>(length,
               [&](std::size_t i, auto lanes) { lanes.store(w + i, rounded(lanes.load(in + i))); });
  });
}

template <class Isa>
[[gnu::flatten]] void update(float* w, float* acc, const float* g, std::size_t length,
                             StepRule rule) {
  using V = typename Isa::V;
  with_step<Isa>(rule, [&](const auto& step) {
    sweep<Isa>(length, [&](std::size_t i, auto lanes) {
      V weight = lanes.load(w + i);
      V squares = lanes.load(acc + i);
      step.apply(lanes.load(g + i), weight, squares);
      lanes.store(w + i, weight);
      lanes.store(acc + i, squares);
    });
  });
}

template <class Isa>
[[gnu::flatten]] void squares(const float* x, float scale, std::size_t length, float* g,
                              float* squares) {
  using V = typename Isa::V;
  sweep<Isa>(length, [&](std::size_t i, auto lanes) {
    const V scaled = V(scale) * lanes.load(x + i);
    const auto good = scaled * scaled <= V(std::numeric_limits<float>::max());
    lanes.store(g + i, xsimd::select(good, scaled, V(0.0f)));
    lanes.store(squares + i, xsimd::select(good, scaled * scaled, V(0.0f)));
  });
}

template <class Isa>
[[gnu::flatten]] void root_steps(const float* g, const float* acc, std::size_t length, float rate,
                                 float* steps) {
  using V = typename Isa::V;
  sweep<Isa>(length, [&](std::size_t i, auto lanes) {
    const V squares = lanes.load(acc + i);
    const V step = Isa::divide(V(rate) * lanes.load(g + i), Isa::root(squares));
    lanes.store(steps + i, xsimd::select(squares > V(0.0f), step, V(0.0f)));
  });
}

template <class Isa>
[[gnu::flatten]] void log(const float* x, std::size_t length, float* out) {
  sweep<Isa>(length, [&](std::size_t i, auto lanes) {
    lanes.store(out + i, xsimd::log(lanes.load(x + i)));
  });
}

}  // namespace leveret::kernels::generic
