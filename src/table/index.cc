#include "table/index.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace leveret::table {
namespace {

/// Keys for which `slots` slots have room. Threads that insert side by side may each take a few
/// more, and an empty slot must remain.
std::uint64_t key_limit(std::uint64_t slots) { return slots / 4 * 3; }

/// An index doubles: frequent keys are old keys, and how far they are from home was settled when it
/// grew last; after a smaller step they are looked up in a fuller one. Large ones among many grow
/// by half all the same: beside rows look-ups count less, and empty slots are memory.
std::uint64_t next_capacity(std::uint64_t slots, bool one_of_many) {
  constexpr std::uint64_t kLarge = 4096;
  return one_of_many && slots >= kLarge ? slots + slots / 2 : 2 * slots;
}

bool used(const std::byte* slot) {
  Key key;
  std::memcpy(&key, slot, sizeof key);
  return key != kNoKey;
}

/// The place where a look-up of an entry begins, in an index of `capacity` slots.
std::uint64_t home_of(const std::byte* entry, std::uint64_t capacity) {
  Key key;
  std::memcpy(&key, entry, sizeof key);
  return (std::uint64_t{mixed_value(key)} * capacity) >> 32;
}

/// Calls work(std::integral_constant) with the bytes of a slot of 2^shift.
template <class Work>
void with_slot_bytes(unsigned shift, Work work) {
  switch (shift) {
    case 3:
      return work(std::integral_constant<std::size_t, 8>());
    case 4:
      return work(std::integral_constant<std::size_t, 16>());
    default:
      return work(std::integral_constant<std::size_t, 32>());
  }
}

/// Turns an index of `before` slots into one of `after`, more than that, in place. The new slots
/// are empty, and at least one slot was. A template, so that compilers move slots by registers.
template <std::size_t kBytes>
void spread(std::byte* slots, std::uint64_t before, std::uint64_t after) {
  const auto slot = [slots](std::uint64_t i) { return slots + i * kBytes; };
  // From the last entry to the first, so that a new place is in the part that is done already. It
  // pushes those that are there up by one: entries keep their order, of which the first came first
  // and are looked up most. The few that would not find a place there, near the start or beyond the
  // end, wait until all is done.
  std::vector<std::byte> waiting;
  for (std::uint64_t i = before; i-- > 0;) {
    if (!used(slot(i))) continue;
    std::byte entry[kBytes];
    std::memcpy(entry, slot(i), kBytes);
    std::memset(slot(i), 0, kBytes);
    const std::uint64_t to = home_of(entry, after);
    std::uint64_t end = to;
    while (end >= i && end < after && used(slot(end))) ++end;
    if (end >= i && end < after) {
      std::memmove(slot(to + 1), slot(to), (end - to) * kBytes);
      std::memcpy(slot(to), entry, kBytes);
    } else {
      waiting.insert(waiting.end(), entry, entry + kBytes);
    }
  }
  for (std::size_t at = waiting.size(); at > 0; at -= kBytes) {
    const std::byte* const entry = waiting.data() + at - kBytes;
    std::uint64_t to = home_of(entry, after);
    while (used(slot(to))) to = to + 1 < after ? to + 1 : 0;
    std::memcpy(slot(to), entry, kBytes);
  }
}

/// Puts the entries of an index of `before` slots, some of which have been emptied, where look-ups
/// in one of `after` slots, not more, find them. The slots behind are empty then.
template <std::size_t kBytes>
void gather(std::byte* slots, std::uint64_t before, std::uint64_t after) {
  const auto slot = [slots](std::uint64_t i) { return slots + i * kBytes; };
  // From the first to the last: a new home is never behind the old one, and an entry is never
  // before its home, but for those that went on from the last slot to slot 0. These wait until all
  // is done, and so do those that would go on like that now.
  std::vector<std::byte> waiting;
  for (std::uint64_t i = 0; i < before; ++i) {
    if (!used(slot(i))) continue;
    std::byte entry[kBytes];
    std::memcpy(entry, slot(i), kBytes);
    std::memset(slot(i), 0, kBytes);
    std::uint64_t to = home_of(entry, before) <= i ? home_of(entry, after) : after;
    while (to < after && used(slot(to))) ++to;
    if (to < after) {
      std::memcpy(slot(to), entry, kBytes);
    } else {
      waiting.insert(waiting.end(), entry, entry + kBytes);
    }
  }
  for (std::size_t at = 0; at < waiting.size(); at += kBytes) {
    std::uint64_t to = home_of(waiting.data() + at, after);
    while (used(slot(to))) to = to + 1 < after ? to + 1 : 0;
    std::memcpy(slot(to), waiting.data() + at, kBytes);
  }
}

/// Makes the arena `bytes` bytes large; in another one where it cannot become as large. False, with
/// nothing changed, when the system has no memory.
bool resize_or_move(Arena& arena, std::uint64_t bytes) {
  if (arena.resize(bytes)) return true;
  try {
    Arena larger(2 * bytes);
    if (!larger.resize(bytes)) return false;
    std::memcpy(larger.data(), arena.data(), arena.size());
    arena = std::move(larger);
    return true;
  } catch (const std::runtime_error&) {
    return false;  // not even addresses are left
  }
}

}  // namespace

