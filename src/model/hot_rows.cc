#include "model/hot_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/rows/codec.h"

namespace leveret::model {

using table::Row;

namespace {

/// How often a feature with a row has been learned from, or what stands for it: sums of squared
/// gradients grow with every example.
float weight_of(const table::Shard& shard, const table::Slot& slot) {
  if (shard.cells() == table::CellKind::kMixed) return table::mixed(*cell_of(&slot)).count;
  if (shard.cells() != table::CellKind::kNone) return cell_of(&slot)->sum;
  const table::RowLayout& layout = shard.rows().layout();
  if (layout.parts()[0].states.empty()) return 0;
  const table::RowLayout::Column& sums = layout.state(0, 0);
  return kernels::decode(sums.codec, shard.rows().at(slot.ref.row()) + sums.begin, 0);
}

HotRows::Choice::OfField choose_of(const table::Shard& shard, std::size_t most) {
  using Weighed = std::pair<float, Row>;
  std::vector<Weighed> best;  // the first is the worst of them
  const auto before = [](const Weighed& a, const Weighed& b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second);
  };
  shard.for_each([&](const table::Slot& slot) {
    if (!slot.ref.has_row()) return;
    const Weighed here(weight_of(shard, slot), slot.ref.row());
    if (best.size() == most && !before(here, best[0])) return;
    best.push_back(here);
    std::ranges::push_heap(best, before);
    if (best.size() <= most) return;
    std::ranges::pop_heap(best, before);
    best.pop_back();
  });
  std::ranges::sort(best, before);
  HotRows::Choice::OfField chosen;
  chosen.fill(table::kNoRow);
  std::ranges::transform(best, chosen.begin(), &Weighed::second);
  return chosen;
}

}  // namespace

void HotRows::choose(const table::Tables& tables, Choice& choice) {
  if (!tables.has_rows() || tables.fields() == 0) return;
  std::uint64_t rows = 0;
  for (std::uint32_t f = 0; f < tables.fields(); ++f) rows += tables.field(f).rows().size();
  if (choice.fields.size() == tables.fields() && rows < 2 * choice.among) return;
  const std::uint64_t room = kMostBytes / (tables.fields() * tables.row_layout().stride());
  const std::size_t most = std::min<std::uint64_t>(room, kRowsOfField);
  choice.fields.clear();
  choice.among = rows;
  for (std::uint32_t f = 0; most > 0 && f < tables.fields(); ++f) {
    choice.fields.push_back(choose_of(tables.field(f), most));
  }
}

void HotRows::take(const table::Tables& tables, const Choice& choice) {
  fields_ = choice.fields;
  if (fields_.empty()) return;
  stride_ = tables.row_layout().stride();
  field_bytes_ = table::odd_lines(kRowsOfField * stride_);
  rows_.resize(fields_.size() * field_bytes_);
  before_.resize(rows_.size());
  for_each([&](std::uint32_t field, Row row, std::byte* mine) {
    std::copy_n(tables.field(field).rows().at(row), stride_, mine);
    std::copy_n(mine, stride_, before_.data() + (mine - rows_.data()));
  });
}

void HotRows::sync(table::Tables& tables, const kernels::Kernels& kernels) {
  for_each([&](std::uint32_t field, Row row, std::byte* mine) {
    sync(tables.field(field).rows(), row, mine, kernels);
  });
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
