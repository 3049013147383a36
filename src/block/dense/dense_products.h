/// The products of a dense layer and some examples, by kernels, or by GEMM where it pays.
#pragma once

#include <cstddef>
#include <vector>

#include "block/dense/gemm.h"
#include "kernels/kernels.h"
#include "tape/dense.h"
#include "tape/gradients.h"

namespace leveret::block {

/// `in` and `out` of examples that lie `width` and layer.outputs floats apart; `width` is at least
/// layer.inputs, and what is beyond these is 0 in the layer, or 0 in the examples. `gemm` may be
/// null.
struct DenseProducts {
  const kernels::Kernels* kernels;
  const Gemm* gemm;

  /// out = W in + bias; a layer without biases has a bias of 0.
  void forward(const tape::ConstDense& layer, std::size_t width, const float* in,
               std::size_t examples, float* out) const;
  /// d_in = W' d_out, `width` floats of each example.
  void backward(const tape::ConstDense& layer, std::size_t width, const float* d_out,
                std::size_t examples, float* d_in) const;

  /// By `backward`, or by `backward_rows` where an example has several rows.
  void backward(const tape::ConstDense& layer, const tape::LayerGradient& gradient) const;

  // The same of rows of which an example has several (tokens): many, of few numbers each.

  /// `scratch`: made as large as it takes.
  void forward_rows(const tape::ConstDense& layer, const float* in, std::size_t rows, float* out,
                    std::vector<float>& scratch) const;
  void backward_rows(const tape::ConstDense& layer, std::size_t width, const float* d_out,
                     std::size_t rows, float* d_in) const;

 private:
  void put_biases(const tape::ConstDense& layer, std::size_t examples, float* out) const;
};

}  // namespace leveret::block
