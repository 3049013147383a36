#include "model/expiry.h"

#include <algorithm>

#include "table/expiry.h"

namespace leveret::model {
namespace {

/// Of --max_memory, so much is made free at once: each time all features are looked at.
constexpr std::uint64_t kEvictedShare = 8;
/// So that the oldest have been in no example while some three quarters of the memory was filled
/// anew. Measured, 400,000 generated rows of 12 fields, where values stay (3 MB) and where they
/// change (4 MB), and frappe_87k (700 kB), logloss: .44608 .45377 .2862 with 1, .44540 .45378 .2822
/// with 2, .44534 .45390 .2815 with 4.
constexpr std::uint64_t kEvictionsOfTick = 2;

/// More where a model has been given less memory than it had. Cells without keys stay.
std::uint64_t bytes_to_evict(const table::Tables& tables) {
  const table::HashedCells* const cells = tables.hashed();
  const std::uint64_t stay = cells != nullptr ? cells->capacity() * cells->stride() : 0;
  const std::uint64_t limit = tables.budget().limit(), used = tables.budget().used();
  const std::uint64_t room = limit - std::min(stay, limit);
  const std::uint64_t share = room / kEvictedShare, taken = used - std::min(stay, used);
  return std::max(share, taken - std::min(room - share, taken));
}

}  // namespace

bool is_tick_due(const Spec& spec, const tape::Scalars& scalars) {
  return spec.expire > 0 && scalars.examples - scalars.ticked_at >= ticks_every(spec);
}

std::uint64_t until_tick(const Spec& spec, const tape::Scalars& scalars) {
  if (spec.expire == 0) return kNever;
  const std::uint64_t since = scalars.examples - scalars.ticked_at;
  return std::max<std::uint64_t>(ticks_every(spec), since + 1) - since;
}

bool must_evict(const Spec& spec, const tape::Scalars& scalars, const table::Tables& tables) {
  return spec.evicts && (scalars.evicts_next || tables.out_of_memory());
}

bool must_forget(const Spec& spec, const tape::Scalars& scalars, const table::Tables& tables) {
  return is_tick_due(spec, scalars) || must_evict(spec, scalars, tables);
}

void forget_features(const Spec& spec, tape::Scalars& scalars, table::Tables& tables) {
  if (is_tick_due(spec, scalars)) tables.count_forgotten(table::expire(tables));
  if (!must_evict(spec, scalars, tables)) return;
  scalars.evicts_next = false;
  tables.count_forgotten(table::evict(tables, bytes_to_evict(tables), ++scalars.evictions));
  if (spec.expire == 0 && scalars.evictions % kEvictionsOfTick == 0) table::tick(tables);
}

void note_tick(const Spec& spec, tape::Scalars& scalars) {
  if (is_tick_due(spec, scalars)) scalars.ticked_at = scalars.examples;
}

bool must_forget(const Model& model) {
  return must_forget(model.spec(), model.parameters().scalars, model.tables());
}

void forget_features(Model& model) {
  tape::Scalars& scalars = model.parameters().scalars;
  forget_features(model.spec(), scalars, model.tables());
  note_tick(model.spec(), scalars);
}

}  // namespace leveret::model
