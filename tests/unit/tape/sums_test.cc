// The places of the sums of a batch, round by round.
#include "tape/sums.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

#include "tape/partition.h"

namespace leveret::tape {
namespace {

TEST_CASE("sums of each round lie together: what comes once a batch, then each example's") {
  SumDecls declared;
  declared.next_block();
  const SumId a = declared.add({"a", "x", 2});
  const SumId once = declared.add({"once", "x", 3, Tensor::Per::kBatch});
  SumDecl later{"later", "y", 1};
  later.round = 1;
  declared.next_block();
  const SumId b = declared.add(later);
  CHECK(declared.rounds(0) == 1);
  CHECK(declared.rounds(1) == 2);
  CHECK(declared.rounds() == 2);
  CHECK(declared.of_example(0) == 2);
  CHECK(declared.of_batch(0) == 3);
  CHECK(declared.of_example(1) == 1);
  CHECK(declared.of_batch(1) == 0);
  std::vector<float> first(3 + 2 * 2), second(2);
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = static_cast<float>(i);
  second = {10, 11};
  const BatchSums sums(declared, {first.data(), second.data()}, 1);
  CHECK(sums.round() == 1);
  CHECK(sums.of_batch(once)[2] == 2);
  CHECK(sums[1][a] == 5);
  CHECK(sums[1].all(a)[1] == 6);
  CHECK(sums[0][b] == 10);
  CHECK(sums[1][b] == 11);
}

TEST_CASE("a sum of too late a round is refused") {
  SumDecls declared;
  SumDecl late{"late", "x", 1};
  late.round = SumDecls::kMostRounds;
  CHECK_THROWS_AS(declared.add(late), std::logic_error);
}

TEST_CASE("a partition has its groups and pairs; what is everyone's is in none") {
  Partition mine;
  mine.shared = 1;
  mine.feature_groups = {2};
  mine.opposite = {{1}, {0, 1}};
  CHECK(mine.pairs() == 2);
  const Join join({{TensorId{0}, Owner::Kind::kPair},
                   {TensorId{1}, Owner::Kind::kFeatureGroup},
                   {TensorId{2}, Owner::Kind::kAll}},
                  Extent{3});
  CHECK(mine.columns_of(join, true).empty());
  CHECK(mine.columns_of(join, false) == std::vector{join.column(0, Owner::pair(1, 0)),
                                                    join.column(0, Owner::pair(1, 1)),
                                                    join.column(1, Owner::feature_group(2))});
  CHECK(join.everyones(1) ==
        std::vector{join.column(1, Owner::feature_group(0)), join.column(2, {})});
}

}  // namespace
}  // namespace leveret::tape
