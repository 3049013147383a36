/// When a model forgets features (table/expiry.h): those that its examples have not had for long
/// (--expire), and, where memory runs out, those that are used least (--when_full evict).
///
/// It happens between batches, and what is known of when is in the model: so a run that is resumed
/// forgets what an uninterrupted one does.
#pragma once

#include <cstdint>

#include "model/model.h"
#include "spec/spec.h"
#include "table/tables.h"
#include "tape/scalars.h"

namespace leveret::model {

/// Examples between two ticks of the clock: a feature that was in none for --expire examples is
/// forgotten with the next tick.
inline std::uint64_t ticks_every(const Spec& spec) {
  constexpr std::uint64_t kWhole = table::RowRef::kAges - 1;
  return (spec.expire + kWhole - 1) / kWhole;
}

/// Examples that may come until the next tick is due: at least 1; kNever without --expire.
constexpr std::uint64_t kNever = ~std::uint64_t{0};
std::uint64_t until_tick(const Spec& spec, const tape::Scalars& scalars);

/// Whether the clock is to tick.
bool is_tick_due(const Spec& spec, const tape::Scalars& scalars);
/// Whether memory has run out, where that makes a model forget.
bool must_evict(const Spec& spec, const tape::Scalars& scalars, const table::Tables& tables);
/// Whether features are to be forgotten: a tick is due, or memory has run out.
bool must_forget(const Spec& spec, const tape::Scalars& scalars, const table::Tables& tables);

/// Does what is due. Slots and rows move. Needs the tables to itself; those of a model that lies in
/// shards, one after the other, before `note_tick`.
void forget_features(const Spec& spec, tape::Scalars& scalars, table::Tables& tables);
/// Notes when the last tick was, where it was due.
void note_tick(const Spec& spec, tape::Scalars& scalars);

// The same of a model that has all of its tables.
bool must_forget(const Model& model);
void forget_features(Model& model);

}  // namespace leveret::model
