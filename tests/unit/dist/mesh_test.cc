// A mesh learns what one process learns in batches.
#include <catch2/catch.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../train/train_run.h"
#include "dist/mesh/gather.h"
#include "dist/mesh/learner.h"
#include "each_batch.h"
#include "model_difference.h"
#include "sharded_run.h"
#include "sharded_specs.h"
#include "thread_ranks.h"

namespace leveret::dist {
namespace {

using train::TrainRun;

/// Models that a mesh learns, in batches of so many examples and with rows and accumulators of 32
/// bits, of which sums in another order are the same but for their last digits.
std::vector<NamedSpec> mesh_specs(std::uint32_t batch) {
  std::vector<NamedSpec> all;
  const auto add = [&](const char* name, spec::Spec spec) {
    spec.heads = spec::Heads::kOne;
    for (spec::TowerSpec& tower : spec.more_towers) tower.own_loss = false;
    spec.batch_size = batch;
    spec.batch_warmup = 0;
    spec.per_example_updates = false;
    spec.row_bits = spec.state_bits = 32;
    spec.admit = spec.admit > 0 ? spec.admit : 2;
    all.push_back({name, spec});
  };
  for (const NamedSpec& kind : model::specs_to_test()) {
    const bool can_be = kind.spec.bit_precision == 0 && kind.spec.nn_batch_size == 1 &&
                        !kind.spec.forgets() && kind.spec.features.numeric.empty();
    if (can_be) add(kind.name, kind.spec);
  }
  spec::Spec clipped;
  clipped.nn_clip = 0.05f;
  clipped.nn_warmup = 100;
  clipped.nn_l2 = 0.01f;
  add("layers that are clipped", clipped);
  spec::Spec crossed;
  crossed.features.interactions = {{"A", "B"}};
  add("with interactions", crossed);
  spec::Spec wide;
  wide.hidden = {64, 8};
  add("wide layers", wide);
  return all;
}

struct Result {
  std::optional<model::Model> model;
  std::vector<float> scores;
  TrafficCount traffic;  ///< of rank 0, while it learned
  MeshBytes expected;    ///< all batches'
};

/// What so many ranks learn, each of which reads everything and keeps its examples.
Result learn_by(unsigned size, const spec::Spec& spec, const std::string& lines) {
  Result result;
  run_ranks(size, [&](Communicator& ranks) {
    model::Model model(spec, train::kTestMemory);
    MeshLearner learner(model, ranks, kernels::active());
    Plan plan(PlanShape::of(spec, model.config(), 1));
    std::vector<float> scores;
    MeshBytes expected;
    each_batch(spec, lines, [&](BatchMaker& maker) {
      const Growth growth = maker.growth();
      if (!growth.fields.empty()) plan.grow(growth.sizes);
      learner.grow(growth);
      const ExampleShare share = ExampleShare::of(maker.size(), ranks.rank(), size);
      PartBatch part;
      cut(maker.stretch(), plan, 0, maker.begin() + share.begin, maker.begin() + share.end, part);
      learner.learn(part.features, {}, maker.size());
      expected.pull += learner.expected_bytes().pull;
      expected.push += learner.expected_bytes().push;
      expected.sums += learner.expected_bytes().sums;
      scores.insert(scores.end(), learner.scores().begin(), learner.scores().end());
      return learner.scores();
    });
    const TrafficCount traffic = ranks.traffic();
    std::optional<model::Model> whole = gather_mesh(model, ranks, train::kTestMemory);
    if (ranks.is_root()) result = {std::move(whole), scores, traffic, expected};
  });
  return result;
}

std::string mesh_lines(std::size_t count, std::size_t late) {
  model::LineShape shape;
  shape.fields = 6;
  shape.vocabulary = 15;
  shape.repeats = true;
  shape.late = late;
  return some_unlabelled(model::random_lines(count, shape, 5));
}

TEST_CASE("a mesh of any number of ranks learns what one process learns in batches") {
  const std::string early = mesh_lines(150, 0), late = mesh_lines(150, 17);
  bool comes_late = false;
  for (const NamedSpec& kind : mesh_specs(16)) {
    comes_late = !comes_late;
    const std::string& lines = comes_late ? late : early;
    TrainRun one(kind.spec);
    one.learn(lines);
    for (const unsigned size : {1u, 2u, 3u, 8u}) {
      INFO(kind.name << ", " << size << " ranks, late " << comes_late);
      const Result got = learn_by(size, kind.spec, lines);
      predict::Outcomes outcomes;
      std::vector<float> probabilities;
      for (const float score : got.scores) {
        predict::Outcome outcome;
        outcome.set_score(score);
        probabilities.push_back(outcome.probability);
      }
      const double most = model::amplifies_rounding(kind.spec) ? 1e-3 : 1e-4;
      CHECK(difference(probabilities, one.probabilities()) < most);
      CHECK(difference(*got.model, one.model) < most);
    }
  }
}

TEST_CASE("a mesh sends what the formula says", "[threads]") {
  spec::Spec spec;
  spec.heads = spec::Heads::kOne;
  spec.batch_size = 400;
  spec.batch_warmup = 0;
  model::LineShape shape;
  shape.fields = 12;
  shape.vocabulary = 300;
  const std::string lines = model::random_lines(1600, shape, 4);
  for (const unsigned size : {2u, 3u}) {
    const Result got = learn_by(size, spec, lines);
    const auto near = [&](Traffic traffic, std::uint64_t expected) {
      const auto sent = static_cast<double>(got.traffic.sent_for(traffic));
      CHECK(sent > 0);
      CHECK(std::fabs(sent - static_cast<double>(expected)) <= 0.02 * sent);
    };
    near(Traffic::kPull, got.expected.pull);
    near(Traffic::kPush, got.expected.push);
    near(Traffic::kSums, got.expected.sums);
    CHECK(got.traffic.sent_for(Traffic::kOther) == 0);
  }
}

TEST_CASE("a flag of one rank of a mesh is told to all, and nothing is learned after a failure",
          "[threads]") {
  std::vector<BatchFlags> stopped(3), failed(3);
  std::vector<std::uint64_t> learned(3);
  run_ranks(3, [&](Communicator& ranks) {
    spec::Spec spec;
    spec.heads = spec::Heads::kOne;
    spec.ffm_k = 0;
    spec.batch_size = 8;
    model::Model model(spec, train::kTestMemory);
    MeshLearner learner(model, ranks, kernels::active());
    const unsigned rank = ranks.rank();
    stopped[rank] = learner.learn({}, {.failed = false, .stop = rank == 1}, 0);
    failed[rank] = learner.learn({}, {.failed = rank == 2, .stop = false}, 0);
    learned[rank] = model.parameters().scalars.examples;
  });
  for (unsigned rank = 0; rank < 3; ++rank) {
    CHECK((stopped[rank].stop && !stopped[rank].failed));
    CHECK(failed[rank].failed);
    CHECK(learned[rank] == 0);
  }
}

TEST_CASE("a mesh refuses what it has not") {
  spec::Spec spec;
  CHECK_THROWS_WITH(check_mesh(spec), Catch::Contains("--heads one"));
  spec.heads = spec::Heads::kOne;
  CHECK_NOTHROW(check_mesh(spec));
  spec.bit_precision = 12;
  CHECK_THROWS_WITH(check_mesh(spec), Catch::Contains("-b"));
}

TEST_CASE("messages of a mesh of which bytes are missing are refused") {
  const std::vector<Wanted> features = {{0, 7, true, 0}, {2, 9, true, 3}, {2, 11, false, 1}};
  Bytes bytes;
  encode_wanted(features, bytes);
  std::vector<Wanted> got;
  decode_wanted(bytes, 3, got);
  CHECK(got == features);
  CHECK_THROWS_AS(decode_wanted(bytes, 2, got), std::runtime_error);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_THROWS_AS(decode_wanted(bytes.substr(0, size), 3, got), std::runtime_error);
  }
  const Lent lent = {{1.5f, 2.5f}, {1, 1}, std::vector<std::byte>(6, std::byte{4})};
  encode_lent(lent, bytes);
  Lent lent_got;
  decode_lent(bytes, features, 6, lent_got);
  CHECK((lent_got.cells == lent.cells && lent_got.rows == lent.rows));
  CHECK(lent_got.row_from == lent.row_from);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_THROWS_AS(decode_lent(bytes.substr(0, size), features, 6, lent_got), std::runtime_error);
  }
  encode_gradients({{1, 2}, {3, 4, 5}}, bytes);
  Gradients gradients;
  decode_gradients(bytes, 2, 3, gradients);
  CHECK(gradients.rows == std::vector<float>{3, 4, 5});
  CHECK_THROWS_AS(decode_gradients(bytes, 2, 4, gradients), std::runtime_error);
}

}  // namespace
}  // namespace leveret::dist
