// Arrays beside layers: by each rule of their part, at its rate, with its L2.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/dispatch.h"
#include "model/model.h"
#include "optim/array_optimizer.h"
#include "random_model.h"
#include "rules/kinds.h"
#include "spec/optimizer.h"
#include "spec/tower_text.h"
#include "tape/parameters.h"

namespace leveret::model {
namespace {

constexpr std::size_t kNumbers = 21;

/// An array of ones, learned by a rule.
struct Array {
  explicit Array(const rules::RulePtr& rule, const block::Config& config = {})
      : optimizer(kernels::active(), config) {
    tape::LearnedArray array{.name = "array", .shape = {kNumbers}};
    array.first = [](std::uint32_t, std::uint32_t) { return 1.0f; };
    id = declared.weights(std::move(array), rule);
    parameters.fit({1}, std::make_shared<tape::Declarations>(declared));
  }
  /// The gradient of number i, 0 of every third one.
  static float gradient(std::size_t i, int step) {
    return i % 3 == 1
               ? 0.0f
               : 0.3f * std::sin(static_cast<float>(i) + 2 * static_cast<float>(step) + 0.5f);
  }
  void step(int number, float warmth = 1) {
    std::array<float, kNumbers> g{};
    for (std::size_t i = 0; i < kNumbers; ++i) g[i] = gradient(i, number);
    optimizer.step(parameters, id, g.data(), warmth);
  }

  tape::Declarations declared;
  tape::ArrayId id;
  tape::Parameters parameters;
  optim::ArrayOptimizer optimizer;
};

TEST_CASE("an array beside layers learns by AdaGrad of any power, SGD and Adam, with L2") {
  const float l2 = GENERATE(0.0f, 0.1f);
  rules::PartLearning part{0.05f, GENERATE(0.5f, 0.3f), 0.7f};
  part.rule = GENERATE(rules::kAdagrad, rules::kSgd, rules::kAdam);
  INFO(part.rule << " power " << part.power_t << " l2 " << l2);
  Array array(rules::make_rule({.part = part, .l2 = l2})->for_small_gradients(2));
  constexpr int kSteps = 5;
  for (int step = 0; step < kSteps; ++step) array.step(step);
  for (std::size_t i = 0; i < kNumbers; ++i) {
    double w = 1, sum = part.init_acc, first = 0, second = 0;
    for (int step = 0; step < kSteps && i % 3 != 1; ++step) {
      const double g = Array::gradient(i, step) + l2 * w,
                   rate = (part.rule == rules::kAdam ? 1 : 2) * part.rate;
      first = .9 * first + .1 * g;
      second = .999 * second + .001 * g * g;
      sum += g * g;
      const int t = step + 1;
      if (part.rule == rules::kAdam) {
        w -= rate * first / (1 - std::pow(.9, t)) /
             (std::sqrt(second / (1 - std::pow(.999, t))) + 1e-8);
      } else {
        w -= part.rule == rules::kSgd ? rate * g : rate * g * std::pow(sum, -part.power_t);
      }
    }
    INFO("number " << i);
    const float now = array.parameters[array.id][i];
    if (i % 3 == 1) CHECK(now == 1.0f);
    CHECK(now == Approx(w).epsilon(1e-5));
  }
}

TEST_CASE("an array beside layers warms up, and its gradient is clipped as a whole") {
  rules::PartLearning part{0.5f, 0.5f, 0.7f};
  part.rule = GENERATE(rules::kSgd, rules::kAdagrad, rules::kAdam);
  INFO(part.rule);
  const rules::RulePtr rule = rules::make_rule({.part = part});
  double squares = 0;
  for (std::size_t i = 0; i < kNumbers; ++i) squares += std::pow(Array::gradient(i, 0), 2);
  const double most = std::sqrt(squares) / 4;

  block::Config clipping, far;
  clipping.layers_clip = static_cast<float>(most);
  far.layers_clip = 99;
  Array cold(rule), warm(rule), clipped(rule, clipping), longer(rule, far);
  cold.step(0, 0.3f);
  warm.step(0);
  clipped.step(0);
  longer.step(0);
  for (std::size_t i = 0; i < kNumbers; ++i) {
    INFO("number " << i);
    const auto moved = [&](Array& array) { return 1.0 - array.parameters[array.id][i]; };
    CHECK(moved(cold) == Approx(0.3 * moved(warm)).margin(1e-6));
    CHECK(moved(longer) == moved(warm));
    const double g = Array::gradient(i, 0) / 4;
    const double step = part.rule == rules::kSgd    ? 0.5 * g
                        : part.rule == rules::kAdam ? moved(warm)  // as long whatever g is
                                                    : 0.5 * g / std::sqrt(0.7 + g * g);
    CHECK(moved(clipped) == Approx(step).margin(1e-6));
  }
}

TEST_CASE("another rate of layers holds for what towers learn beside them at once") {
  Spec spec;
  spec.embedding_dim = 3;
  spec.admit = 1;
  spec::set_towers(spec, "fwfm");
  Model model(spec, kTestMemory);
  Sample sample(random_lines(20, LineShape{}, 3));
  Trainer before(model, kernels::active());
  before.learn(model, sample.batch(model, 0, 10));
  const auto r = [&] {
    const std::span<const float> values =
        std::as_const(model).parameters()[model.parameters().find("fwfm_1.r")];
    return std::vector<float>(values.begin(), values.end());
  };
  spec.nn.rate = 0;
  model.set_spec(spec);
  const std::vector<float> was = r();
  Trainer after(model, kernels::active());
  after.learn(model, sample.batch(model, 10, 10));
  CHECK(r() == was);
  spec.nn.rate = 0.03f;
  model.set_spec(spec);
  Trainer again(model, kernels::active());
  again.learn(model, sample.batch(model, 10, 10));
  CHECK(r() != was);
}

}  // namespace
}  // namespace leveret::model
