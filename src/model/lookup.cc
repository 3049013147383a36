#include "model/lookup.h"

#include <algorithm>
#include <cmath>

namespace leveret::model {
namespace {

using feature::FeatureBatch;
using feature::FieldFeature;
using feature::FieldRun;
using feature::LinearRun;
using table::Cell;
using table::Key;
using table::Row;
using table::Shard;
using table::Slot;
using table::Tables;

/// Stands in for a feature that the model does not know. Never written: prediction does not write.
const table::SlotWith<table::MixedCell> kUnknown = {};

template <class Vector>
void at_least(Vector& v, std::size_t size) {
  if (v.size() < size) v.resize(size);
}

Key key_in(const Slot* slot) {
  return table::Index::key_at(reinterpret_cast<const std::byte*>(slot));
}

}  // namespace

Lookup::Lookup(const Model& model)
    : mixed_(model.spec().mixed()),
      hashed_(model.tables().hashed() != nullptr),
      some_apart_(hashed_ || !model.spec().features.linear_all || model.tables().is_part()) {}

void Lookup::open(const Model& model, const FeatureBatch& batch, Tape& tape, Use use) {
  tape.learns = use == Use::kLearn;
  tape.learns ? open(batch, tape.to_learn, tape) : open(batch, tape.to_read, tape);
  tape.batch = &batch;
  tape.row_layout = model.tables().has_rows() ? &model.tables().row_layout() : nullptr;
  tape.field_layouts.clear();
  for (std::uint32_t f = 0; model.tables().is_part() && f < model.tables().fields(); ++f) {
    tape.field_layouts.push_back(&model.tables().field(f).rows().layout());
  }
  several_fields_ = model.features().several_fields();
  at_least(found_after_, batch.size());
  unknown_.clear();
  if (notes_unknown_) unknown_begin_.assign(batch.size() + 1, 0);
  at_least(tape.values, batch.linear.size());
  at_least(tape.log_odds, mixed_ ? batch.linear.size() : 0);
  at_least(tape.log_counts, mixed_ ? batch.linear.size() : 0);
  at_least(tape.field_values, batch.field_features.size());
}

template <class Places>
void Lookup::open(const FeatureBatch& batch, Places& places, Tape& tape) const {
  at_least(places.slots, hashed_ ? 0 : batch.linear.size());
  at_least(places.cells, batch.linear.size());
  at_least(places.rows, batch.field_features.size());
  tape.slots = places.slots;
  tape.cells = places.cells;
  tape.rows = places.rows;
}

/// Whether a feature of a field has a slot that no linear feature has.
bool Lookup::is_apart(const FieldFeature& feature, std::uint32_t field, const Tape& tape,
                      std::size_t example) const {
  if (hashed_ || feature.linear == feature::kNoLinear) return true;
  if (feature.linear == feature::kLinearElsewhere) return true;
  if (!several_fields_) return false;
  // Its slot is in the shard of its namespace's first field.
  for (const LinearRun& run : tape.batch->linear_runs_of(example)) {
    if (feature.linear >= run.begin && feature.linear < run.end) return run.group != field + 1;
  }
  return true;
}

void Lookup::prefetch(const Model& model, const Tape& tape, std::size_t example) const {
  const Tables& tables = model.tables();
  const FeatureBatch& batch = *tape.batch;
  if (hashed_) {
    for (const text::Feature& feature : batch.linear_of(example)) {
      __builtin_prefetch(tables.hashed()->find(feature.hash));
    }
  } else {
    for (const LinearRun& run : batch.linear_runs_of(example)) {
      const Shard& shard = tables.of_feature_group(run.group);
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        shard.prefetch(table::key_of(batch.linear[i].hash));
      }
    }
  }
  if (some_apart_ || several_fields_) {
    for (const FieldRun& run : batch.field_runs_of(example)) {
      const Shard& shard = tables.field(run.field);
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        shard.prefetch(table::key_of(batch.field_features[i].hash));
      }
    }
  }
  // GCC 12 takes a function that does nothing but prefetch for one without an effect, and drops it.
  asm volatile("");
}

