// Every block's forward pass against the plain reference, over random models and examples.
#include <algorithm>
#include <catch2/catch.hpp>
#include <span>

#include "random_model.h"
#include "reference_model.h"
#include "specs_to_test.h"

namespace leveret::model {
namespace {

void check_near(const char* what, std::size_t b, double value, double expected) {
  INFO(what << " of example " << b << ": " << value << " instead of " << expected);
  CHECK(std::abs(value - expected) <= 2e-5 + 2e-5 * std::abs(expected));
}

template <class Values>
void check_all(const char* what, std::size_t b, std::span<const float> values,
               const Values& expected, std::size_t stride) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    check_near(what, b, values[b * stride + i], expected[i]);
  }
}

template <class Values>
void check_all(const char* what, std::size_t b, std::span<const float> values,
               const Values& expected) {
  check_all(what, b, values, expected, expected.size());
}

bool reads_pairs(const Spec& spec) {
  return spec.merges() || std::ranges::any_of(spec.more_towers, [](const spec::TowerSpec& tower) {
           return tower.reads("pairs");
         });
}

/// Of a random model, as `alter` leaves it.
void check_forward(const Spec& spec, const LineShape& shape, std::uint32_t seed,
                   const kernels::Kernels& kernels, bool keep_parts,
                   void (*alter)(Model&) = nullptr) {
  Model model(spec, kTestMemory);
  Sample sample(random_lines(12, shape, seed), reading_numbers(spec));
  const feature::FeatureBatch batch = sample.batch(model);
  randomise(model, batch, seed);
  if (alter != nullptr) alter(model);
  const ReferenceModel reference(model, batch);
  Trainer trainer(model, kernels);
  Tape& tape = trainer.tape;
  tape.keep_parts = keep_parts;
  trainer.predict(model, batch);
  for (std::size_t b = 0; b < batch.size(); ++b) {
    const ReferenceScores expected = reference.forward(batch, b);
    const HeadScores scores = scores_of(model, tape, b);
    check_near("base", b, scores.base, expected.base);
    check_near("linear", b, scores.linear, expected.linear);
    if (spec.mixed()) {
      check_near("linear2", b, scores.linear2, expected.linear2);
      check_near("counts", b, scores.counts, expected.counts);
      check_all("group_counts", b, tensor_of(model, tape, "groups.counts"), expected.group_counts);
      check_all("group_seen", b, tensor_of(model, tape, "groups.seen"), expected.group_seen);
    }
    check_near("first", b, scores.first, expected.first);
    const bool merges = model.config().merges();
    if (keep_parts || spec.mixed() || merges) {
      check_all("group_linear", b, tensor_of(model, tape, "groups.linear"), expected.group_linear);
    }
    check_near("ffm", b, scores.ffm, expected.ffm);
    if (spec.has_ffm()) {
      if (keep_parts || reads_pairs(spec))
        check_all("pairs", b, tensor_of(model, tape, "ffm.pairs"), expected.pairs);
      check_near("ffm_scale", b, tensor_of(model, tape, "ffm.scale")[b], expected.ffm_scale);
    }
    check_near("deep", b, scores.deep, expected.deep);
    const std::vector<block::Tower> towers = model.config().towers;
    const auto of = std::ranges::find(towers, std::vector<std::string>{block::kMergedInputs},
                                      &block::Tower::inputs);
    if (of != towers.end()) {
      check_all("inputs", b, tensor_of(model, tape, of->name + ".0.in"), expected.inputs,
                table::whole_lines(expected.inputs.size()));
    }
    check_near("last", b, scores.last, expected.last);
  }
}

TEST_CASE("forward agrees with the plain reference") {
  const spec::Heads heads = GENERATE(spec::Heads::kMixed, spec::Heads::kOne);
  const std::uint32_t k = GENERATE(0, 1, 2, 3, 4, 5, 8, 12, 16);
  for (const std::uint32_t fields : {1u, 2u, 5u}) {
    for (const std::vector<std::uint32_t>& hidden :
         {std::vector<std::uint32_t>{}, {7}, {16, 5}, {4, 3, 9}}) {
      for (const kernels::Kernels* kernels : kernels_to_test()) {
        Spec spec;
        spec.heads = heads;
        spec.ffm_k = k;
        spec.hidden = hidden;
        spec.admit = 1;
        LineShape shape;
        shape.fields = fields;
        shape.repeats = k % 2 == 1;
        INFO("mixed " << spec.mixed() << " k " << k << " fields " << fields << " layers "
                      << hidden.size() << " kernels " << kernels->name);
        for (const bool keep_parts : {false, true}) {
          check_forward(spec, shape, 100 * k + fields, *kernels, keep_parts);
        }
      }
    }
  }
}

TEST_CASE("forward of every kind of model agrees with the plain reference") {
  for (NamedSpec kind : specs_to_test()) {
    kind.spec.admit = 1;
    for (const bool repeats : {false, true}) {
      LineShape shape;
      shape.repeats = repeats;
      INFO(kind.name);
      for (const kernels::Kernels* kernels : kernels_to_test()) {
        check_forward(kind.spec, shape, 3, *kernels, false);
      }
    }
  }
}

