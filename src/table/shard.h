/// All that is learned about the features of one field, or about those that have none: an index of
/// slots with their cells, rows, largest values, and when a feature gets a row.
///
/// A shard is what an export walks, what a patch names, and what one rank may own.
///
/// Threads: as Index and Rows. A row is published only after its first weights are written.
/// `reserve`, `forget`, `set_slots` and loading need the shard to themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "table/admission.h"
#include "table/counter.h"
#include "table/index.h"
#include "table/memory_budget.h"
#include "table/row_layout.h"
#include "table/rows.h"
#include "table/slot.h"

namespace leveret::table {

struct ShardOptions {
  std::uint32_t field = 0;  ///< decides about first weights
  CellKind cells = CellKind::kNone;
  RowLayout rows;  ///< empty: features have no rows
  Admission admission;
  std::uint64_t seed = 0;
};

class Shard {
 public:
  Shard(ShardOptions options, MemoryBudget& budget);

  const ShardOptions& options() const { return options_; }
  CellKind cells() const { return options_.cells; }
  bool has_rows() const { return !options_.rows.empty(); }
  const Index& index() const { return index_; }
  const Rows& rows() const { return rows_; }
  Rows& rows() { return rows_; }
  const Index& largest_values() const { return largest_; }

  // ---- features ----

  /// Where the slot of `key` nearly always is, if it has one: compare its key.
  Slot* home(Key key) { return as_slot(index_.home(key)); }
  const Slot* home(Key key) const { return as_slot(index_.home(key)); }
  void prefetch(Key key) const { index_.prefetch(key); }
  /// nullptr when the shard does not know it.
  const Slot* find(Key key) const { return as_slot(index_.find(key)); }
  /// A slot of its own, or, when memory has run out, the overflow slot. Slots move when the
  /// capacity of index() changes.
  Slot* find_or_insert(Key key);
  /// The slot that all features share for which there was no memory; nullptr while there are none.
  const Slot* overflow_slot() const {
    return index_.overflow_lookups() > 0 ? as_slot(index_.overflow()) : nullptr;
  }

  template <class Visit>
  void for_each(Visit visit) const {
    index_.for_each([&](const std::byte* slot) { visit(*as_slot(slot)); });
  }
  template <class Visit>
  void for_each(Visit visit) {
    index_.for_each([&](std::byte* slot) { visit(*as_slot(slot)); });
  }

  /// Takes away what is known of the features whose slots forgets(const Slot&) is true for, and
  /// their memory: it is as if they had never come. Slots and rows move. What memory had run out
  /// for may come now. Returns how many they were.
  template <class Forgets>
  std::uint64_t forget(Forgets forgets) {
    const std::uint64_t before = index_.size();
    std::vector<Row> rows;
    index_.remove([&](const std::byte* at) {
      const Slot& slot = *as_slot(at);
      if (!forgets(slot)) return false;
      if (slot.ref.has_row()) rows.push_back(slot.ref.row());
      return true;
    });
    remove_rows(std::move(rows));
    return before - index_.size();
  }
  /// Takes away the slot and the row that stand for features for which there was no memory.
  void forget_overflow();
  /// Whether a feature has not got a slot or a row as memory had run out.
  bool out_of_memory() const {
    return index_.out_of_memory() || largest_.out_of_memory() || rows_.full();
  }

  // ---- rows ----

  /// The row of a feature, counting this occurrence and admitting it when its time has come. kNoRow
  /// when it has none yet.
  Row count_and_find(Slot& slot) {
    const RowRef seen = load(slot.ref);
    return seen.has_row() ? seen.row() : count(slot, seen);
  }
  /// The row of a feature that is known, or kNoRow.
  Row row_of(const Slot& slot) const;
  /// The answer that count_and_find would give now to a feature that the shard does not know.
  Row row_of_unknown() const;
  /// Stands for the rows that features did not get because memory had run out; or kNoRow.
  Row overflow_row() const { return static_cast<Row>(overflow_row_.get()); }
  /// Look-ups that ended in the overflow row.
  std::uint64_t overflow_rows_given() const { return overflow_rows_given_.get(); }

  /// See Rows::set_slots.
  void set_slots(std::uint32_t slots);
  /// See Rows::widen.
  void widen_rows(RowLayout wider);

  // ---- largest |value| ----

  /// Largest |value| that has been learned from, of a feature with a MixedCell or one that is noted
  /// by `learn_value`: 0 before the first.
  float largest_value(const Slot& slot) const;
  /// Makes it at least `value`. To be called before the cell counts the example.
  void raise_largest_value(Slot& slot, float value) {
    if (value != 1.0f || load(slot.ref).has_largest_value()) raise_stored(slot, value);
  }
  /// The same for a feature whose cell is not in this shard, which then knows of it, too, that it
  /// has been learned from.
  void learn_value(Key key, float value);

  // ---- room ----

  /// Whether so many more features, rows and values other than 1 need nothing that only one thread
  /// may do; and makes it.
  bool has_room(std::uint64_t features, std::uint64_t values) const;
  void reserve(std::uint64_t features, std::uint64_t values);
  void set_concurrent(bool concurrent);

  // ---- loading, into a new shard ----

  /// Makes room for so many keys, whatever the limit of memory.
  void reserve_to_load(std::uint64_t keys) { index_.reserve(keys, true); }
  /// The slot of a key of a file; nullptr when the system has no memory.
  Slot* load_key(Key key) {
    Slot* const slot = as_slot(index_.find_or_insert(key));
    return slot != overflow() ? slot : nullptr;
  }
  /// How many slots from home a feature's slot is.
  std::uint64_t probes(const Slot& slot) const {
    return index_.probes(reinterpret_cast<const std::byte*>(&slot));
  }
  Slot* slot(std::uint64_t i) { return as_slot(index_.slot(i)); }
  const Slot* slot(std::uint64_t i) const { return as_slot(index_.slot(i)); }
  /// The overflow slot, whether it is in use or not.
  Slot* overflow() { return as_slot(index_.overflow()); }
  void load_overflow(Row overflow_row, std::uint64_t rows_given, std::uint64_t overflow_lookups);
  /// False when the shard does not know the key, or the system has no memory.
  bool load_largest(Key key, float value);

 private:
  static Slot* as_slot(std::byte* at) { return reinterpret_cast<Slot*>(at); }
  static const Slot* as_slot(const std::byte* at) { return reinterpret_cast<const Slot*>(at); }
  Row count(Slot& slot, RowRef seen);
  Row to_overflow_row();
  float stored_largest(Key key) const;
  bool learned_one(const Slot& slot) const;
  void raise_stored(Slot& slot, float value);
  void remove_rows(std::vector<Row> rows);
  std::vector<Rows::KeyOfRow> keys_of_rows() const;

  Index index_;
  Rows rows_;
  bool concurrent_ = false;
  ShardOptions options_;
  Index largest_;                 ///< of features whose bit is set
  bool no_overflow_row_ = false;  ///< there was not even memory for that one
  Counter overflow_row_{kNoRow};
  Counter overflow_rows_given_;
};

/// A feature's largest |value|, where it is not 1: a slot of Shard::largest_values.
struct LargestValue {
  Key key;
  float value;
};

}  // namespace leveret::table