/// Puts the slots of linear features into `places`: those in their homes at once, search(group,
/// key, i) for the others. Const tables have const places.
template <class Tables, class Places, class Search>
void Lookup::find_slots(Tables& tables, const FeatureBatch& batch, Places& places,
                        std::size_t example, Search search) {
  at_least(away_, batch.linear_of(example).size() + 1);
  // Which are not at home is unpredictable: they are noted without a branch, and searched for after
  // that.
  std::size_t away = 0;
  std::uint32_t* const noted = away_.data();
  auto* const slots = places.slots.data();
  auto* const cells = places.cells.data();
  const text::Feature* const features = batch.linear.data();
  for (const LinearRun& run : batch.linear_runs_of(example)) {
    auto& shard = tables.of_feature_group(run.group);
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const Key key = table::key_of(features[i].hash);
      auto* const home = shard.home(key);
      slots[i] = home;
      cells[i] = table::cell_of(home);
      noted[away] = i;
      away += key_in(home) != key;
    }
  }
  const LinearRun* run = batch.linear_runs_of(example).data();
  for (std::size_t a = 0; a < away; ++a) {
    const std::uint32_t i = noted[a];
    while (i >= run->end) ++run;
    slots[i] = search(run->group, table::key_of(features[i].hash), i);
    cells[i] = table::cell_of(slots[i]);
  }
}

Slot* Lookup::insert(Shard& shard, Key key) {
  const std::uint64_t before = shard.index().capacity();
  Slot* const slot = shard.find_or_insert(key);
  moves_ += shard.index().capacity() != before;
  return slot;
}

void Lookup::find_or_insert(Tables& tables, Tape& tape, std::size_t example) {
  const auto search = [&](std::uint32_t group, Key key, std::uint32_t) {
    return insert(tables.of_feature_group(group), key);
  };
  // All are there the second time.
  do {
    found_after_[example] = moves_;
    find_slots(tables, *tape.batch, tape.to_learn, example, search);
  } while (found_after_[example] != moves_);
}

void Lookup::resolve(Model& model, Tape& tape, std::size_t example) {
  Tables& tables = model.tables();
  const FeatureBatch& batch = *tape.batch;
  if (hashed_) {
    for (std::uint32_t i = batch.linear_begin(example); i < batch.linear_end(example); ++i) {
      tape.to_learn.cells[i] = tables.hashed()->find(batch.linear[i].hash);
    }
  } else {
    find_or_insert(tables, tape, example);
  }
  if (some_apart_ || several_fields_) {
    resolve_rows(tables, tape, example, true);  // slots may move
    if (!hashed_ && found_after_[example] != moves_) find_or_insert(tables, tape, example);
  }
  if (!hashed_) resolve_rows(tables, tape, example, false);
  if (!hashed_ && tables.notes_use()) touch(tables.clock(), tape, example);
}

/// Slots that are apart have been noted as they were found.
void Lookup::touch(unsigned clock, Tape& tape, std::size_t example) {
  const std::uint32_t end = tape.batch->linear_end(example);
  for (std::uint32_t i = tape.batch->linear_begin(example); i < end; ++i) {
    table::touch(tape.to_learn.slots[i]->ref, clock);
  }
}

inline void Lookup::put_row(Shard& shard, std::uint32_t field, Row row, std::byte*& at) const {
  if (row == table::kNoRow) {
    at = nullptr;
    return;
  }
  if (hot_ != nullptr && (at = hot_->find(field, row)) != nullptr) return;  // it is in the cache
  at = shard.rows().at(row);
  shard.rows().prefetch(at);
}

/// The rows of features whose slots are `apart`, or of the others, which are on the tape.
void Lookup::resolve_rows(Tables& tables, Tape& tape, std::size_t example, bool apart) {
  const FeatureBatch& batch = *tape.batch;
  const bool all = !apart && !some_apart_ && !several_fields_;
  for (const FieldRun& run : batch.field_runs_of(example)) {
    Shard& shard = tables.field(run.field);
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const FieldFeature& f = batch.field_features[i];
      if (!all && is_apart(f, run.field, tape, example) != apart) continue;
      Slot* const slot =
          apart ? insert(shard, table::key_of(f.hash)) : tape.to_learn.slots[f.linear];
      if (apart && tables.notes_use()) table::touch(slot->ref, tables.clock());
      put_row(shard, run.field, shard.count_and_find(*slot), tape.to_learn.rows[i]);
    }
  }
}

