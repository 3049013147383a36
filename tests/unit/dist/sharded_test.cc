// A model in shards learns what one process learns in batches.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>

#include "model_difference.h"
#include "sharded_run.h"
#include "sharded_specs.h"

namespace leveret::dist {
namespace {

using train::TrainRun;

model::LineShape shape_of_lines(std::size_t late) {
  model::LineShape shape;
  shape.fields = 6;
  shape.vocabulary = 15;
  shape.repeats = true;
  shape.late = late;
  return shape;
}

constexpr std::uint32_t kShards[] = {1, 2, 3, 4, 8};

TEST_CASE("after a batch from the same state shards differ from one process by rounding alone") {
  const std::size_t late = GENERATE(0, 5);
  const std::string lines = some_unlabelled(model::random_lines(80, shape_of_lines(late), 5));
  const std::string before = train::cut(lines, 0, 48), batch = train::cut(lines, 48, 16);
  for (NamedSpec& kind : sharded_specs(16, 32)) {
    kind.spec.batch_warmup = 0;
    for (const std::uint32_t shards : kShards) {
      INFO(kind.name << ", " << shards << " shards, late " << late);
      TrainRun again(kind.spec);
      again.learn(before);
      ShardedRun run(again.model, shards);
      run.learn(batch);
      again.learn(batch);
      const std::size_t count = run.outcomes.items.size();
      const std::vector<float> predicted = again.probabilities();
      CHECK(difference(run.probabilities(), {predicted.end() - static_cast<std::ptrdiff_t>(count),
                                             predicted.end()}) < 1e-6);
      CHECK(difference(run.whole(), again.model) < 1e-6);
    }
  }
}

/// How many codes of 16 bits differ, of all: of weights, and of accumulators by slot.
double share_of_other_codes(const model::Model& a, const model::Model& b) {
  std::size_t other = 0, all = 0;
  for (std::size_t s = 0; s < b.tables().size(); ++s) {
    b.tables()[s].for_each([&](const table::Slot& slot) {
      const table::Slot* const found = a.tables()[s].find(slot.key);
      if (!slot.ref.has_row() || found == nullptr) return;
      const table::Row mine = a.tables()[s].row_of(*found), its = b.tables()[s].row_of(slot);
      const table::RowLayout& layout = b.tables()[s].rows().layout();
      const bool by_slot = b.spec().adagrad_slice;
      const std::size_t bytes = by_slot ? layout.used_bytes() : layout.weight_bytes();
      for (std::size_t i = 0; i + 2 <= bytes; i += 2) {
        ++all;
        other += std::memcmp(a.tables()[s].rows().at(mine) + i, b.tables()[s].rows().at(its) + i,
                             2) != 0;
      }
    });
  }
  REQUIRE(all > 0);
  return static_cast<double>(other) / static_cast<double>(all);
}

TEST_CASE("rows of 16 bits are rounded as in one process, whoever has which slots") {
  const std::string lines = model::random_lines(80, shape_of_lines(0), 5);
  const std::string before = train::cut(lines, 0, 64), batch = train::cut(lines, 64, 16);
  for (const bool by_slot : {true, false}) {
    spec::Spec spec;
    spec.batch_size = 16;
    spec.batch_warmup = 0;
    spec.per_example_updates = false;
    spec.embedding_dim = 4;
    spec::set_towers(spec, "fm:pairs=all");
    spec.adagrad_slice = by_slot;
    TrainRun again(spec);
    again.learn(before);
    ShardedRun run(again.model, 3);
    run.learn(batch);
    again.learn(batch);
    INFO("accumulators by slot: " << by_slot);
    // Sums in another order are near, and rounded alike unless the noise is between them.
    CHECK(share_of_other_codes(run.whole(), again.model) < 0.002);
  }
}

TEST_CASE("after a hundred batches shards are still near", "[digits]") {
  const std::size_t late = GENERATE(0, 19);
  // A sample in which no neuron is within rounding of firing for the first time.
  const std::string lines = some_unlabelled(model::random_lines(800, shape_of_lines(late), 8));
  for (const NamedSpec& kind : sharded_specs(8, 32)) {
    if (model::amplifies_rounding(kind.spec)) continue;
    TrainRun whole(kind.spec);
    whole.learn(lines);
    for (const std::uint32_t shards : kShards) {
      INFO(kind.name << ", " << shards << " shards, late " << late);
      ShardedRun run(kind.spec, shards);
      run.learn(lines);
      CHECK(difference(run.probabilities(), whole.probabilities()) < 1e-4);
      CHECK(difference(run.whole(), whole.model) < 1e-4);
    }
  }
}

TEST_CASE("features that share cells learn in shards as they do in one process") {
  const bool values = GENERATE(false, true);
  model::LineShape shape = shape_of_lines(9);
  shape.values = values;
  const std::string lines = some_unlabelled(model::random_lines(400, shape, 9));
  spec::Spec spec;
  spec.batch_size = 8;
  spec.batch_warmup = 0;
  spec.per_example_updates = false;
  spec.row_bits = 32;
  spec.bit_precision = 5;
  spec.features.interactions = {{"A", "B"}};
  if (GENERATE(true, false)) spec.hidden = {};
  if (GENERATE(false, true)) {
    spec.embedding_dim = 4;
    spec::set_towers(spec, "fm:pairs=all");
  }
  TrainRun whole(spec);
  whole.learn(lines);
  ShardedRun one(spec, 1);
  one.learn(lines);
  for (const std::uint32_t shards : {2u, 3u}) {
    INFO(spec.hidden.size() << " layers, towers " << spec::get_towers(spec) << ", " << shards
                            << " shards");
    ShardedRun run(spec, shards);
    run.learn(lines);
    CHECK(difference(run.probabilities(), one.probabilities()) < 1e-4);
    CHECK(difference(run.whole(), one.whole()) < 1e-4);
    if (values) continue;  // see kFewCollisions
    CHECK(difference(run.probabilities(), whole.probabilities()) < 1e-4);
    CHECK(difference(run.whole(), whole.model) < 1e-4);
  }
}

TEST_CASE("whether a shard has the cell of a feature or not, its values are scaled alike") {
  // Largest values depend on whether a feature has been learned from: a value below 1 after values
  // of 1, or after an example without a label.
  const std::string lines =
      "|A a |B b\n1 |A a:0.5 |B b:0.25\n-1 |A a |B b:0.5\n1 |A a:0.5 |B b:0.125 |C c\n"
      "|A d |B d\n-1 |A d:0.5 |B a:3 |C c:0.5\n1 |A a:2 |B a:0.5 |C d\n-1 |A a:0.5 |B a |C d:0.5\n";
  for (NamedSpec& kind : sharded_specs(2, 32)) {
    kind.spec.admit = 1;
    TrainRun whole(kind.spec);
    whole.learn(lines);
    for (const std::uint32_t shards : kShards) {
      INFO(kind.name << ", " << shards << " shards");
      ShardedRun run(kind.spec, shards);
      run.learn(lines);
      CHECK(difference(run.probabilities(), whole.probabilities()) < 1e-5);
    }
  }
}

}  // namespace
}  // namespace leveret::dist
