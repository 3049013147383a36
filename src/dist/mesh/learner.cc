#include "dist/mesh/learner.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <string>
#include <utility>

#include "block/dense/gemm.h"
#include "table/mix.h"

namespace leveret::dist {
namespace {

constexpr std::uint64_t kCheckEvery = 64;  ///< batches

template <class T>
void append(std::vector<T>& to, const T* from, std::size_t count) {
  to.insert(to.end(), from, from + count);
}

}  // namespace

void check_mesh(const spec::Spec& spec) {
  const auto refuse = [](const std::string& what) {
    throw std::runtime_error("--strategy mesh has no " + what);
  };
  if (spec.mixed()) refuse("mixed heads: give --heads one");
  if (spec.bit_precision > 0) refuse("tables without keys: leave out -b");
  if (spec.nn_batch_size > 1) refuse("--nn_batch_size");
  if (!spec.features.numeric.empty()) refuse("--numeric");
  if (spec.forgets()) refuse("--expire and --when_full evict");
}

MeshLearner::MeshLearner(model::Model& model, Communicator& ranks, const kernels::Kernels& kernels)
    : model_(model),
      ranks_(ranks),
      kernels_(kernels),
      network_(model.config(), kernels),
      optimizer_(kernels, model.config(), model.spec()),
      lookup_(model),
      wanted_(ranks.size()),
      numbers_(ranks.size()),
      orders_(ranks.size()),
      out_(ranks.size()),
      in_(ranks.size()) {
  tape_.in_batches = true;
  tape_.gemm = &block::openblas();
}

unsigned MeshLearner::owner(std::uint32_t shard, table::Key key, unsigned ranks) {
  const std::uint64_t mixed = table::mix(std::uint64_t{shard} << 32 | key) >> 32;
  return static_cast<unsigned>(mixed * ranks >> 32);
}

/// First values of what grows with the fields depend on the steps.
void MeshLearner::grow(const Growth& growth) {
  if (growth.empty()) return;
  std::vector<feature::NamespacePlan> all = model_.features().plans();
  all.insert(all.end(), growth.namespaces.begin(), growth.namespaces.end());
  model_.features() = feature::FeatureMap(model_.spec().map_options(), std::move(all));
  for (const std::uint32_t fields : growth.fields) {
    model_.fit(fields);
  }
}

/// Weights of a row, which stand in its beginning.
std::size_t MeshLearner::row_bytes() const {
  return model_.tables().has_rows() ? model_.tables().row_layout().weight_bytes() : 0;
}

std::size_t MeshLearner::row_floats() const {
  std::size_t floats = 0;
  if (!model_.tables().has_rows()) return floats;
  for (const table::RowPart& part : model_.tables().row_layout().parts()) floats += part.weights();
  return floats;
}

BatchFlags MeshLearner::learn(const feature::FeatureBatch& own, BatchFlags flags,
                              std::size_t examples) {
  expected_ = {};
  want(own);
  ask();
  put_on_tape(own);
  network_.open(model_.parameters(), own.size(), tape_);
  if (own.size() > 0) {
    network_.forward(model_.parameters(), tape_);
  }
  const BatchFlags all = add_up(flags, examples);
  if (all.failed) return all;
  collect_gradients();
  push();
  return all;
}

// ---- what the examples need ----

/// The distinct features, in the order in which they come.
void MeshLearner::want(const feature::FeatureBatch& own) {
  names_.start(own.linear.size() + own.field_features.size());
  places_.clear();
  for (std::vector<Wanted>& features : wanted_) features.clear();
  linear_.resize(own.linear.size());
  fields_.resize(own.field_features.size());
  const bool has_rows = model_.tables().has_rows();
  for (std::size_t b = 0; b < own.size(); ++b) {
    for (const feature::LinearRun& run : own.linear_runs_of(b)) {
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        linear_[i] = number(has_rows ? run.group : 0, own.linear[i].hash);
        const Place place = places_[linear_[i]];
        wanted_[place.rank][place.at].cell = true;
      }
    }
    for (const feature::FieldRun& run : own.field_runs_of(b)) {
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        fields_[i] = number(run.field + 1, own.field_features[i].hash);
        const Place place = places_[fields_[i]];
        ++wanted_[place.rank][place.at].rows;
      }
    }
  }
}