void Lookup::find_moved(Model& model, Tape& tape, std::size_t example) {
  if (!hashed_ && found_after_[example] != moves_) find_or_insert(model.tables(), tape, example);
}

void Lookup::find_moved(Model& model, Tape& tape) {
  for (std::size_t b = 0; b < tape.size; ++b) find_moved(model, tape, tape.first + b);
}

void Lookup::bind_example(Model& model, Tape& tape, std::size_t b) {
  find_moved(model, tape, tape.first + b);
  resolve_values(model, tape, b);
}

void Lookup::bind(Model& model, Tape& tape, std::size_t first, std::size_t size) {
  tape.first = first;
  tape.size = size;
  find_moved(model, tape);
  for (std::size_t b = 0; b < size; ++b) resolve_values(model, tape, b);
}

void Lookup::find(const Model& model, Tape& tape, std::size_t example) {
  const Tables& tables = model.tables();
  const FeatureBatch& batch = *tape.batch;
  auto& places = tape.to_read;
  const auto known = [this](const Shard& shard, Key key, std::uint32_t linear) -> const Slot* {
    const Slot* slot = shard.find(key);
    if (slot != nullptr) return slot;
    if (notes_unknown_ && linear < feature::kLinearElsewhere) unknown_.push_back(linear);
    slot = shard.overflow_slot();
    return slot != nullptr ? slot : &kUnknown;
  };
  if (hashed_) {
    for (std::uint32_t i = batch.linear_begin(example); i < batch.linear_end(example); ++i) {
      places.cells[i] = tables.hashed()->find(batch.linear[i].hash);
    }
  } else {
    find_slots(tables, batch, places, example, [&](std::uint32_t group, Key key, std::uint32_t i) {
      return known(tables.of_feature_group(group), key, i);
    });
  }
  for (const FieldRun& run : batch.field_runs_of(example)) {
    const Shard& shard = tables.field(run.field);
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const FieldFeature& f = batch.field_features[i];
      const bool apart = (some_apart_ || several_fields_) && is_apart(f, run.field, tape, example);
      // A feature that has a linear slot, too, has been noted there.
      const Slot* const slot =
          apart ? known(shard, table::key_of(f.hash), hashed_ ? f.linear : feature::kNoLinear)
                : places.slots[f.linear];
      const Row row = slot == &kUnknown ? shard.row_of_unknown() : shard.row_of(*slot);
      places.rows[i] = row != table::kNoRow ? shard.rows().at(row) : nullptr;
      if (row != table::kNoRow) shard.rows().prefetch_weights(places.rows[i]);
    }
  }
  if (notes_unknown_) unknown_begin_[example + 1] = static_cast<std::uint32_t>(unknown_.size());
}

/// x by the largest |value| of its feature, which is 1 for nearly all.
float Lookup::scaled(const Tables& tables, const Tape& tape, std::size_t example,
                     std::uint32_t i) const {
  const float x = tape.batch->linear[i].value;
  float largest = 0;
  if (hashed_) {
    largest = table::hashed(*tape.cells[i]).largest_value;
  } else {
    for (const LinearRun& run : tape.batch->linear_runs_of(example)) {
      if (i < run.end) {
        largest = tables.of_feature_group(run.group).largest_value(*tape.slots[i]);
        break;
      }
    }
  }
  return x / std::max(largest, std::fabs(x));
}

/// The values of an example's features that have their own largest: each part with rows of such a
/// feature comes to the same value.
void Lookup::scale_elsewhere(const Tables& tables, Tape& tape, std::size_t example) const {
  for (const FieldRun& run : tape.batch->field_runs_of(example)) {
    const Shard& shard = tables.field(run.field);
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const FieldFeature& f = tape.batch->field_features[i];
      if (!feature::has_own_largest(f, hashed_)) continue;
      const Slot* const slot = shard.find(table::key_of(f.hash));
      const float largest = slot != nullptr ? shard.largest_value(*slot) : 0.0f;
      tape.field_values[i] = f.value / std::max(largest, std::fabs(f.value));
    }
  }
}

