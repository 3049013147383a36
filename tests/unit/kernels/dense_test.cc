#include "kernels/arrays.h"

namespace leveret::kernels {
namespace {

struct LayerShape {
  std::size_t inputs, outputs, stride;
};

constexpr LayerShape kShapes[] = {{0, 3, 0},      {1, 1, 1},      {7, 3, 7},     {16, 16, 16},
                                  {17, 5, 24},    {39, 8, 48},    {64, 33, 64},  {100, 0, 100},
                                  {780, 32, 784}, {780, 19, 781}, {44, 150, 48}, {48, 65, 48},
                                  {72, 64, 72},   {144, 128, 144}};

/// A layer with its input and output gradient, some of which are 0, as ReLU makes them.
struct Layer {
  explicit Layer(const LayerShape& s, float zeros = .4f)
      : w(random_floats(s.outputs * s.stride, 1)),
        acc(random_floats(s.outputs * s.stride, 2, .01f, 2)),
        bias(random_floats(s.outputs, 3)),
        in(random_floats(s.inputs, 4, -1, 1, .1f)),
        d_out(random_floats(s.outputs, 5, -1, 1, zeros)) {}
  std::vector<float> w, acc, bias, in, d_out;
};

template <class Body>
void for_each_layer_shape(Body&& body) {
  for (const LayerShape& s : kShapes) {
    INFO(s.inputs << " inputs, " << s.outputs << " outputs, stride " << s.stride);
    body(s);
  }
}

std::vector<double> backward_tolerance(const Layer& layer, const LayerShape& s) {
  std::vector<double> tolerance(s.inputs);
  for (std::size_t i = 0; i < s.inputs; ++i) {
    for (std::size_t o = 0; o < s.outputs; ++o) {
      tolerance[i] += std::abs(layer.w[o * s.stride + i] * layer.d_out[o]);
    }
    tolerance[i] *= static_cast<double>(s.outputs + 1) * kEps;
  }
  return tolerance;
}

TEST_CASE("dense_forward of every instruction set") {
  for_each_instruction_set([](const Kernels& kernels) {
    for_each_layer_shape([&](const LayerShape& s) {
      Layer layer(s);
      std::vector<float> expected(s.outputs);
      std::vector<double> tolerance(s.outputs);
      reference().dense_forward(layer.w.data(), layer.bias.data(), layer.in.data(), s.inputs,
                                s.outputs, s.stride, 1, expected.data());
      for (std::size_t o = 0; o < s.outputs; ++o) {
        double size = std::abs(layer.bias[o]);
        for (std::size_t i = 0; i < s.inputs; ++i) {
          size += std::abs(layer.w[o * s.stride + i] * layer.in[i]);
        }
        tolerance[o] = static_cast<double>(s.inputs + 1) * kEps * size;
      }
      Floats w(layer.w), bias(layer.bias), in(layer.in), out(s.outputs);
      kernels.dense_forward(w, bias, in, s.inputs, s.outputs, s.stride, 1, out);
      require_close(out.copy(), expected, tolerance);
    });
  });
}

TEST_CASE("dense_forward of several examples gives each the bits that it has alone") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    for_each_layer_shape([&](const LayerShape& s) {
      const Layer layer(s);
      for (std::size_t examples : {0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 17}) {
        INFO(examples << " examples");
        const std::vector<float> inputs = random_floats(examples * s.inputs, 6, -1, 1, .1f);
        std::vector<float> alone(examples * s.outputs);
        for (std::size_t e = 0; e < examples; ++e) {
          kernels->dense_forward(layer.w.data(), layer.bias.data(), inputs.data() + e * s.inputs,
                                 s.inputs, s.outputs, s.stride, 1, alone.data() + e * s.outputs);
        }
        Floats w(layer.w), bias(layer.bias), in(inputs), out(examples * s.outputs);
        kernels->dense_forward(w, bias, in, s.inputs, s.outputs, s.stride, examples, out);
        CHECK(same_bits(out.copy(), alone));
      }
    });
  }
}

TEST_CASE("dense_backward of every instruction set") {
  for_each_instruction_set([](const Kernels& kernels) {
    for (float zeros : {0.0f, .4f, 1.0f}) {
      for_each_layer_shape([&](const LayerShape& s) {
        Layer layer(s, zeros);
        std::vector<float> expected(s.inputs);
        reference().dense_backward(layer.w.data(), layer.d_out.data(), s.inputs, s.outputs,
                                   s.stride, expected.data());
        Floats w(layer.w), d_out(layer.d_out), d_in(s.inputs);
        std::fill(d_in + 0, d_in + s.inputs, 99.0f);
        kernels.dense_backward(w, d_out, s.inputs, s.outputs, s.stride, d_in);
        require_close(d_in.copy(), expected, backward_tolerance(layer, s));
      });
    }
  });
}

/// d_out of `examples`, of which the second half of the rows is silent in all but the last.
std::vector<float> gradients_of(std::size_t examples, const LayerShape& s, float zeros) {
  std::vector<float> d_out = random_floats(examples * s.outputs, 7, -1, 1, zeros);
  for (std::size_t e = 0; e + 1 < examples; ++e) {
    for (std::size_t o = s.outputs / 2; o < s.outputs; ++o) d_out[e * s.outputs + o] = 0;
  }
  return d_out;
}

