/// A fully connected layer over rows of numbers. An example has one row or several (tokens), which
/// share the weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "block/block.h"
#include "kernels/kernels.h"

namespace leveret::block {

/// Shapes: R rows of an example, one behind the other and example behind example.
class DenseRows {
 public:
  explicit DenseRows(const kernels::Kernels& kernels) : kernels_(&kernels) {}

  /// `in`: the tensor that has the rows, of `inputs` numbers each. If there are more inputs with
  /// more fields, the new ones come last. Weights begin with the variance `gain` / inputs.
  void declare(const std::string& name, tape::TensorId in, std::uint32_t inputs,
               std::uint32_t outputs, float gain, const Config& config,
               tape::Declarations& declarations, bool bias = true);

  /// `rows`: R of each example of the tape. `in`, `out`: B * R rows.
  void forward(const Run& run, std::size_t rows, const float* in, float* out) const;
  /// Hands on the gradient of the layer, and writes d_in.
  void backward(const Run& run, std::size_t rows, const float* in, const float* d_out,
                float* d_in) const;

  // The same of rows of some examples, any number of each.

  void forward_rows(const Run& run, std::size_t count, const float* in, float* out) const;
  /// `examples`: of each row, ascending.
  void backward_rows(const Run& run, std::size_t count, const std::uint32_t* examples,
                     const float* in, const float* d_out, float* d_in) const;

 private:
  const kernels::Kernels* kernels_;
  std::size_t number_ = 0;  ///< in Parameters
};

}  // namespace leveret::block
