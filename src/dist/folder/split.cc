#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "dist/folder/copy_rows.h"
#include "dist/folder/frame_columns.h"
#include "dist/folder/gather.h"

namespace leveret::dist {
namespace {

using table::CellKind;
using table::Row;
using table::RowRef;
using table::Shard;
using table::Slot;

[[noreturn]] void no_shard_memory() {
  throw std::runtime_error("there is no memory for a shard of the model");
}

void copy_overflow(const Shard& from, Shard& to) {
  Row row = table::kNoRow;
  if (to.has_rows() && from.overflow_row() != table::kNoRow) {
    row = to.rows().make(table::kNoKey, true);
    if (row == table::kNoRow) no_shard_memory();
    take_from_whole(to.rows().layout(), to.rows().at(row), from.rows().layout(),
                    from.rows().at(from.overflow_row()));
  }
  to.load_overflow(row, from.overflow_rows_given(), from.index().overflow_lookups());
  if (from.overflow_slot() != nullptr) copy_cell(to.cells(), *from.overflow_slot(), *to.overflow());
}

/// Fills one part.
class Splitter {
 public:
  Splitter(const model::Model& whole, const Plan& plan, Part& part)
      : whole_(whole), plan_(plan), part_(part) {}

  void run() {
    part_.tables().set_clock(whole_.tables().clock());
    take_group_0();
    const std::uint32_t fields = whole_.tables().has_rows() ? plan_.fields() : 0;
    for (std::uint32_t f = 0; f < fields; ++f) {
      if (plan_.holds(part_.number(), f)) take_field(f);
    }
    take_parameters();
  }

 private:
  void take_group_0() {
    Shard& to = part_.tables()[0];
    if (table::HashedCells* const cells = part_.tables().hashed()) {
      std::memcpy(static_cast<void*>(cells->at(0)), whole_.tables().hashed()->at(cells->begin()),
                  cells->capacity() * cells->stride());
      return;
    }
    if (to.cells() == CellKind::kNone) return;
    const Shard& from = whole_.tables()[0];
    const bool by_key = plan_.feature_group_owner(0) == Plan::kByKey;
    from.for_each([&](const Slot& slot) {
      if (by_key && plan_.key_owner(slot.key) != part_.number()) return;
      Slot& copy = add(to, slot.key);
      copy_cell(to.cells(), slot, copy);
      copy.ref = copy.ref.used(slot.ref.used_at());
      if (slot.ref.has_largest_value()) load_largest(to, slot.key, from.largest_value(slot));
    });
    // One shard counts what all have refused; all go on with the cell that stood for it.
    if (!by_key || part_.number() == 0) return copy_overflow(from, to);
    if (from.overflow_slot() != nullptr)
      copy_cell(to.cells(), *from.overflow_slot(), *to.overflow());
  }

  void take_field(std::uint32_t field) {
    const Shard& from = whole_.tables().field(field);
    Shard& to = part_.tables().field(field);
    to.reserve_to_load(from.index().size());
    const std::vector<std::uint32_t> others = first_fields(field);
    from.for_each([&](const Slot& slot) {
      Slot& copy = add(to, slot.key);
      copy_cell(to.cells(), slot, copy);
      copy.ref = copy.ref.used(slot.ref.used_at());
      if (slot.ref.has_row()) {
        const Row row = to.rows().make(slot.key, true);
        if (row == table::kNoRow) no_shard_memory();
        take_from_whole(to.rows().layout(), to.rows().at(row), from.rows().layout(),
                        from.rows().at(slot.ref.row()));
        copy.ref = copy.ref.with_row(row);
      } else if (slot.ref.is_refused()) {
        copy.ref = copy.ref.refused();
      } else {
        copy.ref = copy.ref.with_occurrences(slot.ref.occurrences());
      }
      if (!whole_.spec().mixed()) return;
      if (const table::HashedCells* const cells = whole_.tables().hashed()) {
        take_hashed_value(*cells, to, copy);
      } else {
        take_value(field, slot, others, to, copy);
      }
    });
    copy_overflow(from, to);
  }

  static Slot& add(Shard& to, table::Key key) {
    Slot* const slot = to.load_key(key);
    if (slot == nullptr) no_shard_memory();
    return *slot;
  }

  static void load_largest(Shard& to, table::Key key, float value) {
    if (!to.load_largest(key, value)) no_shard_memory();
  }

  /// Those in which linear features of this field's namespaces are counted.
  std::vector<std::uint32_t> first_fields(std::uint32_t field) const {
    std::vector<std::uint32_t> all{field};
    for (const feature::NamespacePlan& plan : whole_.features().plans()) {
      if (std::ranges::find(plan.fields, field) == plan.fields.end()) continue;
      if (std::ranges::find(all, plan.fields[0]) == all.end()) all.push_back(plan.fields[0]);
    }
    return all;
  }

