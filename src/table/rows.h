/// The rows of a shard: numbered pieces of memory of one layout that do not move until it changes,
/// or rows are removed.
///
/// A row's first weights are a function of (seed, field, key, slot), so that the order in which
/// rows are made does not matter.
///
/// Threads: `at` is safe beside everything but `widen`, `remove` and load; `make` beside itself
/// when set_concurrent(true) forbids growth and `reserve` has made room. The caller publishes a
/// row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "table/aligned.h"
#include "table/arena.h"
#include "table/counter.h"
#include "table/memory_budget.h"
#include "table/row_layout.h"
#include "table/slot.h"

namespace leveret::table {

class Rows {
 public:
  /// `field` and `seed` decide about first weights.
  Rows(RowLayout layout, std::uint32_t field, std::uint64_t seed, MemoryBudget& budget);

  const RowLayout& layout() const { return layout_; }
  /// Rows are numbered from 0 to below this.
  std::uint64_t size() const { return size_.get(); }
  bool full() const { return full_.get() != 0; }

  std::byte* at(Row row) { return chunks_[row >> shift_] + std::uint64_t{row & mask_} * stride_; }
  const std::byte* at(Row row) const {
    return chunks_[row >> shift_] + std::uint64_t{row & mask_} * stride_;
  }
  /// Brings a row on its way to the cache: all of it, or what prediction reads.
  void prefetch(const std::byte* row) const { fetch(row, used_bytes_); }
  void prefetch_weights(const std::byte* row) const { fetch(row, weight_bytes_); }

  /// A row with its first weights, or kNoRow when memory has run out. `beyond_limit`: of the
  /// budget.
  Row make(Key key, bool beyond_limit = false);
  /// Takes rows away, and their memory. The last rows move into their places: the answer says
  /// where row size() + i (size() as it is after that) has gone; kNoRow where it is one of those.
  /// Needs the rows to itself.
  std::vector<Row> remove(std::vector<Row> removed);

  bool has_room(std::uint64_t count) const { return full() || size() + count <= room(); }
  /// Makes room for `count` more rows. False, and full(), when the system has no memory.
  bool reserve(std::uint64_t count);
  void set_concurrent(bool concurrent) { concurrent_ = concurrent; }

  struct KeyOfRow {
    Key key;
    Row row;
  };
  /// Gives all rows another layout, of the same parts with at least as many slots, of which the
  /// first are those that there are; what is new gets its first weights. `keys` names all rows in
  /// use. std::runtime_error without memory for it.
  void widen(RowLayout wider, std::span<const KeyOfRow> keys);

  /// Makes rows 0 to count - 1, all bytes zero, where there were none.
  void load_zeros(std::uint64_t count);
  /// Takes over rows of layout().without_gaps() that lie in a mapped file, for reading alone. The
  /// arena may have been made larger since, for rows that lie elsewhere.
  void load_mapped(Arena rows);

 private:
  static void fetch(const std::byte* at, std::size_t bytes) {
    const std::byte* const end = at + bytes;
    at -= reinterpret_cast<std::uintptr_t>(at) % kLineBytes;
    for (; at < end; at += kLineBytes) __builtin_prefetch(at, 0, 2);
  }
  void measure();
  std::uint64_t room() const { return std::uint64_t{chunks_.size()} << shift_; }
  std::uint64_t chunk_bytes() const { return std::uint64_t{stride_} << shift_; }
  void write_first(Row row, Key key, std::size_t part, std::uint32_t from_slot);
  void write_first_states(Row row, std::size_t part, std::uint32_t from_slot);

  // Members that look-ups read.
  std::vector<std::byte*> chunks_;  ///< 2^shift_ rows each, pieces of the pool
  std::uint32_t shift_ = 0, mask_ = 0;
  std::uint32_t stride_ = 0, used_bytes_ = 0, weight_bytes_ = 0;
  bool concurrent_ = false;

  std::uint32_t field_;
  std::uint64_t seed_;
  RowLayout layout_;
  MemoryBudget* budget_;
  Arena mapped_;  ///< rows of a file
  // Threads that share the rows write what follows, and read all of the above.
  alignas(kLineBytes) Counter size_;
  Counter full_;  ///< 1: memory has run out; threads may find out side by side
};

}  // namespace leveret::table