Index::Index(std::size_t slot_bytes, MemoryBudget& budget, bool one_of_many)
    : shift_(static_cast<unsigned>(std::countr_zero(slot_bytes))),
      one_of_many_(one_of_many),
      budget_(&budget) {
  const std::uint64_t bytes = bytes_for(kFirstSlots);
  budget_->force(bytes);
  if (!resize(kFirstSlots)) {
    throw std::runtime_error("not enough memory for an index of " + std::to_string(bytes) +
                             " bytes");
  }
  set_capacity(kFirstSlots);
}

/// Makes the memory large enough for `capacity` slots, of which those there are come first and the
/// others are empty. False, with nothing changed, when the system has no memory.
bool Index::resize(std::uint64_t capacity) {
  const std::uint64_t before = capacity_ > 0 ? bytes_for(capacity_) : 0,
                      after = bytes_for(capacity);
  if (arena_.reserved() > 0) {
    if (!resize_or_move(arena_, after)) return false;
    slots_ = arena_.data();
    return true;
  }
  std::byte* to = nullptr;
  if (one_of_many_ && after <= Pool::kLargestPiece) {
    to = budget_->pool().take(after);
  } else {
    try {
      arena_ = Arena(std::max(after, std::min(budget_->limit(), bytes_for(kMaxSlots))));
      if (arena_.resize(after)) to = arena_.data();
    } catch (const std::runtime_error&) {  // no addresses
    }
    if (to == nullptr) arena_ = Arena();
  }
  if (to == nullptr) return false;
  if (before > 0) {
    std::memcpy(to, slots_, before);
    budget_->pool().give_back(slots_, before);
  }
  slots_ = to;
  return true;
}

void Index::set_capacity(std::uint64_t capacity) {
  capacity_ = capacity;
  limit_ = key_limit(capacity);
}

const std::byte* Index::find(Key key) const {
  const std::byte* const end = overflow();
  for (const std::byte* at = home(key);;) {
    const Key there = key_at(at);
    if (there == key) return at;
    if (there == kNoKey) return nullptr;
    at += std::size_t{1} << shift_;
    if (at == end) at = slots_;
  }
}

std::byte* Index::find_or_insert(Key key) {
  for (std::byte* at = home(key);;) {
    std::atomic_ref<Key> there(*reinterpret_cast<Key*>(at));
    Key seen = there.load(std::memory_order_relaxed);
    if (seen == key) return at;
    if (seen != kNoKey) {
      at += std::size_t{1} << shift_;
      if (at == overflow()) at = slots_;
      continue;
    }
    if (size() >= limit_) {
      if (concurrent_ || full_ || !grow()) {
        overflow_lookups_.add(1);
        return overflow();
      }
      at = home(key);
      continue;
    }
    // Where another thread was faster, it may have put in the same key.
    if (there.compare_exchange_strong(seen, key, std::memory_order_relaxed)) {
      size_.add(1);
      return at;
    }
  }
}

