/// Slots found by key: open addressing that grows in place.
///
/// A slot is `slot_bytes` bytes that begin with its Key; all of it is 0 when the key comes. What
/// stands behind the key is its owner's business: a Slot in a shard, a largest value beside it.
///
/// A look-up begins at a key's *home* and goes on to the next slot, after the last to slot 0, until
/// it finds the key or an empty slot. The home is the key's mixed value, as a fraction of all
/// values, times the number of slots: any number of slots will do, and a key's home never moves
/// down when there are more of them. So a large index grows where it lies, instead of being copied
/// to a second one: memory has no peak, and only what is new is touched for the first time.
///
/// Threads: `home` and `find` are safe beside anything but growth and `remove`; `find_or_insert` is
/// safe beside itself when set_concurrent(true) forbids growth and `reserve` has made room. Slots
/// move when the index grows or loses keys: pointers to them are good until then (see `capacity`).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "table/aligned.h"
#include "table/arena.h"
#include "table/counter.h"
#include "table/memory_budget.h"
#include "table/slot.h"

namespace leveret::table {

/// A key's place among all keys, whatever the number of slots. Feature hashes are murmur already,
/// but numeric names are not, so one multiplication spreads them (Fibonacci hashing).
inline std::uint32_t mixed_value(Key key) {
  return static_cast<std::uint32_t>((key * 0x9e3779b97f4a7c15u) >> 32);
}

class Index {
 public:
  static constexpr std::uint64_t kFirstSlots = 64;
  static constexpr std::uint64_t kMaxSlots = std::uint64_t{1} << 31;

  /// std::runtime_error when there is not even memory for the first slots.
  /// `one_of_many`: others share the pool with it, in which it lies as long as it is small.
  Index(std::size_t slot_bytes, MemoryBudget& budget, bool one_of_many = true);

  /// Slots, used and empty. Slots have moved when it has changed.
  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t size() const { return size_.get(); }
  /// Memory has run out: there is no place for new keys.
  bool full() const { return full_ || (concurrent_ && size() >= limit_); }

  /// Where a look-up of `key` begins: nearly always its slot, if it has one. Also brings it from
  /// memory, and what comes behind it.
  const std::byte* home(Key key) const { return slots_ + (home_number(key) << shift_); }
  std::byte* home(Key key) { return slots_ + (home_number(key) << shift_); }
  void prefetch(Key key) const {
    const std::byte* const at = home(key);
    __builtin_prefetch(at);
    __builtin_prefetch(at + kLineBytes);  // who is not at home is mostly there, at the latest
  }
  /// The key of a slot.
  static Key key_at(const std::byte* slot) {
    return std::atomic_ref(*reinterpret_cast<Key*>(const_cast<std::byte*>(slot)))
        .load(std::memory_order_relaxed);
  }

  /// nullptr when the key was never inserted.
  const std::byte* find(Key key) const;
  std::byte* find(Key key) { return const_cast<std::byte*>(std::as_const(*this).find(key)); }
  /// The key's slot, or `overflow` when memory has run out.
  std::byte* find_or_insert(Key key);

  /// A slot without a key, for all features for which there is no memory.
  std::byte* overflow() { return slots_ + (capacity_ << shift_); }
  const std::byte* overflow() const { return slots_ + (capacity_ << shift_); }
  /// Look-ups that ended there.
  std::uint64_t overflow_lookups() const { return overflow_lookups_.get(); }
  void set_overflow_lookups(std::uint64_t count) { overflow_lookups_.set(count); }
  void clear_overflow() {
    if (overflow_lookups() > 0) std::memset(overflow(), 0, std::size_t{1} << shift_);
    overflow_lookups_.set(0);
  }

  /// Whether `count` more keys need nothing that only one thread may do.
  bool has_room(std::uint64_t count) const { return full_ || size() + count <= limit_; }
  /// Makes room for `count` more keys. `beyond_limit`: of the budget.
  void reserve(std::uint64_t count, bool beyond_limit = false);
  void set_concurrent(bool concurrent) { concurrent_ = concurrent; }
  /// Whether a key has not got a slot as memory had run out.
  bool out_of_memory() const { return full_; }

