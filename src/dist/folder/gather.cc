#include "dist/folder/gather.h"

#include <cstring>
#include <stdexcept>
#include <vector>

#include "dist/folder/copy_rows.h"
#include "dist/folder/frame_columns.h"

namespace leveret::dist {
namespace {

using table::CellKind;
using table::Row;
using table::RowRef;
using table::Shard;
using table::Slot;

[[noreturn]] void no_memory() {
  throw std::runtime_error("there is no memory for all shards of the model in one place");
}

/// The state of a feature without its row, if it has one, and without what only shards know.
RowRef without_row(RowRef seen) {
  const RowRef used = RowRef().used(seen.used_at());
  if (seen.has_row()) return used;
  return seen.is_refused() ? used.refused() : used.with_occurrences(seen.occurrences());
}

void copy_largest(const Shard& from, Shard& to) {
  from.largest_values().for_each([&](const std::byte* at) {
    const auto& largest = *reinterpret_cast<const table::LargestValue*>(at);
    // Others have come by way of a field that has no cells for it.
    const Slot* const slot = from.find(largest.key);
    if (slot == nullptr || !(table::mixed(*table::cell_of(slot)).count > 0)) return;
    if (!to.load_largest(largest.key, largest.value)) no_memory();
  });
}

/// Keys with their cells, and what is known of rows that are not there.
void copy_features(const Shard& from, Shard& to) {
  to.reserve_to_load(to.index().size() + from.index().size());
  from.for_each([&](const Slot& slot) {
    Slot* const copy = to.load_key(slot.key);
    if (copy == nullptr) no_memory();
    copy_cell(from.cells(), slot, *copy);
    copy->ref = without_row(slot.ref);
  });
  if (from.cells() == CellKind::kMixed) copy_largest(from, to);
}

void copy_overflow(const Shard& from, Shard& to, Row row) {
  to.load_overflow(row, to.overflow_rows_given() + from.overflow_rows_given(),
                   to.index().overflow_lookups() + from.index().overflow_lookups());
  if (from.overflow_slot() != nullptr)
    copy_cell(from.cells(), *from.overflow_slot(), *to.overflow());
}

class Gatherer {
 public:
  Gatherer(const Frame& frame, const Plan& plan, std::span<const Part* const> parts,
           model::Model& whole)
      : frame_(frame), plan_(plan), parts_(parts), whole_(whole) {}

  void run() {
    whole_.tables().set_clock(parts_[0]->tables().clock());
    gather_group_0();
    const std::uint32_t fields = whole_.tables().has_rows() ? plan_.fields() : 0;
    for (std::uint32_t f = 0; f < fields; ++f) gather_field(f);
    if (frame_.model().parameters().has_arrays()) gather_parameters();
  }

 private:
  /// Puts together the cells of all groups, where one table has them.
  void gather_group_0() {
    table::HashedCells* const cells = whole_.tables().hashed();
    for (const Part* part : parts_) {
      if (cells != nullptr) {
        const table::HashedCells& some = *part->tables().hashed();
        std::memcpy(static_cast<void*>(cells->at(some.begin())), some.at(0),
                    some.capacity() * some.stride());
      } else if (part->tables()[0].cells() != CellKind::kNone) {
        copy_features(part->tables()[0], whole_.tables()[0]);
        copy_overflow(part->tables()[0], whole_.tables()[0], table::kNoRow);
      }
    }
  }

  void gather_field(std::uint32_t field) {
    const Shard& home = parts_[plan_.home(field)]->tables().field(field);
    Shard& to = whole_.tables().field(field);
    copy_features(home, to);
    home.for_each([&](const Slot& slot) {
      if (!slot.ref.has_row()) return;
      const Row row = make_row(to, slot.key);
      Slot& copy = *to.load_key(slot.key);
      copy.ref = copy.ref.with_row(row);
      for (const Part* part : parts_) {
        const Shard& shard = part->tables().field(field);
        if (!shard.has_rows()) continue;
        const Slot* at = shard.find(slot.key);
        if (at == nullptr) at = shard.overflow_slot();
        put(shard, at != nullptr ? shard.row_of(*at) : table::kNoRow, to, row);
      }
    });
    Row overflow = table::kNoRow;
    if (home.overflow_row() != table::kNoRow) {
      overflow = make_row(to, table::kNoKey);
      for (const Part* part : parts_) {
        const Shard& shard = part->tables().field(field);
        if (shard.has_rows()) put(shard, shard.overflow_row(), to, overflow);
      }
    }
    copy_overflow(home, to, overflow);
  }

  static Row make_row(Shard& to, table::Key key) {
    const Row row = to.rows().make(key, true);
    if (row == table::kNoRow) no_memory();
    return row;
  }

  static void put(const Shard& from, Row row, Shard& to, Row to_row) {
    if (row == table::kNoRow) return;
    put_into_whole(from.rows().layout(), from.rows().at(row), to.rows().layout(),
                   to.rows().at(to_row));
  }

  /// The frame's, but for the groups and the columns of layers that shards own.
  void gather_parameters() {
    const tape::Parameters& common = frame_.model().parameters();
    tape::Parameters& to = whole_.parameters();
    to.scalars = common.scalars;
    const std::vector<tape::LearnedArray>& arrays = to.declared().arrays;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const auto id = static_cast<tape::ArrayId>(i);
      if (arrays[i].in_scalars() || arrays[i].shape != common.declared()[id].shape) continue;
      std::ranges::copy(common[id], to[id].begin());
    }
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (arrays[i].owner == tape::Owner::Kind::kFeatureGroup) gather_groups(tape::ArrayId(i));
    }
    for_each_frame_number(whole_.spec(), to, common,
                          [&](tape::ArrayId id, std::size_t all, std::size_t frames) {
                            to[id][all] = common[id][frames];
                          });
    for (const Part* part : parts_) {
      for (const Columns& columns : part->columns()) columns.put_into(to);
    }
  }

  void gather_groups(tape::ArrayId id) {
    for (std::uint32_t g = 0; g < whole_.parameters().layout.feature_groups(); ++g) {
      const std::uint32_t owner = plan_.feature_group_owner(g);
      if (owner != Plan::kByKey) whole_.parameters()[id][g] = parts_[owner]->parameters()[id][g];
    }
  }

  const Frame& frame_;
  const Plan& plan_;
  std::span<const Part* const> parts_;
  model::Model& whole_;
};

}  // namespace

model::Model gather(const Frame& frame, const Plan& plan, std::span<const Part* const> parts,
                    std::uint64_t memory_limit) {
  model::Model whole(frame.model().spec(), frame.features()->plans(), memory_limit);
  Gatherer(frame, plan, parts, whole).run();
  whole.set_plan(plan.words());
  whole.set_schema(frame.model().schema());
  whole.sightings().set(frame.model().sightings().get());
  for (const Part* part : parts) whole.tables().count_forgotten(part->tables().forgotten());
  return whole;
}

model::Model gather(const ShardedModel& all, std::uint64_t memory_limit) {
  std::vector<const Part*> parts;
  for (std::size_t i = 0; i < all.size(); ++i) parts.push_back(&all[i]);
  return gather(all.frame(), all.plan(), parts, memory_limit);
}

}  // namespace leveret::dist
