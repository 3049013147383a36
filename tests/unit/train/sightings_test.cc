// What training has seen of namespaces is counted alike however the input is cut, and stays with
// the model.
#include <fmt/format.h>

#include "train_run.h"

namespace leveret::train {
namespace {

using model::Seen;
using model::SightingCounts;
using model::Sightings;

constexpr std::size_t kStride = Sightings::kStride;

/// `a` has a value of its own in each line, `b` one of two, and is missing in the second half;
/// every line has `c` twice.
std::string lines(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += fmt::format("{} |a v{} |c x", i % 3 == 0 ? 1 : -1, i);
    if (i < count / 2) text += fmt::format(" |b v{}", i % 2);
    text += " |c y\n";
  }
  return text;
}

SightingCounts counted(const spec::Spec& spec, std::size_t step) {
  TrainRun run(spec);
  run.learn(lines(20 * kStride), step);
  return run.model.sightings().get();
}

TEST_CASE("one example in some is counted, by namespace") {
  for (const NamedSpec& kind : specs_to_test()) {
    INFO(kind.name);
    const SightingCounts counts = counted(kind.spec, 1000000);
    CHECK(counts.taken == 20 * kStride);
    CHECK(counts.examples == 20);
    REQUIRE(counts.seen.size() == 3);  // a, c, b
    CHECK(counts.seen[0].examples == 20);
    CHECK(counts.seen[1].examples == 20);
    CHECK(counts.seen[2].examples == 10);
    const std::size_t asked = 20 - (Sightings::kStart + kStride - 1) / kStride;
    const bool in_field = kind.spec.has_rows() && kind.spec.features.fields.empty();
    const bool in_cells = kind.spec.bit_precision == 0 && kind.spec.features.linear_all;
    const bool asks = in_cells || in_field;
    CHECK(counts.seen[0].features == (asks ? asked : 0));
    CHECK(counts.seen[0].fresh == counts.seen[0].features);
    CHECK(counts.seen[1].features == 2 * counts.seen[0].features);
    CHECK(counts.seen[1].fresh == 0);
    CHECK(counts.seen[2].fresh == 0);
  }
}

TEST_CASE("counts do not depend on how the input is cut") {
  const SightingCounts expected = counted(spec::Spec(), 1000000);
  for (const std::size_t step : {1, 7, 32, 60, 61, 100}) {
    INFO(step << " examples at a time");
    CHECK(counted(spec::Spec(), step) == expected);
  }
}

TEST_CASE("counts are in the model's file, and go on from there") {
  spec::Spec spec;
  spec.ffm_k = 0;
  const std::string all = lines(20 * kStride);
  TrainRun whole(spec), first(spec);
  whole.learn(all);
  first.learn(cut(all, 0, 700));
  const files::TempFolder folder;
  save_model(first.model, folder / "first");
  TrainRun second(load_model(folder / "first", kTestMemory));
  CHECK(second.model.sightings().get() == first.model.sightings().get());
  second.learn(cut(all, 700, 20 * kStride));
  CHECK(second.model.sightings().get() == whole.model.sightings().get());
  CHECK(second.saved() == whole.saved());
}

TEST_CASE("where nothing is new for long, no more is asked, and what was known stays") {
  spec::Spec spec;
  spec.ffm_k = 0;
  TrainRun run(spec);
  const std::string all = lines(20 * kStride);
  run.learn(all);
  const Seen before = run.model.sightings().get().seen[0];
  CHECK(before.fresh > 0);
  for (std::size_t pass = 0; pass < Sightings::kEnough / 20 + 5; ++pass) run.learn(all);
  const SightingCounts after = run.model.sightings().get();
  CHECK(after.seen[0].fresh == before.fresh);
  CHECK(after.seen[0].features == before.features + Sightings::kEnough);
  CHECK(after.seen[0].since == Sightings::kEnough);
  // A new one that is not counted changes nothing.
  CHECK_FALSE(run.model.sightings().asks(0));
}

}  // namespace
}  // namespace leveret::train
