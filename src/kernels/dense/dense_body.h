/// The dense-layer kernels, generic in the instruction set.
///
/// W comes from the second-level cache, at its fastest as one stream: for one example, row after
/// row, but for steps of eight lanes. Several examples share what is read of it.
#pragma once

#include "kernels/dense/dense_group_body.h"
#include "kernels/dense/vector_body.h"
#include "kernels/lanes.h"

namespace leveret::kernels::generic {

// ---- forward ----

/// How the sums of rows are made.
struct Sums {
  /// A sum is that of so many, to which registers of the row go in turn. They alone decide how it
  /// is rounded.
  std::size_t parts;
  std::size_t parts_at_once;  ///< in one walk along the row
  std::size_t rows_at_once;
};

/// Enough under way to hide the latency of the multiply-add, and few enough for the registers, of
/// 32 (AVX-512) or 16. Where weights serve one example and are many, they are what takes the time,
/// and come fastest in one stream (bench_kernels_dense, bench_gemm). The number of examples does
/// not change the parts.
constexpr Sums sums_of(std::size_t lanes, std::size_t examples, bool long_rows) {
  if (lanes == 16 && long_rows && examples == 1) return {4, 4, 1};
  if (lanes == 16) return {long_rows ? 4u : 1u, 1, examples == 2 ? 8u : 4u};
  if (lanes == 8) return {1, 1, 4};
  return {8 / lanes, 8 / lanes, examples == 1 ? 4u : 1u};
}

/// Some rows times the inputs of E examples: sums[e * N + r] holds the sum of row r, spread over
/// its lanes.
template <class Isa, std::size_t E, bool kLong>
inline void row_sums(const float* w, const float* in, std::size_t inputs, std::size_t stride,
                     typename Isa::V* sums) {
  using V = typename Isa::V;
  constexpr std::size_t N = kLanes<Isa>;
  constexpr Sums kSums = sums_of(N, E, kLong);
  constexpr std::size_t P = kSums.parts_at_once, R = kSums.rows_at_once;
  V part[E][R][P];
  const auto multiply = [&](std::size_t i, std::size_t p, auto lanes) {
    V x[E];
#pragma GCC unroll 16
    for (std::size_t e = 0; e < E; ++e) x[e] = lanes.load(in + e * inputs + i);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < R; ++r) {
      const V weight = lanes.load(w + r * stride + i);
#pragma GCC unroll 16
      for (std::size_t e = 0; e < E; ++e) part[e][r][p] = Isa::fma(weight, x[e], part[e][r][p]);
    }
  };
  for (std::size_t first = 0; first < kSums.parts; first += P) {
    for (auto& example : part) {
      for (auto& row : example) {
        for (V& sum : row) sum = V(0.0f);
      }
    }
    std::size_t i = first * N;
    for (; i + P * N <= inputs; i += kSums.parts * N) {
#pragma GCC unroll 4
      for (std::size_t p = 0; p < P; ++p) multiply(i + p * N, p, Whole<Isa>{});
    }
#pragma GCC unroll 4
    for (std::size_t p = 0; p < P; ++p, i += N) {
      if (i + N <= inputs) {
        multiply(i, p, Whole<Isa>{});
      } else if (i < inputs) {
        multiply(i, p, Part<Isa>{inputs - i});
      }
    }
#pragma GCC unroll 16
    for (std::size_t e = 0; e < E; ++e) {
#pragma GCC unroll 16
      for (std::size_t r = 0; r < R; ++r) {
        V sum = part[e][r][0];
        if (first > 0) sum = sums[e * N + r] + sum;
        for (std::size_t p = 1; p < P; ++p) sum = sum + part[e][r][p];
        sums[e * N + r] = sum;
      }
    }
  }
}