std::uint32_t MeshLearner::number(std::uint32_t shard, std::uint32_t hash) {
  const table::Key key = table::key_of(hash);
  // Distinct looks at no place but only where it is: any 61 bits will do.
  const auto name =
      static_cast<std::uintptr_t>(std::uint64_t{shard} << 35 | std::uint64_t{key} << 3);
  const std::uint32_t number = names_.number(reinterpret_cast<const void*>(name));
  if (number == places_.size()) {
    const unsigned rank = owner(shard, key, ranks_.size());
    places_.push_back({rank, static_cast<std::uint32_t>(wanted_[rank].size())});
    wanted_[rank].push_back({shard, key});
  }
  return number;
}

/// Asks all owners, and answers what all ask of this one.
void MeshLearner::ask() {
  // In the order of shards, as they are told; places_ then says where each has gone.
  std::vector<std::vector<std::uint32_t>> order(wanted_.size());
  for (std::size_t r = 0; r < wanted_.size(); ++r) {
    std::vector<std::uint32_t>& by_shard = order[r];
    for (std::uint32_t i = 0; i < wanted_[r].size(); ++i) by_shard.push_back(i);
    std::ranges::stable_sort(by_shard, {}, [&](std::uint32_t i) { return wanted_[r][i].shard; });
    std::vector<Wanted> sorted;
    std::vector<std::uint32_t> moved(by_shard.size());
    for (const std::uint32_t i : by_shard) {
      moved[i] = static_cast<std::uint32_t>(sorted.size());
      sorted.push_back(wanted_[r][i]);
    }
    wanted_[r] = std::move(sorted);
    numbers_[r].resize(moved.size());
    by_shard = std::move(moved);
    encode_wanted(wanted_[r], out_[r]);
    if (r != ranks_.rank()) expected_.pull += 5 * wanted_[r].size();
  }
  for (std::uint32_t n = 0; n < places_.size(); ++n) {
    Place& place = places_[n];
    place.at = order[place.rank][place.at];
    numbers_[place.rank][place.at] = n;
  }
  ranks_.all_to_all(out_, in_, Traffic::kPull);

  // Slots move while features are met: all are there before the first is looked at.
  const auto shards = static_cast<std::uint32_t>(model_.tables().size());
  for (std::size_t r = 0; r < orders_.size(); ++r) {
    decode_wanted(in_[r], shards, orders_[r].features);
    for (const Wanted& feature : orders_[r].features) {
      model_.tables()[feature.shard].find_or_insert(feature.key);
    }
  }
  for (std::size_t r = 0; r < orders_.size(); ++r) {
    look_up(orders_[r]);
    const Lent lent = lend(orders_[r]);
    encode_lent(lent, out_[r]);
    if (r == ranks_.rank()) continue;
    expected_.pull += lent.cells.size() * sizeof(float) + lent.row_from.size() + lent.rows.size();
  }
  ranks_.all_to_all(out_, in_, Traffic::kPull);

  cells_.assign(places_.size(), {});
  rows_.assign(places_.size(), nullptr);
  row_from_.assign(places_.size(), 0);
  row_stride_ = table::packed(row_bytes(), table::kLineBytes / 2);
  row_store_.assign(places_.size() * row_stride_ + kernels::Kernels::kSpare * sizeof(float), {});
  for (unsigned r = 0; r < ranks_.size(); ++r) {
    Lent lent;
    decode_lent(in_[r], wanted_[r], row_bytes(), lent);
    take(r, lent);
  }
}

