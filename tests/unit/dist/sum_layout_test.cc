// What a kind of model sends for an example, in floats.
#include "dist/plan/sum_layout.h"

#include <catch2/catch.hpp>

#include "model/model.h"
#include "spec/tower_text.h"

namespace leveret::dist {
namespace {

std::size_t floats_of(const spec::Spec& spec, std::uint32_t feature_groups_by_key) {
  return SumLayout::of(model::Model(spec, 1 << 20).config(), {39}, feature_groups_by_key)
      .declared.of_example(0);
}

TEST_CASE("the sums of an example are those of the paper, and few more for mixed heads") {
  spec::Spec spec;
  spec.heads = spec::Heads::kOne;
  spec.ffm_k = 0;
  CHECK(floats_of(spec, 40) == 1);  // LR
  spec.embedding_dim = 8;
  spec::set_towers(spec, "fm:pairs=all");
  CHECK(floats_of(spec, 1) == 8 + 2);  // FM: the sum of vectors, their squares, and the score
  spec::set_towers(spec, "none");
  spec.ffm_k = 4;
  spec.hidden = {};
  CHECK(floats_of(spec, 1) == 1);  // FFM by pairs
  spec.hidden = {64, 16};
  // DeepFFM: W p, the two sums of the norm, and the score.
  CHECK(floats_of(spec, 0) == 64 + 3);
  CHECK(floats_of(spec, 1) == 64 + 4);
  CHECK(floats_of(spec, 40) == 64 + 3 + 40);  // -b

  spec::Spec mixed;
  CHECK(floats_of(mixed, 0) == 2 * 32 + 8);
  CHECK(floats_of(mixed, 1) == 2 * 32 + 8 + 3);
  CHECK(floats_of(mixed, 40) == 32 + 8 + 3 * 40);  // -b: no group's inputs are with a shard
  mixed.hidden = {};
  CHECK(floats_of(mixed, 1) == 8);
  CHECK(floats_of(mixed, 40) == 7 + 40);
  mixed.ffm_k = 0;
  CHECK(floats_of(mixed, 40) == 5 + 40);  // each group's counts
}

TEST_CASE("the head and the column sums come once a batch") {
  spec::Spec spec;
  const SumLayout at = SumLayout::of(model::Model(spec, 1 << 20).config(), {39}, 0);
  CHECK(at.floats(0, 0) == SumLayout::kHead + 32);
  CHECK(at.floats(100) == SumLayout::kHead + 32 + 100 * at.declared.of_example(0));
}

}  // namespace
}  // namespace leveret::dist
