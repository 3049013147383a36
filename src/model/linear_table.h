/// Weights of linear features and interactions: hash → a cell of floats (weight, optimizer state,
/// counts; the meaning is the blocks' business).
///
/// Two kinds behind one interface: *hashed* (2^bits slots, hash & mask, collisions as in VW's -b)
/// and *growing* (open addressing, no collisions, grows in place). A slot of a hashed table is a
/// cell, of a growing one the key and its cell together: 8, 16 or 32 bytes, so that a feature costs
/// one cache miss.
///
/// Threads: `find` and weight access are safe beside anything but growth; `find_or_insert` is safe
/// beside itself when `reserve` has made room (hogwild calls it under the exclusive gate) and
/// `set_concurrent(true)` forbids growth in between.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "model/aligned.h"
#include "model/arena.h"
#include "model/counter.h"
#include "model/memory_budget.h"
#include "model/open_addressing.h"
#include "model/row_word.h"
#include "text/example.h"

namespace leveret::model {

class LinearTable {
 public:
  static constexpr std::uint64_t kFirstSlots = 1024;

  /// bits == 0: growing. A cell is 3 or 7 floats, in a hashed table also 2; all 0 at first.
  LinearTable(std::uint32_t bits, std::uint32_t cell_floats, MemoryBudget& budget);

  bool hashed() const { return hashed_; }
  std::uint64_t capacity() const { return capacity_; }
  /// Keys; in a hashed table, which has none, the cells that are not all zero. It looks at each.
  std::uint64_t size() const;
  /// Look-ups that ended in the shared slot because memory had run out.
  std::uint64_t shared() const { return shared_.get(); }

  std::uint32_t cell_floats() const { return cell_floats_; }
  /// kFormer: as in older files, where slots of hashed tables had keys, too, and one more was
  /// shared.
  enum class SlotFormat { kOwn, kFormer };
  /// 4 bytes each.
  std::uint32_t slot_words(SlotFormat format = SlotFormat::kOwn) const {
    return format == SlotFormat::kOwn ? 1u << words_shift_ : std::bit_ceil(cell_floats_ + 1);
  }

  /// The cell of `hash`, or nullptr when it was never inserted (hashed: never nullptr).
  const float* find(std::uint32_t hash) const;
  float* find_or_insert(std::uint32_t hash);

  // The look-up of an example in two steps, so that memory is on its way in between.

  /// Puts into cells[i] the cell in which features[i] belongs, as long as capacity() stays what it
  /// is, and has it brought from memory.
  void prefetch_homes(std::span<const text::Feature> features, float** cells) const;
  /// Makes these find_or_insert(hash); most are already.
  void find_or_insert_all(std::span<const text::Feature> features, float** cells);
  /// Makes them find(hash), or `unknown` where that is nullptr.
  void find_all(std::span<const text::Feature> features, float* unknown, float** cells) const;

  /// In a growing table: the key of the slot in which a cell is, 0 for the shared one, and its last
  /// word.
  static std::uint32_t key_of(const float* cell) {
    return RowWord::load(reinterpret_cast<const std::uint32_t*>(cell) - 1);
  }
  std::uint32_t* last_word(float* cell) const {
    return reinterpret_cast<std::uint32_t*>(cell) + (cell_floats_ - 1);
  }
  /// The last word of the slot of `hash` in a growing table, which is the cell's last float: what
  /// is in it stays, and goes along when the table grows. nullptr when `cell`, which a look-up has
  /// given for it, is not its own; nor has the hash 0 one.
  std::uint32_t* own_word(float* cell, std::uint32_t hash) const {
    return key_of(cell) == hash && hash != 0 ? last_word(cell) : nullptr;
  }
  const std::uint32_t* own_word(const float* cell, std::uint32_t hash) const {
    return own_word(const_cast<float*>(cell), hash);
  }

