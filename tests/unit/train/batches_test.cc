// Batches that grow, and what is learned example by example within them.
#include "train/batches.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "train_run.h"

namespace leveret::train {
namespace {

spec::Spec in_batches(spec::Spec spec, std::uint32_t size, std::uint32_t warmup, bool per_example) {
  spec.batch_size = size;
  spec.batch_warmup = warmup;
  spec.per_example_updates = per_example;
  return spec;
}

TEST_CASE("a batch has one example for so many before it, and ends at multiples of the largest") {
  const spec::Spec spec = in_batches({}, 10, 3, true);
  const std::pair<std::uint64_t, std::size_t> expected[] = {
      {0, 1},  {5, 1},  {6, 2},  {8, 2},   {9, 1},   {10, 3},  {13, 4},      {17, 3},
      {20, 6}, {26, 4}, {29, 1}, {30, 10}, {31, 10}, {40, 10}, {1 << 30, 10}};
  for (const auto& [examples, size] : expected) {
    INFO(examples);
    CHECK(batch_after(examples, spec) == size);
  }
  CHECK(batch_after(0, in_batches({}, 10, 0, true)) == 10);
  CHECK(batch_after(1000, in_batches({}, 1, 128, true)) == 1);
}

/// The file of a run as if it had learned by this spec.
std::vector<std::byte> saved_as(const spec::Spec& spec, TrainRun& run) {
  run.model.set_spec(spec);
  return run.saved();
}

/// Without a label every seventh.
std::string some_lines(std::size_t count, bool values, std::uint32_t seed) {
  model::LineShape shape = usual_shape();
  shape.values = values;
  const std::string lines = model::random_lines(count, shape, seed);
  std::string all;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string line = cut(lines, i, 1);
    all += i % 7 == 6 ? line.substr(line.find('|')) : line;
  }
  return all;
}

TEST_CASE("batches grow by what has been learned") {
  const std::string lines = some_lines(150, true, 5);
  spec::Spec spec = in_batches({}, 8, 5, GENERATE(true, false));
  spec.admit = 1;
  TrainRun growing(spec);
  growing.learn(lines, GENERATE(1000000, 7));
  spec.batch_warmup = 0;
  TrainRun cut_by_hand(spec);
  std::size_t sizes[9] = {};
  for (std::size_t at = 0, size = 0; at < 150; at += size) {
    const std::uint64_t learned = cut_by_hand.model.parameters().scalars.examples;
    size = std::clamp<std::size_t>(learned / 5, 1, 8);
    if (size < 8) size = std::min<std::size_t>(size, 8 - learned % 8);
    ++sizes[size];
    cut_by_hand.learn(cut(lines, at, size));
  }
  for (const std::size_t size : {1, 2, 4, 8}) CHECK(sizes[size] > 0);
  CHECK(growing.probabilities() == cut_by_hand.probabilities());
  CHECK((saved_as(spec, growing) == saved_as(spec, cut_by_hand)));
}

TEST_CASE("where all is updated per example, a batch learns what its examples do one by one") {
  const std::string lines = some_lines(120, false, 6);
  for (const NamedSpec& kind : specs_to_test()) {
    spec::Spec one = in_batches(kind.spec, 1, 0, true);
    if (one.nn.rule == rules::kAdam) continue;
    if (!one.mixed() && one.has_towers()) continue;  // no per-example updates
    one.expire = 0;                                  // batches forget between them
    // What learns by all of the batch is to stay as it is.
    one.rows.rate = one.nn.rate = 0;
    one.nn_batch_size = 1;
    const spec::Spec updates = in_batches(one, 16, 0, true), none = in_batches(one, 16, 0, false);
    INFO(kind.name);
    TrainRun alone(one), batch(updates), together(none);
    for (TrainRun* run : {&alone, &batch, &together}) run->learn(lines);
    CHECK(batch.probabilities() == alone.probabilities());
    CHECK(together.probabilities() != alone.probabilities());
    // But for the sums of squares of what stays.
    if (one.has_rows()) continue;
    CHECK((saved_as(one, batch) == saved_as(one, alone)));
  }
}

TEST_CASE("with one head and layers there are no per-example updates") {
  spec::Spec spec = in_batches({}, 8, 0, true);
  spec.heads = spec::Heads::kOne;
  const std::string lines = some_lines(60, true, 7);
  TrainRun on(spec);
  spec.per_example_updates = false;
  TrainRun off(spec);
  on.learn(lines);
  off.learn(lines);
  CHECK(on.probabilities() == off.probabilities());
}

}  // namespace
}  // namespace leveret::train
