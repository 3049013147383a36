// A session learns what a learner does, can be left and gone on with behind any chunk, and tells
// what it has done.
#include "train/session.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "train_run.h"

namespace leveret::train {
namespace {

using Catch::Contains;

class Told : public SessionEvents {
 public:
  void chunk(const text::ExampleChunk& chunk, std::uint64_t behind, unsigned) override {
    for (const text::Example& example : chunk.examples) passed_over += example.line <= behind;
  }
  void outcomes(Outcomes& outcomes, bool held_out, unsigned) override {
    for (const Outcome& outcome : outcomes.items) {
      (held_out ? held : learned).push_back(outcome.probability);
    }
  }
  void room_for(const text::ExampleChunk&, unsigned) override {}
  void end_waiting() override {}

  std::size_t passed_over = 0;
  std::vector<float> learned, held;
};

/// A model, and a session that learns into it.
struct Learning {
  Learning(model::Model first, SessionOptions options)
      : model(std::make_shared<model::Model>(std::move(first))),
        session(model, names, kernels::active(), std::move(options)) {}

  /// Lines in chunks of so many.
  void learn(const std::string& lines, std::size_t step) {
    const auto total = static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
    for (std::size_t first = 0; first < total; first += step) {
      session.learn(parse(names, cut(lines, first, step), reading_numbers(model->spec())), told);
    }
  }
  std::vector<std::byte> saved() const {
    const files::TempFolder folder;
    save_model(*model, folder / "model");
    return files::read_bytes(folder / "model");
  }