/// A bundle of `kLanes` rows for E examples, and for each of these one transposed reduction of all
/// rows at the end.
template <class Isa, std::size_t E, bool kLong>
[[gnu::flatten]] inline void forward_bundle(const float* w, const float* bias, const float* in,
                                            std::size_t inputs, std::size_t outputs,
                                            std::size_t stride, float* out) {
  using V = typename Isa::V;
  constexpr std::size_t N = kLanes<Isa>;
  V sums[E * N];
  for (std::size_t r = 0; r < N; r += sums_of(N, E, kLong).rows_at_once) {
    row_sums<Isa, E, kLong>(w + r * stride, in, inputs, stride, sums + r);
  }
  const V biases = V::load_unaligned(bias);
  for (std::size_t e = 0; e < E; ++e) {
    (Isa::template slot_sums<N>(sums + e * N) + biases).store_unaligned(out + e * outputs);
  }
}

/// A layer for E examples at a time, and of the rest as many as are left. An
/// example's sums are the same bits whatever E is, and whoever its neighbours are.
template <class Isa, std::size_t E, bool kLong>
inline void forward_examples(const float* w, const float* bias, const float* in, std::size_t inputs,
                             std::size_t outputs, std::size_t stride, std::size_t examples,
                             float* out) {
  constexpr std::size_t N = kLanes<Isa>;
  for (; examples >= E; examples -= E, in += E * inputs, out += E * outputs) {
    std::size_t o = 0;
    for (; o + N <= outputs; o += N) {
      forward_bundle<Isa, E, kLong>(w + o * stride, bias + o, in, inputs, outputs, stride, out + o);
    }
    for (; o < outputs; ++o) {
      for (std::size_t e = 0; e < E; ++e) {
        out[e * outputs + o] = bias[o] + dot<Isa>(w + o * stride, in + e * inputs, inputs);
      }
    }
  }
  if constexpr (E > 1) {
    forward_examples<Isa, E - 1, kLong>(w, bias, in, inputs, outputs, stride, examples, out);
  }
}

/// With eight lanes and 16 registers, 4 rows by 3 examples are the most whose sums fit.
template <class Isa>
void dense_forward(const float* w, const float* bias, const float* in, std::size_t inputs,
                   std::size_t outputs, std::size_t stride, std::size_t examples, float* out) {
  constexpr std::size_t E = kLanes<Isa> == 8 ? 3 : 4;
  if constexpr (kLanes<Isa> == 16) {
    constexpr std::size_t kLong = 128;
    if (inputs >= kLong) {
      return forward_examples<Isa, E, true>(w, bias, in, inputs, outputs, stride, examples, out);
    }
  }
  forward_examples<Isa, E, false>(w, bias, in, inputs, outputs, stride, examples, out);
}

// ---- backward and update ----

/// With eight lanes a row's step takes longer than its weights take to come, and rows share what is
/// done with the inputs. With sixteen the weights are what takes the time.
template <class Isa>
constexpr std::size_t kRowsAtOnce = kLanes<Isa> == 8 ? 4 : 1;

/// One pass over R active rows of W, whose outputs' gradients are d. `fresh`: d_in is set rather
/// than added to.
template <class Isa, std::size_t R, class Step>
[[gnu::flatten]] inline void dense_rows_at_once(float* const (&w)[R], float* const (&acc)[R],
                                                const float* in, const float (&d)[R],
                                                std::size_t inputs, const Step& step, bool fresh,
                                                float* d_in) {
  using V = typename Isa::V;
  const V kept(step.decay), all_kept(1.0f);
  V factor[R];
  for (std::size_t r = 0; r < R; ++r) factor[r] = V(d[r]);
  sweep<Isa>(inputs, [&](std::size_t i, auto lanes) {
    const V x = lanes.load(in + i);
    // Where an input is 0, so is its gradient, and G stays as it is.
    const V decay = xsimd::select(x == V(0.0f), all_kept, kept);
    V sum = fresh ? V(0.0f) : lanes.load(d_in + i);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < R; ++r) {
      V weight = lanes.load(w[r] + i);
      V square = decay * lanes.load(acc[r] + i);
      sum = Isa::fma(factor[r], weight, sum);
      step.apply(factor[r] * x, weight, square);
      lanes.store(w[r] + i, weight);
      lanes.store(acc[r] + i, square);
    }
    lanes.store(d_in + i, sum);
  });
}

