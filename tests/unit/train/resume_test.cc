// One run and a run in parts end with the same bytes; how the input is cut does not matter.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "train_run.h"

namespace leveret::train {
namespace {

model::LineShape shape_with(std::size_t late) {
  model::LineShape shape;
  shape.fields = 6;
  shape.repeats = true;
  shape.late = late;
  return shape;
}

TEST_CASE("a run over two parts with a saved model between gives the file of one run") {
  const std::size_t late = GENERATE(0, 9);
  const std::string lines = model::random_lines(120, shape_with(late), 17);
  for (const NamedSpec& kind : specs_to_test()) {
    TrainRun whole(kind.spec);
    whole.learn(lines);
    const std::vector<std::byte> expected = whole.saved();
    for (const std::size_t split : {1, 2, 4, 12, 36, 60, 119}) {
      if (split % together(kind.spec) != 0) continue;
      INFO(kind.name << ", late " << late << ", cut after line " << split);
      const files::TempFolder folder;
      TrainRun first(kind.spec);
      first.learn(cut(lines, 0, split));
      save_model(first.model, folder / "first");
      TrainRun second(load_model(folder / "first", kTestMemory));
      second.learn(cut(lines, split, 1000));
      CHECK(second.saved() == expected);
      std::vector<float> both = first.probabilities();
      for (const float p : second.probabilities()) both.push_back(p);
      CHECK(both == whole.probabilities());
    }
  }
}

TEST_CASE("a run in many parts, each with a loaded model, gives the file of one run") {
  const std::string lines = model::random_lines(60, shape_with(5), 3);
  TrainRun whole{spec::Spec()};
  whole.learn(lines);
  const files::TempFolder folder;
  save_model(TrainRun{spec::Spec()}.model, folder / "m");
  for (std::size_t at = 0; at < 60; ++at) {
    TrainRun part(load_model(folder / "m", kTestMemory));
    part.learn(cut(lines, at, 1));
    save_model(part.model, folder / "m");
  }
  CHECK(files::read_bytes(folder / "m") == whole.saved());
}

TEST_CASE("a cut within a batch ends that batch: another model, and that of the same batches") {
  spec::Spec spec;
  (GENERATE(true, false) ? spec.batch_size : spec.nn_batch_size) = 4;
  spec.batch_warmup = 0;
  const std::string lines = model::random_lines(40, shape_with(0), 4);
  TrainRun whole(spec), parts(spec), again(spec);
  whole.learn(lines);
  for (TrainRun* run : {&parts, &again}) {
    run->learn(cut(lines, 0, 18));  // learn() finishes the batch of 2 that is left
    run->learn(cut(lines, 18, 1000));
  }
  CHECK(parts.saved() == again.saved());
  CHECK(parts.saved() != whole.saved());
}

TEST_CASE("the same run twice gives the same bytes") {
  const std::string lines = model::random_lines(100, shape_with(4), 5);
  for (const NamedSpec& kind : specs_to_test()) {
    INFO(kind.name);
    TrainRun one(kind.spec), two(kind.spec);
    one.learn(lines);
    two.learn(lines);
    CHECK(one.saved() == two.saved());
    CHECK(one.probabilities() == two.probabilities());
    // Another seed gives another model, so that the comparison can fail.
    if (!kind.spec.has_ffm()) continue;
    spec::Spec other = kind.spec;
    other.seed = 1;
    TrainRun three(other);
    three.learn(lines);
    CHECK(three.saved() != one.saved());
  }
}

TEST_CASE("how the input is cut into chunks does not matter") {
  const std::string lines = model::random_lines(150, shape_with(7), 6);
  for (const NamedSpec& kind : specs_to_test()) {
    TrainRun whole(kind.spec);
    whole.learn(lines);
    for (const std::size_t step : {1, 7, 33, 64}) {
      INFO(kind.name << ", chunks of " << step);
      // The learner waits for batches across chunks, so they are not finished between.
      TrainRun pieces(kind.spec);
      pieces.learn(lines, step);
      CHECK(pieces.saved() == whole.saved());
      CHECK(pieces.probabilities() == whole.probabilities());
    }
  }
}

TEST_CASE("how the input is cut does not matter where nearly every feature is new") {
  // Slots move at other places of a chunk, and within and between the windows of a learner.
  model::LineShape shape = shape_with(30);
  shape.vocabulary = 100000;
  const std::string lines = model::random_lines(250, shape, 16);
  for (const NamedSpec& kind : specs_to_test()) {
    TrainRun whole(kind.spec);
    whole.learn(lines);
    for (const std::size_t step : {1, 31, 32, 33, 100}) {
      INFO(kind.name << ", chunks of " << step);
      TrainRun pieces(kind.spec);
      pieces.learn(lines, step);
      CHECK((pieces.saved() == whole.saved()));  // no text of so many bytes
      CHECK(pieces.probabilities() == whole.probabilities());
    }
  }
}

/// The cells of features that are equal in two models, of which one has cells without keys.
void check_cells(const table::Tables& growing, const table::Tables& hashed) {
  const std::size_t floats = table::cell_floats(growing.cells());
  for (std::uint32_t group = 0; group < growing.size(); ++group) {
    growing[group].for_each([&](const table::Slot& slot) {
      const float* const numbers = &table::cell_of(&slot)->weight;
      const float* const others = &hashed.hashed()->find(slot.key)->weight;
      CHECK(std::equal(numbers, numbers + floats, others));
      if (growing.cells() != table::CellKind::kMixed) return;
      CHECK(growing[group].largest_value(slot) == hashed.largest_value(group, slot.key));
    });
  }
}

TEST_CASE("hashed and growing tables agree where nothing collides") {
  const spec::Heads heads = GENERATE(spec::Heads::kMixed, spec::Heads::kOne);
  const std::uint32_t admit = GENERATE(1, 2, 3);
  const std::string lines = model::random_lines(200, shape_with(GENERATE(0, 20)), 7);
  spec::Spec growing;
  growing.heads = heads;
  growing.admit = admit;
  spec::Spec hashed = growing;
  hashed.bit_precision = 20;
  TrainRun a(growing), b(hashed);
  a.learn(lines);
  b.learn(lines);
  const table::Tables &own = a.model.tables(), &other = b.model.tables();
  std::uint64_t features = 0;
  for (const table::Shard& shard : own) features += shard.index().size();
  REQUIRE(features == other.hashed()->used());  // nothing did collide
  CHECK(a.probabilities() == b.probabilities());
  check_cells(own, other);
  REQUIRE(own.fields() == other.fields());
  for (std::uint32_t f = 0; f < own.fields(); ++f) {
    const table::Shard &shard = own.field(f), &twin = other.field(f);
    CHECK(shard.index().size() == twin.index().size());
    REQUIRE(shard.rows().size() == twin.rows().size());
    std::uint64_t rows = 0;
    shard.for_each([&](const table::Slot& slot) {
      const table::Row row = shard.row_of(slot);
      CHECK(twin.row_of(*twin.find(slot.key)) == row);
      if (row == table::kNoRow) return;
      ++rows;
      CHECK(std::memcmp(shard.rows().at(row), twin.rows().at(row),
                        shard.rows().layout().used_bytes()) == 0);
    });
    CHECK(rows == shard.rows().size());
  }
  for (std::size_t l = 0; l < a.model.parameters().layer_count(); ++l) {
    CHECK(std::ranges::equal(a.model.parameters().layer(l).weights,
                             b.model.parameters().layer(l).weights));
  }
}

TEST_CASE("prediction gives what training would have predicted, and leaves the model as it is") {
  const std::string lines = model::random_lines(100, shape_with(0), 8);
  const std::string fresh = model::random_lines(40, shape_with(0), 9);
  for (const NamedSpec& kind : specs_to_test()) {
    if (together(kind.spec) > 1) continue;
    INFO(kind.name);
    TrainRun run(kind.spec);
    run.learn(lines);
    const std::vector<std::byte> before = run.saved();
    for (std::size_t i = 0; i < 40; ++i) {
      const files::TempFolder folder;
      save_model(run.model, folder / "m");
      TrainRun twin(load_model(folder / "m", kTestMemory));
      const std::string line = cut(fresh, i, 1);
      const std::vector<float> predicted = run.predict(line);
      // A feature that this very line admits has first weights that prediction does not know.
      const auto rows = [&] {
        std::uint64_t sum = 0;
        for (const table::Shard& shard : twin.model.tables()) sum += shard.rows().size();
        return sum;
      };
      const std::uint64_t before_line = rows();
      twin.learn(line);
      if (rows() != before_line) continue;
      CHECK(predicted == twin.probabilities());
    }
    CHECK(run.saved() == before);
  }
}

}  // namespace
}  // namespace leveret::train
