// The columns of a first layer: who owns them, where they were, and where their numbers are.
#include "tape/join.h"

#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "tape/learned_array.h"
#include "tape/partition.h"
#include "tape/tensors.h"

namespace leveret::tape {
namespace {

using Kind = Owner::Kind;

/// Pairs and sums of groups, which are normalised; counts of groups, one number, and a second
/// tensor of groups.
struct Joined {
  explicit Joined(std::uint32_t fields) : extent{fields} {
    pairs = declared.add(Tensor{.name = "pairs", .size = extent.pairs()});
    sums = declared.add(Tensor{.name = "sums", .size = extent.feature_groups()});
    counts = declared.add(Tensor{.name = "counts", .size = extent.feature_groups()});
    score = declared.add(Tensor{.name = "score", .size = 1});
    join = Join({{pairs, Kind::kPair, true},
                 {sums, Kind::kFeatureGroup, true},
                 {counts, Kind::kFeatureGroup, false, .5f},
                 {score, Kind::kAll}},
                extent);
  }
  Extent extent;
  Declarations declared;
  TensorId pairs, sums, counts, score;
  Join join;
};

/// Calls visit(owner) for all owners of a kind, in the order of their numbers.
template <class Visit>
void for_each_owner(Kind kind, Extent extent, Visit visit) {
  if (kind == Kind::kAll) visit(Owner{});
  for (std::uint32_t g = 0; kind == Kind::kFeatureGroup && g < extent.feature_groups(); ++g) {
    visit(Owner::feature_group(g));
  }
  for (std::uint32_t f = 0; kind == Kind::kField && f < extent.fields; ++f) visit(Owner::field(f));
  for (std::uint32_t g = 0; kind == Kind::kPair && g < extent.fields; ++g) {
    for (std::uint32_t f = 0; f <= g; ++f) visit(Owner::pair(f, g));
  }
}

TEST_CASE("each owner has its columns of a part of its kind, one part behind the other") {
  const Joined all(GENERATE(1u, 2u, 5u));
  const std::uint32_t fields = all.extent.fields;
  CHECK(all.join.size() == fields * (fields + 1) / 2 + 2 * (fields + 1) + 1);
  CHECK(all.join.normalised() == fields * (fields + 1) / 2 + fields + 1);
  std::uint32_t next = 0;
  for (std::size_t part = 0; part < all.join.parts().size(); ++part) {
    for_each_owner(all.join.parts()[part].per, all.extent, [&](const Owner& owner) {
      INFO("column " << next);
      CHECK(all.join.column(part, owner) == next);
      CHECK(all.join.place(next++).part == part);
    });
  }
  CHECK(next == all.join.size());
}

TEST_CASE("pairs of any order are one owner, and lie where the FFM has them") {
  const Joined all(4);
  CHECK(Owner::pair(3, 1) == Owner::pair(1, 3));
  CHECK(all.join.column(0, Owner::pair(3, 1)) == 3 * 4 / 2 + 1);
  CHECK(all.join.column(1, Owner::feature_group(2)) == 10 + 2);
  CHECK(all.join.column(2, Owner::feature_group(0)) == 10 + 5);
  CHECK(all.join.column(3, {}) == 10 + 5 + 5);
}

TEST_CASE("a column comes from its owner's, where there were fewer fields, or is new") {
  const Joined few(2), many(4);
  std::set<std::uint32_t> from;
  for (std::size_t part = 0; part < many.join.parts().size(); ++part) {
    for_each_owner(many.join.parts()[part].per, many.extent, [&](const Owner& owner) {
      const std::uint32_t column = many.join.column(part, owner);
      INFO("column " << column);
      const std::uint32_t before = many.join.before(few.extent, column);
      const bool was_there = owner.kind == Kind::kAll ||
                             (owner.kind == Kind::kFeatureGroup ? owner.a < 3 : owner.b < 2);
      CHECK((before != kNewColumn) == was_there);
      if (!was_there) return;
      CHECK(few.join.column(part, owner) == before);
      from.insert(before);
    });
  }
  CHECK(from.size() == few.join.size());
}

TEST_CASE("some columns gather their owners' numbers, those of the normalised first") {
  const Joined all(3);
  Tensors tensors;
  tensors.open(all.declared, 2);
  for (const std::size_t b : {0, 1}) {
    for (const TensorId id : {all.pairs, all.sums, all.counts, all.score}) {
      for (std::size_t i = 0; i < tensors[id].stride; ++i) {
        tensors[id].at(b)[i] = 1000.0f * static_cast<float>(id) + 100.0f * static_cast<float>(b) +
                               static_cast<float>(i);
      }
    }
  }
  // In an order of their own, as the fields of a candidate come.
  const JoinColumns some(
      all.join,
      {all.join.column(0, Owner::pair(0, 2)), all.join.column(0, Owner::pair(1, 1)),
       all.join.column(1, Owner::feature_group(3)), all.join.column(2, Owner::feature_group(3)),
       all.join.column(2, Owner::feature_group(0)), all.join.column(3, {})});
  CHECK(some.size() == 6);
  CHECK(some.normalised() == 3);
  std::vector<float> to(6, -1.0f);
  some.gather(tensors, 1, to.data());
  CHECK(to == std::vector<float>{103, 102, 1103, .5f * 2103, .5f * 2100, 3100});

  const JoinColumns nothing(all.join, {kNewColumn});
  CHECK(nothing.size() == 1);
  CHECK(nothing.normalised() == 0);
  float untouched = 7;
  nothing.gather(tensors, 0, &untouched);
  CHECK(untouched == 7);
}

TEST_CASE("what is everyone's may be several numbers, and a column of nothing may stand anywhere") {
  const Extent extent{2};
  Declarations declared;
  const TensorId sums = declared.add(Tensor{.name = "sums", .size = extent.feature_groups()});
  const TensorId vector = declared.add(Tensor{.name = "vector", .size = 3});
  const Join join({{sums, Kind::kFeatureGroup, true}, {vector, Kind::kAll, false, 1, 3}}, extent);
  CHECK(join.size() == 6);
  CHECK(join.place(4).part == 1);
  CHECK(join.place(4).index == 1);
  CHECK(join.everyones(0) == std::vector<std::uint32_t>{3, 4, 5});
  Tensors tensors;
  tensors.open(declared, 2);
  for (int i = 0; i < 3; ++i) {
    tensors[sums].at(1)[i] = static_cast<float>(10 + i);
    tensors[vector].at(1)[i] = static_cast<float>(20 + i);
  }
  const JoinColumns some(join, {1, 2, 3, kNewColumn, 4, 5});
  std::vector<float> to(6, -1.0f);
  some.gather(tensors, 1, to.data());
  CHECK(to == std::vector<float>{11, 12, 20, -1, 21, 22});
  const float d[] = {1, 2, 3, 4, 5, 6};
  std::vector<float> put(3), of_sums(3);
  some.put_gradients(1, d, put.data());
  CHECK(put == std::vector<float>{3, 5, 6});
  some.put_gradients(0, d, of_sums.data());
  CHECK(of_sums == std::vector<float>{0, 1, 2});
}

TEST_CASE("who has some pairs alone has their numbers one behind the other") {
  Joined all(3);
  all.declared[all.pairs].size = 2;
  Tensors tensors;
  tensors.open(all.declared, 1);
  tensors[all.pairs].at(0)[0] = 5;
  tensors[all.pairs].at(0)[1] = 6;
  const JoinColumns some(
      all.join,
      {all.join.column(0, Owner::pair(0, 2)), all.join.column(0, Owner::pair(1, 1)), kNewColumn},
      JoinColumns::Pairs::kThese);
  std::vector<float> to(3, -1.0f);
  some.gather(tensors, 0, to.data());
  CHECK(to == std::vector<float>{5, 6, -1});
}

TEST_CASE("fields may own several numbers side by side, which come with them") {
  const TensorId vectors{0};
  const std::vector<JoinPart> parts{{vectors, Kind::kField, false, 1, 3}};
  const Join few(parts, Extent{2}), many(parts, Extent{4});
  CHECK(many.size() == 12);
  CHECK(many.column(0, Owner::field(2)) == 6);
  CHECK(many.before(Extent{2}, 5) == 5);
  CHECK(many.before(Extent{2}, 6) == kNewColumn);
  CHECK(many.everyones(1) == std::vector{kNewColumn});
  Partition partition;
  partition.homes = {false, true, false, true};
  CHECK(partition.columns_of(many, false) == std::vector<std::uint32_t>{3, 4, 5, 9, 10, 11});
}

TEST_CASE("partitions have each column of a join once, but for everyone's") {
  const Joined all(5);
  const FieldSplit split({true, false, true, true, false});
  std::multiset<std::uint32_t> met;
  for (const auto of : {Partition::Of::kContext, Partition::Of::kCandidate}) {
    Partition partition;
    partition.of = of;
    partition.split = &split;
    for (const std::uint32_t f : partition.split_fields()) {
      partition.feature_groups.push_back(f + 1);
    }
    for (const bool normalised : {true, false}) {
      const std::vector<std::uint32_t> names = partition.columns_of(all.join, normalised);
      met.insert(names.begin(), names.end());
    }
  }
  for (const std::uint32_t name : all.join.everyones(1)) met.insert(name);
  for (std::uint32_t column = 0; column < all.join.size(); ++column) {
    INFO("column " << column);
    CHECK(met.count(column) == 1);
  }
}

TEST_CASE("a partition's tensors that are everyone's lie in everyone's places, its own do not") {
  Joined all(3);
  all.declared[all.pairs].owner = Kind::kPair;
  all.declared[all.sums].owner = Kind::kFeatureGroup;
  Tensors everyones, partition;
  everyones.open(all.declared, 2);
  partition.open_partition(everyones, all.declared, 2);
  CHECK(partition[all.score].values == everyones[all.score].values);
  CHECK(partition[all.pairs].values != everyones[all.pairs].values);
  CHECK(partition[all.sums].values != everyones[all.sums].values);
}

TEST_CASE("columns that are nobody's alone are everyone's, and those of groups that all share") {
  const Joined all(3);
  const Join& join = all.join;
  const std::vector<std::uint32_t> none = join.everyones(0), one = join.everyones(1);
  CHECK(none == std::vector{join.column(3, {})});
  CHECK(one == std::vector{join.column(1, Owner::feature_group(0)),
                           join.column(2, Owner::feature_group(0)), join.column(3, {})});
  CHECK(Join({{all.pairs, Kind::kPair, true}}, Extent{3}).everyones(1) == std::vector{kNewColumn});
}

TEST_CASE("tensors that are opened again, as they are, stay where they are") {
  const auto declared = std::make_shared<Declarations>(Joined(3).declared);
  const std::shared_ptr<const Declarations> first = declared;
  const auto wider = std::make_shared<const Declarations>(Joined(40).declared);
  const TensorId pairs = first->find_tensor("pairs");
  Tensors tensors;
  tensors.open(first, 2);
  float* const at = tensors[pairs].values;
  tensors.open(first, 1);
  CHECK(tensors[pairs].values == at);
  CHECK(tensors[pairs].stride == 6);
  tensors.open(wider, 1);
  CHECK(tensors[pairs].stride == 820);
  tensors.open(first, 1);
  CHECK(tensors[pairs].stride == 6);
  tensors.open(first, 1000);
  tensors[pairs].at(999)[5] = 1;
}

}  // namespace
}  // namespace leveret::tape
