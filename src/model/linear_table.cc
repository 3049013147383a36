#include "model/linear_table.h"

#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>

namespace leveret::model {
namespace {

Arena slots_arena(std::uint64_t bytes) {
  Arena arena(bytes);
  if (!arena.resize(bytes)) {
    throw std::runtime_error("not enough memory for a linear table of " + std::to_string(bytes) +
                             " bytes; use a smaller -b");
  }
  return arena;
}

}  // namespace

LinearTable::LinearTable(std::uint32_t bits, std::uint32_t cell_floats, MemoryBudget& budget)
    : hashed_(bits != 0),
      words_shift_(cell_floats <= 3 ? 2 : 3),
      bits_(hashed_ ? bits : kFirstBits),
      budget_(&budget) {
  budget_->force(bytes_for(bits_));
  adopt(slots_arena(bytes_for(bits_)));
}

void LinearTable::adopt(Arena arena) {
  arena_ = std::move(arena);
  slots_ = reinterpret_cast<std::uint32_t*>(arena_.data());
  mask_ = static_cast<std::uint32_t>(capacity() - 1);
  limit_ = capacity() / 4 * 3;
}

const float* LinearTable::find(std::uint32_t hash) const {
  if (hashed_) return cell(hash & mask_);
  const std::uint32_t key = table_key(hash);
  for (std::uint32_t i = first_slot(key, bits_);; i = (i + 1) & mask_) {
    const std::uint32_t there = std::atomic_ref(*slot(i)).load(std::memory_order_relaxed);
    if (there == key) return cell(i);
    if (there == 0) return shared() > 0 ? cell(capacity()) : nullptr;
  }
}

float* LinearTable::find_or_insert(std::uint32_t hash) {
  const std::uint32_t key = table_key(hash);
  if (hashed_) {
    std::atomic_ref<std::uint32_t> owner(*slot(hash & mask_));
    if (owner.load(std::memory_order_relaxed) == 0) {
      owner.store(key, std::memory_order_relaxed);
      size_.add(1);
    }
    return cell(hash & mask_);
  }
  for (std::uint32_t i = first_slot(key, bits_);;) {
    std::atomic_ref<std::uint32_t> there(*slot(i));
    std::uint32_t seen = there.load(std::memory_order_relaxed);
    if (seen == key) return cell(i);
    if (seen != 0) {
      i = (i + 1) & mask_;
      continue;
    }
    if (size() >= limit_) {
      if (concurrent_ || full_ || !grow()) return shared_cell();
      i = first_slot(key, bits_);
      continue;
    }
    if (there.compare_exchange_strong(seen, key, std::memory_order_relaxed)) {
      size_.add(1);
      return cell(i);
    }
  }
}

float* LinearTable::shared_cell() {
  shared_.add(1);
  return cell(capacity());
}

void LinearTable::reserve(std::uint64_t count) {
  if (hashed_) return;
  while (!full_ && size() + count > limit_ && grow()) {
  }
}

bool LinearTable::grow() {
  // Both arrays exist while slots move over.
  if (bits_ >= 31 || !budget_->take(bytes_for(bits_ + 1))) {
    full_ = true;
    return false;
  }
  Arena bigger(bytes_for(bits_ + 1));
  if (!bigger.resize(bytes_for(bits_ + 1))) {
    budget_->give_back(bytes_for(bits_ + 1));
    full_ = true;
    return false;
  }
  const std::uint64_t old_capacity = capacity();
  const Arena old = std::move(arena_);
  const auto* from = reinterpret_cast<const std::uint32_t*>(old.data());
  ++bits_;
  adopt(std::move(bigger));
  for (std::uint64_t s = 0; s < old_capacity; ++s) {
    const std::uint32_t* old_slot = from + (s << words_shift_);
    if (*old_slot == 0) continue;
    std::uint32_t i = first_slot(*old_slot, bits_);
    while (*slot(i) != 0) i = (i + 1) & mask_;
    std::memcpy(slot(i), old_slot, slot_bytes());
  }
  std::memcpy(slot(capacity()), from + (old_capacity << words_shift_), slot_bytes());
  budget_->give_back(bytes_for(bits_ - 1));
  return true;
}

void LinearTable::load(Arena arena, std::uint64_t shared) {
  const std::uint64_t slots = arena.size() / slot_bytes();
  if (arena.size() % slot_bytes() != 0 || slots < 2 || !std::has_single_bit(slots - 1) ||
      (hashed_ && slots - 1 != capacity())) {
    throw std::runtime_error("the model's linear table has an impossible size of " +
                             std::to_string(arena.size()) + " bytes; the file is damaged");
  }
  budget_->give_back(bytes_for(bits_));
  bits_ = static_cast<std::uint32_t>(std::bit_width(slots - 1) - 1);
  budget_->force(bytes_for(bits_));
  adopt(std::move(arena));
  std::uint64_t used = 0;
  for_each([&](std::uint32_t, const float*) { ++used; });
  if (!hashed_ && used >= capacity()) {
    throw std::runtime_error("the model's linear table has no empty slot; the file is damaged");
  }
  size_.set(used);
  shared_.set(shared);
}

}  // namespace leveret::model
