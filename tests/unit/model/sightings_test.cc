#include "model/sightings.h"

#include <catch2/catch.hpp>

namespace leveret::model {
namespace {

TEST_CASE("sightings add up, and are what they are set to") {
  Sightings all;
  all.grow_and_add({61, 1, {{1, 2, 1, 0}, {}}});
  all.grow_and_add({30, 0, {}});
  all.grow_and_add({61, 1, {{1, 3, 0, 0}, {}, {1, 4, 4, 0}}});
  const SightingCounts expected{152, 2, {{2, 5, 1, 3}, {}, {1, 4, 4, 0}}};
  CHECK(all.get() == expected);
  Sightings copy;
  copy.set(expected);
  CHECK(copy.get() == expected);
  CHECK(copy.taken() == 152);
}

TEST_CASE("sightings fade: what was long ago weighs less") {
  Sightings all;
  all.fit(2);
  for (std::uint64_t i = 0; i < Sightings::kMost; ++i) {
    all.add({1, 1, {{1, 1, 1, 0}, {}}});
  }
  CHECK(all.get().examples == Sightings::kMost / 2);
  for (std::uint64_t i = 0; i < 10 * Sightings::kMost; ++i) all.add({1, 1, {{}, {1, 1, 0, 0}}});
  const SightingCounts counts = all.get();
  CHECK(counts.taken == 11 * Sightings::kMost);
  CHECK(counts.examples < Sightings::kMost);
  CHECK(counts.seen[0].examples < 5);
  CHECK(counts.seen[1].examples + 5 > counts.examples);
}

TEST_CASE("what threads leave between them is no more than a whole") {
  Sightings sightings;
  sightings.set({10, 5, {{.examples = 6, .features = 3, .fresh = 4, .since = 0}}});
  const SightingCounts counts = sightings.get();
  CHECK(counts.seen[0].examples == 5);
  CHECK(counts.seen[0].fresh == 3);
}

}  // namespace
}  // namespace leveret::model
