#include "model/thread_copies.h"

#include <catch2/catch.hpp>
#include <vector>

#include "kernels/dispatch.h"
#include "model/optimizer.h"

namespace leveret::model {
namespace {

TEST_CASE("a place holds one array until it is taken back") {
  CopySet set(4, 3);
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
  optimizer.apply_copies(first);
  optimizer.apply_copies(second);
  CHECK(cell[kWeight] == 0.75f);
  CHECK(cell[kCount] == 17);
  CHECK(cell[kMaxValue] == 5);
}

}  // namespace
}  // namespace leveret::model
