/// The three products of a dense layer and a batch of examples, by kernels and by OpenBLAS's sgemm:
/// from which size on sgemm pays (block::gemm_pays).
///
///   forward    out = W in + bias; the kernel makes each example's sums in the same order whatever
///              the batch
///   backward   d_in = W^T d_out, and
///   gradient   d_W = d_out in^T: kernels leave out neurons with gradient 0. Here half of them are
///              0, more than which fire after training (bench_sparse_updates).
///
/// The first line says which code OpenBLAS picked; OPENBLAS_CORETYPE chooses another.
#include <algorithm>
#include <cstdio>

#include "../kernels/registry.h"
#include "block/dense/gemm.h"

namespace leveret::bench {
namespace {

struct Layer {
  explicit Layer(const block::GemmShape& of)
      : shape(of),
        w(random_floats(of.outputs * of.stride, -1, 1)),
        bias(random_floats(of.outputs, -1, 1)),
        in(random_floats(of.examples * of.inputs, -1, 1)),
        out(random_floats(of.examples * of.outputs, -1, 1)),
        d_out(random_floats(of.examples * of.outputs + 1, -1, 1)),
        d_in(random_floats(of.examples * of.inputs, -1, 1)),
        d_w(random_floats(of.outputs * of.stride, -1, 1)) {
    for (std::size_t i = 0; i < of.examples * of.outputs; ++i) d_out[i] = std::max(d_out[i], 0.0f);
  }

  block::GemmShape shape;
  Floats w, bias, in, out, d_out, d_in, d_w;
};

struct Product {
  const char* name;
  void (*by_kernel)(const kernels::Kernels& kernels, Layer& layer);
  void (*by_sgemm)(Layer& layer);
};

void forward(const kernels::Kernels& kernels, Layer& l) {
  kernels.dense_forward(l.w.get(), l.bias.get(), l.in.get(), l.shape.inputs, l.shape.outputs,
                        l.shape.stride, l.shape.examples, l.out.get());
}
void forward(Layer& l) {
  for (std::size_t e = 0; e < l.shape.examples; ++e) {
    std::copy_n(l.bias.get(), l.shape.outputs, l.out.get() + e * l.shape.outputs);
  }
  block::openblas().forward(l.shape, l.w.get(), l.in.get(), l.out.get());
}

void backward(const kernels::Kernels& kernels, Layer& l) {
  for (std::size_t e = 0; e < l.shape.examples; ++e) {
    kernels.dense_backward(l.w.get(), l.d_out.get() + e * l.shape.outputs, l.shape.inputs,
                           l.shape.outputs, l.shape.stride, l.d_in.get() + e * l.shape.inputs);
  }
}
void backward(Layer& l) {
  block::openblas().backward(l.shape, l.w.get(), l.d_out.get(), l.d_in.get());
}

void gradient(const kernels::Kernels& kernels, Layer& l) {
  for (std::size_t o = 0; o < l.shape.outputs; ++o) {
    float* const row = l.d_w.get() + o * l.shape.stride;
    std::fill_n(row, l.shape.inputs, 0.0f);
    for (std::size_t e = 0; e < l.shape.examples; ++e) {
      const float d = l.d_out[e * l.shape.outputs + o];
      if (d != 0.0f) kernels.axpy(d, l.in.get() + e * l.shape.inputs, l.shape.inputs, row);
    }
  }
}
void gradient(Layer& l) {
  block::openblas().weight_gradient(l.shape, l.d_out.get(), l.in.get(), l.d_w.get());
}

constexpr Product kProducts[] = {{"forward", forward, forward},
                                 {"backward", backward, backward},
                                 {"gradient", gradient, gradient}};

template <class Work>
void measure(benchmark::State& state, const block::GemmShape& shape, Work work) {
  Layer layer(shape);
  for (auto _ : state) {
    work(layer);
    benchmark::ClobberMemory();
  }
  const double multiplications = static_cast<double>(shape.inputs * shape.outputs * shape.examples);
  count(state, 4 * multiplications / static_cast<double>(shape.examples), 2 * multiplications);
}

/// forward/912x32/8/avx512, …, gradient/912x32/8/sgemm for every shape and number of examples.
void register_batches() {
  static constexpr std::size_t kShapes[][2] = {
      {64, 16}, {16, 624}, {912, 16}, {912, 32}, {912, 256}, {256, 128}};
  for (const Product& product : kProducts) {
    for (const auto& [inputs, outputs] : kShapes) {
      for (std::size_t examples = 1; examples <= 256; examples *= 2) {
        const block::GemmShape shape{inputs, outputs, inputs, examples};
        const std::string name = std::string(product.name) + '/' + std::to_string(inputs) + 'x' +
                                 std::to_string(outputs) + '/' + std::to_string(examples);
        register_all(name, [=](benchmark::State& state, const kernels::Kernels& kernels) {
          measure(state, shape, [&](Layer& layer) { product.by_kernel(kernels, layer); });
        });
        benchmark::RegisterBenchmark((name + "/sgemm").c_str(), [=](benchmark::State& state) {
          measure(state, shape, product.by_sgemm);
        });
      }
    }
  }
}

}  // namespace
}  // namespace leveret::bench

int main(int argc, char** argv) {
  std::fprintf(stderr, "OpenBLAS %s\n", leveret::block::openblas().core);
  leveret::bench::register_batches();
  return leveret::bench::run(argc, argv);
}
