/// The record that a shard keeps of one feature: its key, its row, and its cell of linear weights,
/// in one piece and one cache line.
///
/// Threads: hogwild changes keys and RowRefs by compare-and-swap; cells are raced on by design.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace leveret::table {

/// A weight below this, up to its sign, is 0 to all but the optimizer: it is nothing beside any
/// score (optim/ftrl.h keeps something there).
inline constexpr float kLeastWeight = 0x1p-60f;
inline float as_read(float weight) {
  return weight < kLeastWeight && weight > -kLeastWeight ? 0.0f : weight;
}

/// Names a feature within its shard: its hash. The width of keys is decided here alone.
using Key = std::uint32_t;
/// Marks an empty slot. The hash 0 borrows another key: one pair in 2^32 shares a slot.
inline constexpr Key kNoKey = 0;
inline constexpr Key key_of(std::uint32_t hash) { return hash != kNoKey ? hash : 0x9e3779b9u; }

using Row = std::uint32_t;
inline constexpr Row kNoRow = 0xffffffffu;

/// The state of a feature's row: its number, or how often the feature has been seen until it
/// gets one. Beside that: whether the feature has a largest |value| other than 1; where its cell is
/// somewhere else and cannot say so, whether it has been learned from; and when it was last in an
/// example, by a clock of kAges numbers (expiry.h).
class RowRef {
 public:
  /// Rows are below this, and so are counts.
  static constexpr std::uint32_t kMaxRows = (1u << 27) - 2;
  static constexpr unsigned kAges = 4;

  /// Never seen.
  constexpr RowRef() = default;
  static constexpr RowRef from_word(std::uint32_t word) { return RowRef(word); }
  /// As files have it.
  constexpr std::uint32_t word() const { return word_; }

  bool has_row() const { return (word_ & kHasRow) != 0; }
  /// The row of one that has one.
  Row row() const { return word_ & kNumber; }
  /// A thread is writing the row's first weights.
  bool is_being_made() const { return (word_ & ~kBits) == kBeingMade; }
  /// There was no memory for a row: the overflow row stands for it.
  bool is_refused() const { return (word_ & ~kBits) == kRefused; }
  /// For one that has no row and is neither being made nor refused.
  std::uint32_t occurrences() const { return word_ & kNumber; }
  bool has_largest_value() const { return (word_ & kHasLargest) != 0; }
  bool is_learned() const { return (word_ & kLearned) != 0; }
  /// The number that the clock showed when the feature was last in an example that was learned.
  unsigned used_at() const { return word_ >> kUsedShift & (kAges - 1); }
  /// Ticks since then: below kAges.
  unsigned age(unsigned clock) const { return (clock - used_at()) & (kAges - 1); }

  // The same feature, with something else known of its row.
  RowRef with_row(Row row) const { return with(kHasRow | row); }
  RowRef with_occurrences(std::uint32_t count) const { return with(count); }
  RowRef being_made() const { return with(kBeingMade); }
  RowRef refused() const { return with(kRefused); }
  RowRef with_largest_value() const { return RowRef(word_ | kHasLargest); }
  RowRef learned() const { return RowRef(word_ | kLearned); }
  RowRef used(unsigned clock) const {
    return RowRef((word_ & ~kUsed) | (clock & (kAges - 1)) << kUsedShift);
  }

  bool operator==(const RowRef&) const = default;

 private:
  constexpr explicit RowRef(std::uint32_t word) : word_(word) {}
  RowRef with(std::uint32_t row) const { return RowRef(row | (word_ & kBits)); }

  static constexpr std::uint32_t kHasRow = 1u << 31;
  static constexpr std::uint32_t kHasLargest = 1u << 30;
  static constexpr std::uint32_t kLearned = 1u << 29;
  static constexpr unsigned kUsedShift = 27;
  static constexpr std::uint32_t kUsed = (kAges - 1) << kUsedShift;
  static constexpr std::uint32_t kBits = kHasLargest | kLearned | kUsed;
  static constexpr std::uint32_t kNumber = (1u << kUsedShift) - 1;
  static constexpr std::uint32_t kBeingMade = kNumber;
  static constexpr std::uint32_t kRefused = kNumber - 1;

  std::uint32_t word_ = 0;
};

/// One that other threads may change. (atomic_ref takes no const before C++26.)
inline RowRef load(const RowRef& ref) {
  return std::atomic_ref(const_cast<RowRef&>(ref)).load(std::memory_order_acquire);
}
/// Puts `to` where `seen` still is; else brings `seen` up to date and returns false.
inline bool change(RowRef& ref, RowRef& seen, RowRef to) {
  return std::atomic_ref(ref).compare_exchange_strong(seen, to, std::memory_order_acq_rel);
}

/// Notes that the feature is in an example that is learned.
inline void touch(RowRef& ref, unsigned clock) {
  RowRef seen = load(ref);
  while (seen.age(clock) != 0 && !change(ref, seen, seen.used(clock))) {
  }
}

/// Linear weights of a feature: all zero at first.
struct Cell {
  float weight;
  float sum;  ///< AdaGrad's sum of squares without its first value; FTRL's n
};
struct FtrlCell : Cell {
  float z;
};
/// Three weights, of which two share `sum`, and how often the feature has been seen, weighted by
/// importance.
struct MixedCell : Cell {
  float weight2, fast;
  float clicks, count;  ///< `clicks`: those with label +1; more only where threads lost updates
};
/// A cell without a slot has room for the largest |value|; a slot's shard has it elsewhere.
struct HashedMixedCell : MixedCell {
  float largest_value;
};

enum class CellKind : std::uint8_t { kNone, kAdagrad, kFtrl, kMixed };

constexpr std::size_t cell_bytes(CellKind kind) {
  switch (kind) {
    case CellKind::kNone:
      return 0;
    case CellKind::kAdagrad:
      return sizeof(Cell);
    case CellKind::kFtrl:
      return sizeof(FtrlCell);
    case CellKind::kMixed:
      return sizeof(MixedCell);
  }
  return 0;
}
constexpr std::size_t cell_floats(CellKind kind) { return cell_bytes(kind) / sizeof(float); }

/// A slot as every shard has it; the cell, where the shard has cells, comes behind it.
struct Slot {
  Key key;
  RowRef ref;
};
template <class C>
struct SlotWith : Slot {
  C cell;
};

/// A power of two, so that no slot lies across two cache lines.
constexpr std::size_t slot_bytes(CellKind kind) {
  return std::bit_ceil(sizeof(Slot) + cell_bytes(kind));
}
static_assert(slot_bytes(CellKind::kNone) == 8 && slot_bytes(CellKind::kAdagrad) == 16);
static_assert(slot_bytes(CellKind::kMixed) == 32 && sizeof(SlotWith<MixedCell>) == 32);

/// The cell of a slot that has one: all kinds begin as Cell does.
inline Cell* cell_of(Slot* slot) { return &static_cast<SlotWith<Cell>*>(slot)->cell; }
inline const Cell* cell_of(const Slot* slot) {
  return &static_cast<const SlotWith<Cell>*>(slot)->cell;
}
inline MixedCell& mixed(Cell& cell) { return static_cast<MixedCell&>(cell); }
inline const MixedCell& mixed(const Cell& cell) { return static_cast<const MixedCell&>(cell); }

}  // namespace leveret::table
