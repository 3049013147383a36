/// What the growing tables (LinearTable, the index of FieldTable) share: where a look-up begins and
/// goes on, how full a table gets, and how it grows in place.
///
/// A look-up begins at a key's *home* and goes on to the next slot, after the last to slot 0, until
/// it finds the key or an empty slot. The home is the key's mixed value, as a fraction of all
/// values, times the number of slots: any number of slots will do, and a key's home never moves
/// down when there are more of them. So a table grows where it lies, instead of being copied to a
/// second one: memory has no peak, and only what is new is touched for the first time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "model/arena.h"

namespace leveret::model {

inline constexpr std::uint64_t kMaxSlots = std::uint64_t{1} << 31;

/// A look-up needs no limit of slots: it ends at an empty one, which there always is. Not so in a
/// mapped table, whose file may be changed: there it ends where no key of the file would be.
inline constexpr std::uint64_t kNoEnd = ~std::uint64_t{0};

/// Home of a 32-bit key in a table of `slots` slots, at most kMaxSlots. Feature hashes are murmur
/// already, but numeric names are not, so one multiplication spreads them (Fibonacci hashing).
inline std::uint32_t home_slot(std::uint32_t key, std::uint64_t slots) {
  return static_cast<std::uint32_t>((((key * 0x9e3779b97f4a7c15u) >> 32) * slots) >> 32);
}

/// Keys for which a table of `slots` slots has room. Threads that insert side by side may each take
/// a few more, and an empty slot must remain.
inline std::uint64_t key_limit(std::uint64_t slots) { return slots / 4 * 3; }

/// The size that comes after `slots` where look-ups count most. Frequent keys are old keys, and how
/// far they are from home was settled when the table grew last: after a smaller step they are
/// looked up in a fuller table.
inline std::uint64_t next_size(std::uint64_t slots) { return 2 * slots; }

/// Makes the arena `bytes` bytes large; in another one where it cannot become as large. False, with
/// nothing changed, when the system has no memory.
inline bool resize_or_move(Arena& arena, std::uint64_t bytes) {
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

/// Turns a table of `before` slots into one of `after` slots, more than that, in place. The new
/// slots are empty: all bytes zero. A slot is kBytes bytes that begin with its key, and
/// used(slot) tells whether it holds one. At least one slot must be empty.
template <std::size_t kBytes, class Used>
void spread_slots(std::byte* table, std::uint64_t before, std::uint64_t after, Used used) {
  const auto slot = [table](std::uint64_t i) { return table + i * kBytes; };
  const auto home = [after](const std::byte* entry) {
    std::uint32_t key;
    std::memcpy(&key, entry, sizeof key);
    return home_slot(key, after);
  };
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
    const std::uint64_t to = home(entry);
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
    const std::byte* entry = waiting.data() + at - kBytes;
    std::uint64_t to = home(entry);
    while (used(slot(to))) to = to + 1 < after ? to + 1 : 0;
    std::memcpy(slot(to), entry, kBytes);
  }
}

/// Findings of check_look_ups about a table that was stored.
struct LookUps {
  bool right;                ///< they find every key, and end: there is an empty slot
  std::uint64_t keys;        ///< slots in use
  std::uint64_t most_slots;  ///< that they look at until they have found a key
};

/// They are right when no empty slot lies between a key and its home.
template <std::size_t kBytes, class Used>
LookUps check_look_ups(const std::byte* table, std::uint64_t slots, Used used) {
  const auto slot = [table](std::uint64_t i) { return table + i * kBytes; };
  std::uint64_t last_empty = slots;
  while (last_empty > 0 && used(slot(last_empty - 1))) --last_empty;
  if (last_empty == 0) return {false, slots, 0};
  LookUps found = {true, 0, 0};
  // Distances from the empty slot before, which may lie on the other side of slot 0.
  std::uint64_t run = slots - last_empty;
  for (std::uint64_t i = 0; i < slots; ++i) {
    if (!used(slot(i))) {
      run = 0;
      continue;
    }
    std::uint32_t key;
    std::memcpy(&key, slot(i), sizeof key);
    const std::uint64_t home = home_slot(key, slots);
    const std::uint64_t from_home = i >= home ? i - home : i + slots - home;
    found.right = found.right && from_home <= run;
    found.most_slots = std::max(found.most_slots, from_home + 1);
    ++found.keys;
    ++run;
  }
  return found;
}

}  // namespace leveret::model
