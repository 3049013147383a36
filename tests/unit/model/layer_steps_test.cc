// What layers alone have of learning: --nn_warmup, --nn_clip and --nn_l2.
#include <catch2/catch.hpp>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "spec/optimizer.h"
#include "stepper.h"

namespace leveret::model {
namespace {

constexpr float kRate = 0.1f;

/// One head, layers that learn by plain steps.
Spec plain_layers() {
  Spec spec;
  spec.heads = spec::Heads::kOne;
  spec.ffm_k = 3;
  spec.hidden = {6, 5};
  spec.admit = 1;
  spec.row_bits = 32;
  spec::set_optimizer(spec, "sgd");
  spec.nn.rate = kRate;
  return spec;
}

LineShape few_values() {
  LineShape shape;
  shape.vocabulary = 4;
  return shape;
}

/// Places of the numbers of a neuron in WeightsByPart::dense, those of its weights and its bias.
std::vector<std::vector<std::size_t>> neurons_of(const Model& model) {
  std::vector<std::vector<std::size_t>> neurons;
  std::size_t begin = 0;
  for (const tape::ConstDense& layer : model.parameters().layers()) {
    for (std::size_t o = 0; o < layer.outputs; ++o) {
      std::vector<std::size_t> places;
      for (std::size_t i = 0; i < layer.inputs; ++i) {
        places.push_back(begin + o * layer.stride() + i);
      }
      places.push_back(begin + layer.weights.size() + o);
      neurons.push_back(std::move(places));
    }
    begin += layer.weights.size() + layer.bias.size();
  }
  REQUIRE(begin == WeightsByPart(model).dense.size());
  return neurons;
}

TEST_CASE("the rate of layers rises from 0 with the examples") {
  constexpr std::uint32_t kWarmup = 12;
  Spec spec = plain_layers();
  spec.nn_warmup = kWarmup;
  Stepper stepper(spec, few_values(), 12, 7);
  for (const auto& [first, count] :
       std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}, {1, 1}, {2, 5}, {0, 4}, {4, 8}}) {
    const auto examples = static_cast<double>(stepper.model.parameters().scalars.examples);
    const double share = std::min(1.0, (examples + 1) / kWarmup);
    stepper.step(first, count);
    INFO("behind " << examples << " examples");
    for (std::size_t i = 0; i < stepper.before.dense.size(); ++i) {
      const double step = stepper.before.dense[i] - stepper.after.dense[i];
      CHECK(step == Approx(share * kRate * stepper.gradient.dense[i]).epsilon(1e-3).margin(2e-6));
    }
  }
}

TEST_CASE("a neuron's gradient is brought to the norm that --nn_clip gives") {
  constexpr double kMost = 0.1;
  Spec spec = plain_layers();
  spec.nn_clip = static_cast<float>(kMost);
  Stepper stepper(spec, few_values(), 12, 7);
  const std::vector<std::vector<std::size_t>> neurons = neurons_of(stepper.model);
  std::size_t longer = 0, shorter = 0;
  for (const std::size_t count : {1, 1, 5, 12}) {
    stepper.step(0, count);
    for (const std::vector<std::size_t>& neuron : neurons) {
      double squares = 0;
      for (const std::size_t i : neuron) squares += std::pow(stepper.gradient.dense[i], 2);
      const double norm = std::sqrt(squares);
      if (norm == 0) continue;
      ++(norm > kMost ? longer : shorter);
      const double factor = norm > kMost ? kMost / norm : 1;
      for (const std::size_t i : neuron) {
        const double step = stepper.before.dense[i] - stepper.after.dense[i];
        CHECK(step ==
              Approx(factor * kRate * stepper.gradient.dense[i]).epsilon(1e-3).margin(2e-6));
      }
    }
  }
  CHECK(longer > 10);
  CHECK(shorter > 5);
}

TEST_CASE("layers have --nn_l2 in place of --l2") {
  const double l2 = GENERATE(0.0, 0.3), nn_l2 = GENERATE(0.0, 0.2);
  Spec spec = plain_layers();
  spec.l2 = static_cast<float>(l2);
  spec.nn_l2 = static_cast<float>(nn_l2);
  Stepper stepper(spec, few_values(), 12, 7);
  stepper.step(0, 12);
  const double used = nn_l2 > 0 ? nn_l2 : l2;
  std::size_t moved = 0;
  for (const std::vector<std::size_t>& neuron : neurons_of(stepper.model)) {
    for (const std::size_t i : neuron) {
      const double g = stepper.gradient.dense[i];
      if (g == 0) continue;
      ++moved;
      const double step = stepper.before.dense[i] - stepper.after.dense[i];
      CHECK(step ==
            Approx(kRate * (g + used * stepper.before.dense[i])).epsilon(1e-3).margin(2e-6));
    }
  }
  CHECK(moved > 50);
}

TEST_CASE("what layers have of learning leaves counts and the fast head as they are") {
  const auto learned = [](float clip, std::uint32_t warmup) {
    Spec spec;
    spec.nn_clip = clip;
    spec.nn_warmup = warmup;
    Model model(spec, kTestMemory);
    Sample sample(random_lines(60, few_values(), 3));
    Trainer trainer(model, kernels::active());
    for (std::size_t i = 0; i < 60; ++i) trainer.learn(model, sample.batch(model, i, 1));
    return model;
  };
  const Model usual = learned(0, 0), clipped = learned(1e-6f, 0), cold = learned(0, 1'000'000);
  for (const Model* const other : {&clipped, &cold}) {
    const WeightsByPart ours(usual), others(*other);
    CHECK(ours.fast == others.fast);
    const auto groups = [](const Model& model) {
      const tape::Parameters& of = model.parameters();
      const std::span<const float> weights = of[of.find("groups.weight")];
      return std::vector<float>(weights.begin(), weights.end());
    };
    CHECK(groups(usual) == groups(*other));
    CHECK(ours.dense != others.dense);
  }
}

}  // namespace
}  // namespace leveret::model
