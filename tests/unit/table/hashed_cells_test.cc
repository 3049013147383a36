#include "table/hashed_cells.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "layouts.h"

namespace leveret::table {
namespace {

float* numbers_of(Cell* cell) { return &cell->weight; }

TEST_CASE("cells without keys mask: equal low bits share one") {
  const CellKind kind = GENERATE(CellKind::kAdagrad, CellKind::kFtrl, CellKind::kMixed);
  MemoryBudget budget(kMemory);
  HashedCells cells(5, kind, budget);
  CHECK(cells.capacity() == 32);
  CHECK(cells.kind() == kind);
  CHECK(budget.used() == 32 * cells.stride());
  CHECK(cells.find(7) == cells.find(7 + 32));
  CHECK(cells.find(7) == cells.find(7 + 0xffffff00u));
  CHECK(cells.find(7) != cells.find(8));
  CHECK(cells.find(7) == cells.at(7));
  CHECK(cells.find(0) == cells.at(0));
  CHECK(std::as_const(cells).find(7) == cells.at(7));
  const std::size_t floats = cells.number_bytes() / sizeof(float);
  for (std::uint32_t hash = 0; hash < 1000; ++hash) {
    for (std::size_t i = 0; i < floats; ++i) {
      numbers_of(cells.find(hash))[i] = static_cast<float>(hash * 10 + i);
    }
  }
  for (std::uint32_t cell = 0; cell < 32; ++cell) {
    const std::uint32_t last = cell < 1000 % 32 ? 992 + cell : 960 + cell;
    for (std::size_t i = 0; i < floats; ++i) {
      CHECK(numbers_of(cells.at(cell))[i] == static_cast<float>(last * 10 + i));
    }
  }
}

TEST_CASE("a cell's size is a power of two, with room for the largest value") {
  MemoryBudget budget(kMemory);
  CHECK(HashedCells(4, CellKind::kAdagrad, budget).stride() == 8);
  CHECK(HashedCells(4, CellKind::kFtrl, budget).stride() == 16);
  HashedCells mixed(4, CellKind::kMixed, budget);
  CHECK(mixed.stride() == 32);
  CHECK(mixed.number_bytes() == 28);
  hashed(*mixed.at(3)).largest_value = 2;
  CHECK(hashed(*std::as_const(mixed).at(3)).largest_value == 2);
  CHECK(hashed(*mixed.at(4)).largest_value == 0);
}

TEST_CASE("cells that are not all zero are in use") {
  const CellKind kind = GENERATE(CellKind::kAdagrad, CellKind::kFtrl, CellKind::kMixed);
  MemoryBudget budget(kMemory);
  HashedCells cells(5, kind, budget);
  CHECK(cells.used() == 0);
  const std::size_t last = cells.number_bytes() / sizeof(float) - 1;
  numbers_of(cells.at(3))[last] = 1;
  numbers_of(cells.at(4))[0] = -1;
  numbers_of(cells.at(31))[1] = 1e-40f;
  numbers_of(cells.at(5))[1] = 0;
  CHECK(cells.used() == 3);
  CHECK(cells.in_use(3));
  CHECK(cells.in_use(31));
  CHECK_FALSE(cells.in_use(5));
}

TEST_CASE("cells beyond the budget are made all the same: their number was asked for") {
  MemoryBudget budget(100);
  HashedCells cells(10, CellKind::kAdagrad, budget);
  CHECK(cells.capacity() == 1024);
  CHECK(budget.used() == 8192);
  cells.at(1023)->weight = 1;
  CHECK(cells.find(1023)->weight == 1);
}

}  // namespace
}  // namespace leveret::table
