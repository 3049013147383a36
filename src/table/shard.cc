#include "table/shard.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace leveret::table {
namespace {

/// Threads race for the larger value; what is lost comes with the next example.
std::atomic_ref<float> value_at(std::byte* slot) {
  return std::atomic_ref(reinterpret_cast<LargestValue*>(slot)->value);
}

/// Threads may be putting keys in.
Key key_of_slot(const Slot& slot) {
  return Index::key_at(reinterpret_cast<const std::byte*>(&slot));
}

}  // namespace

/// Whether a feature without a stored largest value has been learned from: all its values were 1.
bool Shard::learned_one(const Slot& slot) const {
  return load(slot.ref).is_learned() ||
         (options_.cells == CellKind::kMixed && mixed(*cell_of(&slot)).count > 0);
}

void Shard::learn_value(Key key, float value) {
  Slot* const slot = as_slot(index_.find(key));
  if (slot == nullptr) return;  // it was given the overflow slot
  raise_largest_value(*slot, value);
  RowRef seen = load(slot->ref);
  while (!seen.is_learned() && !change(slot->ref, seen, seen.learned())) {
  }
}

float Shard::largest_value(const Slot& slot) const {
  if (load(slot.ref).has_largest_value()) return stored_largest(key_of_slot(slot));
  return learned_one(slot) ? 1.0f : 0.0f;
}

Shard::Shard(ShardOptions options, MemoryBudget& budget)
    : index_(slot_bytes(options.cells), budget, !options.rows.empty()),
      rows_(options.rows, options.field, options.seed, budget),
      options_(std::move(options)),
      largest_(sizeof(LargestValue), budget) {}

Slot* Shard::find_or_insert(Key key) {
  Slot* const slot = as_slot(index_.find_or_insert(key));
  if (slot == as_slot(index_.overflow())) {
    RowRef seen = load(slot->ref);
    if (!seen.is_refused()) change(slot->ref, seen, seen.refused());
  }
  return slot;
}

/// count_and_find of a feature that has no row.
Row Shard::count(Slot& slot, RowRef seen) {
  if (!has_rows()) return kNoRow;
  if (seen.is_refused()) return to_overflow_row();
  if (seen.is_being_made()) return kNoRow;
  const std::uint32_t times = seen.occurrences() + 1;
  if (times < options_.admission.needed(rows_.size())) {
    // Losing a race here loses one occurrence, which only delays an admission.
    change(slot.ref, seen, seen.with_occurrences(times));
    return kNoRow;
  }
  if (!change(slot.ref, seen, seen.being_made())) return kNoRow;
  const Row row = rows_.make(key_of_slot(slot));
  seen = load(slot.ref);
  while (!change(slot.ref, seen, row == kNoRow ? seen.refused() : seen.with_row(row))) {
  }
  return row == kNoRow ? to_overflow_row() : row;
}

Row Shard::to_overflow_row() {
  overflow_rows_given_.add(1);
  if (overflow_row() != kNoRow || concurrent_) return overflow_row();
  overflow_row_.set(rows_.make(kNoKey, true));
  return overflow_row();
}

Row Shard::row_of(const Slot& slot) const {
  const RowRef seen = load(slot.ref);
  if (seen.has_row()) return seen.row();
  return seen.is_refused() ? overflow_row() : kNoRow;
}

Row Shard::row_of_unknown() const {
  return options_.admission.admit == 1 || index_.overflow_lookups() > 0 ? overflow_row() : kNoRow;
}

/// Those of features that are gone; the others' may move, and the refused may ask again.
void Shard::remove_rows(std::vector<Row> rows) {
  largest_.remove([&](const std::byte* at) { return index_.find(Index::key_at(at)) == nullptr; });
  const std::vector<Row> moved = rows_.remove(std::move(rows));
  const std::uint64_t end = rows_.size();
  index_.for_each([&](std::byte* at) {
    RowRef& ref = as_slot(at)->ref;
    if (ref.has_row() && ref.row() >= end) ref = ref.with_row(moved[ref.row() - end]);
    if (ref.is_refused()) ref = ref.with_occurrences(0);
  });
  if (overflow_row() != kNoRow && overflow_row() >= end) {
    overflow_row_.set(moved[overflow_row() - end]);
  }
  no_overflow_row_ = false;
}

