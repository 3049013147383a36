// A batch whose examples take run: scores of heads that have learned from the examples before,
// and rows and layers as they were before the batch, which learn by the errors of these scores.
#include <catch2/catch.hpp>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "random_model.h"
#include "reference_model.h"
#include "specs_to_test.h"

namespace leveret::model {
namespace {

constexpr std::size_t kExamples = 5;

/// `dim`: of an FM beside it; 0: there is none.
Spec per_example_spec(std::uint32_t ffm_k, std::uint32_t dim, std::vector<std::uint32_t> hidden) {
  Spec spec;
  spec.ffm_k = ffm_k;
  spec.embedding_dim = dim;
  if (dim > 0) spec::set_towers(spec, "fm:pairs=all");
  spec.hidden = std::move(hidden);
  spec.admit = 1;
  spec.batch_size = kExamples;
  spec.row_bits = 32;
  for (spec::PartLearning* part : {&spec.rows, &spec.nn}) {  // plain steps
    part->rate = 1;
    part->power_t = 0;
  }
  return spec;
}

/// A random model before and after a batch, and what was on the tape.
struct PerExample {
  explicit PerExample(const Spec& spec)
      : model(spec, kTestMemory),
        sample(random_lines(kExamples, shape(), 8)),
        trainer(model, kernels::active()) {
    batch = sample.batch(model);
    randomise(model, batch, 4);
    before.emplace(model, batch);
    trainer.learn(model, batch);
    after.emplace(model, batch);
  }
  static LineShape shape() {
    LineShape shape;
    shape.vocabulary = 4;
    return shape;
  }

  /// What rows and layers are to descend: the sum of the joint head's scores, each times the error
  /// that it left.
  double objective() {
    double sum = 0;
    for (std::size_t b = 0; b < kExamples; ++b) {
      sum += scores_of(model, trainer.tape, b).d_deep * before->forward(batch, b).deep;
    }
    return sum;
  }

  void check(double& weight, double now) {
    constexpr double kStep = 1e-5;
    const double at = weight;
    weight = at + kStep;
    const double up = objective();
    weight = at - kStep;
    const double down = objective();
    weight = at;
    const double expected = (up - down) / (2 * kStep);
    moved += std::abs(expected) > 1e-4;
    CHECK(at - now == Approx(expected).epsilon(1e-3).margin(1e-5));
  }

  Model model;
  Sample sample;
  Trainer trainer;
  feature::FeatureBatch batch;
  std::optional<ReferenceModel> before, after;
  std::size_t moved = 0;
};

std::vector<Spec> all_specs() {
  Spec towers = per_example_spec(0, 0, {});
  towers.embedding_dim = 3;
  spec::set_towers(towers, "fwfm cross:layers=1 mlp:hidden=4");
  return {per_example_spec(4, 0, {6, 5}), per_example_spec(4, 0, {}), per_example_spec(3, 4, {5}),
          per_example_spec(0, 4, {}), towers};
}

TEST_CASE(
    "before its update an example has heads that have learned, and rows and layers as before") {
  for (const Spec& spec : all_specs()) {
    PerExample run(spec);
    INFO("ffm_k " << spec.ffm_k << ", towers " << spec::get_towers(spec) << ", layers "
                  << spec.hidden.size());
    double most = 0;
    for (std::size_t b = 0; b < kExamples; ++b) {
      const HeadScores scores = scores_of(run.model, run.trainer.tape, b);
      const ReferenceScores then = run.before->forward(run.batch, b);
      INFO("example " << b);
      if (b == 0) CHECK(scores.linear2 == Approx(then.linear2).margin(1e-5));
      most = std::max(most, std::abs(scores.linear2 - then.linear2));
      CHECK(scores.ffm - scores.linear2 == Approx(then.ffm - then.linear2).margin(1e-5));
      CHECK(scores.deep - scores.ffm == Approx(then.deep - then.ffm).margin(1e-5));
      const double label = run.batch.label[b], importance = run.batch.importance[b];
      const double error = -label / (1 + std::exp(label * double{scores.deep})) * importance;
      CHECK(scores.d_deep == Approx(error).margin(1e-5));
      CHECK(scores.d_ffm == scores.d_deep);
    }
    CHECK(most > .05);
  }
}

TEST_CASE("rows and layers learn by the errors that per-example updates have left") {
  for (const Spec& spec : all_specs()) {
    PerExample run(spec);
    INFO("ffm_k " << spec.ffm_k << ", towers " << spec::get_towers(spec) << ", layers "
                  << spec.hidden.size());
    for (std::size_t field = 0; field < run.before->rows.size(); ++field) {
      for (auto& [hash, row] : run.before->rows[field]) {
        const std::vector<double>& now = run.after->rows[field].at(hash);
        for (std::size_t i = 0; i < row.size(); ++i) run.check(row[i], now[i]);
      }
    }
    for (std::size_t l = 0; l < run.before->layers.size(); ++l) {
      ReferenceModel::Layer& layer = run.before->layers[l];
      for (std::size_t o = 0; o < layer.bias.size(); ++o) {
        run.check(layer.bias[o], run.after->layers[l].bias[o]);
        for (std::size_t i = 0; i < layer.weights[o].size(); ++i) {
          run.check(layer.weights[o][i], run.after->layers[l].weights[o][i]);
        }
      }
    }
    CHECK(run.moved > 20);
  }
}

TEST_CASE("all that a model learns beside features moves in a batch, updated per example or not") {
  for (NamedSpec kind : specs_to_test()) {
    if (!kind.spec.has_towers()) continue;
    kind.spec.batch_size = kExamples;
    kind.spec.nn_batch_size = 1;
    kind.spec.admit = 1;
    for (const bool updates : {true, false}) {
      kind.spec.per_example_updates = updates;
      const PerExample run(kind.spec);
      for (const auto& [name, values] : run.before->arrays) {
        INFO(kind.name << ", updates " << updates << ": " << name);
        CHECK(run.after->arrays.at(name) != values);
      }
    }
  }
}

}  // namespace
}  // namespace leveret::model
