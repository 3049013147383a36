// Who holds what: everything has one owner, shards are about equally full, and nothing moves.
#include "dist/plan/plan.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "block/ffm_block.h"

namespace leveret::dist {
namespace {

PlanShape default_shape(std::uint32_t shards) {
  const spec::Spec spec;
  return PlanShape::of(spec, model::Model(spec, 1 << 20).config(), shards);
}

/// A few large fields and many small ones: field i has 1 / (i + 1) of what field 0 has.
std::vector<FieldSize> zipf_sizes(std::uint32_t fields) {
  std::vector<FieldSize> sizes;
  for (std::uint32_t f = 0; f < fields; ++f) {
    const std::uint64_t features = 1'000'000 / (f + 1);
    sizes.push_back({features, features / 3});
  }
  return sizes;
}

void check_owners(const Plan& plan) {
  for (std::uint32_t f = 0; f < plan.fields(); ++f) {
    REQUIRE(plan.home(f) < plan.shards());
    CHECK(plan.feature_group_owner(f + 1) == plan.home(f));
    CHECK(plan.pair_owner(f, f) == plan.home(f));
    for (std::uint32_t g = 0; g < plan.fields(); ++g) {
      const std::uint32_t owner = plan.pair_owner(f, g);
      REQUIRE(owner < plan.shards());
      CHECK(owner == plan.pair_owner(g, f));
      // Both halves of a pair are on one shard, and on no other.
      for (std::uint32_t s = 0; s < plan.shards(); ++s) {
        CHECK(std::ranges::count(plan.opposite(s, f), g) == (s == owner ? 1 : 0));
        if (s == owner) CHECK(plan.holds(s, f));
      }
    }
  }
}

TEST_CASE("each group and each pair has one owner, whatever the number of shards") {
  for (const std::uint32_t shards : {1, 2, 3, 4, 8}) {
    Plan plan(default_shape(shards));
    plan.grow(zipf_sizes(7));
    check_owners(plan);
    plan.grow(zipf_sizes(3));
    CHECK(plan.fields() == 10);
    check_owners(plan);
  }
}

TEST_CASE("shards are about equally full") {
  for (const std::uint32_t shards : {2, 4, 8}) {
    Plan plan(default_shape(shards));
    plan.grow(zipf_sizes(39));
    const std::vector<std::uint64_t> loads = plan.loads();
    Plan one(default_shape(1));
    one.grow(zipf_sizes(39));
    const double whole = static_cast<double>(one.loads()[0]);
    const double fullest = static_cast<double>(*std::ranges::max_element(loads));
    INFO(shards << " shards: " << fullest * shards / whole);
    // With eight, the largest field's cells alone are nearly a shard's share.
    CHECK(fullest * shards <= (shards == 8 ? 1.3 : 1.2) * whole);
  }
}

TEST_CASE("what is placed stays, and late fields come to shards that have what they meet") {
  Plan plan(default_shape(4));
  plan.grow(zipf_sizes(12));
  const Plan before = plan;
  plan.grow(zipf_sizes(5));
  for (std::uint32_t f = 0; f < 12; ++f) {
    CHECK(plan.home(f) == before.home(f));
    for (std::uint32_t g = 0; g < 12; ++g) CHECK(plan.pair_owner(f, g) == before.pair_owner(f, g));
    for (std::uint32_t s = 0; s < 4; ++s) CHECK(plan.holds(s, f) == before.holds(s, f));
  }
}

TEST_CASE("a plan is made again of its words; others are refused") {
  Plan plan(default_shape(4));
  plan.grow(zipf_sizes(9));
  std::vector<std::uint64_t> words = plan.words();
  const Plan again(default_shape(4), words);
  CHECK(again.words() == words);
  CHECK(again.pair_owner(3, 7) == plan.pair_owner(3, 7));
  CHECK(Plan(default_shape(4), Plan(default_shape(4)).words()).fields() == 0);
  CHECK_THROWS_AS(Plan(default_shape(8), words), std::runtime_error);
  for (std::size_t size = 0; size < words.size(); ++size) {
    CHECK_THROWS_AS(Plan(default_shape(4), std::span(words).first(size)), std::runtime_error);
  }
  words.back() = 4;
  CHECK_THROWS_AS(Plan(default_shape(4), words), std::runtime_error);
  words[1] = ~std::uint64_t{0};
  CHECK_THROWS_AS(Plan(default_shape(4), words), std::runtime_error);
}

TEST_CASE("keys are cut into ranges of about equal size") {
  spec::Spec linear;
  linear.ffm_k = 0;
  for (const std::uint32_t bits : {0u, 5u, 18u}) {
    linear.bit_precision = bits;
    const PlanShape shape =
        PlanShape::of(linear, model::Model(linear, std::uint64_t{1} << 26).config(), 3);
    const Plan plan(shape);
    CHECK(plan.feature_group_owner(0) == Plan::kByKey);
    CHECK(plan.feature_groups_by_key(4) == 5);
    std::vector<std::uint32_t> keys(3, 0);
    for (std::uint32_t hash = 0; hash < 30000; ++hash) ++keys[plan.key_owner(hash * 0x9e3779b1u)];
    for (const std::uint32_t of : keys) CHECK(std::abs(static_cast<double>(of) - 10000) < 1500);
  }
}

TEST_CASE("-b cuts all groups by key, whatever reads their sums") {
  spec::Spec spec;
  CHECK(feature_groups_by_key(spec, 4) == 0);
  spec.features.interactions = {{"A", "B"}};
  CHECK(feature_groups_by_key(spec, 4) == 1);
  spec.bit_precision = 12;
  CHECK(feature_groups_by_key(spec, 4) == 5);
  Plan plan(PlanShape::of(spec, model::Model(spec, std::uint64_t{1} << 26).config(), 3));
  plan.grow(std::vector<FieldSize>(4, {100, 50}));
  CHECK(plan.feature_groups_by_key(4) == 5);
  CHECK(plan.feature_group_owner(0) == Plan::kByKey);
  CHECK(plan.feature_group_owner(4) == Plan::kByKey);
}

}  // namespace
}  // namespace leveret::dist
