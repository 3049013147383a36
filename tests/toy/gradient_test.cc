// The toy block's gradients, by finite differences of the loss.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include "find_block.h"
#include "random_model.h"
#include "toy/toy_block.h"

namespace leveret::model {
namespace {

/// The loss of all examples of a batch, each by its label.
double loss_of(Trainer& trainer, Model& model, const feature::FeatureBatch& batch) {
  trainer.predict(model, batch);
  double sum = 0;
  for (std::size_t b = 0; b < batch.size(); ++b) {
    const double margin = batch.label[b] * trainer.tape.answers[b];
    sum += batch.importance[b] * std::log1p(std::exp(-margin));
  }
  return sum;
}

/// Central differences by `weight`, in floats.
double difference(float& weight, const std::function<double()>& loss) {
  constexpr float kStep = 5e-3f;
  const float at = weight;
  weight = at + kStep;
  const double up = loss();
  weight = at - kStep;
  const double down = loss();
  weight = at;
  return (up - down) / (2.0 * kStep);
}

TEST_CASE("the gradients of the toy block are those of its equation") {
  const std::size_t examples = GENERATE(1, 7);
  Spec spec;
  spec.heads = spec::Heads::kOne;
  spec.hidden = {};
  spec.ffm_k = 2;
  spec.row_bits = 32;
  LineShape shape;
  shape.values = true;
  Model model(spec, kTestMemory);
  Sample sample(random_lines(60, shape, 3));
  sample.batch(model, 0, 60);  // all fields and features are met
  const feature::FeatureBatch batch = sample.batch(model, 9, examples);
  randomise(model, batch, 4);
  Trainer trainer(model, kernels::active());
  trainer.tape.in_batches = true;
  trainer.gradients(model, batch);
  const OneBlock<toy::ToyBlock> block(model);
  const toy::ToyBlock& toy = *block;
  const auto id = model.parameters().find("toy.matrix");
  const std::vector<float> of_matrix(trainer.tape.gradient(id), trainer.tape.gradient(id) + 16);
  // By row, over the whole batch.
  std::map<std::byte*, std::vector<float>> of_rows;
  for (std::size_t b = 0; b < batch.size(); ++b) {
    std::vector<std::vector<float>> sums;
    std::vector<float*> at;
    const std::uint32_t first = trainer.tape.field_begin(b), end = trainer.tape.field_begin(b + 1);
    for (std::uint32_t i = first; i < end; ++i) sums.emplace_back(4);
    for (std::vector<float>& sum : sums) at.push_back(sum.data());
    toy.add(model.parameters(), trainer.tape, b, at.data());
    for (std::uint32_t i = first; i < end; ++i) {
      std::byte* const row = trainer.tape.to_learn.rows[i];
      if (row == nullptr) continue;
      std::vector<float>& sum = of_rows.try_emplace(row, 4).first->second;
      for (std::size_t c = 0; c < 4; ++c) sum[c] += sums[i - first][c];
    }
  }
  const auto loss = [&] { return loss_of(trainer, model, batch); };
  std::size_t not_zero = 0;
  const auto check = [&](float& weight, float gradient) {
    const double expected = difference(weight, loss);
    not_zero += std::abs(expected) > 1e-3;
    CHECK(gradient == Approx(expected).epsilon(2e-2).margin(2e-3));
  };
  for (std::size_t i = 0; i < 16; ++i) check(model.parameters()[id][i], of_matrix[i]);
  const std::size_t begin = model.tables().row_layout().weights(1).begin;
  for (const auto& [row, gradient] : of_rows) {
    auto* const weights = reinterpret_cast<float*>(row + begin);
    for (std::size_t c = 0; c < 4; ++c) check(weights[c], gradient[c]);
  }
  CHECK(not_zero > 16);
}

}  // namespace
}  // namespace leveret::model
