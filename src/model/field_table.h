/// The FFM rows of one field: hash → row of `fields * k` weights, optimizer state beside it.
///
/// A key is counted from its first sight and gets a row at its `admit`-th: in the index, or in a
/// RowWord outside of the table. The row's first weights are a function of (seed, field, key), so
/// the order of arrival does not matter.
/// Two kinds behind one interface: *hashed* (2^bits index slots, hash & mask) and *growing* (open
/// addressing, the index grows in place). Rows lie in admission order in memory that never moves,
/// the first ones apart where memory has been lent for them, so row pointers stay valid until
/// `set_slots` or `lend`.
///
/// Threads: as LinearTable. A row is published only after its first weights are written.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "kernels/kernels.h"
#include "model/aligned.h"
#include "model/arena.h"
#include "model/counter.h"
#include "model/memory_budget.h"
#include "model/open_addressing.h"
#include "model/row_word.h"

namespace leveret::model {

using Row = std::uint32_t;
inline constexpr Row kNoRow = 0xffffffffu;

/// What all field tables of a model share.
struct FieldTableOptions {
  std::uint32_t bits = 0;   ///< index slots as a power of two; 0: growing
  std::uint32_t admit = 0;  ///< a row comes with the admit-th sight of a key; 0: see sights_needed
  std::uint64_t seed = 0;
  float init_width = 0.1f;  ///< first weights are uniform in [-init_width, init_width]
};

/// A row: slots * k weights, floats or of 16 bits; behind them their state, one accumulator per
/// weight (from a multiple of four bytes on) or per slot; then filling (`packed`). It is in one
/// piece, so that a row is one walk through the page tables.
struct RowShape {
  std::uint32_t slots = 0;
  std::uint32_t k = 4;
  bool slice_state = false;                      ///< --adagrad slice
  float first_state = 0;                         ///< first value of every accumulator
  kernels::Codec codec = kernels::Codec::f32();  ///< of weights

  // Numbers of them.
  std::size_t weights() const { return std::size_t{slots} * k; }
  std::size_t state() const { return slice_state ? slots : weights(); }

  // Bytes.
  std::size_t weight_bytes() const { return codec.bytes(weights()); }
  /// Of one accumulator.
  std::size_t state_bytes() const { return state_codec().bytes(1); }
  std::size_t state_begin() const { return state_begin(state_bytes()); }
  std::size_t used_bytes() const { return used_bytes(state_bytes()); }
  /// From one row to the next.
  std::size_t stride() const { return packed(used_bytes()); }

  // The same of accumulators of another size, as files may have them (StoredRows).
  std::size_t state_begin(std::size_t bytes_each) const {
    return (weight_bytes() + bytes_each - 1) / bytes_each * bytes_each;
  }
  std::size_t used_bytes(std::size_t bytes_each) const {
    return state_begin(bytes_each) + state() * bytes_each;
  }

  /// Of accumulators.
  kernels::Codec state_codec() const {
    return slice_state && codec.is_fixed(16) ? kernels::Codec::bf16() : kernels::Codec::f32();
  }

  std::byte* state_at(std::byte* row) const { return row + state_begin(); }
  const std::byte* state_at(const std::byte* row) const { return row + state_begin(); }
  float state_of(const std::byte* row, std::size_t i) const {
    return kernels::decode(state_codec(), state_at(row), i);
  }
  /// Rounded by `noise`, by default to the nearest.
  void set_state(std::byte* row, std::size_t i, float value,
                 std::uint32_t noise = kernels::kNearest) const {
    kernels::encode(state_codec(), state_at(row), i, value, noise);
  }
};

/// How rows lie in a file: as in memory, or as files have them that are older than something.
struct StoredRows {
  std::size_t stride = 0;     ///< from one row to the next, at least that of the shape
  bool halves = false;        ///< weights of 16 bits are floating point
  bool float_states = false;  ///< accumulators are floats whatever the shape says
};

class FieldTable {
 public:
  static constexpr std::uint64_t kFirstSlots = 64;   ///< of a growing index
  static constexpr std::uint64_t kLargeIndex = 512;  ///< slots: a page

  FieldTable(std::uint32_t field, FieldTableOptions options, RowShape shape, MemoryBudget& budget);

  std::uint32_t field() const { return field_; }
  std::uint64_t rows() const { return rows_.get(); }
  /// In the index.
  std::uint64_t keys() const { return keys_.get(); }
  std::uint64_t capacity() const { return capacity_; }
  /// Look-ups that ended in the shared row because memory had run out.
  std::uint64_t shared() const { return shared_.get(); }
  Row shared_row() const { return static_cast<Row>(shared_row_.get()); }

