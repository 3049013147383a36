#include "table/expiry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "table/mix.h"

namespace leveret::table {
namespace {

constexpr unsigned kOldest = RowRef::kAges - 1;

/// How much a feature is used, by powers of two of its uses: those that are as old as they can be
/// come before all others, of which each tick counts as half of the uses.
class Ranks {
 public:
  static constexpr std::size_t kUses = 64;
  static constexpr std::size_t kCount = 2 * kUses;

  Ranks(const Shard& shard, unsigned clock)
      : shard_(shard),
        clock_(clock),
        needed_(static_cast<float>(shard.options().admission.needed(shard.rows().size()))) {}

  std::size_t of(const Slot& slot) const {
    const std::size_t used = uses(slot), age = slot.ref.age(clock_);
    return age == kOldest ? used : kUses + used - age;
  }

 private:
  std::size_t uses(const Slot& slot) const {
    float uses = 0;
    if (shard_.cells() == CellKind::kMixed) {
      uses = mixed(*cell_of(&slot)).count;
    } else if (shard_.cells() != CellKind::kNone) {
      uses = cell_of(&slot)->sum;
    }
    if (uses == 0) {  // it has no cell, or another shard has the one that learns
      const bool counts = !slot.ref.has_row() && !slot.ref.is_refused();
      uses = counts ? static_cast<float>(slot.ref.occurrences()) : needed_;
    }
    // Sums of squared gradients are small.
    constexpr int kZero = kUses / 2, kLeast = kOldest - kZero;
    const int power = uses > 0 ? std::ilogb(std::min(uses, 0x1p60f)) : kLeast;
    return static_cast<std::size_t>(std::clamp(power, kLeast, kZero - 1) + kZero);
  }

  const Shard& shard_;
  unsigned clock_;
  float needed_;  ///< uses of a feature that has got its row, at least
};

std::uint64_t bytes_of(const Shard& shard, const Slot& slot) {
  return slot_bytes(shard.cells()) + (slot.ref.has_row() ? shard.rows().layout().stride() : 0);
}

/// Whether the features of a shard are counted: where several parts of a model know a feature, the
/// one that has its cell counts it.
bool counts(const Tables& tables, const Shard& shard) {
  return !tables.is_part() || shard.cells() != CellKind::kNone;
}

}  // namespace

std::uint64_t expire(Tables& tables) {
  std::uint64_t forgotten = 0;
  const unsigned clock = tables.clock();
  for (Shard& shard : tables) {
    const std::uint64_t features =
        shard.forget([&](const Slot& slot) { return slot.ref.age(clock) == kOldest; });
    forgotten += counts(tables, shard) ? features : 0;
  }
  tables.set_clock(clock + 1);
  return forgotten;
}

std::uint64_t evict(Tables& tables, std::uint64_t bytes, std::uint64_t seed) {
  const unsigned clock = tables.clock();
  std::array<std::uint64_t, Ranks::kCount> by_rank{};
  for (const Shard& shard : tables) {
    const Ranks ranks(shard, clock);
    shard.for_each([&](const Slot& slot) { by_rank[ranks.of(slot)] += bytes_of(shard, slot); });
  }
  std::size_t last = 0;
  std::uint64_t before = 0;  // bytes of the ranks before the last one
  while (last + 1 < Ranks::kCount && before + by_rank[last] < bytes) before += by_rank[last++];
  const double share = static_cast<double>(bytes - std::min(before, bytes)) /
                       static_cast<double>(std::max<std::uint64_t>(by_rank[last], 1));
  std::uint64_t forgotten = 0;
  for (Shard& shard : tables) {
    const Ranks ranks(shard, clock);
    forgotten += shard.forget([&](const Slot& slot) {
      const std::size_t rank = ranks.of(slot);
      if (rank != last) return rank < last;
      return static_cast<double>(mix(slot.key ^ mix(seed))) * 0x1p-64 < share;
    });
  }
  for (Shard& shard : tables) shard.forget_overflow();
  return forgotten;
}

void make_young(Tables& tables) {
  const unsigned clock = tables.clock();
  for (Shard& shard : tables) {
    shard.for_each([&](Slot& slot) { slot.ref = slot.ref.used(clock); });
  }
}

void tick(Tables& tables) {
  const unsigned clock = tables.clock();
  for (Shard& shard : tables) {
    shard.for_each([&](Slot& slot) {
      if (slot.ref.age(clock) == kOldest) slot.ref = slot.ref.used(clock + 2);
    });
  }
  tables.set_clock(clock + 1);
}

}  // namespace leveret::table
