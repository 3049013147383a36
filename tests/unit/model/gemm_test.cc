// Dense layers of batches through OpenBLAS.
#include "block/dense/gemm.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <thread>

#include "random_model.h"
#include "spec/optimizer.h"

namespace leveret::model {
namespace {

using block::GemmShape;

TEST_CASE("the three products are those of plain sums") {
  const auto [inputs, outputs, stride, examples] =
      GENERATE(GemmShape{17, 5, 32, 3}, GemmShape{32, 16, 32, 16}, GemmShape{1, 1, 16, 1},
               GemmShape{130, 33, 144, 65});
  std::mt19937 random(1);
  std::uniform_real_distribution<float> unit(-1, 1);
  const auto draw = [&](std::size_t size) {
    std::vector<float> x(size);
    for (float& v : x) v = unit(random);
    return x;
  };
  const std::vector<float> w = draw(outputs * stride), in = draw(examples * inputs);
  const std::vector<float> out = draw(examples * outputs);
  const GemmShape shape{inputs, outputs, stride, examples};
  const block::Gemm& gemm = block::openblas();
  CHECK(std::string(gemm.core).size() > 2);

  std::vector<float> sums = out;
  gemm.forward(shape, w.data(), in.data(), sums.data());
  std::vector<float> d_in(examples * inputs, 7.0f);
  gemm.backward(shape, w.data(), out.data(), d_in.data());
  std::vector<float> d_w(outputs * stride, 7.0f);
  gemm.weight_gradient(shape, out.data(), in.data(), d_w.data());

  for (std::size_t e = 0; e < examples; ++e) {
    for (std::size_t o = 0; o < outputs; ++o) {
      double sum = out[e * outputs + o];
      for (std::size_t i = 0; i < inputs; ++i)
        sum += double{w[o * stride + i]} * in[e * inputs + i];
      CHECK(sums[e * outputs + o] == Approx(sum).margin(1e-4));
    }
    for (std::size_t i = 0; i < inputs; ++i) {
      double sum = 0;
      for (std::size_t o = 0; o < outputs; ++o)
        sum += double{out[e * outputs + o]} * w[o * stride + i];
      CHECK(d_in[e * inputs + i] == Approx(sum).margin(1e-4));
    }
  }
  for (std::size_t o = 0; o < outputs; ++o) {
    for (std::size_t i = 0; i < stride; ++i) {
      double sum = i < inputs ? 0 : 7;
      for (std::size_t e = 0; i < inputs && e < examples; ++e) {
        sum += double{out[e * outputs + o]} * in[e * inputs + i];
      }
      CHECK(d_w[o * stride + i] == Approx(sum).margin(1e-4));
    }
  }
}

Spec wide_spec(spec::Heads heads) {
  Spec spec;
  spec.heads = heads;
  spec.hidden = {70, 24};
  spec.admit = 1;
  spec.batch_size = 64;
  return spec;
}

/// A model that learns from lines in one batch, with products by `gemm` or without.
struct Learned {
  /// `bias` decides whether all the other neurons fire.
  Learned(const Spec& spec, const std::string& lines, const block::Gemm* gemm, float bias = 0)
      : model(spec, kTestMemory), sample(lines), trainer(model, kernels::active()) {
    batch = sample.batch(model);
    randomise(model, batch, 3);
    for (const tape::Dense& layer : model.parameters().layers()) {
      if (layer.outputs == 1) continue;
      for (float& b : layer.bias) b += bias;
      layer.bias[1] = layer.bias[3] = -100;  // they will not fire
    }
    before = model.parameters();
    trainer.tape.gemm = gemm;
    trainer.learn(model, batch);
  }
  Model model;
  Sample sample;
  Trainer trainer;
  feature::FeatureBatch batch;
  Parameters before;
};

int forwards, backwards, gradients;

/// OpenBLAS that counts.
const block::Gemm kCounted = {
    "counted",
    [](const GemmShape& shape, const float* w, const float* in, float* out) {
      ++forwards;
      block::openblas().forward(shape, w, in, out);
    },
    [](const GemmShape& shape, const float* w, const float* d_out, float* d_in) {
      ++backwards;
      block::openblas().backward(shape, w, d_out, d_in);
    },
    [](const GemmShape& shape, const float* d_out, const float* in, float* d_w) {
      ++gradients;
      block::openblas().weight_gradient(shape, d_out, in, d_w);
    }};

TEST_CASE("threads that call at the same time get what each gets alone") {
  constexpr GemmShape kShape{256, 32, 256, 32};
  constexpr int kCalls = 5000;
  std::vector<float> in(kShape.examples * kShape.inputs), d_out(kShape.examples * kShape.outputs);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 100) / 100;
  for (std::size_t i = 0; i < d_out.size(); ++i) d_out[i] = static_cast<float>(i % 10) / 10;
  const auto product = [&](std::vector<float>& d_w) {
    block::openblas().weight_gradient(kShape, d_out.data(), in.data(), d_w.data());
  };
  std::vector<float> alone(kShape.outputs * kShape.stride);
  product(alone);
  std::vector<int> wrong(8);
  std::vector<std::thread> threads;
  for (int& of_thread : wrong) {
    threads.emplace_back([&] {
      std::vector<float> d_w(alone.size());
      for (int i = 0; i < kCalls; ++i) {
        product(d_w);
        of_thread += !std::ranges::equal(d_w, alone);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(8));
}

TEST_CASE("a batch that is large enough goes through GEMM, a smaller one does not") {
  const std::size_t examples = GENERATE(7, 8, 64);
  // Neurons that did not fire are left out by kernels, which is faster where they are many.
  const float bias = GENERATE(-100.0f, 100.0f);
  const Spec spec = wide_spec(spec::Heads::kMixed);
  forwards = backwards = gradients = 0;
  const Learned learned(spec, random_lines(examples, LineShape{}, 5), &kCounted, bias);
  CHECK(forwards == (examples == 64 ? 1 : 0));  // the first layer; the second is too narrow
  CHECK(backwards == (examples >= 8 && bias > 0 ? 2 : 0));
  CHECK(gradients == (examples >= 8 ? 2 : 0));
}

TEST_CASE("a batch by GEMM learns what it learns by kernels, within rounding") {
  Spec spec = wide_spec(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  SECTION("AdaGrad") {}
  SECTION("Adam") { spec::set_optimizer(spec, "adam"); }
  std::string lines = random_lines(63, LineShape{}, 5);
  // One that is not learned from, as its score is not finite: it must not spoil the sums.
  if (!spec.mixed()) lines += "1 |A x:3e38 y:3e38 |B z\n";
  const Learned by_gemm(spec, lines, &block::openblas()), by_kernels(spec, lines, nullptr);
  CHECK(by_gemm.model.parameters().scalars.dropped_gradients == (spec.mixed() ? 0 : 1));
  const std::vector<tape::ConstDense> layers = by_gemm.model.parameters().layers();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const tape::ConstDense one = layers[l], before = by_gemm.before.layer(l);
    const tape::ConstDense other = by_kernels.model.parameters().layer(l);
    const auto sum = [&](const Parameters& of, std::size_t i) {
      const tape::Declarations& declared = of.declared();
      return of[declared[declared.layers[l].weights].states[0]][i];
    };
    const auto sum_by_gemm = [&](std::size_t i) { return sum(by_gemm.model.parameters(), i); };
    bool moved = false;
    for (std::size_t i = 0; i < one.weights.size(); ++i) {
      INFO("layer " << l << " weight " << i);
      REQUIRE(one.weights[i] == Approx(other.weights[i]).epsilon(1e-4).margin(2e-5));
      REQUIRE(sum_by_gemm(i) ==
              Approx(sum(by_kernels.model.parameters(), i)).epsilon(1e-4).margin(1e-5));
      moved |= one.weights[i] != before.weights[i];
      const std::size_t neuron = i / one.stride();
      if (one.outputs == 1 || (neuron != 1 && neuron != 3)) continue;
      // It did not fire.
      REQUIRE(one.weights[i] == before.weights[i]);
      REQUIRE(sum_by_gemm(i) == sum(by_gemm.before, i));
    }
    CHECK(moved);
  }
}

}  // namespace
}  // namespace leveret::model
