#include "model/linear_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "model/aligned.h"

namespace leveret::model {
namespace {

/// Keys that a thread puts in before it tells the others of them.
constexpr std::uint64_t kUncounted = 16;

constexpr std::uint64_t kMaxBytes = (kMaxSlots + 1) * 32;

/// An object, not a function: the loops over all slots are to contain it.
constexpr auto has_key = [](const std::byte* slot) {
  std::uint32_t key;
  std::memcpy(&key, slot, sizeof key);
  return key != 0;
};

/// Slots of kBytes whose bytes are not all zero. A template, so that compilers look at several at
/// once: a table may have gigabytes.
template <std::size_t kBytes>
std::uint64_t count_in_use(const std::byte* slot, std::uint64_t slots) {
  std::uint64_t used = 0;
  for (; slots > 0; --slots, slot += kBytes) {
    std::array<std::uint64_t, kBytes / sizeof(std::uint64_t)> words;
    std::memcpy(words.data(), slot, kBytes);
    std::uint64_t any = 0;
    for (const std::uint64_t word : words) any |= word;
    used += any != 0;
  }
  return used;
}

}  // namespace

LinearTable::LinearTable(std::uint32_t bits, std::uint32_t cell_floats, MemoryBudget& budget)
    : hashed_(bits != 0),
      cell_floats_(cell_floats),
      words_shift_(static_cast<std::uint32_t>(
          std::countr_zero(std::bit_ceil(cell_floats + (hashed_ ? 0 : 1))))),
      budget_(&budget) {
  const std::uint64_t capacity = hashed_ ? std::uint64_t{1} << bits : kFirstSlots;
  const std::uint64_t bytes = bytes_for(capacity);
  budget_->force(bytes);
  Arena arena(hashed_ ? bytes : std::max(bytes, std::min(budget.limit(), kMaxBytes)));
  if (!arena.resize(bytes)) {
    throw std::runtime_error("not enough memory for a linear table of " + std::to_string(bytes) +
                             " bytes; use a smaller -b");
  }
  adopt(std::move(arena), capacity);
}

void LinearTable::adopt(Arena arena, std::uint64_t capacity) {
  arena_ = std::move(arena);
  slots_ = reinterpret_cast<std::uint32_t*>(arena_.data());
  set_capacity(capacity);
}

void LinearTable::set_capacity(std::uint64_t capacity) {
  capacity_ = capacity;
  mask_ = static_cast<std::uint32_t>(capacity - 1);
  limit_ = key_limit(capacity);
}

const float* LinearTable::find(std::uint32_t hash) const {
  if (hashed_) return cell(hash & mask_);
  const std::uint32_t key = table_key(hash);
  std::uint64_t left = most_slots_;
  for (std::uint64_t i = home_slot(key, capacity_);; i = next(i)) {
    const std::uint32_t there = std::atomic_ref(*slot(i)).load(std::memory_order_relaxed);
    if (there == key) return cell(i);
    if (there == 0 || --left == 0) return shared() > 0 ? cell(capacity()) : nullptr;
  }
}

std::uint64_t LinearTable::size() const {
  if (!hashed_) return size_.get();
  return words_shift_ == 1   ? count_in_use<8>(arena_.data(), capacity_)
         : words_shift_ == 2 ? count_in_use<16>(arena_.data(), capacity_)
                             : count_in_use<32>(arena_.data(), capacity_);
}

float* LinearTable::find_or_insert(std::uint32_t hash) {
  std::uint64_t added = 0;
  float* const cell = find_or_insert(hash, added);
  if (added > 0) size_.add(added);
  return cell;
}

/// Counts in `added` the keys that are not in size_ yet: few, as many threads may have some. None
/// when the table is full: no room has been made for them, so that all have to see where it ends.
float* LinearTable::find_or_insert(std::uint32_t hash, std::uint64_t& added) {
  if (hashed_) return cell(hash & mask_);
  const std::uint32_t key = table_key(hash);
  for (std::uint64_t i = home_slot(key, capacity_);;) {
    std::atomic_ref<std::uint32_t> there(*slot(i));
    std::uint32_t seen = there.load(std::memory_order_relaxed);
    if (seen == key) return cell(i);
    if (seen != 0) {
      i = next(i);
      continue;
    }
    if (size_.get() + added >= limit_) {
      if (concurrent_ || full_ || !grow()) return shared_cell();
      i = home_slot(key, capacity_);
      continue;
    }
    if (there.compare_exchange_strong(seen, key, std::memory_order_relaxed)) {
      if (++added >= (full_ ? 1 : kUncounted)) size_.add(std::exchange(added, 0));
      return cell(i);
    }
  }
}

void LinearTable::prefetch_homes(std::span<const text::Feature> features, float** cells) const {
  if (hashed_) {
    for (std::size_t i = 0; i < features.size(); ++i) {
      cells[i] = cell(features[i].hash & mask_);
      __builtin_prefetch(cells[i]);
    }
    return;
  }
  for (std::size_t i = 0; i < features.size(); ++i) {
    // That of the hash 0 is elsewhere: it is among those that are searched.
    cells[i] = cell(home_slot(features[i].hash, capacity_));
    // Who is not at home is a few slots further on, often in the next line.
    __builtin_prefetch(cells[i]);
    __builtin_prefetch(cells[i] + kLineFloats);
  }
}

/// Puts search(hash) into cells[i] where features[i] is not in that cell.
template <class Search>
void LinearTable::search_missing(std::span<const text::Feature> features, float** cells,
                                 Search search) const {
  if (hashed_) return;
  // Which are not at home is unpredictable: they are noted without a branch, and searched for after
  // that.
  constexpr std::size_t kAtATime = 64;
  std::uint8_t missing[kAtATime];
  for (std::size_t begin = 0; begin < features.size(); begin += kAtATime) {
    const std::size_t count = std::min(kAtATime, features.size() - begin);
    const text::Feature* const feature = features.data() + begin;
    float** const cell = cells + begin;
    std::size_t away = 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t& key = *(reinterpret_cast<std::uint32_t*>(cell[i]) - 1);
      const std::uint32_t there = std::atomic_ref(key).load(std::memory_order_relaxed);
      const std::uint32_t hash = feature[i].hash;
      missing[away] = static_cast<std::uint8_t>(i);
      away += (there != hash) | (hash == 0);
    }
    for (std::size_t m = 0; m < away; ++m) {
      cell[missing[m]] = search(feature[missing[m]].hash);
    }
  }
}