/// Counts occurrences, in the order of ranks and so of examples.
void MeshLearner::look_up(Order& order) {
  order.cells.clear();
  order.rows.clear();
  order.row_features.clear();
  order.row_from.clear();
  for (std::size_t i = 0; i < order.features.size(); ++i) {
    Wanted& feature = order.features[i];
    table::Shard& shard = model_.tables()[feature.shard];
    table::Slot& slot = *shard.find_or_insert(feature.key);
    if (feature.cell) order.cells.push_back(table::cell_of(&slot));
    table::Row row = table::kNoRow;
    std::uint32_t without = 0;
    for (std::uint32_t n = 0; n < feature.rows; ++n) {
      row = shard.count_and_find(slot);
      without += row == table::kNoRow;
    }
    if (feature.rows == 0) continue;
    order.row_from.push_back(without);
    if (row == table::kNoRow) continue;
    order.rows.push_back(shard.rows().at(row));
    order.row_features.push_back(i);
  }
}

Lent MeshLearner::lend(const Order& order) const {
  Lent lent;
  for (const table::Cell* const cell : order.cells) lent.cells.push_back(cell->weight);
  lent.row_from = order.row_from;
  lent.rows.reserve(order.rows.size() * row_bytes());
  for (const std::byte* const row : order.rows) append(lent.rows, row, row_bytes());
  return lent;
}

/// Takes what rank `from` lends.
void MeshLearner::take(unsigned from, const Lent& lent) {
  const float* cell = lent.cells.data();
  const std::uint32_t* row_from = lent.row_from.data();
  const std::byte* row = lent.rows.data();
  for (std::size_t i = 0; i < wanted_[from].size(); ++i) {
    const Wanted& feature = wanted_[from][i];
    const std::uint32_t n = numbers_[from][i];
    if (feature.cell) cells_[n].weight = *cell++;
    if (feature.rows == 0) continue;
    row_from_[n] = *row_from++;
    if (row_from_[n] >= feature.rows) continue;
    rows_[n] = row_store_.data() + n * row_stride_;
    std::copy_n(row, row_bytes(), rows_[n]);
    row += row_bytes();
  }
}

/// Puts what was lent where Lookup would put what it finds.
void MeshLearner::put_on_tape(const feature::FeatureBatch& own) {
  lookup_.open(model_, own, tape_, model::Use::kLearn);
  for (std::size_t i = 0; i < linear_.size(); ++i) {
    tape_.to_learn.cells[i] = &cells_[linear_[i]];
    tape_.values[i] = own.linear[i].value;
  }
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    std::uint32_t& without = row_from_[fields_[i]];
    tape_.to_learn.rows[i] = without == 0 ? rows_[fields_[i]] : nullptr;
    if (without > 0) --without;
    tape_.field_values[i] = own.field_features[i].value;
  }
}

// ---- what the examples give ----

/// The way back. Flags, scores, and the gradients of what is no feature's: added up over all ranks,
/// and learned.
BatchFlags MeshLearner::add_up(BatchFlags flags, std::size_t examples) {
  const std::size_t scores = BatchHead::kFloats, sums = scores + examples;
  tape::Parameters& parameters = model_.parameters();
  common_.assign(sums + optim::Sums::common_floats(parameters), 0.0f);
  head_.write(flags, model_.parameters(), batches_ % kCheckEvery == 0, common_);
  const ExampleShare share = ExampleShare::of(examples, ranks_.rank(), ranks_.size());
  assert(share.end - share.begin == tape_.size);
  for (std::size_t b = 0; b < tape_.size; ++b) {
    common_[scores + share.begin + b] = tape_.answers[b];
  }
  const std::span<float> gradients = std::span(common_).subspan(sums);
  sums_.emplace(optimizer_, parameters, tape_, gradients);
  if (tape_.size > 0) network_.backward(parameters, tape_);
  sums_->add_common();
  ranks_.all_reduce_sum(common_);
  expected_.sums = Communicator::all_reduce_bytes(common_.size(), ranks_.size());
  const BatchFlags all = head_.read(common_, ranks_.size(), batches_++);
  scores_.clear();
  if (all.failed) return all;
  scores_.assign(common_.begin() + static_cast<std::ptrdiff_t>(scores),
                 common_.begin() + static_cast<std::ptrdiff_t>(sums));
  optim::step_common(optimizer_, parameters, gradients);
  return all;
}