void Lookup::resolve_values(const Model& model, Tape& tape, std::size_t b) const {
  const FeatureBatch& batch = *tape.batch;
  const std::size_t example = tape.first + b;
  const std::uint32_t begin = batch.linear_begin(example), end = batch.linear_end(example);
  const std::uint32_t field_begin = batch.field_features_begin[example];
  const std::uint32_t field_end = batch.field_features_begin[example + 1];
  const text::Feature* const linear = batch.linear.data();
  const FieldFeature* const features = batch.field_features.data();
  float* const values = tape.values.data();
  float* const field_values = tape.field_values.data();
  if (!mixed_) {
    for (std::uint32_t i = begin; i < end; ++i) values[i] = linear[i].value;
    for (std::uint32_t i = field_begin; i < field_end; ++i) field_values[i] = features[i].value;
    return;
  }
  const Slot* const* const slots = tape.slots.data();
  for (std::uint32_t i = begin; i < end; ++i) {
    const bool one =
        linear[i].value == 1.0f && !hashed_ && !table::load(slots[i]->ref).has_largest_value();
    values[i] = one ? 1.0f : scaled(model.tables(), tape, example, i);
  }
  for (std::uint32_t i = field_begin; i < field_end; ++i) {
    const FieldFeature f = features[i];
    if (f.linear == feature::kLinearElsewhere) continue;
    field_values[i] = f.linear != feature::kNoLinear ? values[f.linear] : f.value;
  }
  if (model.tables().is_part()) scale_elsewhere(model.tables(), tape, example);
}

void Lookup::resolve_all(Model& model, const FeatureBatch& batch, Tape& tape) {
  open(model, batch, tape, Use::kLearn);
  for (std::size_t b = 0; b < batch.size(); ++b) prefetch(model, tape, b);
  for (std::size_t b = 0; b < batch.size(); ++b) resolve(model, tape, b);
  bind(model, tape, 0, batch.size());
}

void Lookup::find_all(const Model& model, const FeatureBatch& batch, Tape& tape) {
  open(model, batch, tape, Use::kPredict);
  tape.first = 0;
  tape.size = batch.size();
  for (std::size_t b = 0; b < batch.size(); ++b) prefetch(model, tape, b);
  for (std::size_t b = 0; b < batch.size(); ++b) {
    find(model, tape, b);
    resolve_values(model, tape, b);
  }
}

void Lookup::count_demand(const Model& model, const FeatureBatch& batch) {
  const Tables& tables = model.tables();
  demand_.features.assign(tables.size(), 0);
  demand_.values.assign(tables.size(), 0);
  if (!hashed_) {
    for (std::size_t r = 0; r < batch.linear_runs.size(); ++r) {
      const std::uint32_t begin = batch.linear_runs[r].begin, end = batch.linear_runs[r].end;
      const std::uint32_t shard = tables.has_rows() ? batch.linear_runs[r].group : 0;
      demand_.features[shard] += end - begin;
      for (std::uint32_t i = begin; mixed_ && i < end; ++i) {
        demand_.values[shard] += batch.linear[i].value != 1.0f;
      }
    }
  }
  if (!some_apart_ && !model.features().several_fields()) return;
  for (std::size_t r = 0; r < batch.runs.size(); ++r) {
    demand_.features[batch.runs[r].field + 1] += batch.runs[r].end - batch.runs[r].begin;
  }
}

bool Lookup::has_room(const Model& model, const FeatureBatch& batch, std::uint64_t times) {
  const Tables& tables = model.tables();
  count_demand(model, batch);
  for (std::size_t s = 0; s < tables.size(); ++s) {
    if (!tables[s].has_room(times * demand_.features[s], times * demand_.values[s])) return false;
  }
  return true;
}

void Lookup::make_room(Model& model, const FeatureBatch& batch, std::uint64_t times) {
  Tables& tables = model.tables();
  count_demand(model, batch);
  const bool has_memory = tables.budget().used() < tables.budget().limit() / 2;
  for (std::size_t s = 0; s < tables.size(); ++s) {
    constexpr std::uint64_t kMostAhead = 8192;  // features; a few megabytes of rows
    const std::uint64_t more = has_memory ? std::min(tables[s].index().size() / 8, kMostAhead) : 0;
    tables[s].reserve(times * demand_.features[s] + more, times * demand_.values[s]);
  }
}

}  // namespace leveret::model
