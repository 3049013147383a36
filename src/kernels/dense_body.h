/// The dense-layer kernels, generic in the instruction set.
///
/// Rows of W are worked on in bundles, so that the input (and the input's gradient) is read once
/// per bundle. Rows whose gradient is 0 never get into a bundle.
#pragma once

#include "kernels/lanes.h"
#include "kernels/vector_body.h"

namespace leveret::kernels::generic {

// ---- forward ----

/// R rows times the inputs of E examples: sums[e * N + r] holds the sum of row r, spread over its
/// lanes. R rows by E examples by U registers are under way at once: enough to hide the latency of
/// the multiply-add, and few enough streams for the prefetcher. U alone decides in which order a
/// sum is made.
template <class Isa, std::size_t R, std::size_t E, std::size_t U>
inline void row_sums(const float* w, const float* in, std::size_t inputs, std::size_t stride,
                     typename Isa::V* sums) {
  using V = typename Isa::V;
  constexpr std::size_t N = kLanes<Isa>;
  V part[E][R][U];
  for (auto& example : part) {
    for (auto& row : example) {
      for (V& p : row) p = V(0.0f);
    }
  }
  const auto multiply = [&](std::size_t i, std::size_t u, auto lanes) {
    V x[E];
#pragma GCC unroll 16
    for (std::size_t e = 0; e < E; ++e) x[e] = lanes.load(in + e * inputs + i);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < R; ++r) {
      const V weight = lanes.load(w + r * stride + i);
#pragma GCC unroll 16
      for (std::size_t e = 0; e < E; ++e) part[e][r][u] = Isa::fma(weight, x[e], part[e][r][u]);
    }
  };
  std::size_t i = 0;
  for (; i + U * N <= inputs; i += U * N) {
#pragma GCC unroll 4
    for (std::size_t u = 0; u < U; ++u) multiply(i + u * N, u, Whole<Isa>{});
  }
  sweep<Isa>(inputs - i, [&](std::size_t at, auto lanes) { multiply(i + at, 0, lanes); });
#pragma GCC unroll 16
  for (std::size_t e = 0; e < E; ++e) {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < R; ++r) {
      V sum = part[e][r][0];
      for (std::size_t u = 1; u < U; ++u) sum = sum + part[e][r][u];
      sums[e * N + r] = sum;
    }
  }
}

/// A bundle of `kLanes` rows for E examples, and for each of these one transposed reduction of all
/// rows at the end.
template <class Isa, std::size_t R, std::size_t E>
[[gnu::flatten]] inline void forward_bundle(const float* w, const float* bias, const float* in,
                                            std::size_t inputs, std::size_t outputs,
                                            std::size_t stride, float* out) {
  using V = typename Isa::V;
  constexpr std::size_t N = kLanes<Isa>;
  constexpr std::size_t U = N < 8 ? 8 / N : 1;
  V sums[E * N];
  for (std::size_t r = 0; r < N; r += R) {
    row_sums<Isa, R, E, U>(w + r * stride, in, inputs, stride, sums + r);
  }
  const V biases = V::load_unaligned(bias);
  for (std::size_t e = 0; e < E; ++e) {
    (Isa::template slot_sums<N>(sums + e * N) + biases).store_unaligned(out + e * outputs);
  }
}

/// Of a bundle, for E examples: sums enough to hide the latency of the multiply-add, and registers
/// enough, of 32 (AVX-512) or 16. More than these are slower, as are fewer (bench_gemm). Where they
/// serve one example, so are more than four streams of weights (bench_kernels_dense).
constexpr std::size_t rows_at_once(std::size_t lanes, std::size_t examples) {
  if (examples == 1) return 4;
  if (lanes < 8) return 1;
  return lanes == 16 && examples == 2 ? 8 : 4;
}

/// A layer for E examples at a time, and of the rest as many as are left. An
/// example's sums are the same bits whatever E is, and whoever its neighbours are.
template <class Isa, std::size_t E>
inline void forward_examples(const float* w, const float* bias, const float* in, std::size_t inputs,
                             std::size_t outputs, std::size_t stride, std::size_t examples,
                             float* out) {
  constexpr std::size_t N = kLanes<Isa>;
  constexpr std::size_t R = rows_at_once(N, E);
  for (; examples >= E; examples -= E, in += E * inputs, out += E * outputs) {
    std::size_t o = 0;
    for (; o + N <= outputs; o += N) {
      forward_bundle<Isa, R, E>(w + o * stride, bias + o, in, inputs, outputs, stride, out + o);
    }
    for (; o < outputs; ++o) {
      for (std::size_t e = 0; e < E; ++e) {
        out[e * outputs + o] = bias[o] + dot<Isa>(w + o * stride, in + e * inputs, inputs);
      }
    }
  }
  if constexpr (E > 1) {
    forward_examples<Isa, E - 1>(w, bias, in, inputs, outputs, stride, examples, out);
  }
}

