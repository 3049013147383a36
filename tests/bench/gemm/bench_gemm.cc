/// dense_forward of a batch of examples against OpenBLAS's sgemm, which answers whether a matrix
/// library is worth its dependency. The kernel adds the bias too, and makes each example's sums in
/// the same order whatever the batch; sgemm is asked for neither.
///
/// OpenBLAS chooses its code by the processor, unless OPENBLAS_CORETYPE does: the first line says
/// which it is. Figures are comparable only with no OPENBLAS_ variable set.
#include <cblas.h>

#include <cstdio>

#include "../kernels/registry.h"

namespace leveret::bench {
namespace {

struct Layer {
  Layer(std::size_t in_count, std::size_t out_count, std::size_t example_count)
      : inputs(in_count),
        outputs(out_count),
        examples(example_count),
        w(random_floats(outputs * inputs, -1, 1)),
        bias(random_floats(outputs, -1, 1)),
        in(random_floats(examples * inputs, -1, 1)),
        out(random_floats(examples * outputs, -1, 1)) {}

  std::size_t inputs, outputs, examples;
  Floats w, bias, in, out;
};

void with_kernel(const kernels::Kernels& kernels, Layer& l) {
  kernels.dense_forward(l.w.get(), l.bias.get(), l.in.get(), l.inputs, l.outputs, l.inputs,
                        l.examples, l.out.get());
}

void with_sgemm(Layer& l) {
  const auto inputs = static_cast<blasint>(l.inputs);
  const auto outputs = static_cast<blasint>(l.outputs);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<blasint>(l.examples), outputs,
              inputs, 1.0f, l.in.get(), inputs, l.w.get(), inputs, 0.0f, l.out.get(), outputs);
}

template <class Work>
void measure(benchmark::State& state, const std::size_t (&shape)[2], std::size_t examples,
             Work work) {
  Layer layer(shape[0], shape[1], examples);
  for (auto _ : state) {
    work(layer);
    benchmark::ClobberMemory();
  }
  const double multiplications = static_cast<double>(shape[0] * shape[1] * examples);
  count(state, 4 * multiplications / static_cast<double>(examples), 2 * multiplications);
}

/// 780x32/8/avx512, …, 780x32/8/sgemm for every shape and number of examples.
void register_batches() {
  static constexpr std::size_t kShapes[][2] = {{780, 32}, {780, 128}, {128, 128}};
  for (const auto& shape : kShapes) {
    for (std::size_t examples = 1; examples <= 256; examples *= 2) {
      const std::string name = std::to_string(shape[0]) + 'x' + std::to_string(shape[1]) + '/' +
                               std::to_string(examples);
      register_all(name, [=, &shape](benchmark::State& state, const kernels::Kernels& kernels) {
        measure(state, shape, examples, [&](Layer& layer) { with_kernel(kernels, layer); });
      });
      benchmark::RegisterBenchmark((name + "/sgemm").c_str(), [=, &shape](benchmark::State& state) {
        measure(state, shape, examples, with_sgemm);
      });
    }
  }
}

}  // namespace
}  // namespace leveret::bench

int main(int argc, char** argv) {
  std::fprintf(stderr, "%s, core %s\n", openblas_get_config(), openblas_get_corename());
  leveret::bench::register_batches();
  return leveret::bench::run(argc, argv);
}