void Index::reserve(std::uint64_t count, bool beyond_limit) {
  while (!full_ && size() + count > limit_ && grow(beyond_limit)) {
  }
}

bool Index::grow(bool beyond_limit) {
  const std::uint64_t before = capacity_,
                      after = std::min(next_capacity(before, one_of_many_), kMaxSlots);
  const std::uint64_t more = bytes_for(after) - bytes_for(before);
  full_ = before >= kMaxSlots || (!beyond_limit && !budget_->take(more));
  if (full_) return false;
  if (beyond_limit) budget_->force(more);
  if (!resize(after)) {
    budget_->give_back(more);
    full_ = true;
    return false;
  }
  // The overflow slot goes from the end to the new end, whose page stays untouched until it is
  // used.
  if (overflow_lookups() > 0) {
    std::memcpy(slot(after), slot(before), std::size_t{1} << shift_);
    std::memset(slot(before), 0, std::size_t{1} << shift_);
  }
  with_slot_bytes(shift_, [&](auto bytes) { spread<bytes>(slots_, before, after); });
  set_capacity(after);
  return true;
}

/// As small as an index is that has grown to what there is: so a model that was saved and loaded
/// takes the memory that it took before.
void Index::close_gaps() {
  const std::uint64_t before = capacity_;
  std::uint64_t after = kFirstSlots;
  while (after < before && size() > key_limit(after)) {
    after = std::min(next_capacity(after, one_of_many_), before);
  }
  with_slot_bytes(shift_, [&](auto bytes) { gather<bytes>(slots_, before, after); });
  if (after == before) return;
  const std::size_t slot_bytes = std::size_t{1} << shift_;
  std::memcpy(slot(after), slot(before), slot_bytes);  // the overflow slot
  std::memset(slot(before), 0, slot_bytes);
  shrink(after);
}

/// Gives back what is behind so many slots and the overflow slot.
void Index::shrink(std::uint64_t capacity) {
  const std::uint64_t before = bytes_for(capacity_), after = bytes_for(capacity);
  if (arena_.reserved() > 0) {
    if (!arena_.resize(after)) return;  // it never fails to become smaller
  } else {
    // Pieces are cut where they are given back: the rest of this one goes to others.
    budget_->pool().shorten(slots_, before, after);
  }
  budget_->give_back(before - after);
  set_capacity(capacity);
}

std::vector<std::uint32_t> Index::in_order() const {
  std::vector<std::uint32_t> order;
  order.reserve(size());
  InOrder all(*this);
  while (const std::byte* const at = all.next()) order.push_back(number_of(at));
  return order;
}

Index::InOrder::InOrder(const Index& index) : index_(&index) {}

/// Keys are near their homes: each passes few others.
void Index::InOrder::add(std::uint64_t slot) {
  const Entry here{rank(key_at(index_->slot(slot))), static_cast<std::uint32_t>(slot)};
  std::size_t to = cluster_.size();
  cluster_.push_back(here);
  for (; to > 0 && cluster_[to - 1].rank > here.rank; --to) cluster_[to] = cluster_[to - 1];
  cluster_[to] = here;
}

/// A key lies in the cluster that its home lies in: what comes later in memory comes later in
/// order, but for the keys that belong to the end of the index and stand at its start, as that end
/// was full.
bool Index::InOrder::read_cluster() {
  if (ended_) return false;
  cluster_.clear();
  given_ = 0;
  const auto used = [&](std::uint64_t i) { return key_at(index_->slot(i)) != kNoKey; };
  const auto is_from_the_end = [&](std::uint64_t i) {
    return index_->home_number(key_at(index_->slot(i))) > i;
  };
  const std::uint64_t end = index_->capacity();
  while (at_ < end && !used(at_)) ++at_;
  for (; at_ < end && used(at_); ++at_) {
    if (!is_from_the_end(at_)) add(at_);
  }
  if (at_ < end) return true;
  ended_ = true;
  for (std::uint64_t i = 0; i < end && used(i); ++i) {
    if (is_from_the_end(i)) add(i);
  }
  return true;
}

}  // namespace leveret::table
