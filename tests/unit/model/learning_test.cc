// What learning must leave alone, and what it must survive.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <span>
#include <utility>

#include "spec/optimizer.h"
#include "stepper.h"

namespace leveret::model {
namespace {

bool all_finite(const Model& model) {
  const std::vector<float> all = all_weights(model);
  return std::all_of(all.begin(), all.end(), [](float w) { return std::isfinite(w); });
}

Spec small_spec(spec::Heads heads) {
  Spec spec;
  spec.heads = heads;
  spec.admit = 1;
  spec.hidden = {6, 5};
  return spec;
}

TEST_CASE("examples without label or importance change nothing, bit for bit") {
  const Spec spec = small_spec(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  Model model(spec, kTestMemory);
  Sample sample(random_lines(20, LineShape{}, 1) +
                "|A f1 f2 |B f3\n1 0 |A f1:2 |C f2\n-1 0 |B f4\n");
  const feature::FeatureBatch all = sample.batch(model);
  randomise(model, all, 1);
  Trainer trainer(model, kernels::active());
  trainer.learn(model, sample.batch(model, 0, 20));
  trainer.lookup.resolve_all(model, all, trainer.tape);
  const std::vector<float> before = all_weights(model);
  const tape::Scalars scalars = model.parameters().scalars;
  trainer.learn(model, sample.batch(model, 20, 1));
  trainer.learn(model, sample.batch(model, 21, 1));
  trainer.learn(model, sample.batch(model, 20, 3));
  CHECK(all_weights(model) == before);
  CHECK(model.parameters().scalars.examples == scalars.examples);
  CHECK(model.parameters().scalars.dropped_gradients == 0);
  trainer.learn(model, sample.batch(model, 0, 1));
  CHECK(all_weights(model) != before);
  CHECK(model.parameters().scalars.examples == scalars.examples + 1);
}

TEST_CASE("in a batch, examples without label or importance count for nothing") {
  Spec spec = small_spec(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  spec.row_bits = 32;  // the rows' noise depends on their order
  const std::string learned = "1 2 |A a:2 b |B c |C d\n";
  Model alone(spec, kTestMemory), among(spec, kTestMemory);
  Sample one(learned), three("|A x |B c\n" + learned + "-1 0 |A a |B y\n");
  // Both know the same features, in the same places.
  const feature::FeatureBatch batch = three.batch(among);
  Sample same("|A x |B c\n" + learned + "-1 0 |A a |B y\n");
  randomise(among, batch, 4);
  randomise(alone, same.batch(alone), 4);
  Trainer(alone, kernels::active()).learn(alone, one.batch(alone));
  Trainer(among, kernels::active()).learn(among, batch);
  // The path for one example and that for several may differ by a rounding.
  const std::vector<float> a = all_weights(alone), b = all_weights(among);
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(1e-5).margin(1e-7));
}

TEST_CASE("slots of fields that the line lacks stay bit for bit") {
  Spec spec = small_spec(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  spec.adagrad_slice = GENERATE(false, true);
  spec.l2 = 0.1f;
  Model model(spec, kTestMemory);
  Sample sample("1 |A a |B b |C c\n-1 |A a |C c\n");
  const feature::FeatureBatch all = sample.batch(model);
  randomise(model, all, 2);
  Trainer trainer(model, kernels::active());
  const table::Rows& rows = model.tables().field(0).rows();
  const table::Row row = find_row(model, 0, all.field_features[0].hash);
  const std::size_t k = spec.ffm_k, per_slot = spec.adagrad_slice ? 1 : k;
  const std::vector<float> w = weights_of(rows, row);
  const std::vector<float> s = states_of(rows, row);
  trainer.learn(model, sample.batch(model, 1, 1));
  const std::vector<float> now = weights_of(rows, row), s_now = states_of(rows, row);
  for (std::size_t slot = 0; slot < 3; ++slot) {
    INFO("slot " << slot);
    const bool same_w = std::equal(&w[slot * k], &w[slot * k] + k, &now[slot * k]);
    const bool same_s =
        std::equal(&s[slot * per_slot], &s[slot * per_slot] + per_slot, &s_now[slot * per_slot]);
    CHECK(same_w == (slot != 2));
    CHECK(same_s == (slot != 2));
  }
  // Nor does a row of a feature that the line lacks.
  const table::Rows& others = model.tables().field(1).rows();
  CHECK(others.size() == 1);
  const std::vector<float> row_b = weights_of(others, 0);
  trainer.learn(model, sample.batch(model, 1, 1));
  CHECK(weights_of(others, 0) == row_b);
}

TEST_CASE("weights of neurons that did not fire stay bit for bit") {
  Spec spec = small_spec(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  const std::size_t count = GENERATE(1, 4);
  spec.l2 = 0.01f;
  SECTION("AdaGrad") {}
  SECTION("Adam") {
    spec::set_optimizer(spec, "adam");
    spec.batch_size = 4;
  }
  Stepper stepper(spec, LineShape{}, 8, 3);
  for (const tape::Dense& layer : stepper.model.parameters().layers()) {
    if (layer.outputs == 1) continue;
    layer.bias[1] = layer.bias[3] = -100;
  }
  Parameters before = stepper.model.parameters();
  for (std::size_t first = 0; first < 8; first += count) stepper.step(first, count);
  for (std::size_t l = 0; l < 2; ++l) {
    const tape::LearnedDense now = stepper.model.parameters().learned_layer(l);
    const tape::LearnedDense old = before.learned_layer(l);
    for (std::uint32_t o = 0; o < now.outputs; ++o) {
      const auto same = [&](std::span<const float> a, std::span<const float> b) {
        const std::size_t width = a.size() / now.outputs;
        return std::equal(a.begin() + o * width, a.begin() + (o + 1) * width,
                          b.begin() + o * width);
      };
      INFO("layer " << l << " neuron " << o);
      if (o != 1 && o != 3) continue;
      CHECK(same(old.weights, now.weights));
      CHECK(same(old.bias, now.bias));
      for (std::size_t s = 0; s < now.rule->states().size(); ++s) {
        INFO("state " << s);
        CHECK(same(old.weights_states[s], now.weights_states[s]));
        CHECK(same(old.bias_states[s], now.bias_states[s]));
      }
    }
    CHECK(!std::ranges::equal(old.weights, now.weights));
  }
}

TEST_CASE("an example whose score is not finite is dropped and counted") {
  const Spec spec = small_spec(spec::Heads::kOne);
  const std::size_t count = GENERATE(1, 2);
  Model model(spec, kTestMemory);
  Sample sample("1 |A a:3e38 b:3e38 |B c\n1 |A a:3e38 b:-3e38 |B c\n-1 |B c |A d\n");
  const feature::FeatureBatch all = sample.batch(model);
  randomise(model, all, 1);
  for (std::uint32_t i = 0; i < 2; ++i) {
    table::Shard& shard = model.tables().of_feature_group(1);
    table::cell_of(shard.find_or_insert(table::key_of(all.linear[i].hash)))->weight = 2;
  }
  Trainer trainer(model, kernels::active());
  const std::vector<float> before = all_weights(model);
  for (std::size_t first = 0; first < 2; first += count) {
    trainer.learn(model, sample.batch(model, first, count));
  }
  CHECK(model.parameters().scalars.dropped_gradients == 2);
  CHECK(model.parameters().scalars.examples == 0);
  CHECK(all_weights(model) == before);
  trainer.learn(model, sample.batch(model, 1, 2));
  CHECK(model.parameters().scalars.dropped_gradients == 3);
  CHECK(model.parameters().scalars.examples == 1);
  CHECK(all_weights(model) != before);
  CHECK(all_finite(model));
}

TEST_CASE("no importance and no value makes anything infinite or stops learning") {
  Spec spec = small_spec(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  spec.adagrad_slice = GENERATE(false, true);
  const float importance = GENERATE(1.0f, 1e10f, 1e12f, 1e20f, 1e30f, 3e38f);
  const std::string value = GENERATE("1e-38", "1e-20", "1", "1e10", "1e19", "1e30", "3e38");
  INFO("importance " << importance << ", value " << value << ", mixed " << spec.mixed());
  Model model(spec, kTestMemory);
  const std::string extreme = " |A a:" + value + " b:" + value + " |B c:" + value + " |C d\n";
  Sample sample("1 |A a |B c |C d\n1" + extreme + "-1" + extreme +
                "1 |A a |B c |C d\n-1 |D e |C f\n");
  // The parser stops at kMaxImportance; other ways in may not.
  sample.chunk.examples[1].importance = sample.chunk.examples[2].importance = importance;
  Trainer trainer(model, kernels::active());
  for (const std::size_t count : {1, 5}) {
    for (std::size_t first = 0; first < 5; first += count) {
      trainer.learn(model, sample.batch(model, first, count));
      REQUIRE(all_finite(model));
    }
  }
  const std::uint64_t learned = model.parameters().scalars.examples;
  const std::vector<float> before = all_weights(model);
  trainer.learn(model, sample.batch(model, 3, 1));
  trainer.learn(model, sample.batch(model, 4, 1));
  CHECK(model.parameters().scalars.examples == learned + 2);
  CHECK(all_weights(model) != before);
  CHECK(std::isfinite(trainer.tape.answers[0]));
}

TEST_CASE("lines without any feature are learned from, first, last and alone") {
  Spec spec = small_spec(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  SECTION("MLP") {}
  SECTION("FFM") { spec.hidden = {}; }
  SECTION("linear") { spec.ffm_k = 0; }
  SECTION("no constant") { spec.constant = false; }
  Model model(spec, kTestMemory);
  Sample sample("1\n1 2\n-1\n1 |A a |B b\n-1\n");
  Trainer trainer(model, kernels::active());
  trainer.learn(model, sample.batch(model, 0, 1));
  trainer.learn(model, sample.batch(model, 1, 2));
  CHECK(model.parameters().scalars.examples == 3);
  CHECK(std::isfinite(trainer.tape.answers[0]));
  trainer.learn(model, sample.batch(model, 3, 1));
  trainer.learn(model, sample.batch(model, 4, 1));
  CHECK(model.parameters().scalars.examples == 5);
  CHECK(all_finite(model));
}

TEST_CASE("counts of a feature stay true beyond what a float can count") {
  const Spec spec = small_spec(spec::Heads::kMixed);
  Model model(spec, kTestMemory);
  Sample sample("-1 |A a\n");
  const feature::FeatureBatch batch = sample.batch(model);
  Trainer trainer(model, kernels::active());
  trainer.gradients(model, batch);
  table::MixedCell& cell = table::mixed(*trainer.tape.to_learn.cells[0]);
  cell.count = 16777216;  // 2^24: the next float is 2^24 + 2
  cell.clicks = 4194304;
  for (int i = 0; i < 20000; ++i) {
    trainer.step_again(model);
  }
  CHECK(cell.clicks / cell.count < 0.25f);
}

TEST_CASE("several rows of one batch move once, by the sum") {
  // Two equal examples in a batch: with plain steps twice the step of one; with AdaGrad the step of
  // the doubled gradient, which is not that of two steps.
  Spec spec = small_spec(spec::Heads::kOne);
  spec.ffm_k = 0;
  spec.constant = false;
  spec.linear = {1, 0.5f, 0};
  Model model(spec, kTestMemory);
  Sample sample("1 |A a\n1 |A a\n");
  const feature::FeatureBatch batch = sample.batch(model);
  Trainer(model, kernels::active()).learn(model, batch);
  const table::Cell& cell = *model.tables().find_cell(0, batch.linear[0].hash);
  CHECK(cell.weight == Approx(1.0));  // g / sqrt(g²) with g = 2 * -0.5
  CHECK(cell.sum == Approx(1.0));
}

}  // namespace
}  // namespace leveret::model
