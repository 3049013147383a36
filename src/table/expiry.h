/// Forgetting features: those that examples have not had for long, and, where memory has run out,
/// those that are used least (dynamic embedding tables of the DES paper, section 3; expiry of
/// Monolith, Liu et al. 2022, section 3.2).
///
/// Tables have a clock of RowRef::kAges numbers, and each feature notes what it showed when the
/// feature was last in an example: two bits, in a word that learning reads anyway. So a feature's
/// age is known in ticks, up to kAges - 1.
///
/// Threads: need the tables to themselves. Slots and rows move.
#pragma once

#include <cstdint>

#include "table/tables.h"

namespace leveret::table {

/// Lets the clock tick, and forgets the features whose age would have been kAges ticks: in examples
/// that came between kAges - 1 and kAges ticks ago for the last time. Returns how many.
std::uint64_t expire(Tables& tables);

/// Forgets the features that are used least, until about `bytes` bytes of slots and rows are free.
/// First those that are as old as they can be; then by how often they have been seen, in powers of
/// two (where cells do not count that, by their sum of squared gradients, which grows with it), of
/// which each tick since the last time takes one away. Chance, a hash of the key and of
/// `seed`, another one each time, decides between those that are alike. What stands for features
/// without a place goes, too. Returns how many.
std::uint64_t evict(Tables& tables, std::uint64_t bytes, std::uint64_t seed);

/// Lets the clock tick, and forgets nothing: the oldest stay as old as they can be.
void tick(Tables& tables);

/// Makes all features as young as if they had just been used.
void make_young(Tables& tables);

}  // namespace leveret::table
