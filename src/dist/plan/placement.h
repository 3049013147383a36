/// Where a plan puts fields and pairs: so that every shard has about as many bytes, and the keys of
/// large fields lie on few.
///
/// The *star* of a field is its cells, the pair with itself and those with smaller fields: where
/// the star is, its keys are, and those of the smaller fields. Two ways are tried, each with
/// several sizes; the plan whose fullest shard is the least full wins. Either each star, the
/// largest first, goes to the shard with the least bytes (LPT, Graham 1969), in pieces where it is
/// too large; or shards are filled one after the other, so that the fields that lie on many shards
/// are small. Then single pairs move to where they cost less.
///
/// A field that comes later meets each of those that are there on a shard that has its rows: the
/// new field's home if it does, else one on which the new field is already, else the least full.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dist/plan/plan.h"

namespace leveret::dist {

/// Fills homes and pairs of fields first, first + 1, …; the others are placed. Pure integers.
void place(const PlanShape& shape, std::span<const FieldSize> sizes, std::uint32_t first,
           std::vector<std::uint32_t>& homes, std::vector<std::uint32_t>& pairs);

/// Bytes of each shard: slots, rows as Rows keeps them, no free room.
std::vector<std::uint64_t> shard_loads(const PlanShape& shape, std::span<const FieldSize> sizes,
                                       std::span<const std::uint32_t> homes,
                                       std::span<const std::uint32_t> pairs);

}  // namespace leveret::dist