TEST_CASE("forward of FM agrees with the plain reference") {
  const spec::Heads heads = GENERATE(spec::Heads::kMixed, spec::Heads::kOne);
  const std::uint32_t k = GENERATE(1, 2, 3, 4, 5, 8, 12, 16, 100);
  for (const std::uint32_t ffm_k : {0u, 4u}) {
    for (const std::uint32_t fields : {1u, 2u, 5u}) {
      for (const kernels::Kernels* kernels : kernels_to_test()) {
        Spec spec;
        spec.heads = heads;
        spec.ffm_k = ffm_k;
        spec.embedding_dim = k;
        spec::set_towers(spec, "fm:pairs=all");
        spec.admit = 1;
        LineShape shape;
        shape.fields = fields;
        shape.repeats = k % 2 == 1;
        INFO("mixed " << spec.mixed() << " k " << k << " beside " << ffm_k << " fields " << fields);
        check_forward(spec, shape, 10 * k + fields, *kernels, false);
      }
    }
  }
}

TEST_CASE("an FM has no pair where there is one feature, whatever its value") {
  Spec spec;
  spec.heads = spec::Heads::kOne;
  spec.ffm_k = 0;
  spec.embedding_dim = 4;
  spec::set_towers(spec, "fm:pairs=all");
  spec.row_bits = 32;
  spec.admit = 1;
  Model model(spec, kTestMemory);
  Sample sample("1 |A a:20000\n-1 |A a:1e7\n");
  const feature::FeatureBatch batch = sample.batch(model);
  randomise(model, batch, 3);
  Trainer trainer(model, kernels::active());
  trainer.predict(model, batch);
  const std::span<const float> scores = tensor_of(model, trainer.tape, "fm_1.score");
  CHECK(scores[0] == Approx(0).margin(1e-5));
  CHECK(scores[1] == Approx(0).margin(1e-5));
  CHECK(tensor_of(model, trainer.tape, "embedding.sums")[4] > 1e4);  // it has a row
}

TEST_CASE("forward agrees where features have no row, no linear weight, or form interactions") {
  const spec::Heads heads = GENERATE(spec::Heads::kMixed, spec::Heads::kOne);
  Spec spec;
  spec.heads = heads;
  spec.hidden = {6};
  SECTION("a feature seen once has no row yet") { spec.admit = 2; }
  SECTION("a namespace without linear weights") {
    spec.admit = 1;
    spec.features.linear_all = false;
    spec.features.linear = {"A", "C"};
  }
  SECTION("interactions") {
    spec.admit = 1;
    spec.features.interactions = {{"A", "B"}, {"C", "C"}, {"A", "B", "C"}};
  }
  SECTION("a field of several namespaces, a namespace in several fields") {
    spec.admit = 1;
    spec.features.fields = {{"A", "B"}, {"C"}, {"B", "C"}};
  }
  SECTION("no constant") { spec.constant = false; }
  SECTION("a field of several namespaces, a namespace in several fields, few linear weights") {
    spec.admit = 1;
    spec.features.fields = {{"A", "B"}, {"C"}, {"B", "C"}};
    spec.features.linear_all = false;
    spec.features.linear = {"B"};
  }
  SECTION("hashed cells with collisions, rows beside them") {
    spec.admit = 1;
    spec.bit_precision = 4;
  }
  for (std::uint32_t seed = 0; seed < 5; ++seed) {
    check_forward(spec, LineShape{}, seed, kernels::active(), false);
  }
}

TEST_CASE("features with more clicks than sights, as threads that lose updates leave them") {
  for (const kernels::Kernels* kernels : kernels_to_test()) {
    check_forward(Spec{}, LineShape{}, 7, *kernels, false, [](Model& model) {
      for (table::Shard& shard : model.tables()) {
        for (const std::uint32_t i : shard.index().in_order()) {
          table::MixedCell& cell = table::mixed(*table::cell_of(shard.slot(i)));
          cell.clicks = cell.count + 9;
        }
      }
    });
  }
}

TEST_CASE("a batch goes forward as its examples do one by one") {
  Spec spec;
  spec.admit = 1;
  Model model(spec, kTestMemory);
  Sample sample(random_lines(20, LineShape{}, 3));
  const feature::FeatureBatch batch = sample.batch(model);
  randomise(model, batch, 3);
  Trainer together(model, kernels::active()), alone(model, kernels::active());
  together.predict(model, batch);
  for (std::size_t b = 0; b < batch.size(); ++b) {
    const feature::FeatureBatch one = sample.batch(model, b, 1);
    alone.predict(model, one);
    CHECK(alone.tape.answers[0] == together.tape.answers[b]);
  }
  SECTION("also when only the hidden layers are gone through together") {
    Trainer steps(model, kernels::active());
    steps.network.open(model.parameters(), batch.size(), steps.tape);
    steps.lookup.find_all(model, batch, steps.tape);
    for (std::size_t b = 0; b < batch.size(); ++b) {
      steps.network.forward_example(model.parameters(), steps.tape, b);
    }
    steps.network.forward_batched(model.parameters(), steps.tape);
    for (std::size_t b = 0; b < batch.size(); ++b) {
      CHECK(steps.tape.answers[b] == together.tape.answers[b]);
    }
  }
}

}  // namespace
}  // namespace leveret::model
