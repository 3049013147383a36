/// The three products of a dense layer and a batch of examples, by OpenBLAS.
///
/// gemm.cc is the only file that includes cblas.h. It is a library of its own (leveret_gemm), which
/// only those link who learn in batches: what predicts finds no more than these pointers, and they
/// are null.
///
/// OpenBLAS picks its code by the processor, not by LEVERET_SIMD, and its sums come in an order of
/// its own: equal calls give equal bits on one kind of processor, not on all. It is told to run in
/// the calling thread. Several threads may call at a time. A build of it with POSIX threads guards
/// its working memory, and they run side by side; others (Debian's serial one, those with OpenMP)
/// give two calls the same memory, and they wait for each other.
#pragma once

#include <cstddef>

namespace leveret::block {

/// A layer's W has `outputs` rows of `stride` floats, of which the first `inputs` are used; inputs
/// of examples lie `inputs` floats apart, and outputs `outputs`. All is float32 in rows. At most
/// 2^31 - 1 of each.
struct GemmShape {
  std::size_t inputs, outputs, stride, examples;
};

struct Gemm {
  /// What OpenBLAS calls the code that it picked for this processor: "Haswell", "SkylakeX", …
  const char* core;

  /// out[e][o] += sum_i in[e][i] * w[o][i]
  void (*forward)(const GemmShape& shape, const float* w, const float* in, float* out);
  /// d_in[e][i] = sum_o d_out[e][o] * w[o][i]
  void (*backward)(const GemmShape& shape, const float* w, const float* d_out, float* d_in);
  /// d_w[o][i] = sum_e d_out[e][o] * in[e][i], in rows of `stride` floats as W; what stands behind
  /// the inputs is not written.
  void (*weight_gradient)(const GemmShape& shape, const float* d_out, const float* in, float* d_w);
};

/// OpenBLAS, in the calling thread.
const Gemm& openblas();

// From which size on a product takes less time so than by kernels (bench_gemm, AVX-512 and AVX2).
// Packing the matrices is what small ones cost; and the kernels of the way back leave out neurons
// that did not fire.

constexpr bool forward_pays(const GemmShape& shape) {
  return shape.examples >= 64 && shape.outputs >= 64;
}
/// `fired`: how many of the output gradients are not 0. Kernels take a row of W for each; where
/// rows are short, that is what costs.
constexpr bool backward_pays(const GemmShape& shape, std::size_t fired) {
  const std::size_t all = shape.examples * shape.outputs;
  if (shape.examples < 8 || shape.outputs < 8) return false;
  if (shape.inputs < 64) return 8 * fired >= all;
  const bool is_large = shape.examples >= 64 && shape.outputs >= 64;
  return is_large ? 2 * fired >= all : 3 * fired >= 2 * all;
}
/// Two to three times as fast: the kernel goes over a row of W for each example.
constexpr bool weight_gradient_pays(const GemmShape& shape) {
  return shape.examples >= 8 && shape.outputs >= 8;
}

}  // namespace leveret::block
