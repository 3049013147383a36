/// How far two models are from each other.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "kernels/rows/codec.h"
#include "model/model.h"

namespace leveret::dist {

/// The largest difference of two numbers, by their size, or by `unit` where they are smaller.
class LargestDifference {
 public:
  explicit LargestDifference(double unit) : unit_(unit) {}
  void add(double a, double b) {
    most_ = std::max(most_, std::fabs(a - b) / std::max(std::fabs(b), unit_));
  }
  double most() const { return most_; }

 private:
  double unit_, most_ = 0;
};

inline double difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  LargestDifference all(1e-3);
  for (std::size_t i = 0; i < a.size(); ++i) all.add(a[i], b[i]);
  return all.most();
}

inline void add_rows(const table::Shard& a, table::Row row_a, const table::Shard& b,
                     table::Row row_b, LargestDifference& all) {
  REQUIRE((row_a == table::kNoRow) == (row_b == table::kNoRow));
  if (row_a == table::kNoRow) return;
  const table::RowLayout& layout = b.rows().layout();
  const auto add = [&](const table::RowLayout::Column& column) {
    for (std::size_t i = 0; i < column.count; ++i) {
      all.add(kernels::decode(column.codec, a.rows().at(row_a) + column.begin, i),
              kernels::decode(column.codec, b.rows().at(row_b) + column.begin, i));
    }
  };
  for (std::size_t p = 0; p < layout.parts().size(); ++p) {
    add(layout.weights(p));
    for (std::size_t s = 0; s < layout.parts()[p].states.size(); ++s) add(layout.state(p, s));
  }
}

/// Of all that two models have learned; they know the same features. What is below 1 counts as
/// that: weights are sums of products, which are rounded at their own size.
inline double difference(const model::Model& a, const model::Model& b) {
  LargestDifference all(1.0);
  REQUIRE(a.tables().size() == b.tables().size());
  for (std::size_t s = 0; s < b.tables().size(); ++s) {
    const table::Shard &mine = a.tables()[s], &other = b.tables()[s];
    REQUIRE(mine.index().size() == other.index().size());
    other.for_each([&](const table::Slot& slot) {
      const table::Slot* const found = mine.find(slot.key);
      REQUIRE(found != nullptr);
      for (std::size_t i = 0; i < table::cell_floats(other.cells()); ++i) {
        all.add((&table::cell_of(found)->weight)[i], (&table::cell_of(&slot)->weight)[i]);
      }
      if (other.cells() == table::CellKind::kMixed) {
        CHECK(mine.largest_value(*found) == other.largest_value(slot));
      }
      if (!slot.ref.has_row()) CHECK(found->ref.occurrences() == slot.ref.occurrences());
      add_rows(mine, mine.row_of(*found), other, other.row_of(slot), all);
    });
  }
  if (const table::HashedCells* const cells = b.tables().hashed()) {
    const std::size_t floats = cells->number_bytes() / sizeof(float);
    for (std::uint64_t i = 0; i < cells->capacity(); ++i) {
      for (std::size_t n = 0; n < floats; ++n) {
        all.add((&a.tables().hashed()->at(i)->weight)[n], (&cells->at(i)->weight)[n]);
      }
    }
  }
  std::vector<double> numbers;
  a.parameters().for_each([&]<class T>(const tape::ArrayValues<T>& values) {
    for (const T number : values.all()) numbers.push_back(static_cast<double>(number));
  });
  std::size_t next = 0;
  b.parameters().for_each([&]<class T>(const tape::ArrayValues<T>& values) {
    for (const T number : values.all()) all.add(numbers.at(next++), static_cast<double>(number));
  });
  CHECK(a.parameters().scalars.examples == b.parameters().scalars.examples);
  return all.most();
}

}  // namespace leveret::dist