/// With eight lanes and 16 registers, 4 rows by 3 examples are the most whose sums fit.
template <class Isa>
void dense_forward(const float* w, const float* bias, const float* in, std::size_t inputs,
                   std::size_t outputs, std::size_t stride, std::size_t examples, float* out) {
  constexpr std::size_t E = kLanes<Isa> == 8 ? 3 : 4;
  forward_examples<Isa, E>(w, bias, in, inputs, outputs, stride, examples, out);
}

// ---- backward and update ----

/// R active rows of W: row r starts at w + first[r], and its output's gradient is d[r].
template <std::size_t R>
struct Bundle {
  std::size_t first[R];
  float d[R];
};

/// One pass over the rows of a bundle. `fresh`: d_in is set rather than added to.
template <class Isa, std::size_t R, class Step>
[[gnu::flatten]] inline void dense_bundle(float* w, float* acc, const float* in,
                                          const Bundle<R>& rows, std::size_t inputs,
                                          const Step& step, bool fresh, float* d_in) {
  using V = typename Isa::V;
  V d[R];
  float* weights[R];
  float* squares[R];
  for (std::size_t r = 0; r < R; ++r) {
    d[r] = V(rows.d[r]);
    weights[r] = w + rows.first[r];
    squares[r] = acc + rows.first[r];
  }
  sweep<Isa>(inputs, [&](std::size_t i, auto lanes) {
    V sum = fresh ? V(0.0f) : lanes.load(d_in + i);
    const V x = lanes.load(in + i);
    for (std::size_t r = 0; r < R; ++r) {
      V weight = lanes.load(weights[r] + i);
      sum = Isa::fma(d[r], weight, sum);
      V square = lanes.load(squares[r] + i);
      step.apply(d[r] * x, weight, square);
      lanes.store(weights[r] + i, weight);
      lanes.store(squares[r] + i, square);
    }
    lanes.store(d_in + i, sum);
  });
}

template <class Isa, class Step>
void dense_rows(float* w, float* acc, const float* in, const float* d_out, std::size_t inputs,
                std::size_t outputs, std::size_t stride, const Step& step, float* d_in) {
  constexpr std::size_t R = 4;
  Bundle<R> rows;
  std::size_t filled = 0;
  bool fresh = true;
  for (std::size_t o = 0; o < outputs; ++o) {
    if (d_out[o] == 0.0f) continue;
    rows.first[filled] = o * stride;
    rows.d[filled] = d_out[o];
    if (++filled < R) continue;
    dense_bundle<Isa, R>(w, acc, in, rows, inputs, step, fresh, d_in);
    filled = 0;
    fresh = false;
  }
  for (std::size_t r = 0; r < filled; ++r) {
    const Bundle<1> row = {{rows.first[r]}, {rows.d[r]}};
    dense_bundle<Isa, 1>(w, acc, in, row, inputs, step, fresh, d_in);
    fresh = false;
  }
  if (fresh) {
    using V = typename Isa::V;
    sweep<Isa>(inputs, [&](std::size_t i, auto lanes) { lanes.store(d_in + i, V(0.0f)); });
  }
}

/// R rows on the way back to E examples. d: their outputs' gradients, row after row.
template <class Isa, std::size_t R, std::size_t E>
[[gnu::flatten]] inline void backward_bundle(const float* const (&w)[R], const float (&d)[R][E],
                                             std::size_t inputs, bool fresh, float* d_in) {
  using V = typename Isa::V;
  V factor[R][E];
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t e = 0; e < E; ++e) factor[r][e] = V(d[r][e]);
  }
  sweep<Isa>(inputs, [&](std::size_t i, auto lanes) {
    V sum[E];
    for (std::size_t e = 0; e < E; ++e) {
      sum[e] = fresh ? V(0.0f) : lanes.load(d_in + e * inputs + i);
    }
    for (std::size_t r = 0; r < R; ++r) {
      const V weight = lanes.load(w[r] + i);
      for (std::size_t e = 0; e < E; ++e) sum[e] = Isa::fma(factor[r][e], weight, sum[e]);
    }
    for (std::size_t e = 0; e < E; ++e) lanes.store(d_in + e * inputs + i, sum[e]);
  });
}

