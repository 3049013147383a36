#include "train/hogwild.h"

#include <atomic>
#include <mutex>

#include "train_run.h"

namespace leveret::train {
namespace {

model::LineShape usual_shape() {
  model::LineShape shape;
  shape.fields = 8;
  shape.vocabulary = 30;
  return shape;
}

TEST_CASE("the steps of a thread of hogwild, one by one, are those of learn()") {
  const std::string lines = model::random_lines(600, usual_shape(), 3);
  const std::uint32_t precision = GENERATE(32, 16);
  for (NamedSpec kind : specs_to_test()) {
    kind.spec.ffm_precision = precision;
    INFO(kind.name << ", precision " << precision);
    TrainRun plain(kind.spec);
    plain.learn(lines);

    text::NamespaceNames names;
    model::Model model(kind.spec, kTestMemory);
    Learner learner(model, names, kernels::active());
    Outcomes outcomes;
    for (std::size_t first = 0; first < 600; first += 40) {
      const text::ExampleChunk chunk = parse(names, cut(lines, first, 40));
      for (std::size_t next = 0; next < chunk.examples.size();) {
        next += learner.take(chunk, next, chunk.examples.size() - next);
        if (learner.ready()) {
          learner.make_room(1);
          CHECK(learner.has_room(1));
          model.set_concurrent(true);
          learner.learn_taken(outcomes);
          model.set_concurrent(false);
        }
        if (learner.stuck()) {
          model.features().meet(names, chunk, next, true);
          model.fit_fields();
        }
      }
    }
    learner.finish(outcomes);
    CHECK(TrainRun::probabilities(outcomes) == plain.probabilities());
  }
}

TEST_CASE("threads report every example of every chunk once, and rethrow what stops one of them") {
  const std::string lines = model::random_lines(2000, usual_shape(), 4);
  text::NamespaceNames names;
  model::Model model(model::Spec(), kTestMemory);
  HogwildOptions options;
  options.threads = 3;
  std::mutex mutex;
  std::size_t next_line = 0;
  const auto next = [&](text::ExampleChunk& chunk) {
    const std::lock_guard lock(mutex);
    if (next_line >= 2000) return false;
    chunk.clear();
    chunk.bytes = cut(lines, next_line, 100);
    next_line += 100;
    return true;
  };
  std::size_t parsed = 0, reported = 0;
  std::atomic<int> stops = 0;  // each thread that fails calls it
  bool broken = false;
  const auto run = [&] {
    Hogwild(model, names, kernels::active(), options)
        .run(
            next, [&] { ++stops; }, true,
            [&](const text::ExampleChunk& chunk) {
              parsed += chunk.examples.size();
              if (broken) throw std::runtime_error("told to stop");
            },
            [&](Outcomes& outcomes) { reported += outcomes.items.size(); });
  };
  SECTION("to the end") {
    run();
    CHECK(parsed == 2000);
    CHECK(reported == 2000);
    CHECK(model.scalars().examples == 2000);
    CHECK(stops == 0);
  }
  SECTION("an error") {
    broken = true;
    CHECK_THROWS_WITH(run(), "told to stop");
    CHECK(stops >= 1);
    CHECK(next_line < 2000);
  }
}

}  // namespace
}  // namespace leveret::train