  /// Takes away the slots of which removes(slot) is true, and the memory that the others do not
  /// need: it is as if they alone had come. Slots move. Needs the index to itself.
  template <class Removes>
  void remove(Removes removes) {
    std::int64_t removed = 0;
    for_each([&](std::byte* slot) {
      if (!removes(slot)) return;
      std::memset(slot, 0, std::size_t{1} << shift_);
      ++removed;
    });
    size_.add(-removed);
    if (removed > 0) close_gaps();
    full_ = false;
  }

  /// Calls visit(slot) for every slot with a key, in memory order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint64_t i = 0; i < capacity_; ++i) {
      const std::byte* const slot = slots_ + (i << shift_);
      if (key_at(slot) != kNoKey) visit(slot);
    }
  }
  template <class Visit>
  void for_each(Visit visit) {
    std::as_const(*this).for_each(
        [&](const std::byte* slot) { visit(const_cast<std::byte*>(slot)); });
  }
  /// The numbers of the slots in the order of their keys' mixed values: the same keys in the same
  /// order, whatever the order of arrival and the capacity.
  std::vector<std::uint32_t> in_order() const;
  /// The same one after the other, in next to no memory. The index must not change meanwhile.
  class InOrder {
   public:
    explicit InOrder(const Index& index);
    /// The next slot; nullptr after the last.
    const std::byte* next() {
      while (given_ == cluster_.size()) {
        if (!read_cluster()) return nullptr;
      }
      return index_->slot(cluster_[given_++].slot);
    }

   private:
    struct Entry {
      std::uint64_t rank;
      std::uint32_t slot;
    };
    bool read_cluster();
    void add(std::uint64_t slot);

    const Index* index_;
    std::uint64_t at_ = 0;        ///< the first slot that has not been looked at
    bool ended_ = false;          ///< the last cluster has been read
    std::vector<Entry> cluster_;  ///< slots in use without an empty one between them, in order
    std::size_t given_ = 0;
  };
  /// How many slots from home a slot with a key is.
  std::uint64_t probes(const std::byte* slot) const {
    const auto at = static_cast<std::uint64_t>(slot - slots_) >> shift_;
    const std::uint64_t home = home_number(key_at(slot));
    return at >= home ? at - home : at + capacity_ - home;
  }
  std::uint32_t number_of(const std::byte* slot) const {
    return static_cast<std::uint32_t>((slot - slots_) >> shift_);
  }
  std::byte* slot(std::uint64_t i) { return slots_ + (i << shift_); }
  const std::byte* slot(std::uint64_t i) const { return slots_ + (i << shift_); }
  /// Whether key a comes before key b in that order.
  static bool before(Key a, Key b) { return rank(a) < rank(b); }

 private:
  std::uint64_t bytes_for(std::uint64_t capacity) const { return (capacity + 1) << shift_; }
  /// Two keys may have one mixed value.
  static std::uint64_t rank(Key key) { return std::uint64_t{mixed_value(key)} << 32 | key; }
  std::uint64_t home_number(Key key) const {
    return (std::uint64_t{mixed_value(key)} * capacity_) >> 32;
  }
  bool grow(bool beyond_limit = false);
  bool resize(std::uint64_t capacity);
  void close_gaps();
  void shrink(std::uint64_t capacity);
  void set_capacity(std::uint64_t capacity);

  // The members that every look-up reads come first.
  std::byte* slots_ = nullptr;
  std::uint64_t capacity_ = 0;
  unsigned shift_;  ///< a slot is 2^shift_ bytes
  bool concurrent_ = false;
  bool one_of_many_;
  bool full_ = false;        ///< memory has run out: it does not grow any more
  std::uint64_t limit_ = 0;  ///< keys before it must grow
  MemoryBudget* budget_;
  Arena arena_;  ///< of a large index; a small one is a piece of the pool
  // On a line of their own: threads that share the index write them, and read all of the above.
  alignas(kLineBytes) Counter size_;
  Counter overflow_lookups_;
};

}  // namespace leveret::table
