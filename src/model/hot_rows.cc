#include "model/hot_rows.h"

#include <algorithm>
#include <cstring>

namespace leveret::model {

using table::Row;

std::vector<std::uint32_t> HotRows::count(const table::Tables& tables) {
  std::vector<std::uint32_t> counts;
  if (!tables.has_rows() || tables.fields() == 0) return counts;
  const std::uint64_t room = kMostBytes / (tables.fields() * tables.row_layout().stride());
  const std::uint64_t most = std::min<std::uint64_t>(room, kRowsOfField);
  for (std::uint32_t f = 0; f < tables.fields(); ++f) {
    counts.push_back(static_cast<std::uint32_t>(std::min(tables.field(f).rows().end(), most)));
  }
  return counts;
}

void HotRows::take(const table::Tables& tables, std::span<const std::uint32_t> counts) {
  counts_.assign(counts.begin(), counts.end());
  if (counts.empty()) return;
  stride_ = tables.row_layout().stride();
  field_bytes_ = table::odd_lines(kRowsOfField * stride_);
  rows_.resize(counts.size() * field_bytes_);
  before_.resize(rows_.size());
  for (std::uint32_t f = 0; f < counts_.size(); ++f) {
    for (Row row = 0; row < counts_[f]; ++row) {
      std::copy_n(tables.field(f).rows().at(row), stride_, at(f, row));
    }
    std::copy_n(at(f, 0), counts_[f] * stride_, before_.data() + f * field_bytes_);
  }
}

void HotRows::sync(table::Tables& tables, const kernels::Kernels& kernels) {
  for (std::uint32_t f = 0; f < counts_.size(); ++f) {
    for (Row row = 0; row < counts_[f]; ++row) {
      sync(tables.field(f).rows(), row, at(f, row), kernels);
    }
  }
}

/// Both ways in one pass, while the row is in the first-level cache.
void HotRows::sync(table::Rows& rows, Row row, std::byte* mine, const kernels::Kernels& kernels) {
  std::byte* const taken = before_.data() + (mine - rows_.data());
  std::byte* const to = rows.at(row);
  if (std::memcmp(mine, taken, stride_) != 0) {
    const auto add = [&](const table::RowLayout::Column& column) {
      kernels.add_changes(column.codec, mine + column.begin, taken + column.begin, column.count,
                          noise_ += 0x9e3779b9u, to + column.begin);
    };
    const table::RowLayout& layout = rows.layout();
    for (std::size_t p = 0; p < layout.parts().size(); ++p) {
      add(layout.weights(p));
      for (std::size_t s = 0; s < layout.parts()[p].states.size(); ++s) add(layout.state(p, s));
    }
  }
  std::copy_n(to, stride_, mine);
  std::copy_n(mine, stride_, taken);
}

}  // namespace leveret::model