template <class Isa, class Step>
void dense_rows(float* w, float* acc, const float* in, const float* d_out, std::size_t inputs,
                std::size_t outputs, std::size_t stride, const Step& step, float* d_in) {
  constexpr std::size_t R = kRowsAtOnce<Isa>;
  float *rows[R], *squares[R];
  float d[R];
  std::size_t filled = 0;
  bool fresh = true;
  for (std::size_t o = 0; o < outputs; ++o) {
    if (d_out[o] == 0.0f) continue;
    rows[filled] = w + o * stride;
    squares[filled] = acc + o * stride;
    d[filled] = d_out[o];
    if (++filled < R) continue;
    dense_rows_at_once<Isa, R>(rows, squares, in, d, inputs, step, fresh, d_in);
    fresh = false;
    filled = 0;
  }
  for (std::size_t r = 0; r < filled; ++r) {
    dense_rows_at_once<Isa, 1>({rows[r]}, {squares[r]}, in, {d[r]}, inputs, step, fresh, d_in);
    fresh = false;
  }
  if (fresh) {
    using V = typename Isa::V;
    sweep<Isa>(inputs, [&](std::size_t i, auto lanes) { lanes.store(d_in + i, V(0.0f)); });
  }
}

/// R rows on the way back. d: their outputs' gradients.
template <class Isa, std::size_t R>
[[gnu::flatten]] inline void backward_bundle(const float* const (&w)[R], const float (&d)[R],
                                             std::size_t inputs, bool fresh, float* d_in) {
  using V = typename Isa::V;
  V factor[R];
  for (std::size_t r = 0; r < R; ++r) factor[r] = V(d[r]);
  sweep<Isa>(inputs, [&](std::size_t i, auto lanes) {
    V sum = fresh ? V(0.0f) : lanes.load(d_in + i);
    for (std::size_t r = 0; r < R; ++r) sum = Isa::fma(factor[r], lanes.load(w[r] + i), sum);
    lanes.store(d_in + i, sum);
  });
}

template <class Isa>
void dense_backward(const float* w, const float* d_out, std::size_t inputs, std::size_t outputs,
                    std::size_t stride, float* d_in) {
  constexpr std::size_t R = 4;
  const float* rows[R];
  float d[R];
  std::size_t filled = 0;
  bool fresh = true;
  const auto flush = [&] {
    for (; filled < R; ++filled) {
      rows[filled] = rows[0];
      d[filled] = 0.0f;
    }
    backward_bundle<Isa, R>(rows, d, inputs, fresh, d_in);
    filled = 0;
    fresh = false;
  };
  for (std::size_t o = 0; o < outputs; ++o) {
    if (d_out[o] == 0.0f) continue;
    rows[filled] = w + o * stride;
    d[filled] = d_out[o];
    if (++filled == R) flush();
  }
  if (filled > 0) flush();
  if (fresh) {
    using V = typename Isa::V;
    sweep<Isa>(inputs, [&](std::size_t i, auto lanes) { lanes.store(d_in + i, V(0.0f)); });
  }
}

template <class Isa>
void dense_backward_update(float* w, float* acc, const float* in, const float* d_out,
                           std::size_t inputs, std::size_t outputs, std::size_t stride,
                           std::size_t examples, StepRule rule, float* d_in) {
  with_step<Isa>(rule, [&](const auto& step) {
    if (examples == 1) {
      dense_rows<Isa>(w, acc, in, d_out, inputs, outputs, stride, step, d_in);
    } else {
      dense_group<Isa>(w, acc, in, d_out, inputs, outputs, stride, examples, step, d_in);
    }
  });
}

}  // namespace leveret::kernels::generic