  text::NamespaceNames names;
  std::shared_ptr<model::Model> model;
  Told told;
  Session session;
};

SessionOptions with_positions() {
  SessionOptions options;
  options.start.emplace();
  return options;
}

TEST_CASE("a session that is left behind any chunk, and gone on with, is one that was not") {
  const std::string lines = model::random_lines(110, usual_shape(), 23);
  for (const NamedSpec& kind : specs_to_test()) {
    INFO(kind.name);
    TrainRun whole(kind.spec);
    whole.learn(lines);
    const std::vector<std::byte> expected = whole.saved();

    Learning first(model::Model(kind.spec, kTestMemory), with_positions());
    for (std::size_t at = 0; at < 110; at += 10) {
      first.learn(cut(lines, at, 10), 10);
      const std::optional<InputPosition> position = first.session.position();
      REQUIRE(position.has_value());
      // What waits for the rest of its batch is yet to be learned.
      const std::size_t learned = position->examples;
      CHECK(learned <= at + 10);
      CHECK(learned + together(kind.spec) > at + 10);
      if (at % 30 != 0) continue;
      const files::TempFolder folder;
      save_model(*first.model, folder / "left");
      SessionOptions options;
      options.start = position;
      Learning second(load_model(folder / "left", kTestMemory), options);
      if (learned > 7) {
        second.learn(cut(lines, 0, 7), 7);
        CHECK_FALSE(second.session.position().has_value());
      }
      second.learn(cut(lines, learned > 7 ? 7 : 0, 1000), 7);
      second.session.finish(second.told);
      second.session.check_end();
      CHECK(second.told.passed_over == learned);
      CHECK(second.told.learned.size() == 110 - learned);
      CHECK(second.saved() == expected);
    }
    first.session.finish(first.told);
    CHECK(first.saved() == expected);
    CHECK(first.told.learned == whole.probabilities());
  }
}

TEST_CASE("a session goes on with the same input only") {
  const std::string lines = model::random_lines(60, usual_shape(), 24);
  Learning first(model::Model(spec::Spec(), kTestMemory), with_positions());
  first.learn(cut(lines, 0, 40), 8);
  SessionOptions options;
  options.start = first.session.position();
  REQUIRE(options.start.has_value());

  Learning other(first.model->replica(), options);
  CHECK_THROWS_WITH(other.learn(cut(lines, 1, 50), 8), Contains("are not those that"));
  Learning shorter(first.model->replica(), options);
  shorter.learn(cut(lines, 0, 30), 8);
  shorter.session.finish(shorter.told);
  CHECK(shorter.told.learned.empty());
  CHECK_THROWS_WITH(shorter.session.check_end(), Contains("ends after 30 examples"));
}

TEST_CASE("in a further pass nothing is passed over, and positions count anew") {
  const std::string lines = model::random_lines(30, usual_shape(), 25);
  Learning run(model::Model(spec::Spec(), kTestMemory), with_positions());
  run.learn(lines, 10);
  run.session.finish(run.told);
  const std::optional<InputPosition> before = run.session.position();
  run.session.begin_pass();
  run.learn(cut(lines, 0, 10), 10);
  const std::optional<InputPosition> position = run.session.position();
  REQUIRE(position.has_value());
  CHECK(position->pass == 1);
  CHECK(position->examples == 10);
  CHECK(run.told.learned.size() == 40);

  SessionOptions options;
  options.start = position;
  Learning second(run.model->replica(), options);
  second.learn(lines, 30);
  CHECK(second.told.passed_over == 10);
  run.session.finish(run.told);
  CHECK(run.session.position()->examples == 10);
  CHECK(before->checksum != position->checksum);
}

TEST_CASE("two sessions learn from the chunks of one source as each would alone") {
  const std::string lines = model::random_lines(80, usual_shape(), 26);
  spec::Spec batches;
  batches.batch_size = 16;
  TrainRun alone(spec::Spec{}), in_batches(batches);
  alone.learn(lines);
  in_batches.learn(lines);

  text::NamespaceNames names;
  const auto first = std::make_shared<model::Model>(spec::Spec(), kTestMemory);
  const auto second = std::make_shared<model::Model>(batches, kTestMemory);
  Session a(first, names, kernels::active(), {}), b(second, names, kernels::active(), {});
  Told told_a, told_b;
  for (std::size_t at = 0; at < 80; at += 9) {
    const text::ExampleChunk chunk = parse(names, cut(lines, at, 9));
    a.learn(chunk, told_a);
    b.learn(chunk, told_b);
  }
  a.finish(told_a);
  b.finish(told_b);
  CHECK(told_a.learned == alone.probabilities());
  CHECK(told_b.learned == in_batches.probabilities());
}

TEST_CASE(
    "what is held out is predicted by the model of what came before, wherever chunks are cut") {
  const std::string lines = model::random_lines(70, usual_shape(), 27);
  TrainRun first(spec::Spec{});
  first.learn(cut(lines, 0, 45));
  const std::vector<float> expected = first.predict(cut(lines, 45, 25));
  for (const std::size_t step : {1, 9, 45, 70}) {
    SessionOptions options;
    options.holdout_after = 45;
    Learning run(model::Model(spec::Spec(), kTestMemory), options);
    run.learn(lines, step);
    run.session.finish(run.told);
    CHECK(run.told.learned == first.probabilities());
    CHECK(run.told.held == expected);
    CHECK(run.saved() == first.saved());
    CHECK_FALSE(run.session.position().has_value());
  }
  // The same for a session that goes on.
  SessionOptions options = with_positions();
  options.holdout_after = 45;
  Learning begun(model::Model(spec::Spec(), kTestMemory), options);
  begun.learn(cut(lines, 0, 40), 8);
  options.start = begun.session.position();
  REQUIRE(options.start.has_value());
  Learning run(begun.model->replica(), options);
  run.learn(lines, 9);
  run.session.finish(run.told);
  CHECK(run.told.learned.size() == 5);
  CHECK(run.told.held == expected);
}

TEST_CASE("a window is predicted by the model of what came before it, wherever chunks are cut") {
  const std::string lines = model::random_lines(95, usual_shape(), 29);
  for (const NamedSpec& kind : specs_to_test()) {
    INFO(kind.name);
    SessionOptions options;
    options.test_then_train = 30;
    // Windows by hand: each is predicted, then learned to its end.
    TrainRun by_hand(kind.spec);
    std::vector<float> expected;
    for (std::size_t at = 0; at < 95; at += 30) {
      const std::vector<float> tested = by_hand.predict(cut(lines, at, 30));
      expected.insert(expected.end(), tested.begin(), tested.end());
      by_hand.learn(cut(lines, at, 30));
    }
    for (const std::size_t step : {1, 7, 30, 95}) {
      Learning run(model::Model(kind.spec, kTestMemory), options);
      run.learn(lines, step);
      CHECK(run.told.learned.size() == 90);  // what is told is learned
      run.session.finish(run.told);
      CHECK(run.told.learned == expected);
      CHECK(run.saved() == by_hand.saved());
    }
    // Gone on with where it was left, which is behind a window.
    SessionOptions begun = options;
    begun.start.emplace();
    Learning first(model::Model(kind.spec, kTestMemory), begun);
    first.learn(cut(lines, 0, 80), 16);
    begun.start = first.session.position();
    REQUIRE(begun.start.has_value());
    CHECK(begun.start->examples == 60);
    const files::TempFolder folder;
    save_model(*first.model, folder / "left");
    Learning second(load_model(folder / "left", kTestMemory), begun);
    second.learn(lines, 9);
    second.session.finish(second.told);
    CHECK(second.told.learned == std::vector<float>(expected.begin() + 60, expected.end()));
    CHECK(second.saved() == by_hand.saved());
  }
}

TEST_CASE("what is learned one by one does not depend on windows") {
  const std::string lines = model::random_lines(40, usual_shape(), 30);
  TrainRun usual(spec::Spec{});
  usual.learn(lines);
  for (const std::size_t window : {1, 7, 100}) {
    SessionOptions options;
    options.test_then_train = window;
    Learning run(model::Model(spec::Spec(), kTestMemory), options);
    run.learn(lines, 13);
    run.session.finish(run.told);
    CHECK(run.told.learned.size() == 40);
    CHECK(run.saved() == usual.saved());
  }
}

}  // namespace
}  // namespace leveret::train