void MeshLearner::collect_gradients() {
  const std::size_t floats = row_floats();
  cell_gradients_.assign(places_.size(), 0.0f);
  row_gradients_.assign(places_.size() * floats, 0.0f);
  if (tape_.size == 0) return;
  sums_->visit_cells([&](const table::Cell& cell, float gradient) {
    cell_gradients_[static_cast<std::size_t>(&cell - cells_.data())] = gradient;
  });
  std::vector<std::size_t> begins{0};  // of a part's sums among those of a row
  if (tape_.row_layout != nullptr) {
    for (const table::RowPart& part : tape_.row_layout->parts()) {
      begins.push_back(begins.back() + part.weights());
    }
  }
  sums_->visit_rows([&](std::size_t part, const std::byte* row, const float* sums) {
    const auto n = static_cast<std::size_t>(row - row_store_.data()) / row_stride_;
    std::copy_n(sums, begins[part + 1] - begins[part],
                row_gradients_.data() + n * floats + begins[part]);
  });
}

void MeshLearner::push() {
  const std::size_t floats = row_floats();
  for (unsigned r = 0; r < ranks_.size(); ++r) {
    Gradients gradients;
    for (std::size_t i = 0; i < wanted_[r].size(); ++i) {
      const std::uint32_t n = numbers_[r][i];
      if (wanted_[r][i].cell) gradients.cells.push_back(cell_gradients_[n]);
      if (rows_[n] != nullptr) append(gradients.rows, row_gradients_.data() + n * floats, floats);
    }
    encode_gradients(gradients, out_[r]);
    if (r == ranks_.rank()) continue;
    expected_.push += (gradients.cells.size() + gradients.rows.size()) * sizeof(float);
  }
  ranks_.all_to_all(out_, in_, Traffic::kPush);
  std::vector<Gradients> all(ranks_.size());
  for (unsigned r = 0; r < ranks_.size(); ++r) {
    decode_gradients(in_[r], orders_[r].cells.size(), orders_[r].rows.size() * floats, all[r]);
  }
  step(all);
}

/// Adds up what all ranks have for a cell or row, in their order, and takes one step.
void MeshLearner::step(std::span<const Gradients> gradients) {
  const std::size_t floats = row_floats();
  std::size_t cell_count = 0, row_count = 0;
  for (const Order& order : orders_) {
    cell_count += order.cells.size();
    row_count += order.rows.size();
  }
  names_.start(cell_count);
  std::vector<std::pair<table::Cell*, float>> cells;
  for (std::size_t r = 0; r < orders_.size(); ++r) {
    for (std::size_t i = 0; i < orders_[r].cells.size(); ++i) {
      table::Cell* const cell = orders_[r].cells[i];
      const std::uint32_t n = names_.number(cell);
      if (n == cells.size()) cells.emplace_back(cell, 0.0f);
      cells[n].second += gradients[r].cells[i];
    }
  }
  for (const auto& [cell, gradient] : cells) optimizer_.cells().step(*cell, gradient);

  names_.start(row_count);
  struct Step {
    const Wanted* of;
    std::byte* row;
  };
  std::vector<Step> rows;
  std::vector<float>& sums = row_gradients_;
  sums.clear();
  for (std::size_t r = 0; r < orders_.size(); ++r) {
    for (std::size_t i = 0; i < orders_[r].rows.size(); ++i) {
      std::byte* const row = orders_[r].rows[i];
      const std::uint32_t n = names_.number(row);
      const float* const from = gradients[r].rows.data() + i * floats;
      if (n == rows.size()) {
        rows.push_back({&orders_[r].features[orders_[r].row_features[i]], row});
        append(sums, from, floats);
      } else {
        kernels_.axpy(1.0f, from, floats, sums.data() + n * floats);
      }
    }
  }
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const Wanted& of = *rows[n].of;
    optimizer_.rows().step_row(model_.parameters(), model_.tables()[of.shard].rows().layout(),
                               {of.shard - 1, of.key}, rows[n].row, sums.data() + n * floats);
  }
}

}  // namespace leveret::dist
