#include "table/tables.h"

#include <utility>

namespace leveret::table {

Tables::Tables(ShardOptions shard, std::uint32_t bits, std::uint64_t memory_limit)
    : budget_(memory_limit), cells_(shard.cells), shard_(std::move(shard)) {
  if (bits != 0) {
    hashed_.emplace(bits, std::exchange(shard_.cells, CellKind::kNone), budget_);
  }
  add_shard(0, false);
}

void Tables::add_shard(std::uint32_t field, bool rows) {
  ShardOptions options = shard_;
  options.field = field;
  if (!rows) options.rows = RowLayout();
  shards_.push_back(std::make_unique<Shard>(std::move(options), budget_));
  shards_.back()->set_concurrent(concurrent_);
}

void Tables::fit(std::uint32_t fields) {
  if (!has_rows() || fields <= this->fields()) return;
  for (std::uint32_t f = 0; f < this->fields(); ++f) field(f).set_slots(fields);
  shard_.rows = shard_.rows.with_slots(fields);
  while (this->fields() < fields) add_shard(this->fields(), true);
}

const Cell* Tables::find_cell(std::uint32_t group, std::uint32_t hash) const {
  if (hashed_) return hashed_->find(hash);
  const Shard& shard = of_group(group);
  const Slot* const slot = shard.find(key_of(hash));
  if (slot != nullptr) return cell_of(slot);
  return shard.overflow_slot() != nullptr ? cell_of(shard.overflow_slot()) : nullptr;
}

float Tables::largest_value(std::uint32_t group, std::uint32_t hash) const {
  if (hashed_) return table::hashed(*hashed_->find(hash)).largest_value;
  const Shard& shard = of_group(group);
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

void Tables::set_concurrent(bool concurrent) {
  concurrent_ = concurrent;
  for (Shard& shard : *this) shard.set_concurrent(concurrent);
}

}  // namespace leveret::table
