// Networks with several towers over the same inputs; gradient_test.cc has their gradients.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "random_model.h"
#include "reference_model.h"
#include "spec/tower_text.h"

namespace leveret::model {
namespace {

/// A model with the layers 5 of its own and three towers more, that has met some random lines.
struct Towers {
  explicit Towers(spec::Heads heads, const std::string& second = "4+3")
      : spec(spec_of(heads, second)),
        model(spec, kTestMemory),
        sample(random_lines(12, LineShape{}, 7)),
        batch(sample.batch(model)),
        trainer(model, kernels::active()) {}
  static Spec spec_of(spec::Heads heads, const std::string& second) {
    Spec spec;
    spec::set_towers(spec, "mlp:in=merged,hidden=" + second +
                               " mlp:in=merged,hidden=none mlp:in=pairs,hidden=3");
    spec.heads = heads;
    spec.ffm_k = 3;
    spec.hidden = {5};
    spec.admit = 1;
    return spec;
  }
  std::vector<float> weights(std::size_t layer) const {
    const tape::ConstDense dense = model.parameters().layer(layer);
    return {dense.weights.begin(), dense.weights.end()};
  }
  double loss() {
    trainer.predict(model, batch);
    double sum = 0;
    for (std::size_t b = 0; b < batch.size(); ++b) {
      sum += batch.importance[b] *
             reference_loss(scores_of(model, trainer.tape, b).deep, batch.label[b]);
    }
    return sum;
  }

  Spec spec;
  Model model;
  Sample sample;
  feature::FeatureBatch batch;
  Trainer trainer;
};

void check_deep(const ReferenceModel& reference, const feature::FeatureBatch& batch, std::size_t b,
                const HeadScores& scores) {
  const double expected = reference.forward(batch, b).deep;
  INFO("example " << b << ": " << scores.deep << " instead of " << expected);
  CHECK(std::abs(scores.deep - expected) <= 2e-5 + 2e-5 * std::abs(expected));
}

TEST_CASE("each of several towers adds its score to the joint head") {
  Towers all(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  randomise(all.model, all.batch, 3);
  const ReferenceModel reference(all.model, all.batch);
  all.trainer.predict(all.model, all.batch);
  for (std::size_t b = 0; b < all.batch.size(); ++b) {
    check_deep(reference, all.batch, b, scores_of(all.model, all.trainer.tape, b));
  }
}

TEST_CASE("towers over pairs that are no neighbours have heads of their own") {
  Spec spec;
  spec.embedding_dim = 3;
  spec::set_towers(spec,
                   "mlp:in=merged,hidden=4 cross:layers=1 mlp:in=pairs,hidden=3 mlp:in=pairs");
  const Model model(spec, kTestMemory);
  std::vector<std::string> names;
  for (const tape::HeadDecl& head : model.parameters().declared().heads) names.push_back(head.name);
  const auto count = [&](const char* name) { return std::ranges::count(names, name); };
  CHECK(count("mlp") == 1);
  CHECK(count("cross_2") == 1);
  CHECK(count("mlp_3") == 1);
  CHECK(count("mlp_4") == 1);
}

TEST_CASE("several towers learn, each in its way") {
  Towers all(GENERATE(spec::Heads::kMixed, spec::Heads::kOne), "5");
  // Towers of one shape that began alike would stay alike.
  CHECK(all.weights(0) != all.weights(2));
  std::vector<std::vector<float>> before;
  for (std::size_t l = 0; l < all.model.parameters().layer_count(); ++l) {
    before.push_back(all.weights(l));
  }
  REQUIRE(before.size() == 7);
  const double loss = all.loss();
  for (int round = 0; round < 5; ++round) all.trainer.learn_online(all.model, all.sample);
  CHECK(all.loss() < 0.8 * loss);
  for (std::size_t l = 0; l < before.size(); ++l) {
    INFO("layer " << l);
    CHECK(all.weights(l) != before[l]);
  }
}

TEST_CASE("several towers learn from examples that share a pass as from a batch") {
  Towers batch(spec::Heads::kOne), group(spec::Heads::kOne);
  for (Towers* all : {&batch, &group}) {
    all->model.set_spec([&] {
      Spec spec = all->spec;
      spec.nn_batch_size = 4;
      return spec;
    }());
    randomise(all->model, all->batch, 3);
  }
  const ReferenceModel reference(group.model, group.batch);
  batch.trainer.learn(batch.model, batch.sample.batch(batch.model, 0, 4));

  const feature::FeatureBatch some = group.sample.batch(group.model, 0, 4);
  std::vector<Tape> tapes(4);
  const net::Network& network = group.trainer.network;
  for (Tape& tape : tapes) group.trainer.lookup.open(group.model, some, tape, Use::kLearn);
  network.open_together(group.model.parameters(), tapes, group.trainer.tape);
  for (std::size_t b = 0; b < tapes.size(); ++b) {
    group.trainer.lookup.resolve(group.model, tapes[b], b);
  }
  for (std::size_t b = 0; b < tapes.size(); ++b) {
    group.trainer.lookup.bind(group.model, tapes[b], b, 1);
    network.forward_example(group.model.parameters(), tapes[b], 0);
  }
  network.learn_together(group.model.tables(), group.model.parameters(), tapes, group.trainer.tape,
                         group.trainer.optimizer);
  for (std::size_t b = 0; b < tapes.size(); ++b)
    check_deep(reference, some, b, scores_of(group.model, tapes[b], 0));
  for (std::size_t l = 0; l < group.model.parameters().layer_count(); ++l) {
    const std::vector<float> ours = group.weights(l), theirs = batch.weights(l);
    for (std::size_t i = 0; i < ours.size(); ++i) CHECK(ours[i] == Approx(theirs[i]).margin(1e-6));
  }
}

TEST_CASE("several towers keep their scores during the per-example updates of a batch") {
  Towers all(spec::Heads::kMixed);
  Spec spec = all.spec;
  spec.batch_size = 4;
  REQUIRE(spec.updates_per_example());
  all.model.set_spec(spec);
  Trainer trainer(all.model, kernels::active());
  randomise(all.model, all.batch, 3);
  const feature::FeatureBatch some = all.sample.batch(all.model, 0, 4);
  const ReferenceModel reference(all.model, some);
  trainer.learn(all.model, some);
  // It comes first: nothing had moved.
  check_deep(reference, some, 0, scores_of(all.model, trainer.tape, 0));
}

}  // namespace
}  // namespace leveret::model
