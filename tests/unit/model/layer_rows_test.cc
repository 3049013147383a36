// A layer that several rows of an example pass (tokens): its gradient, its step, and by whom it is
// shared.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "block/dense/gemm.h"
#include "kernels/dispatch.h"
#include "optim/layer_optimizer.h"
#include "rules/kinds.h"
#include "tape/dense.h"
#include "tape/parameters.h"
#include "tape/tape.h"

namespace leveret::model {
namespace {

constexpr std::uint32_t kWidth = 5, kOutputs = 3;

/// A layer over tokens, and one batch of them.
struct Tokens {
  explicit Tokens(std::vector<std::uint32_t> of_example) : examples(std::move(of_example)) {
    const tape::TensorId tokens =
        declared.add(tape::Tensor{.name = "tokens", .size = kWidth, .gradient = true});
    tape::declare_dense_rows("layer", tokens, kWidth, kOutputs, {},
                             rules::make_rule({.part = rules::Learning().nn}), declared);
    parameters.fit({1}, std::make_shared<tape::Declarations>(declared));
    std::mt19937 random(7);
    std::uniform_real_distribution<float> number(-1, 1);
    for (std::size_t i = 0; i < examples.size() * kWidth; ++i) in.push_back(number(random));
    for (std::size_t i = 0; i < examples.size() * kOutputs; ++i) {
      d_out.push_back(i % 4 == 0 ? 0.0f : number(random));
    }
    d_in.resize(in.size());
    tape.size = examples.back() + 1;
    tape.learn.assign(tape.size, 1);
  }

  void step(const block::Config& config) {
    optim::LayerOptimizer optimizer(kernels::active(), config);
    optimizer.step(
        parameters, tape,
        {0, {examples.size(), kWidth, in.data(), examples.data()}, d_out.data(), d_in.data()});
  }

  /// What AdaGrad makes of weight i of neuron o, from its first value and first sum.
  double stepped(std::uint32_t o, std::uint32_t i, double w, double acc) const {
    double g = 0;
    for (std::size_t r = 0; r < examples.size(); ++r) {
      if (tape.learn[examples[r]]) g += double{d_out[r * kOutputs + o]} * in[r * kWidth + i];
    }
    acc += g * g;
    return w - rules::Learning().nn.rate * g / std::sqrt(acc);
  }

  std::vector<std::uint32_t> examples;  ///< of rows
  tape::Declarations declared;
  tape::Parameters parameters;
  std::vector<float> in, d_out, d_in;
  tape::Tape tape;
};

std::vector<std::uint32_t> rows_of(const std::vector<std::uint32_t>& counts) {
  std::vector<std::uint32_t> examples;
  std::uint32_t example = 0;
  for (const std::uint32_t count : counts) {
    examples.insert(examples.end(), count, example);
    ++example;
  }
  return examples;
}

TEST_CASE("a layer takes one step by all rows of all examples that are learned from") {
  // More rows of one example than kernels take together; several examples, one of them unlearned.
  using Counts = std::vector<std::uint32_t>;
  const Counts counts = GENERATE(Counts{39}, Counts{1, 4, 2, 17});
  Tokens tokens(rows_of(counts));
  if (tokens.tape.size > 1) tokens.tape.learn[1] = 0;
  if (GENERATE(false, true)) tokens.tape.gemm = &block::openblas();
  for (std::size_t r = 0; r < tokens.examples.size(); ++r) {  // as blocks leave them
    if (tokens.tape.learn[tokens.examples[r]]) continue;
    std::fill_n(tokens.in.data() + r * kWidth, kWidth, 0.0f);
    std::fill_n(tokens.d_out.data() + r * kOutputs, kOutputs, 0.0f);
  }
  tape::Parameters before = tokens.parameters;
  const std::span<const float> sums = before.learned_layer(0).weights_states[0];
  tokens.step({});
  const tape::ConstDense was = std::as_const(before).layer(0),
                         now = std::as_const(tokens.parameters).layer(0);
  for (std::uint32_t o = 0; o < kOutputs; ++o) {
    for (std::uint32_t i = 0; i < kWidth; ++i) {
      const std::size_t at = o * was.stride() + i;
      CHECK(now.weights[at] ==
            Approx(tokens.stepped(o, i, was.weights[at], sums[at])).margin(1e-6));
    }
  }
  for (std::size_t r = 0; r < tokens.examples.size(); ++r) {
    for (std::uint32_t i = 0; i < kWidth; ++i) {
      double d = 0;
      for (std::uint32_t o = 0; o < kOutputs; ++o) {
        d += double{was.weights[o * was.stride() + i]} * tokens.d_out[r * kOutputs + o];
      }
      CHECK(tokens.d_in[r * kWidth + i] == Approx(d).margin(1e-6));
    }
  }
}

TEST_CASE("AdaGrad's sums forget once for an example, however many rows it has") {
  Tokens one(rows_of({1, 1})), many(rows_of({6, 6}));
  block::Config config;
  config.fast_head = true;
  for (Tokens* tokens : {&one, &many}) {
    tokens->parameters.scalars.count = 1e6;
    tokens->parameters.scalars.clicks = 5e5;
    tokens->parameters.scalars.examples = 1'000'000;
    std::fill(tokens->d_out.begin(), tokens->d_out.end(), 1e-6f);  // sums gain next to nothing
    tokens->step(config);
  }
  const auto sum = [](Tokens& tokens) {
    return tokens.parameters.learned_layer(0).weights_states[0][0];
  };
  CHECK(sum(one) < 1.0f);
  CHECK(sum(many) == Approx(sum(one)).epsilon(1e-6));
}

}  // namespace
}  // namespace leveret::model
