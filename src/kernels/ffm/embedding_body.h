/// Vectors of embeddings, generic in the instruction set: their pairs, which have one weight each
/// in a field-weighted FM (mix_vectors and add_vector_dots), and their steps.
#pragma once

#include "kernels/ffm/ffm_batch_body.h"
#include "kernels/lanes.h"

namespace leveret::kernels::generic {

/// The weights of vector i's pairs with those before it.
inline const float* weights_of(const float* w, std::size_t i) { return w + i * (i - 1) / 2; }

// ---- mix_vectors ----

/// Floats [c, c + lanes) of vectors first … first + R - 1 with all before them, and with each
/// other. A vector before them is read, and its sum moved, once for all of them.
template <class Isa, std::size_t R>
[[gnu::always_inline]] inline void mix_with_before(const float* w, const float* x,
                                                   std::size_t first, std::size_t k, auto lanes,
                                                   float* out) {
  using V = typename Isa::V;
  const float* weights[R];
  V own[R], sums[R];
#pragma GCC unroll 4
  for (std::size_t r = 0; r < R; ++r) {
    weights[r] = first + r > 0 ? weights_of(w, first + r) : w;
    own[r] = lanes.load(x + (first + r) * k);
    sums[r] = V(0.0f);
  }
  for (std::size_t j = 0; j < first; ++j) {
    const V other = lanes.load(x + j * k);
    V sum = lanes.load(out + j * k);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < R; ++r) {
      const V weight(weights[r][j]);
      sums[r] = Isa::fma(weight, other, sums[r]);
      sum = Isa::fma(weight, own[r], sum);
    }
    lanes.store(out + j * k, sum);
  }
#pragma GCC unroll 4
  for (std::size_t r = 1; r < R; ++r) {
#pragma GCC unroll 4
    for (std::size_t s = 0; s < r; ++s) {
      const V weight(weights[r][first + s]);
      sums[r] = Isa::fma(weight, own[s], sums[r]);
      sums[s] = Isa::fma(weight, own[r], sums[s]);
    }
  }
#pragma GCC unroll 4
  for (std::size_t r = 0; r < R; ++r) lanes.store(out + (first + r) * k, sums[r]);
}

template <class Isa>
[[gnu::flatten]] void mix_vectors(const float* w, const float* x, std::size_t n, std::size_t k,
                                  float* out) {
  constexpr std::size_t R = 4;
  sweep<Isa>(k, [&](std::size_t c, auto lanes) {
    std::size_t i = 0;
    for (; i + R <= n; i += R) mix_with_before<Isa, R>(w, x + c, i, k, lanes, out + c);
    for (; i < n; ++i) mix_with_before<Isa, 1>(w, x + c, i, k, lanes, out + c);
  });
}

// ---- add_vector_dots ----

/// Floats [0, C) of each register's worth of vectors, turned so that a register has one of them of
/// all: these meet every vector behind the first of them.
template <class Isa, std::size_t C>
[[gnu::always_inline]] inline void add_dots_of_columns(const float* x, std::size_t n, std::size_t k,
                                                       float factor, float* dots) {
  using V = typename Isa::V;
  constexpr std::size_t N = kLanes<Isa>;
  const V times(factor);
  for (std::size_t first = 0; first + 1 < n; first += N) {
    alignas(64) float turned[C][N] = {};
    for (std::size_t l = 0; l < N && first + l < n; ++l) {
      for (std::size_t c = 0; c < C; ++c) turned[c][l] = x[(first + l) * k + c];
    }
    V columns[C];
#pragma GCC unroll 8
    for (std::size_t c = 0; c < C; ++c) columns[c] = times * V::load_aligned(turned[c]);
    const auto add = [&](std::size_t i, auto lanes) {
      const float* const own = x + i * k;
      float* const to = dots + i * (i - 1) / 2 + first;
      V sum = lanes.load(to);
#pragma GCC unroll 8
      for (std::size_t c = 0; c < C; ++c) sum = Isa::fma(V(own[c]), columns[c], sum);
      lanes.store(to, sum);
    };
    std::size_t i = first + 1;
    for (; i < n && i < first + N; ++i) add(i, Part<Isa>{i - first});
    for (; i < n; ++i) add(i, Whole<Isa>{});
  }
}

template <class Isa>
[[gnu::flatten]] void add_vector_dots(const float* x, std::size_t n, std::size_t k, float factor,
                                      float* dots) {
  std::size_t c = 0;
  for (; c + 8 <= k; c += 8) add_dots_of_columns<Isa, 8>(x + c, n, k, factor, dots);
  for (; c + 4 <= k; c += 4) add_dots_of_columns<Isa, 4>(x + c, n, k, factor, dots);
  for (; c < k; ++c) add_dots_of_columns<Isa, 1>(x + c, n, k, factor, dots);
}

// ---- step_vectors ----

template <class Isa, class T, class Step>
[[gnu::always_inline]] inline void step_each_vector(const VectorSteps& of, std::size_t k,
                                                    float unit, const Step& step) {
  using V = typename Isa::V;
  const Part<Isa> one{1};  // the accumulator is one number: that of the first lane
  for (std::size_t i = 0; i < of.n; ++i) {
    T* const w = reinterpret_cast<T*>(of.rows[i]);
    auto* const acc = reinterpret_cast<StateOf<T>*>(of.rows[i] + of.to_state);
    const V factor(of.factors[i]);
    const auto gradient = [&](std::size_t c, auto lanes) {
      const V g = factor * lanes.load(of.gradients[i] + c);
      if constexpr (!Step::kHasL2) return g;
      return step.gradient(g, V(unit) * lanes.load(w + c));
    };
    V squares(0.0f);
    sweep<Isa>(k, [&](std::size_t c, auto lanes) {
      const V g = gradient(c, lanes);
      squares = Isa::fma(g, g, squares);
    });
    const V now = one.load(acc) + V(Isa::sum(squares) / static_cast<float>(k));
    IndexRounding<Isa, StateOf<T>> rounded_acc({state_noise(of.noise_of(i)), nullptr});
    one.store(acc, rounded_acc(now));
    alignas(64) float scale[kLanes<Isa>];
    (step.scale(now) * V(1.0f / unit)).store_aligned(scale);
    IndexRounding<Isa, T> rounded({of.noise_of(i), nullptr});
    sweep<Isa>(k, [&](std::size_t c, auto lanes) {
      lanes.store(w + c, rounded(Isa::fnma(V(scale[0]), gradient(c, lanes), lanes.load(w + c))));
    });
  }
}

template <class Isa>
[[gnu::flatten]] void step_vectors(Codec weights, Codec state, const VectorSteps& of, std::size_t k,
                                   StepRule rule) {
  if (steps_by_floats(weights, state, k)) {
    return step_vectors_by_floats<Isa>(weights, state, of, k, rule);
  }
  if (!in_registers(weights, state)) return kReference.step_vectors(weights, state, of, k, rule);
  const float unit = weights.is_fixed(16) ? weights.unit() : 1.0f;
  with_weights(weights, [&]<class T>(T) {
    with_step<Isa>(rule, [&](const auto& step) {
      // Sweeps of a length that the compiler knows are straight lines.
      with_slot_length<2>(
          k, [&]<std::size_t K>() { step_each_vector<Isa, T>(of, K, unit, step); },
          [&] { step_each_vector<Isa, T>(of, k, unit, step); });
    });
  });
}

}  // namespace leveret::kernels::generic
