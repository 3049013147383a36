#include "modelfile/touched_slots.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "table/layouts.h"

namespace leveret::modelfile {
namespace {

using table::CellKind;
using table::HashedCells;

std::vector<std::uint32_t> walked(const TouchedSlots& slots) {
  TouchedSlots::Walk walk(slots);
  std::vector<std::uint32_t> all(slots.size());
  for (std::uint32_t& slot : all) slot = walk.next();
  return all;
}

/// A table of 2^12 cells from number `begin` of 2^13, in which `count` are touched: from the last
/// on, in steps.
void check(std::uint64_t begin, std::uint32_t count, std::uint32_t step) {
  constexpr std::uint32_t kCells = 1 << 12;
  INFO(count << " in steps of " << step);
  table::MemoryBudget budget(table::kMemory);
  HashedCells cells(13, CellKind::kMixed, budget, begin, begin + kCells);
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t slot = (kCells - 1 + i * step) % kCells;
    // Whichever number it is, and though it counts as 0.
    float* const numbers = &cells.at(slot)->weight;
    numbers[i % (cells.number_bytes() / sizeof(float))] = i % 2 == 0 ? -0.0f : 1.0f;
    expected.push_back(slot);
  }
  std::ranges::sort(expected, {}, store::key_place);
  const TouchedSlots slots(cells);
  CHECK(slots.size() == count);
  CHECK(walked(slots) == expected);
  CHECK(walked(slots) == expected);  // a walk changes nothing
}

TEST_CASE("touched slots are walked through in the order of keys, few and many") {
  const std::uint64_t begin = GENERATE(0, 4096);
  check(begin, 0, 1);
  check(begin, 1, 1);
  check(begin, 64, 7);  // a list
  check(begin, 65, 7);  // bits
  check(begin, 2000, 3);
  check(begin, 4096, 1);
}

TEST_CASE("a part of a table that has no cells has none that are touched") {
  table::MemoryBudget budget(table::kMemory);
  const HashedCells cells(13, CellKind::kMixed, budget, 77, 77);
  CHECK(TouchedSlots(cells).size() == 0);
}

}  // namespace
}  // namespace leveret::modelfile