/// E examples together: W is read once for them, but for rows that no example fired.
template <class Isa, std::size_t E>
void backward_together(const float* w, const float* d_out, std::size_t inputs, std::size_t outputs,
                       std::size_t stride, float* d_in) {
  // R * E factors, E sums and a weight have to fit into the registers.
  constexpr std::size_t R = kLanes<Isa> == 16 || E == 1 ? 4 : 2;
  const float* rows[R];
  float d[R][E];
  std::size_t filled = 0;
  bool fresh = true;
  const auto flush = [&] {
    for (; filled < R; ++filled) {
      rows[filled] = rows[0];
      for (float& factor : d[filled]) factor = 0.0f;
    }
    backward_bundle<Isa, R, E>(rows, d, inputs, fresh, d_in);
    filled = 0;
    fresh = false;
  };
  for (std::size_t o = 0; o < outputs; ++o) {
    bool any = false;
    for (std::size_t e = 0; e < E; ++e) {
      d[filled][e] = d_out[e * outputs + o];
      any |= d[filled][e] != 0.0f;
    }
    if (!any) continue;
    rows[filled] = w + o * stride;
    if (++filled == R) flush();
  }
  if (filled > 0) flush();
  if (fresh) {
    using V = typename Isa::V;
    sweep<Isa>(E * inputs, [&](std::size_t i, auto lanes) { lanes.store(d_in + i, V(0.0f)); });
  }
}

template <class Isa>
void dense_backward(const float* w, const float* d_out, std::size_t inputs, std::size_t outputs,
                    std::size_t stride, std::size_t examples, float* d_in) {
  constexpr std::size_t E = 4;
  for (; examples >= E; examples -= E, d_out += E * outputs, d_in += E * inputs) {
    backward_together<Isa, E>(w, d_out, inputs, outputs, stride, d_in);
  }
  for (; examples > 0; --examples, d_out += outputs, d_in += inputs) {
    backward_together<Isa, 1>(w, d_out, inputs, outputs, stride, d_in);
  }
}

template <class Isa>
void dense_backward_update(float* w, float* acc, const float* in, const float* d_out,
                           std::size_t inputs, std::size_t outputs, std::size_t stride,
                           StepRule rule, float* d_in) {
  with_step<Isa>(rule, [&](const auto& step) {
    dense_rows<Isa>(w, acc, in, d_out, inputs, outputs, stride, step, d_in);
  });
}

// ---- the step of several examples ----

/// Steps a row of W whose output has gradient d[e] in example e.
template <class Isa, std::size_t E, class Step>
[[gnu::flatten]] inline void step_row(float* w, float* acc, const float* const* in, const float* d,
                                      std::size_t inputs, const Step& step) {
  using V = typename Isa::V;
  V factor[E];
  const float* x[E];
  for (std::size_t e = 0; e < E; ++e) {
    factor[e] = V(d[e]);
    x[e] = in[e];
  }
  sweep<Isa>(inputs, [&](std::size_t i, auto lanes) {
    V g = factor[0] * lanes.load(x[0] + i);
#pragma GCC unroll 16
    for (std::size_t e = 1; e < E; ++e) g = Isa::fma(factor[e], lanes.load(x[e] + i), g);
    V weight = lanes.load(w + i);
    V square = lanes.load(acc + i);
    step.apply(g, weight, square);
    lanes.store(w + i, weight);
    lanes.store(acc + i, square);
  });
}

/// The same for a number of examples that is known at run time, at most E.
template <class Isa, std::size_t E, class Step>
inline void step_row(std::size_t examples, float* w, float* acc, const float* const* in,
                     const float* d, std::size_t inputs, const Step& step) {
  if (examples == E) return step_row<Isa, E>(w, acc, in, d, inputs, step);
  if constexpr (E > 1) step_row<Isa, E - 1>(examples, w, acc, in, d, inputs, step);
}

template <class Isa>
void dense_update(float* w, float* acc, const float* in, const float* d_out, std::size_t inputs,
                  std::size_t outputs, std::size_t stride, std::size_t examples, StepRule rule) {
  with_step<Isa>(rule, [&](const auto& step) {
    for (std::size_t o = 0; o < outputs; ++o) {
      const float* x[kMostTogether];
      float d[kMostTogether];
      std::size_t fired = 0;
      for (std::size_t e = 0; e < examples; ++e) {
        // Without a branch: half of them fire, and nobody can tell which.
        x[fired] = in + e * inputs;
        d[fired] = d_out[e * outputs + o];
        fired += d[fired] != 0.0f;
      }
      step_row<Isa, kMostTogether>(fired, w + o * stride, acc + o * stride, x, d, inputs, step);
    }
  });
}

}  // namespace leveret::kernels::generic
