#include "modelfile/finite.h"

#include <cmath>
#include <vector>

#include "kernels/dispatch.h"
#include "modelfile/section_names.h"
#include "store/finite.h"

namespace leveret::modelfile {
namespace {

using store::count_non_finite;

std::size_t of_cell(const table::Cell* cell, std::size_t bytes) {
  return count_non_finite({reinterpret_cast<const float*>(cell), bytes / sizeof(float)});
}

/// Fixed-point numbers are finite.
std::size_t of_column(const table::Rows& rows, const table::RowLayout::Column& column,
                      std::vector<float>& numbers) {
  if (column.codec.kind == kernels::Codec::Kind::kFixed) return 0;
  std::size_t bad = 0;
  numbers.resize(column.count);
  for (std::uint64_t row = 0; row < rows.size(); ++row) {
    const std::byte* const at = rows.at(static_cast<table::Row>(row)) + column.begin;
    kernels::active().decode(column.codec, at, column.count, numbers.data());
    bad += count_non_finite(numbers);
  }
  return bad;
}

std::size_t of_shard(const table::Shard& shard) {
  std::size_t bad = 0;
  const std::size_t bytes = table::cell_bytes(shard.cells());
  shard.for_each([&](const table::Slot& slot) { bad += of_cell(table::cell_of(&slot), bytes); });
  if (shard.overflow_slot() != nullptr)
    bad += of_cell(table::cell_of(shard.overflow_slot()), bytes);
  shard.largest_values().for_each([&](const std::byte* at) {
    bad += !std::isfinite(reinterpret_cast<const table::LargestValue*>(at)->value);
  });
  const table::RowLayout& layout = shard.rows().layout();
  std::vector<float> numbers;
  for (std::size_t p = 0; p < layout.parts().size(); ++p) {
    bad += of_column(shard.rows(), layout.weights(p), numbers);
    for (std::size_t s = 0; s < layout.parts()[p].states.size(); ++s) {
      bad += of_column(shard.rows(), layout.state(p, s), numbers);
    }
  }
  return bad;
}

std::size_t of_hashed(const table::HashedCells& cells) {
  std::size_t bad = 0;
  for (std::uint64_t i = 0; i < cells.capacity(); ++i) {
    bad += of_cell(cells.at(i), cells.number_bytes());
  }
  return bad;
}

}  // namespace

std::size_t count_non_finite(const tape::Parameters& parameters) {
  std::size_t bad = 0;
  parameters.for_each([&]<class T>(const tape::ArrayValues<T>& values) {
    bad += count_non_finite(dtype_of<T>(), std::as_bytes(values.all()));
  });
  return bad;
}

std::size_t count_non_finite(const table::Tables& tables) {
  std::size_t bad = tables.hashed() != nullptr ? of_hashed(*tables.hashed()) : 0;
  for (const table::Shard& shard : tables) bad += of_shard(shard);
  return bad;
}

std::size_t count_non_finite(const model::Model& model) {
  return count_non_finite(model.parameters()) + count_non_finite(model.tables());
}

}  // namespace leveret::modelfile