  /// Whether `count` more keys need nothing that only one thread may do.
  bool has_room(std::uint64_t count) const {
    return hashed_ || full_ || size_.get() + count <= limit_;
  }
  /// Makes room for `count` more keys.
  void reserve(std::uint64_t count);
  /// The same, unless set_concurrent says that others are at work.
  void reserve_if_alone(std::uint64_t count) {
    if (!concurrent_) reserve(count);
  }
  void set_concurrent(bool concurrent) { concurrent_ = concurrent; }

  /// The slots as they lie in memory: capacity() of them, in a growing table plus the shared one at
  /// the end. This is the section that is stored.
  const Arena& arena() const { return arena_; }
  /// Takes over stored slots. Throws std::runtime_error when the numbers do not fit together. Where
  /// they are mapped, the table is for `find` alone, which ends even when the file is changed.
  void load(Arena arena, std::uint64_t shared, SlotFormat format = SlotFormat::kOwn);

  /// Calls visit(key, cell) for every slot in use, in memory order. Without keys, in use are cells
  /// whose bytes are not all zero, and the slot's number stands for the hashes that belong there.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint64_t i = 0; i < capacity(); ++i) {
      if (in_use(i)) visit(hashed_ ? static_cast<std::uint32_t>(i) : *slot(i), cell(i));
    }
  }

 private:
  // Key 0 marks an empty slot, so the hash 0 borrows another's: one pair in 2^32 shares a slot.
  static std::uint32_t table_key(std::uint32_t hash) { return hash != 0 ? hash : 0x9e3779b9u; }
  std::uint64_t slot_bytes() const { return std::uint64_t{4} << words_shift_; }
  std::uint64_t bytes_for(std::uint64_t capacity) const {
    return (hashed_ ? capacity : capacity + 1) * slot_bytes();
  }
  std::uint32_t* slot(std::uint64_t i) const { return slots_ + (i << words_shift_); }
  float* cell(std::uint64_t i) const {
    return reinterpret_cast<float*>(hashed_ ? slot(i) : slot(i) + 1);
  }
  bool in_use(std::uint64_t i) const {
    if (!hashed_) return *slot(i) != 0;
    std::uint64_t two_words, any = 0;
    for (std::uint64_t at = 0; at < slot_bytes(); at += sizeof two_words) {
      std::memcpy(&two_words, arena_.data() + i * slot_bytes() + at, sizeof two_words);
      any |= two_words;
    }
    return any != 0;
  }
  template <class Search>
  void search_missing(std::span<const text::Feature> features, float** cells, Search search) const;
  std::uint64_t next(std::uint64_t i) const { return i + 1 < capacity_ ? i + 1 : 0; }
  float* find_or_insert(std::uint32_t hash, std::uint64_t& added);
  bool grow();
  void adopt(Arena arena, std::uint64_t capacity);
  void set_capacity(std::uint64_t capacity);
  float* shared_cell();
  Arena without_keys(const Arena& stored) const;
  std::uint64_t former_bytes() const {
    return (capacity_ + 1) * sizeof(float) * slot_words(SlotFormat::kFormer);
  }

  bool hashed_;
  bool concurrent_ = false;
  std::uint32_t cell_floats_;
  std::uint32_t words_shift_;  ///< a slot is 2^words_shift_ words of 4 bytes
  std::uint32_t mask_ = 0;     ///< hashed: capacity() - 1
  std::uint64_t capacity_ = 0;
  MemoryBudget* budget_;
  Arena arena_;
  std::uint32_t* slots_ = nullptr;     ///< growing: word 0 of a slot is table_key(hash), 0 = empty
  std::uint64_t limit_ = 0;            ///< keys before it must grow
  std::uint64_t most_slots_ = kNoEnd;  ///< that `find` looks at
  bool full_ = false;                  ///< memory has run out: no new keys
  // On a line of their own: threads that share the table write them, and read all of the above.
  alignas(kLineBytes) Counter size_;
  Counter shared_;
};

}  // namespace leveret::model
