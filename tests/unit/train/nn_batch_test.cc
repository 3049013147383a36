// Examples that pass the MLP together (--nn_batch_size).
#include <catch2/catch.hpp>
#include <span>
#include <string>

#include "spec/optimizer.h"
#include "train_run.h"

namespace leveret::train {
namespace {

spec::Spec grouped(spec::Heads heads, std::uint32_t size) {
  spec::Spec spec;
  spec.heads = heads;
  spec.nn_batch_size = size;
  spec.admit = 1;
  spec.hidden = {16, 5};
  return spec;
}

TEST_CASE("examples of a group are told their probabilities before any of them is learned") {
  const spec::Heads heads = GENERATE(spec::Heads::kMixed, spec::Heads::kOne);
  const std::string lines = model::random_lines(12, usual_shape(), 1);
  TrainRun group(grouped(heads, 4));
  group.learn(lines);
  for (std::size_t i = 8; i < 12; ++i) {
    TrainRun alone(grouped(heads, 4));
    alone.learn(cut(lines, 0, 8));
    alone.learn(cut(lines, i, 1));
    CHECK(group.probabilities()[i] == alone.probabilities()[8]);
  }
}

TEST_CASE("the layers make the step of a batch; rows and cells those of single examples") {
  const spec::Heads heads = GENERATE(spec::Heads::kMixed, spec::Heads::kOne);
  const std::string lines = model::random_lines(6, usual_shape(), 2);
  spec::Spec in_batches = grouped(heads, 1), in_groups = grouped(heads, 6);
  in_batches.batch_size = 6;
  in_batches.batch_warmup = 0;
  in_batches.per_example_updates = false;
  const std::string rule = GENERATE("adagrad", "adam");
  for (spec::Spec* spec : {&in_batches, &in_groups}) spec::set_optimizer(*spec, rule);
  TrainRun group(in_groups), batch(in_batches);
  group.learn(lines);
  batch.learn(lines);
  for (std::size_t l = 0; l < 3; ++l) {
    const tape::LearnedDense one = group.model.parameters().learned_layer(l);
    const tape::LearnedDense other = batch.model.parameters().learned_layer(l);
    INFO("layer " << l);
    const auto compare = [](std::span<const float> a, std::span<const float> b) {
      REQUIRE(a.size() == b.size());
      for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(1e-6));
    };
    compare(one.weights, other.weights);
    compare(one.bias, other.bias);
    for (std::size_t s = 0; s < one.rule->states().size(); ++s) {
      compare(one.weights_states[s], other.weights_states[s]);
      compare(one.bias_states[s], other.bias_states[s]);
    }
  }
  CHECK(group.model.parameters().scalars.examples == 6);
}

TEST_CASE("a group of one learns what an example alone learns") {
  const spec::Heads heads = GENERATE(spec::Heads::kMixed, spec::Heads::kOne);
  const std::string lines = model::random_lines(150, usual_shape(), 3);
  TrainRun ones(grouped(heads, 8)), plain(grouped(heads, 1));
  for (std::size_t i = 0; i < 150; ++i) ones.learn(cut(lines, i, 1));
  plain.learn(lines);
  const std::vector<float> a = ones.probabilities(), b = plain.probabilities();
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(2e-3));
}

TEST_CASE("groups are cut by count, however the input is") {
  const std::string lines = model::random_lines(203, usual_shape(), 4);
  const spec::Spec spec = grouped(spec::Heads::kMixed, GENERATE(3, 8, 16));
  text::NamespaceNames names;
  TrainRun whole(spec);
  whole.learn(lines);
  for (const std::size_t step : {1, 5, 50}) {
    INFO("chunks of " << step);
    model::Model model(spec, kTestMemory);
    Learner learner(model, whole.names, kernels::active());
    Outcomes outcomes;
    for (std::size_t first = 0; first < 203; first += step) {
      const text::ExampleChunk chunk = parse(whole.names, cut(lines, first, step));
      learner.learn(chunk, 0, chunk.examples.size(), outcomes);
    }
    learner.finish(outcomes);
    CHECK(TrainRun::probabilities(outcomes) == whole.probabilities());
  }
}

/// Lines whose features are nearly all new, of fields that are known from the start.
struct ManyNewFeatures {
  explicit ManyNewFeatures(spec::Heads heads) : spec(grouped(heads, 8)) {
    spec.features.fields = {{"A"}, {"B"}, {"C"}, {"D"}};
    model::LineShape shape;
    shape.vocabulary = 100000;
    shape.features = 6;
    lines = model::random_lines(200, shape, 12);
  }
  spec::Spec spec;
  std::string lines;
};

TEST_CASE("tables that grow while examples of a group wait make no difference") {
  ManyNewFeatures many(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  SECTION("one slot for a feature") {}
  SECTION("slots of fields beside those of cells") {
    many.spec.features.fields = {{"A", "B"}, {"B", "C"}, {"D"}};
    many.spec.features.linear_all = false;
    many.spec.features.linear = {"B", "D"};
  }
  SECTION("cells without keys") { many.spec.bit_precision = 14; }
  TrainRun growing(many.spec), roomy(many.spec);
  for (table::Shard& shard : roomy.model.tables()) shard.reserve(20000, 20000);
  growing.learn(many.lines);
  roomy.learn(many.lines);
  // Several times, and within a group: 8 examples have more features than there were slots.
  CHECK(growing.model.tables().field(0).index().capacity() >= 16 * table::Index::kFirstSlots);
  CHECK(growing.model.tables().field(0).index().capacity() <
        roomy.model.tables().field(0).index().capacity());
  CHECK(growing.probabilities() == roomy.probabilities());
  CHECK((growing.saved() == roomy.saved()));  // no text of so many bytes
}

TEST_CASE("a group knows, counts and admits what its examples do one by one") {
  ManyNewFeatures many(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  many.spec.admit = GENERATE(1, 2);
  many.lines += many.lines;
  TrainRun group(many.spec);
  many.spec.nn_batch_size = 1;
  TrainRun alone(many.spec);
  group.learn(many.lines);
  alone.learn(many.lines);
  const table::Tables &a = group.model.tables(), &b = alone.model.tables();
  REQUIRE(a.size() == b.size());
  for (std::size_t s = 0; s < a.size(); ++s) {
    REQUIRE(a[s].index().size() == b[s].index().size());
    CHECK(a[s].rows().size() == b[s].rows().size());
    a[s].for_each([&](const table::Slot& slot) {
      const table::Slot* const other = b[s].find(slot.key);
      REQUIRE(other != nullptr);
      CHECK(slot.ref == other->ref);
      if (!many.spec.mixed()) return;
      const table::MixedCell& one = table::mixed(*table::cell_of(&slot));
      CHECK(one.count == table::mixed(*table::cell_of(other)).count);
      CHECK(one.clicks == table::mixed(*table::cell_of(other)).clicks);
      CHECK(a[s].largest_value(slot) == b[s].largest_value(*other));
    });
  }
}

TEST_CASE("lines without a field and lines that are not learned go through a group") {
  const spec::Spec spec = grouped(spec::Heads::kOne, 4);
  TrainRun run(spec);
  run.learn("1 |\n-1 |\n1 |A a |B b\n|A a |B c\n-1 0 |A b |B c\n1 |A a |B b\n-1 |\n");
  CHECK(run.probabilities().size() == 7);
  CHECK(run.model.parameters().scalars.examples == 5);
}

}  // namespace
}  // namespace leveret::train