  /// Whether the feature was learned from, and its largest value.
  void take_value(std::uint32_t field, const Slot& slot, const std::vector<std::uint32_t>& others,
                  Shard& to, Slot& copy) {
    const bool at_home = plan_.home(field) == part_.number();
    for (const std::uint32_t f : others) {
      const Shard& counted = whole_.tables().field(f);
      const Slot* const of = f == field ? &slot : counted.find(slot.key);
      if (of == nullptr || !(table::mixed(*table::cell_of(of)).count > 0)) continue;
      if (of->ref.has_largest_value()) load_largest(to, slot.key, counted.largest_value(*of));
      if (f != field || !at_home) copy.ref = copy.ref.learned();
      return;
    }
  }

  /// That of all whose cell it is.
  static void take_hashed_value(const table::HashedCells& cells, Shard& to, Slot& copy) {
    const float largest = table::hashed(*cells.find(copy.key)).largest_value;
    if (!(largest > 0)) return;
    if (largest != 1.0f) load_largest(to, copy.key, largest);
    copy.ref = copy.ref.learned();
  }

  void take_parameters() {
    const tape::Parameters& from = whole_.parameters();
    const std::vector<tape::LearnedArray>& arrays = from.declared().arrays;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const auto id = static_cast<tape::ArrayId>(i);
      if (arrays[i].owner != tape::Owner::Kind::kFeatureGroup) continue;
      std::ranges::copy(from[id], part_.parameters()[id].begin());
    }
    for (Columns& columns : part_.columns()) columns.take_from(from);
  }

  const model::Model& whole_;
  const Plan& plan_;
  Part& part_;
};

void take_frame(const model::Model& whole, Frame& frame) {
  const tape::Parameters& from = whole.parameters();
  tape::Parameters& to = frame.model().parameters();
  to.scalars = from.scalars;
  frame.model().sightings().set(whole.sightings().get());
  const std::vector<tape::LearnedArray>& arrays = to.declared().arrays;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto id = static_cast<tape::ArrayId>(i);
    if (arrays[i].in_scalars() || arrays[i].shape != from.declared()[id].shape) continue;
    std::ranges::copy(from[id], to[id].begin());
  }
  for_each_frame_number(whole.spec(), from, to,
                        [&](tape::ArrayId id, std::size_t all, std::size_t frames) {
                          to[id][frames] = from[id][all];
                        });
}

/// Whether no example has come.
bool knows_nothing(const model::Model& whole) {
  if (whole.parameters().scalars.examples > 0) return false;
  if (whole.tables().hashed() != nullptr) return whole.features().plans().empty();
  for (const Shard& shard : whole.tables()) {
    if (shard.index().size() > 0) return false;
  }
  return true;
}

/// As the tables are; fields that a plan does not know yet are placed behind the others.
Plan plan_of(const model::Model& whole, std::uint32_t shards) {
  const PlanShape shape = PlanShape::of(whole.spec(), whole.config(), shards);
  const std::vector<std::uint64_t>& words = whole.plan();
  Plan plan = !words.empty() && words[0] == shards ? Plan(shape, words) : Plan(shape);
  if (plan.fields() > whole.parameters().layout.fields) {
    throw std::runtime_error("the plan of who holds what has more fields than the model");
  }
  std::vector<FieldSize> sizes;
  for (std::uint32_t f = plan.fields(); f < whole.parameters().layout.fields; ++f) {
    sizes.push_back({});
    if (!whole.tables().has_rows()) continue;
    const Shard& shard = whole.tables().field(f);
    sizes.back() = {shard.index().size(), shard.rows().size()};
  }
  plan.grow(sizes);
  return plan;
}

}  // namespace

std::unique_ptr<ShardedModel> split(const model::Model& whole, std::uint32_t shards,
                                    std::uint32_t first, std::uint32_t count,
                                    std::uint64_t memory_limit, const kernels::Kernels& kernels) {
  auto model =
      std::make_unique<ShardedModel>(whole.spec(), shards, first, count, memory_limit, kernels);
  model->frame().model().set_schema(whole.schema());
  if (knows_nothing(whole)) return model;  // declared fields are placed with the first batch
  model->resume(plan_of(whole, shards), whole.features().plans());
  take_frame(whole, model->frame());
  for (std::size_t i = 0; i < model->size(); ++i) {
    Splitter(whole, model->plan(), (*model)[i]).run();
  }
  return model;
}

}  // namespace leveret::dist
