#include "table/tables.h"

#include <algorithm>
#include <utility>

namespace leveret::table {

Tables::Tables(ShardOptions shard, std::uint32_t bits, std::uint64_t memory_limit)
    : Tables(std::move(shard), bits, memory_limit, {true, 0, std::uint64_t{1} << bits}) {
  is_part_ = false;
}

Tables::Tables(ShardOptions shard, std::uint32_t bits, std::uint64_t memory_limit, const Part& part)
    : budget_(memory_limit), cells_(shard.cells), shard_(std::move(shard)), is_part_(true) {
  if (bits != 0) {
    hashed_.emplace(bits, std::exchange(shard_.cells, CellKind::kNone), budget_, part.begin,
                    part.end);
  }
  ShardOptions none = shard_;
  none.rows = RowLayout();
  if (!part.fieldless) none.cells = CellKind::kNone;
  add_shard(std::move(none));
}

void Tables::add_shard(ShardOptions options) {
  shards_.push_back(std::make_unique<Shard>(std::move(options), budget_));
  shards_.back()->set_concurrent(concurrent_);
}

void Tables::add(bool cells, RowLayout rows) {
  ShardOptions options = shard_;
  options.field = fields();
  if (!cells) options.cells = CellKind::kNone;
  options.rows = std::move(rows);
  add_shard(std::move(options));
}

void Tables::fit(std::uint32_t fields) {
  if (!has_rows() || fields <= this->fields()) return;
  for (std::uint32_t f = 0; f < this->fields(); ++f) field(f).set_slots(fields);
  shard_.rows = shard_.rows.with_slots(fields);
  while (this->fields() < fields) {
    ShardOptions options = shard_;
    options.field = this->fields();
    add_shard(std::move(options));
  }
}

const Cell* Tables::find_cell(std::uint32_t group, std::uint32_t hash) const {
  if (hashed_) return hashed_->find(hash);
  const Shard& shard = of_feature_group(group);
  const Slot* const slot = shard.find(key_of(hash));
  if (slot != nullptr) return cell_of(slot);
  return shard.overflow_slot() != nullptr ? cell_of(shard.overflow_slot()) : nullptr;
}

float Tables::largest_value(std::uint32_t group, std::uint32_t hash) const {
  if (hashed_) return table::hashed(*hashed_->find(hash)).largest_value;
  const Shard& shard = of_feature_group(group);
  const Slot* const slot = shard.find(key_of(hash));
  return slot != nullptr ? shard.largest_value(*slot) : 0.0f;
}

std::uint64_t Tables::overflow_lookups() const {
  std::uint64_t lookups = 0;
  for (const Shard& shard : *this) {
    lookups += shard.index().overflow_lookups() + shard.overflow_rows_given();
  }
  return lookups;
}

bool Tables::out_of_memory() const {
  return std::ranges::any_of(shards_, [](const auto& shard) { return shard->out_of_memory(); });
}

void Tables::set_concurrent(bool concurrent) {
  concurrent_ = concurrent;
  for (Shard& shard : *this) shard.set_concurrent(concurrent);
}

}  // namespace leveret::table