/// What one step of `examples` may be off by, and d_in of each of them.
struct GroupTolerance {
  // Between the end of a row's inputs and its stride nothing may move: tolerance 0.
  GroupTolerance(const Layer& before, const Layer& expected, const std::vector<float>& in,
                 const std::vector<float>& d_out, std::size_t examples, const LayerShape& s,
                 const StepRule& rule)
      : w(before.w.size()), acc(before.w.size()) {
    for (std::size_t o = 0; o < s.outputs; ++o) {
      for (std::size_t i = 0; i < s.inputs; ++i) {
        const std::size_t at = o * s.stride + i;
        double g = 0, size = 0;
        for (std::size_t e = 0; e < examples; ++e) {
          const double part = double{d_out[e * s.outputs + o]} * in[e * s.inputs + i];
          g += part;
          size += std::abs(part);
        }
        if (size == 0) continue;
        const StepTolerance off(static_cast<float>(g), before.w[at], before.acc[at],
                                expected.acc[at], rule);
        // The gradient itself is a rounded sum, of parts that may cancel.
        const double rounded = examples > 1 ? static_cast<double>(examples) * kEps * size : 0;
        w[at] = off.weight + 8 * rule.rate * rounded;
        acc[at] = off.acc + 4 * (std::abs(g) + 1) * rounded;
      }
    }
    Layer alone = before;
    for (std::size_t e = 0; e < examples; ++e) {
      std::copy_n(d_out.begin() + static_cast<std::ptrdiff_t>(e * s.outputs), s.outputs,
                  alone.d_out.begin());
      const std::vector<double> of_example = backward_tolerance(alone, s);
      d_in.insert(d_in.end(), of_example.begin(), of_example.end());
    }
  }
  std::vector<double> w, acc, d_in;
};

TEST_CASE("dense_backward_update of every instruction set") {
  for_each_instruction_set([](const Kernels& kernels) {
    for (const StepRule& rule : forgetful_rules()) {
      for (std::size_t examples : {1, 2, 5, 8, 16}) {
        for_each_layer_shape([&](const LayerShape& s) {
          INFO("power " << rule.power << ", l2 " << rule.l2 << ", " << examples << " examples");
          const Layer before(s);
          Layer expected = before;
          const std::vector<float> ins = random_floats(examples * s.inputs, 8, -1, 1, .1f);
          const std::vector<float> d_outs = gradients_of(examples, s, .5f);
          std::vector<float> expected_d_in(examples * s.inputs);
          reference().dense_backward_update(expected.w.data(), expected.acc.data(), ins.data(),
                                            d_outs.data(), s.inputs, s.outputs, s.stride, examples,
                                            rule, expected_d_in.data());
          Floats w(before.w), acc(before.acc), in(ins), d_out(d_outs), d_in(examples * s.inputs);
          std::fill(d_in + 0, d_in + examples * s.inputs, 99.0f);
          kernels.dense_backward_update(w, acc, in, d_out, s.inputs, s.outputs, s.stride, examples,
                                        rule, d_in);
          const GroupTolerance off(before, expected, ins, d_outs, examples, s, rule);
          require_close(w.copy(), expected.w, off.w);
          require_close(acc.copy(), expected.acc, off.acc);
          require_close(d_in.copy(), expected_d_in, off.d_in);
        });
      }
    }
  });
}

TEST_CASE("an accumulator forgets where its weight has a gradient, once for each example") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    // Two neurons, the second of which fires in the second example alone; one input is 0.
    constexpr std::size_t kInputs = 3, kOutputs = 2, kExamples = 2;
    const std::vector<float> in{1, 0, 2, 3, 0, -1}, d_out{.5f, 0, -.25f, .125f};
    std::vector<float> w(kInputs * kOutputs, .1f), acc(kInputs * kOutputs, 8);
    std::vector<float> d_in(kInputs * kExamples);
    const StepRule rule{.rate = .1f, .power = .5f, .l2 = 0, .decay = .5f};
    kernels->dense_backward_update(w.data(), acc.data(), in.data(), d_out.data(), kInputs, kOutputs,
                                   kInputs, kExamples, rule, d_in.data());
    const float first = .5f * 1 - .25f * 3, third = .5f * 2 + .25f * 1;
    CHECK(acc == std::vector<float>{8 * .25f + first * first, 8, 8 * .25f + third * third,
                                    8 * .5f + .375f * .375f, 8, 8 * .5f + .125f * .125f});
    CHECK(w[1] == .1f);
    std::vector<float> bias(2, .1f), bias_acc(2, 8);
    const std::vector<float> g{0, .5f};
    kernels->update(bias.data(), bias_acc.data(), g.data(), 2, rule);
    CHECK(bias_acc == std::vector<float>{8, 8 * .5f + .25f});
  }
}

TEST_CASE("rows of a zero gradient are not even read") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    const LayerShape s = {50, 9, 50};
    Layer layer(s, 0);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t o = 0; o < s.outputs; o += 2) {
      layer.d_out[o] = 0;
      std::fill_n(layer.w.begin() + static_cast<std::ptrdiff_t>(o * s.stride), s.inputs, nan);
    }
    const Layer before = layer;
    // In one example, and in four.
    for (std::size_t examples : {1, 4}) {
      std::vector<float> in, d_out, d_in(examples * s.inputs);
      for (std::size_t e = 0; e < examples; ++e) {
        in.insert(in.end(), layer.in.begin(), layer.in.end());
        d_out.insert(d_out.end(), layer.d_out.begin(), layer.d_out.end());
      }
      kernels->dense_backward_update(layer.w.data(), layer.acc.data(), in.data(), d_out.data(),
                                     s.inputs, s.outputs, s.stride, examples, {}, d_in.data());
      for (float d : d_in) CHECK(std::isfinite(d));
    }
    for (std::size_t at = 0; at < layer.w.size(); ++at) {
      if (at / s.stride % 2 != 0) continue;
      if (!same_bits(layer.w[at], before.w[at])) FAIL("weight " << at);
      if (!same_bits(layer.acc[at], before.acc[at])) FAIL("accumulator " << at);
    }
  }
}

}  // namespace
}  // namespace leveret::kernels