  /// The row of `hash`, kNoRow when it has none (yet).
  Row find(std::uint32_t hash) const;
  /// The same, counting this sight of `hash` and admitting it when its time has come.
  Row touch(std::uint32_t hash) {
    // Most have a row, and are at home.
    const std::uint64_t seen = std::atomic_ref(index_[start(hash)]).load(std::memory_order_acquire);
    const bool at_home = hashed_ || static_cast<std::uint32_t>(seen) == hash;
    return at_home && has_row(value_of(seen)) ? value_of(seen) & ~kRowBit : search(hash);
  }

  // The same of a key with a RowWord; nullptr: it has none. A key that is in the index stays there.
  Row find(std::uint32_t hash, const std::uint32_t* place) const;
  Row touch(std::uint32_t hash, std::uint32_t* place) {
    if (place == nullptr) return touch(hash);
    const std::uint32_t word = RowWord::load(place);
    return RowWord::tag(word) == row_tag_ ? RowWord::row(word) : search(hash, *place);
  }
  /// From now on the word of a key, which says something of this field, says how large values are,
  /// and the index what the word has said. Nothing changes while another thread makes the key's
  /// row, or when there is no place for it and the table is not to be grown.
  void leave(std::uint32_t hash, std::uint32_t& place);
  /// Whether the index has the key.
  bool has(std::uint32_t hash) const { return keys() > 0 && indexed(hash) != 0; }

  /// Not where linear cells tell nearly all of what the field knows, though threads have had room
  /// reserved: it stays in the cache then.
  bool has_large_index() const { return capacity_ > kLargeIndex; }
  void prefetch(std::uint32_t hash) const {
    const std::uint64_t* const home = index_ + start(hash);
    __builtin_prefetch(home);
    __builtin_prefetch(home + 2);  // who is not at home is a slot or two further on
  }

  /// Brings a row on its way to the cache.
  void prefetch_row(const std::byte* row) const { fetch(row, used_bytes_); }
  void prefetch_weights(const std::byte* row) const { fetch(row, weight_bytes_); }

  /// Its weights come first, in shape().format.
  std::byte* at(Row row) { return place(row); }
  const std::byte* at(Row row) const { return place(row); }

  // One weight or accumulator, for those who need few.
  float state(Row row, std::size_t i) const { return shape_.state_of(at(row), i); }
  void set_state(Row row, std::size_t i, float value) { shape_.set_state(at(row), i, value); }
  float weight(Row row, std::size_t i) const { return kernels::decode(shape_.codec, at(row), i); }
  /// Rounded to the nearest of the format.
  void set_weight(Row row, std::size_t i, float w) { kernels::encode(shape_.codec, at(row), i, w); }

  const RowShape& shape() const { return shape_; }
  /// A row of a key that has its RowWord.
  struct KeyOfRow {
    std::uint32_t key;
    Row row;
  };
  /// Gives every row `slots` slots (never fewer than it has); new ones get their first weights.
  /// `others`: the rows of all keys that are not in the index.
  void set_slots(std::uint32_t slots, std::span<const KeyOfRow> others = {});

  /// Whether `count` more keys and rows need nothing that only one thread may do.
  bool has_room(std::uint64_t count) const;
  /// Makes room for them.
  void reserve(std::uint64_t count);
  void set_concurrent(bool concurrent) { concurrent_ = concurrent; }

  /// From now on, until there are more slots or rows are loaded, the first `count` rows are at
  /// `at`, where there are count * shape().stride() bytes, all zero (FirstRows).
  void lend(std::byte* at, Row count);

  /// Stored sections: the index (capacity() words: value << 32 | key), and rows() rows of
  /// shape().stride() bytes. To be called by one thread.
  const Arena& index() const { return index_arena_; }
  const Arena& row_arena() const;
  /// Takes over stored sections. Every index value is checked against the number of rows. Where
  /// they are mapped, the table is for `find` and `at` alone, and only as long as the file is not
  /// changed may rows be believed to be in the table.
  void load(Arena index, Arena rows, const StoredRows& stored, Row shared_row,
            std::uint64_t shared);
  /// The lead for the rows of this table (Arena): another one for each field, as the first rows of
  /// all fields, those of the most frequent values, are met together, where none has been lent
  /// memory.
  std::uint64_t lead() const { return field_ * 7 % 64 * 64; }

  /// Calls visit(key, row) for every admitted key, in memory order.
  template <class Visit>
  void for_each_row(Visit visit) const {
    for (std::uint64_t i = 0; i < capacity(); ++i) {
      if (has_row(value_of(index_[i]))) {
        visit(static_cast<std::uint32_t>(index_[i]), value_of(index_[i]) & ~kRowBit);
      }
    }
  }

