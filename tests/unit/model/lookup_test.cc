// Where the features of examples end up: shards, slots, cells and rows.
#include "model/lookup.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "random_model.h"

namespace leveret::model {
namespace {

using table::key_of;
using table::Shard;
using table::Slot;

Spec spec_of(spec::Heads heads) {
  Spec spec;
  spec.heads = heads;
  spec.admit = 1;
  return spec;
}

const Slot* slot_of(const Shard& shard, std::uint32_t hash) { return shard.find(key_of(hash)); }

/// A model that has learned from lines, one by one.
struct LearnedLines {
  LearnedLines(const Spec& spec, const std::string& lines)
      : model(spec, kTestMemory), sample(lines), trainer(model, kernels::active()) {
    trainer.learn_online(model, sample);
    batch = sample.batch(model);
  }
  std::uint32_t hash(std::size_t linear) const { return batch.linear[linear].hash; }

  Model model;
  Sample sample;
  Trainer trainer;
  feature::FeatureBatch batch;
};

TEST_CASE("a feature has one slot, with its cell and its row, in the shard of its field") {
  const spec::Heads heads = GENERATE(spec::Heads::kMixed, spec::Heads::kOne);
  LearnedLines run(spec_of(heads), "1 |A a |B b\n-1 |A a |B c\n");
  const table::Tables& tables = run.model.tables();
  REQUIRE(tables.size() == 3);
  CHECK(tables[0].index().size() == 0);
  CHECK(tables.field(0).index().size() == 1);
  CHECK(tables.field(1).index().size() == 2);
  const Slot* const a = slot_of(tables.field(0), run.hash(0));
  REQUIRE(a != nullptr);
  CHECK(a->ref.has_row());
  CHECK(table::cell_of(a)->weight != 0);
  CHECK(tables.find_cell(1, run.hash(0)) == table::cell_of(a));
  CHECK(tables.find_cell(2, run.hash(0)) == nullptr);
  if (heads == spec::Heads::kMixed) {
    CHECK(table::mixed(*table::cell_of(a)).count == 2);
    CHECK(table::mixed(*table::cell_of(a)).clicks == 1);
    CHECK(tables.largest_value(1, run.hash(0)) == 1);
  }
}

TEST_CASE("what belongs to no field has cells in shard 0, and no rows") {
  Spec spec = spec_of(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  SECTION("interactions") { spec.features.interactions = {{"A", "B"}}; }
  SECTION("namespaces without a field") { spec.features.fields = {{"A"}, {"C"}}; }
  LearnedLines run(spec, "1 |A a |B b\n");
  const table::Tables& tables = run.model.tables();
  REQUIRE(tables.size() == 3);
  CHECK(tables[0].index().size() == 1);
  CHECK_FALSE(tables[0].has_rows());
  tables[0].for_each([](const Slot& slot) {
    CHECK(table::cell_of(&slot)->weight != 0);
    CHECK(slot.ref == table::RowRef());
  });
}

TEST_CASE("a namespace in two fields has its cells in the first, and rows in both") {
  Spec spec = spec_of(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  spec.features.fields = {{"A", "B"}, {"C"}, {"B"}};
  LearnedLines run(spec, "1 |A a |B b |C c\n-1 |B b:3 |C c\n");
  const table::Tables& tables = run.model.tables();
  const std::uint32_t hash = run.hash(1);
  const Slot* const first = slot_of(tables.field(0), hash);
  const Slot* const second = slot_of(tables.field(2), hash);
  REQUIRE(first != nullptr);
  REQUIRE(second != nullptr);
  CHECK(first->ref.has_row());
  CHECK(second->ref.has_row());
  CHECK(slot_of(tables.field(1), hash) == nullptr);
  CHECK(table::cell_of(first)->weight != 0);
  CHECK(table::cell_of(second)->weight == 0);
  CHECK(table::cell_of(second)->sum == 0);
  if (spec.mixed()) {
    CHECK(table::mixed(*table::cell_of(first)).count == 2);
    CHECK(table::mixed(*table::cell_of(second)).count == 0);
    CHECK(tables.largest_value(1, hash) == 3);
    CHECK_FALSE(second->ref.has_largest_value());
  }
  // Both rows have moved, each by its own gradient.
  const table::Rows &rows = tables.field(0).rows(), &others = tables.field(2).rows();
  CHECK(weights_of(rows, first->ref.row()) != weights_of(others, second->ref.row()));
  CHECK(tables.field(2).rows().size() == 1);
}

TEST_CASE("a namespace that is not linear has rows and cells that stay zero") {
  Spec spec = spec_of(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  spec.features.linear_all = false;
  spec.features.linear = {"A"};
  LearnedLines run(spec, "1 |A a |B b:2 |C c\n-1 |A a |B b c |C c\n");
  REQUIRE(run.batch.linear.size() == 2);  // a, twice
  const table::Tables& tables = run.model.tables();
  for (const std::uint32_t field : {1u, 2u}) {
    CHECK(tables.field(field).index().size() == (field == 1 ? 2 : 1));
    tables.field(field).for_each([](const Slot& slot) {
      CHECK(slot.ref.has_row());
      CHECK(table::cell_of(&slot)->weight == 0);
      CHECK(table::cell_of(&slot)->sum == 0);
    });
  }
  CHECK(slot_of(tables.field(0), run.hash(0))->ref.has_row());
}

TEST_CASE("with -b cells have no keys, and slots have no cells") {
  Spec spec = spec_of(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  spec.bit_precision = 10;
  LearnedLines run(spec, "1 |A a |B b:2\n-1 |A a |B b\n");
  const table::Tables& tables = run.model.tables();
  REQUIRE(tables.hashed() != nullptr);
  CHECK(tables.hashed()->used() == 2);
  for (const std::uint32_t field : {0u, 1u}) {
    const Slot* const slot = slot_of(tables.field(field), run.hash(field));
    REQUIRE(slot != nullptr);
    CHECK(slot->ref.has_row());
    CHECK(tables.field(field).cells() == table::CellKind::kNone);
    CHECK(tables.find_cell(field + 1, run.hash(field)) == tables.hashed()->find(run.hash(field)));
    if (spec.mixed()) CHECK(tables.largest_value(field + 1, run.hash(field)) == field + 1);
  }
}

TEST_CASE("a model without rows has one shard, where equal hashes share a slot") {
  Spec spec = spec_of(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  // The hash of a name that is a number is that number plus the namespace's.
  const std::string lines = "1 |1 7 |2 6 |C c\n-1 |1 8 |C c\n";
  LearnedLines with_rows(spec, lines);
  REQUIRE(with_rows.hash(0) == with_rows.hash(1));
  CHECK(with_rows.model.tables().size() == 4);
  CHECK(count_features(with_rows.model) == 4);
  spec.ffm_k = 0;
  LearnedLines without(spec, lines);
  CHECK(without.model.tables().size() == 1);
  CHECK(without.model.tables().row_layout().empty());
  CHECK(count_features(without.model) == 3);
  const table::Cell* const cell = without.model.tables().find_cell(1, without.hash(0));
  CHECK(cell == without.model.tables().find_cell(2, without.hash(0)));
  if (spec.mixed()) CHECK(table::mixed(*cell).count == 2);
}

TEST_CASE("features of two fields with one hash have cells and largest values of their own") {
  LearnedLines run(spec_of(spec::Heads::kMixed), "1 |1 7 |2 6\n-1 |1 7:3 |2 6:0.5\n");
  const table::Tables& tables = run.model.tables();
  REQUIRE(run.hash(0) == run.hash(1));
  CHECK(tables.largest_value(1, run.hash(0)) == 3);
  CHECK(tables.largest_value(2, run.hash(0)) == 1);
  const table::Cell* const a = tables.find_cell(1, run.hash(0));
  const table::Cell* const b = tables.find_cell(2, run.hash(0));
  CHECK(a != b);
  CHECK(table::mixed(*a).count == 2);
  CHECK(a->weight != b->weight);
  CHECK(tables.field(0).largest_values().size() == 1);
  CHECK(tables.field(1).largest_values().size() == 0);
}

TEST_CASE("slots of examples that wait are found again when their shard has grown") {
  Spec spec = spec_of(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  SECTION("found fields") {}
  SECTION("fields with slots of their own, which grow beside those of cells") {
    spec.features.fields = {{"A", "B"}, {"B", "C"}, {"D"}};
    spec.features.linear_all = false;
    spec.features.linear = {"B", "D"};
  }
  SECTION("one shard") { spec.ffm_k = 0; }
  Model model(spec, kTestMemory);
  LineShape shape;
  shape.vocabulary = 100000;  // nearly all of them are new
  shape.features = 6;
  Sample sample(random_lines(40, shape, 9));
  const feature::FeatureBatch batch = sample.batch(model);
  Tape tape;
  Lookup lookup(model);
  lookup.open(model, batch, tape, Use::kLearn);
  std::set<std::uint64_t> capacities;
  for (std::size_t b = 0; b < batch.size(); ++b) {
    lookup.resolve(model, tape, b);
    for (const Shard& shard : model.tables()) capacities.insert(shard.index().capacity());
  }
  REQUIRE(capacities.size() > 2);  // some have grown twice
  lookup.bind(model, tape, 0, batch.size());
  for (const feature::LinearRun& run : batch.linear_runs) {
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const Slot* const slot =
          slot_of(model.tables().of_feature_group(run.group), batch.linear[i].hash);
      REQUIRE(slot != nullptr);
      CHECK(tape.slots[i] == slot);
      CHECK(tape.cells[i] == table::cell_of(slot));
    }
  }
  for (const feature::FieldRun& run : batch.runs) {
    const Shard& shard = model.tables().field(run.field);
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const table::Row row = find_row(model, run.field, batch.field_features[i].hash);
      REQUIRE(row != table::kNoRow);
      CHECK(tape.rows[i] == shard.rows().at(row));
    }
  }
}

TEST_CASE("prediction does not change what the model knows") {
  Spec spec = spec_of(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  spec.admit = 2;
  SECTION("growing") {}
  SECTION("hashed") { spec.bit_precision = 6; }
  SECTION("several fields") {
    spec.features.fields = {{"A", "B"}, {"B", "C"}};
    spec.features.linear_all = false;
    spec.features.linear = {"B"};
  }
  LearnedLines run(spec, random_lines(30, LineShape{}, 3));
  const std::vector<float> before = all_weights(run.model);
  const std::uint64_t features = count_features(run.model);
  Sample fresh(random_lines(30, LineShape{}, 4) + "1 |A new |B newer:2 |C c\n");
  // Names of namespaces are numbered by each text on its own.
  Model twin = run.model.replica();
  const feature::FeatureBatch batch = fresh.batch(twin);
  Trainer trainer(run.model, kernels::active());
  trainer.predict(run.model, batch);
  CHECK(all_weights(run.model) == before);
  CHECK(count_features(run.model) == features);
  trainer.learn(run.model, batch);
  CHECK(all_weights(run.model) != before);
}

TEST_CASE("room for a batch is made by shard, for keys that are new and values that are not 1") {
  Spec spec = spec_of(spec::Heads::kMixed);
  SECTION("found fields") {}
  SECTION("fields that share namespaces") { spec.features.fields = {{"A", "B"}, {"B", "C", "D"}}; }
  Model model(spec, kTestMemory);
  LineShape shape;
  shape.vocabulary = 100000;
  shape.features = 6;
  Sample sample(random_lines(60, shape, 2));
  const feature::FeatureBatch batch = sample.batch(model);
  Trainer trainer(model, kernels::active());
  CHECK_FALSE(trainer.lookup.has_room(model, batch, 1));
  trainer.lookup.make_room(model, batch, 1);
  CHECK(trainer.lookup.has_room(model, batch, 1));
  std::vector<std::uint64_t> capacities;
  for (const Shard& shard : model.tables()) capacities.push_back(shard.index().capacity());
  model.tables().set_concurrent(true);
  trainer.learn(model, batch);
  model.tables().set_concurrent(false);
  for (std::size_t s = 0; s < capacities.size(); ++s) {
    CHECK(model.tables()[s].index().capacity() == capacities[s]);
  }
  CHECK(model.tables().overflow_lookups() == 0);
  for (const feature::FieldRun& run : batch.runs) {
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      CHECK(find_row(model, run.field, batch.field_features[i].hash) != table::kNoRow);
    }
  }
}

}  // namespace
}  // namespace leveret::model