void Shard::forget_overflow() {
  index_.clear_overflow();
  const Row row = overflow_row();
  overflow_row_.set(kNoRow);
  overflow_rows_given_.set(0);
  if (row != kNoRow) remove_rows({row});
}

std::vector<Rows::KeyOfRow> Shard::keys_of_rows() const {
  std::vector<Rows::KeyOfRow> keys;
  for_each([&](const Slot& slot) {
    if (slot.ref.has_row()) keys.push_back({slot.key, slot.ref.row()});
  });
  if (overflow_row() != kNoRow) keys.push_back({kNoKey, overflow_row()});
  return keys;
}

void Shard::set_slots(std::uint32_t slots) { widen_rows(rows_.layout().with_slots(slots)); }

void Shard::widen_rows(RowLayout wider) {
  rows_.widen(std::move(wider), keys_of_rows());
  options_.rows = rows_.layout();
}

float Shard::stored_largest(Key key) const {
  const std::byte* const found = largest_.find(key);
  if (found == nullptr) return 1.0f;  // there was no memory for it
  return value_at(const_cast<std::byte*>(found)).load(std::memory_order_relaxed);
}

void Shard::raise_stored(Slot& slot, float value) {
  const Key key = key_of_slot(slot);
  const bool stored = load(slot.ref).has_largest_value();
  if (stored ? value <= stored_largest(key) : learned_one(slot) && value <= 1.0f) return;
  if (key == kNoKey) return;  // the overflow slot
  std::byte* const at = largest_.find_or_insert(key);
  if (at == largest_.overflow()) return;
  value_at(at).store(value, std::memory_order_relaxed);
  RowRef seen = load(slot.ref);
  while (!seen.has_largest_value() && !change(slot.ref, seen, seen.with_largest_value())) {
  }
}

bool Shard::has_room(std::uint64_t features, std::uint64_t values) const {
  if (!index_.has_room(features) || !largest_.has_room(values)) return false;
  if (!has_rows()) return true;
  // Where there is no memory for keys, known ones may still get rows.
  if (!rows_.has_room(features)) return false;
  return !(rows_.full() || index_.full()) || overflow_row() != kNoRow || no_overflow_row_;
}

void Shard::reserve(std::uint64_t features, std::uint64_t values) {
  index_.reserve(features);
  largest_.reserve(values);
  if (!has_rows()) return;
  if (!rows_.full()) rows_.reserve(features);
  // Under threads nobody may make the overflow row, so it is made as soon as it may be needed.
  const bool may_be_needed = rows_.full() || index_.full();
  if (may_be_needed && overflow_row() == kNoRow && !no_overflow_row_) {
    const bool concurrent = concurrent_;
    set_concurrent(false);
    no_overflow_row_ = to_overflow_row() == kNoRow;
    overflow_rows_given_.add(-1);
    set_concurrent(concurrent);
  }
}

void Shard::set_concurrent(bool concurrent) {
  concurrent_ = concurrent;
  index_.set_concurrent(concurrent);
  largest_.set_concurrent(concurrent);
  rows_.set_concurrent(concurrent);
}

void Shard::load_overflow(Row overflow_row, std::uint64_t rows_given,
                          std::uint64_t overflow_lookups) {
  overflow_row_.set(overflow_row);
  overflow_rows_given_.set(rows_given);
  index_.set_overflow_lookups(overflow_lookups);
  if (overflow_lookups > 0) {
    Slot* const slot = as_slot(index_.overflow());
    slot->ref = slot->ref.refused();
  }
}

bool Shard::load_largest(Key key, float value) {
  Slot* const slot = as_slot(index_.find(key));
  if (slot == nullptr) return false;
  largest_.reserve(1, true);
  std::byte* const at = largest_.find_or_insert(key);
  if (at == largest_.overflow()) return false;
  value_at(at).store(value, std::memory_order_relaxed);
  slot->ref = slot->ref.with_largest_value();
  return true;
}

}  // namespace leveret::table
