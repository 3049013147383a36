#include "model/thread_copies.h"

#include <catch2/catch.hpp>
#include <vector>

#include "random_model.h"

namespace leveret::model {
namespace {

TEST_CASE("a place holds one array until it is taken back") {
  CopySet<float> set(4, 3);
  std::vector<float> a{1, 2, 3}, b{4, 5, 6}, c{7, 8, 9};
  float* copy = set.at(a.data(), 1);
  REQUIRE(copy != a.data());
  CHECK(std::vector<float>(copy, copy + 3) == a);
  CHECK(set.at(a.data(), 1) == copy);
  CHECK(set.at(b.data(), 5) == b.data());  // the place of a
  CHECK(set.at(c.data(), 2) != c.data());
  copy[1] = 20;
  CHECK(a[1] == 2);
  std::vector<const float*> homes;
  set.take_back([&](float* home, const float* before, const float* now, std::size_t floats) {
    homes.push_back(home);
    REQUIRE(floats == 3);
    if (home == a.data()) CHECK(now[1] - before[1] == 18);
    if (home == c.data()) CHECK(std::vector<float>(now, now + 3) == c);
  });
  CHECK(homes == std::vector<const float*>{a.data(), c.data()});
  CHECK(set.at(b.data(), 5) != b.data());
}

TEST_CASE("what two threads' copies have gained is added up; the largest value is not") {
  Spec spec;
  spec.ffm_k = 0;
  Model model(spec, std::uint64_t{1} << 30);
  float* cell = model.linear().find_or_insert(77);
  cell[kWeight] = 1;
  cell[kCount] = 10;
  cell[kMaxValue] = 2;
  const std::uint32_t floats = model.linear().cell_floats();
  ThreadCopies first(floats), second(floats);
  float* one = first.cells.at(cell, 77);
  float* two = second.cells.at(cell, 77);
  one[kWeight] += 0.25f;
  one[kCount] += 3;
  one[kMaxValue] = 5;
  two[kWeight] -= 0.5f;
  two[kCount] += 4;
  two[kMaxValue] = 3;
  Optimizer optimizer(kernels::active());
  optimizer.apply_copies(model, first);
  optimizer.apply_copies(model, second);
  CHECK(cell[kWeight] == 0.75f);
  CHECK(cell[kCount] == 17);
  CHECK(cell[kMaxValue] == 5);
}

TEST_CASE("what two threads' copies of a row have gained is added up, in either format") {
  Spec spec;
  spec.admit = 1;
  spec.ffm_precision = GENERATE(16, 32);
  spec.ffm_k = 3;  // an odd number of weights: the accumulators follow a gap
  Model model(spec, kTestMemory);
  Sample sample("1 |A a |B b |C c\n");
  const feature::FeatureBatch batch = sample.batch(model);
  randomise(model, batch, 3);
  FieldTable& table = model.fields()[1];
  std::byte* const home = table.at(0);
  table.set_weight(0, 2, 0.5f);
  const std::vector<float> before = weights_of(table, 0);
  const float state = table.state(0)[1];
  ThreadCopies first(kMixedCell), second(kMixedCell);
  for (ThreadCopies* copies : {&first, &second}) copies->fit(model);
  std::byte* const one = first.rows[1].at(home, 0);
  std::byte* const two = second.rows[1].at(home, 0);
  REQUIRE(one != home);
  REQUIRE(two != one);
  const auto add = [&](std::byte* copy, std::size_t i, float gain) {
    const kernels::RowFormat format = table.shape().format;
    set_weight_at(format, copy, i, weight_at(format, copy, i) + gain);
  };
  add(one, 2, 0.25f);
  add(two, 2, -0.125f);
  table.shape().state_of(one)[1] += 2;
  table.shape().state_of(two)[1] += 3;
  Optimizer optimizer(kernels::active());
  optimizer.apply_copies(model, first);
  optimizer.apply_copies(model, second);
  CHECK(table.weight(0, 2) == 0.625f);
  CHECK(table.state(0)[1] == state + 5);
  std::vector<float> others = weights_of(table, 0);
  others[2] = 0.5f;
  CHECK(others == before);  // and nothing else has moved
}

}  // namespace
}  // namespace leveret::model
