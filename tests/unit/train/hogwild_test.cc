#include "train/hogwild.h"

#include <atomic>
#include <mutex>

#include "modelfile/finite.h"
#include "new_features.h"
#include "train_run.h"

namespace leveret::train {
namespace {

TEST_CASE("the steps of a thread of hogwild, one by one, are those of learn()") {
  const std::string lines = model::random_lines(600, usual_shape(), 3);
  const std::uint32_t precision = GENERATE(32, 16, 8);
  for (NamedSpec kind : specs_to_test()) {
    if (kind.spec.forgets()) continue;  // learn() forgets between them
    kind.spec.row_bits = precision;
    INFO(kind.name << ", precision " << precision);
    TrainRun plain(kind.spec);
    plain.learn(lines);

    text::NamespaceNames names;
    model::Model model(kind.spec, kTestMemory);
    Learner learner(model, names, kernels::active());
    Outcomes outcomes;
    for (std::size_t first = 0; first < 600; first += 40) {
      const text::ExampleChunk chunk =
          parse(names, cut(lines, first, 40), reading_numbers(kind.spec));
      for (std::size_t next = 0; next < chunk.examples.size();) {
        next += learner.take(chunk, next, chunk.examples.size() - next);
        if (learner.ready()) {
          learner.make_room(1);
          CHECK(learner.has_room(1));
          model.tables().set_concurrent(true);
          learner.learn_taken(outcomes);
          model.tables().set_concurrent(false);
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

/// All lines, some at a time, to whoever asks.
class Chunks {
 public:
  Chunks(const std::string& lines, std::size_t count, std::size_t of_chunk = 100)
      : lines_(lines), count_(count), of_chunk_(of_chunk) {}

  bool next(text::ExampleChunk& chunk) {
    const std::lock_guard lock(mutex_);
    if (at_ >= count_) return false;
    chunk.clear();
    chunk.bytes = cut(lines_, at_, of_chunk_);
    at_ += of_chunk_;
    return true;
  }
  bool all_taken() const { return at_ >= count_; }

 private:
  const std::string& lines_;
  const std::size_t count_, of_chunk_;
  std::size_t at_ = 0;
  std::mutex mutex_;
};

/// Lines, which get one more namespace from line `first` on.
std::string with_late_namespace(const std::string& lines, std::size_t first) {
  std::string out;
  std::size_t line = 0;
  for (const char c : lines) {
    if (c == '\n' && line++ >= first) out += " |late v" + std::to_string(line % 7);
    out += c;
  }
  return out;
}

TEST_CASE("a thread that learns into copies learns what it learns without") {
  // Rows of a model that has learned are copied from the start. Later they become longer.
  const std::string lines = with_late_namespace(model::random_lines(2000, usual_shape(), 5), 1500);
  const bool hidden = GENERATE(true, false);
  for (NamedSpec kind : specs_to_test()) {
    if (kind.spec.batch_size > 1 || kind.spec.forgets()) continue;
    if (!hidden && !kind.spec.features.numeric.empty()) continue;  // layers read them
    if (!hidden) kind.spec.hidden = {};
    kind.spec.row_bits = kind.spec.state_bits = 32;
    INFO(kind.name << (hidden ? "" : " without hidden layers"));
    TrainRun plain(kind.spec);
    plain.learn(lines);

    text::NamespaceNames names;
    model::Model model(kind.spec, kTestMemory);
    HogwildOptions options;
    options.threads = 1;
    options.copies_after = 0;
    options.parser = reading_numbers(kind.spec);
    Chunks chunks(lines, 2000);
    std::vector<float> probabilities;
    for (const std::size_t end : {1000, 2000}) {
      Hogwild(model, names, kernels::active(), options)
          .run([&](text::ExampleChunk& chunk,
                   unsigned) { return probabilities.size() < end && chunks.next(chunk); },
               [] {}, true, [](const text::ExampleChunk&, unsigned) {},
               [&](Outcomes& outcomes, unsigned) {
                 for (const Outcome& outcome : outcomes.items) {
                   probabilities.push_back(outcome.probability);
                 }
               });
    }
    const std::vector<float> expected = plain.probabilities();
    REQUIRE(probabilities.size() == expected.size());
    // Changes are added up in another order. What that rounds away decides, once in many thousand
    // examples, whether an output of a hidden layer is just above 0; from there on two runs differ.
    const double margin = hidden ? 2e-2 : 1e-5;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(probabilities[i] == Approx(expected[i]).margin(margin));
    }
  }
}

TEST_CASE("threads report every example of every chunk once, and rethrow what stops one of them",
          "[threads]") {
  const std::string lines = model::random_lines(2000, usual_shape(), 4);
  text::NamespaceNames names;
  model::Model model(spec::Spec(), kTestMemory);
  HogwildOptions options;
  options.threads = 3;
  options.copies_after = GENERATE(0, 1, 16);
  Chunks chunks(lines, 2000);
  std::size_t parsed = 0, reported = 0;
  std::atomic<int> stops = 0;  // each thread that fails calls it
  bool broken = false;
  const auto run = [&] {
    Hogwild(model, names, kernels::active(), options)
        .run([&](text::ExampleChunk& chunk, unsigned) { return chunks.next(chunk); },
             [&] { ++stops; }, true,
             [&](const text::ExampleChunk& chunk, unsigned) {
               parsed += chunk.examples.size();
               if (broken) throw std::runtime_error("told to stop");
             },
             [&](Outcomes& outcomes, unsigned) { reported += outcomes.items.size(); });
  };
  SECTION("to the end") {
    run();
    CHECK(parsed == 2000);
    CHECK(reported == 2000);
    CHECK(model.parameters().scalars.examples == 2000);
    CHECK(stops == 0);
  }
  SECTION("an error") {
    broken = true;
    CHECK_THROWS_WITH(run(), "told to stop");
    CHECK(stops >= 1);
    CHECK(!chunks.all_taken());
  }
}

TEST_CASE("threads forget features beside each other", "[threads]") {
  const std::string lines = lines_with_new_features(0, 8000);
  spec::Spec spec;
  spec.admit = 1;
  spec.batch_size = GENERATE(1, 8, 64);
  spec.batch_warmup = 0;
  const bool evicts = GENERATE(false, true);
  std::uint64_t memory = kTestMemory;
  if (evicts) {
    spec.evicts = true;
    memory = 1 << 19;
  } else {
    spec.expire = 1000;
  }
  INFO("batches of " << spec.batch_size << (evicts ? ", evicting" : ""));
  text::NamespaceNames names;
  model::Model model(spec, memory);
  HogwildOptions options;
  options.threads = 3;
  Chunks chunks(lines, 8000);
  std::size_t reported = 0;
  Hogwild(model, names, kernels::active(), options)
      .run([&](text::ExampleChunk& chunk, unsigned) { return chunks.next(chunk); }, [] {}, true,
           [](const text::ExampleChunk&, unsigned) {},
           [&](Outcomes& outcomes, unsigned) { reported += outcomes.items.size(); });
  CHECK(reported == 8000);
  CHECK(model.parameters().scalars.examples == 8000);
  CHECK(modelfile::count_non_finite(model) == 0);
  const std::uint64_t features = features_of(model);
  // Each is known, was forgotten, or was given the overflow slot: a thread whose batch has few
  // features may take the room that another has seen for its own.
  CHECK(features + model.tables().forgotten() + model.tables().overflow_lookups() >= 12001);
  CHECK(features < 8000);
  CHECK(features > 500);
  CHECK(model.tables().overflow_lookups() < 2000);
  CHECK(model.tables().budget().used() <= memory);
}

TEST_CASE("threads lose nothing of what they have not merged when another changes the model",
          "[threads]") {
  // So long that threads merge within chunks, and are far from that when a namespace is new.
  constexpr std::size_t kLines = 9000, kOfChunk = 1500;
  const std::string lines = with_late_namespace(lines_with_new_features(0, kLines), 4000);
  spec::Spec spec;
  spec.batch_size = GENERATE(1, 64);
  spec.batch_warmup = 0;
  spec.expire = GENERATE(0, 2000);
  INFO("batches of " << spec.batch_size << ", expire " << spec.expire);
  text::NamespaceNames names;
  model::Model model(spec, kTestMemory);
  HogwildOptions options;
  options.threads = 3;
  Chunks chunks(lines, kLines, kOfChunk);
  std::size_t reported = 0;
  Hogwild(model, names, kernels::active(), options)
      .run([&](text::ExampleChunk& chunk, unsigned) { return chunks.next(chunk); }, [] {}, true,
           [](const text::ExampleChunk&, unsigned) {},
           [&](Outcomes& outcomes, unsigned) { reported += outcomes.items.size(); });
  CHECK(reported == kLines);
  CHECK(model.parameters().scalars.examples == kLines);
  CHECK(model.features().field_count() == 3);
  CHECK(modelfile::count_non_finite(model) == 0);
}

}  // namespace
}  // namespace leveret::train