void LinearTable::find_or_insert_all(std::span<const text::Feature> features, float** cells) {
  // Counted together: threads that share the table pass the counter from one to the other.
  std::uint64_t added = 0;
  search_missing(features, cells, [&](std::uint32_t hash) { return find_or_insert(hash, added); });
  if (added > 0) size_.add(added);
}

void LinearTable::find_all(std::span<const text::Feature> features, float* unknown,
                           float** cells) const {
  search_missing(features, cells, [this, unknown](std::uint32_t hash) {
    const float* const found = find(hash);
    return found != nullptr ? const_cast<float*>(found) : unknown;
  });
}

float* LinearTable::shared_cell() {
  shared_.add(1);
  return cell(capacity());
}

void LinearTable::reserve(std::uint64_t count) {
  if (hashed_) return;
  while (!full_ && size_.get() + count > limit_ && grow()) {
  }
}

bool LinearTable::grow() {
  const std::uint64_t before = capacity_, after = std::min(next_size(before), kMaxSlots);
  const std::uint64_t more = bytes_for(after) - bytes_for(before);
  full_ = before >= kMaxSlots || !budget_->take(more);
  if (full_) return false;
  if (!resize_or_move(arena_, bytes_for(after))) {
    budget_->give_back(more);
    full_ = true;
    return false;
  }
  slots_ = reinterpret_cast<std::uint32_t*>(arena_.data());
  // The shared slot goes from the end to the new end, whose page stays untouched until it is used.
  if (shared() > 0) {
    std::memcpy(slot(after), slot(before), slot_bytes());
    std::memset(slot(before), 0, slot_bytes());
  }
  if (words_shift_ == 2) {
    spread_slots<16>(arena_.data(), before, after, has_key);
  } else {
    spread_slots<32>(arena_.data(), before, after, has_key);
  }
  set_capacity(after);
  return true;
}

Arena LinearTable::without_keys(const Arena& stored) const {
  Arena arena(bytes_for(capacity_));
  if (!arena.resize(bytes_for(capacity_))) {
    throw std::runtime_error("not enough memory for a linear table of " +
                             std::to_string(bytes_for(capacity_)) + " bytes");
  }
  const std::uint64_t before = sizeof(float) * slot_words(SlotFormat::kFormer);
  for (std::uint64_t i = 0; i < capacity_; ++i) {
    const std::byte* const from = stored.data() + i * before;
    std::uint32_t key;
    std::memcpy(&key, from, sizeof key);
    if (key == 0) continue;  // pages without cells stay untouched
    std::memcpy(arena.data() + i * slot_bytes(), from + sizeof key, cell_floats_ * sizeof(float));
  }
  return arena;
}

void LinearTable::load(Arena arena, std::uint64_t shared, SlotFormat format) {
  const bool former = format == SlotFormat::kFormer;
  const std::uint64_t slots = arena.size() / slot_bytes();
  if (hashed_ ? arena.size() != (former ? former_bytes() : bytes_for(capacity_))
              : arena.size() % slot_bytes() != 0 || slots < 2 || slots - 1 > kMaxSlots) {
    throw std::runtime_error("the model's linear table has an impossible size of " +
                             std::to_string(arena.size()) + " bytes; the file is damaged");
  }
  if (former) arena = without_keys(arena);
  budget_->give_back(bytes_for(capacity_));
  adopt(std::move(arena), hashed_ ? capacity_ : slots - 1);
  budget_->force(bytes_for(capacity_));
  shared_.set(shared);
  if (hashed_) return;
  const LookUps look_ups = words_shift_ == 2
                               ? check_look_ups<16>(arena_.data(), capacity_, has_key)
                               : check_look_ups<32>(arena_.data(), capacity_, has_key);
  if (!look_ups.right) {
    throw std::runtime_error(
        "the model's linear table has keys where no look-up finds them, or no empty slot; the file "
        "is damaged");
  }
  size_.set(look_ups.keys);
  most_slots_ = arena_.is_mapped() ? std::max<std::uint64_t>(look_ups.most_slots, 1) : kNoEnd;
}

}  // namespace leveret::model
