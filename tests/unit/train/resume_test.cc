// One run and a run in parts end with the same bytes; how the input is cut does not matter.
#include <catch2/catch.hpp>
#include <random>

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
  TrainRun whole{model::Spec()};
  whole.learn(lines);
  const files::TempFolder folder;
  save_model(TrainRun{model::Spec()}.model, folder / "m");
  for (std::size_t at = 0; at < 60; ++at) {
    TrainRun part(load_model(folder / "m", kTestMemory));
    part.learn(cut(lines, at, 1));
    save_model(part.model, folder / "m");
  }
  CHECK(files::read_bytes(folder / "m") == whole.saved());
}

TEST_CASE("a cut within a batch ends that batch: another model, and that of the same batches") {
  model::Spec spec;
  (GENERATE(true, false) ? spec.batch_size : spec.nn_batch_size) = 4;
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
    model::Spec other = kind.spec;
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

TEST_CASE("hashed and growing tables agree where nothing collides") {
  const model::Heads heads = GENERATE(model::Heads::kMixed, model::Heads::kOne);
  const std::uint32_t admit = GENERATE(1, 2, 3);
  const std::string lines = model::random_lines(200, shape_with(GENERATE(0, 20)), 7);
  model::Spec growing;
  growing.heads = heads;
  growing.admit = admit;
  model::Spec hashed = growing;
  hashed.bit_precision = 20;
  hashed.ffm_bits = 16;
  TrainRun a(growing), b(hashed);
  a.learn(lines);
  b.learn(lines);
  // Nothing did collide.
  REQUIRE(a.model.linear().size() == b.model.linear().size());
  REQUIRE(a.model.fields().size() == b.model.fields().size());
  CHECK(a.probabilities() == b.probabilities());
  const std::uint32_t floats = b.model.linear().cell_floats();  // without a RowWord
  a.model.linear().for_each([&](std::uint32_t key, const float* cell) {
    const float* const other = b.model.linear().find(key);
    const std::uint32_t numbers = heads == model::Heads::kMixed ? floats - 1 : floats;
    CHECK(std::equal(cell, cell + numbers, other));
    if (numbers < floats) CHECK(model::largest_value(cell) == model::largest_value(other));
  });
  std::size_t rows = 0;
  const auto same_rows = [&](std::size_t f, std::uint32_t key, model::Row row) {
    const model::FieldTable &table = a.model.fields()[f], &other = b.model.fields()[f];
    ++rows;
    CHECK(a.model.find_row(static_cast<std::uint32_t>(f), key) == row);
    CHECK(std::memcmp(table.at(row), other.at(other.find(key)), table.shape().weight_bytes()) == 0);
  };
  std::uint64_t keys = 0;
  a.model.for_each_row_word([&](std::uint32_t key, std::uint32_t word) {
    const std::uint32_t field = model::RowWord::field(word);
    CHECK_FALSE(a.model.fields()[field].has(key));
    ++keys;
    if (model::RowWord::has_row(word)) same_rows(field, key, model::RowWord::row(word));
  });
  for (std::size_t f = 0; f < a.model.fields().size(); ++f) {
    const model::FieldTable &table = a.model.fields()[f], &other = b.model.fields()[f];
    REQUIRE(table.rows() == other.rows());
    table.for_each_row([&](std::uint32_t key, model::Row row) { same_rows(f, key, row); });
    rows -= table.rows();
    keys += table.keys() - other.keys();
  }
  CHECK(rows == 0);
  CHECK(keys == 0);
  for (std::size_t l = 0; l < a.model.dense().size(); ++l) {
    CHECK(a.model.dense()[l].weights == b.model.dense()[l].weights);
  }
}

TEST_CASE("whether linear cells say which rows there are changes no prediction") {
  model::Spec cells;
  cells.heads = GENERATE(model::Heads::kMixed, model::Heads::kOne);
  if (GENERATE(true, false)) cells.features.interactions = {{"1", "2"}};
  model::Spec index = cells;
  index.ffm_bits = 16;
  // Hashes of names that are numbers are sums: features of two namespaces share theirs, and first
  // the one has a value of 1, then the other has another.
  std::string lines;
  std::mt19937 random(3);
  const char* const values[] = {"", "", "", ":1", ":0.5", ":3", ":-1"};
  for (int line = 0; line < 400; ++line) {
    lines += random() % 2 == 0 ? "1" : "-1";
    for (std::uint32_t name = 1; name < 5; ++name) {
      lines += " |" + std::to_string(name) + " " + std::to_string(random() % 40) +
               values[random() % (line < 100 ? 3 : 7)];
    }
    lines += '\n';
  }
  TrainRun a(cells), b(index);
  a.learn(lines);
  b.learn(lines);
  CHECK(a.model.rows_in_cells());
  CHECK_FALSE(b.model.rows_in_cells());
  CHECK(a.probabilities() == b.probabilities());
  CHECK(a.predict(lines) == b.predict(lines));
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
      const std::uint64_t rows = [&] {
        std::uint64_t sum = 0;
        for (const model::FieldTable& table : twin.model.fields()) sum += table.rows();
        return sum;
      }();
      twin.learn(line);
      std::uint64_t after = 0;
      for (const model::FieldTable& table : twin.model.fields()) after += table.rows();
      if (after != rows) continue;
      CHECK(predicted == twin.probabilities());
    }
    CHECK(run.saved() == before);
  }
}

}  // namespace
}  // namespace leveret::train
