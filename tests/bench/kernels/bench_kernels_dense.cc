/// The first layer of a DeepFFM: 780 inputs (741 pairs and 39 linear terms) filled up to whole
/// lines, 32 outputs; a second layer of 32; and the head, one output. W alone is 100 KB: it lives
/// in the second-level cache, which gives a line in 1.3 to 2 cycles if it is read as one stream:
/// forward and backward are bound by that, .5 to .7 µs at 4 GHz. Eight examples at a time share it,
/// and are bound by arithmetic. bench_gemm has other batches and shapes. The update is bound by
/// arithmetic, as in bench_kernels_ffm.cc: 1,568 registers at 7 cycles, 3.7 µs.
#include "registry.h"

namespace leveret::bench {
namespace {

struct Layer {
  Layer(std::size_t in_count, std::size_t out_count, std::size_t example_count)
      : inputs(in_count),
        outputs(out_count),
        examples(example_count),
        stride((in_count + 15) / 16 * 16),
        w(random_floats(outputs * stride, -1, 1)),
        acc(random_floats(outputs * stride, 1, 2)),
        bias(random_floats(outputs, -1, 1)),
        in(random_floats(examples * inputs, -1, 1)),
        out(random_floats(examples * outputs, -1, 1)),
        d_out(random_floats(examples * outputs, -.01f, .01f)),
        d_in(random_floats(examples * inputs, -1, 1)) {}
  double bytes(double n) const { return n * 4 * static_cast<double>(inputs * outputs); }

  std::size_t inputs, outputs, examples, stride;
  Floats w, acc, bias, in, out, d_out, d_in;
};

constexpr kernels::StepRule kRule = {.rate = .02f, .power = .5f, .l2 = 0};

template <class Work>
void add(const std::string& name, std::size_t inputs, std::size_t outputs, double arrays,
         double flops_per_weight, Work work, std::size_t examples = 1) {
  const std::string shape = std::to_string(inputs) + 'x' + std::to_string(outputs);
  register_all(name + '/' + shape, [=](benchmark::State& state, const kernels::Kernels& kernels) {
    Layer layer(inputs, outputs, examples);
    for (auto _ : state) {
      work(kernels, layer);
      benchmark::ClobberMemory();
    }
    count(state, layer.bytes(arrays), flops_per_weight * static_cast<double>(inputs * outputs));
  });
}

void register_dense() {
  using kernels::Kernels;
  const auto forward = [](const Kernels& kernels, Layer& l) {
    kernels.dense_forward(l.w.get(), l.bias.get(), l.in.get(), l.inputs, l.outputs, l.stride,
                          l.examples, l.out.get());
  };
  const auto backward = [](const Kernels& kernels, Layer& l) {
    kernels.dense_backward(l.w.get(), l.d_out.get(), l.inputs, l.outputs, l.stride, l.d_in.get());
  };
  const auto backward_update = [](const Kernels& kernels, Layer& l) {
    kernels.dense_backward_update(l.w.get(), l.acc.get(), l.in.get(), l.d_out.get(), l.inputs,
                                  l.outputs, l.stride, l.examples, kRule, l.d_in.get());
  };
  const auto half_active = [=](const Kernels& kernels, Layer& l) {
    // Others in each example.
    for (std::size_t o = 0; o < l.outputs * l.examples; ++o) {
      if (o * 2654435761u >> 16 & 1) l.d_out[o] = 0;
    }
    backward_update(kernels, l);
  };
  add("dense_forward", 784, 32, 1, 2, forward);
  add("dense_forward_of_8", 784, 32, 1, 16, forward, 8);
  add("dense_forward", 32, 32, 1, 2, forward);
  add("dense_forward", 32, 1, 1, 2, forward);
  add("dense_backward", 784, 32, 1, 2, backward);
  add("dense_backward_update", 784, 32, 4, 9, backward_update);
  add("dense_backward_update_half", 784, 32, 2, 4.5, half_active);
  add("dense_backward_update_half_of_8", 784, 32, 4, 23, half_active, 8);
  add("dense_backward_update", 32, 32, 4, 9, backward_update);
}

}  // namespace
}  // namespace leveret::bench

int main(int argc, char** argv) {
  leveret::bench::register_dense();
  return leveret::bench::run(argc, argv);
}
