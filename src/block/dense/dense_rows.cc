#include "block/dense/dense_rows.h"

#include "block/dense/dense_products.h"
#include "block/dense/layer_back.h"
#include "tape/dense.h"
#include "tape/gradients.h"

namespace leveret::block {

void DenseRows::declare(const std::string& name, tape::TensorId in, std::uint32_t inputs,
                        std::uint32_t outputs, float gain, const Config& config,
                        tape::Declarations& declarations, bool bias) {
  number_ = declarations.layers.size();
  tape::DenseInit init;
  init.seed = config.seed;
  init.layer = static_cast<std::uint32_t>(number_);
  init.gain = gain;
  init.bias = bias;
  tape::declare_dense_rows(name, in, inputs, outputs, init, config.layers_rule, declarations);
}

void DenseRows::forward(const Run& run, std::size_t rows, const float* in, float* out) const {
  const bool has_bias = !run.parameters.layer(number_).bias.empty();
  if (rows == 1 && has_bias) return forward_rows(run, run.tape.size, in, out);
  const DenseProducts products{kernels_, run.tape.gemm};
  products.forward_rows(run.parameters.layer(number_), in, run.tape.size * rows, out,
                        run.tape.layer_scratch);
}

void DenseRows::forward_rows(const Run& run, std::size_t count, const float* in, float* out) const {
  const tape::ConstDense layer = run.parameters.layer(number_);
  DenseProducts{kernels_, run.tape.gemm}.forward(layer, layer.inputs, in, count, out);
}

void DenseRows::backward(const Run& run, std::size_t rows, const float* in, const float* d_out,
                         float* d_in) const {
  backward_rows(run, run.tape.size * rows, rows > 1 ? run.tape.examples_of_rows(rows) : nullptr, in,
                d_out, d_in);
}

void DenseRows::backward_rows(const Run& run, std::size_t count, const std::uint32_t* examples,
                              const float* in, const float* d_out, float* d_in) const {
  const std::size_t width = run.parameters.layer(number_).inputs;
  layer_back(*kernels_, run.parameters, run.tape,
             {number_, {count, width, in, examples}, d_out, d_in});
}

}  // namespace leveret::block