 private:
  // An index word is value << 32 | key; value 0 = empty, else a count of sights, or a row with
  // kRowBit. kBusy: another thread is writing the row's first weights. kRefused: there was no
  // memory for a row, so the shared one stands for it.
  static constexpr std::uint32_t kRowBit = RowWord::kRowBit;
  static constexpr std::uint32_t kBusy = RowWord::kBusy;
  static constexpr std::uint32_t kRefused = RowWord::kRefused;
  static bool has_row(std::uint32_t value) { return (value & kRowBit) != 0; }
  static std::uint32_t value_of(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 32);
  }
  static std::uint64_t word(std::uint32_t key, std::uint32_t value) {
    return (std::uint64_t{value} << 32) | key;
  }

  static void fetch(const std::byte* at, std::size_t bytes) {
    const std::byte* const end = at + bytes;
    at -= reinterpret_cast<std::uintptr_t>(at) % kLineBytes;
    for (; at < end; at += kLineBytes) __builtin_prefetch(at, 0, 2);
  }
  std::byte* place(Row row) const {
    return (row < lent_ ? lent_at_ : rows_at_) + std::uint64_t{row} * stride_;
  }
  std::uint32_t start(std::uint32_t hash) const {
    return hashed_ ? hash & mask_ : home_slot(hash, capacity_);
  }
  std::uint64_t next(std::uint64_t i) const { return i + 1 < capacity_ ? i + 1 : 0; }
  /// With admit 0: 2 while the field's rows take less than kBytesOfFewSights, and 4 more for each
  /// doubling from there. The more rows a field has, the rarer the next feature will be seen again,
  /// and the less its row is worth the memory: with small rows more of them than with large ones.
  std::uint32_t sights_needed() const;
  static constexpr std::uint64_t kBytesOfFewSights = 832 << 10;

  void copy_lent_rows() const;
  /// A key's place in the index, and its word in a linear cell: where its value is, as it was seen.
  struct IndexPlace;
  struct CellPlace;
  Row search(std::uint32_t hash);
  Row search(std::uint32_t hash, std::uint32_t& place);
  template <class Place>
  Row sighted(Place at, std::uint32_t key);
  std::uint32_t indexed(std::uint32_t hash) const;
  bool put(std::uint32_t hash, std::uint32_t value);
  Row row_of(std::uint32_t value) const;
  Row row_of_unknown() const;
  Row new_row(std::uint32_t key);
  void write_first_weights(Row row, std::uint32_t key, std::uint32_t from_slot);
  Row to_shared_row();
  void move_together(std::uint64_t rows, const StoredRows& stored);
  void convert_halves();
  bool make_room(std::uint64_t rows);
  void measure();
  bool grow_index(bool beyond_limit = false);
  bool full() const { return full_.get() != 0; }
  void adopt_index(Arena arena, std::uint64_t capacity);
  void set_capacity(std::uint64_t capacity);
  static std::uint64_t index_bytes(std::uint64_t slots) { return slots * sizeof(std::uint64_t); }

  // What every look-up reads, on one line: the tables of all fields together are looked up for each
  // example, beside rows that fill the first-level cache.
  alignas(kLineBytes) std::uint64_t* index_ = nullptr;
  std::byte* rows_at_ = nullptr;  ///< of row_arena_: there are the rows from lent_ on, and room for
                                  ///< those before
  std::byte* lent_at_ = nullptr;
  std::uint64_t capacity_ = 0;
  std::uint32_t stride_, used_bytes_, weight_bytes_;  ///< of shape_
  std::uint32_t mask_ = 0;                            ///< hashed: capacity() - 1
  Row lent_ = 0;                                      ///< rows that are at lent_at_
  std::uint32_t field_;
  std::uint32_t row_tag_;  ///< RowWord::row_tag(field_)
  bool hashed_;
  bool concurrent_ = false;

  FieldTableOptions options_;
  RowShape shape_;
  MemoryBudget* budget_;
  std::uint64_t limit_ = 0;            ///< keys before the index must grow
  std::uint64_t most_slots_ = kNoEnd;  ///< that `indexed` looks at
  Arena index_arena_;
  Arena row_arena_;
  std::uint64_t room_ = 0;      ///< rows the arena has been sized for
  bool no_shared_row_ = false;  ///< there was not even memory for that one: new features have none
  // Threads that share the table write what follows, and read all of the above. Each new key is
  // counted, new rows are few, and their number is read for each key without one.
  alignas(kLineBytes) Counter rows_;
  Counter shared_row_{kNoRow};
  Counter full_{0};  ///< 1: memory has run out, no new rows; threads may find out side by side
  alignas(kLineBytes) Counter keys_;
  Counter shared_;
};

}  // namespace leveret::model
