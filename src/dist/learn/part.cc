#include "dist/learn/part.h"

#include <algorithm>
#include <utility>

#include "block/dense/gemm.h"
#include "net/make_blocks.h"
#include "optim/steps.h"

namespace leveret::dist {

Part::Part(const Frame& frame, const Plan& plan, std::uint32_t number, std::uint64_t memory_limit,
           const kernels::Kernels& kernels)
    : plan_(&plan),
      number_(number),
      model_(frame.model().spec(), frame.features(), make_tables(frame, memory_limit)),
      config_(model_.config()),
      network_(config_, kernels),
      lookup_(model_),
      optimizer_(kernels, config_, model_.spec()) {
  tape_.in_batches = true;
  if (model_.spec().batch_size > 1) tape_.gemm = &block::openblas();
  if (frame.features()->field_count() == 0) fit({0});
}

/// Group 0's cells are in shard 0, or those of all groups.
std::shared_ptr<table::Tables> Part::make_tables(const Frame& frame,
                                                 std::uint64_t memory_limit) const {
  const spec::Spec& spec = frame.model().spec();
  const PlanShape& shape = plan_->shape();
  const std::uint32_t owner = plan_->feature_group_owner(0);
  const auto bound = [&](std::uint64_t part) {
    return ((part << shape.bits) + shape.shards - 1) / shape.shards;
  };
  return std::make_shared<table::Tables>(
      model::shard_options(spec, frame.model().config(), model::Use::kLearn), spec.bit_precision,
      memory_limit,
      table::Tables::Part{owner == Plan::kByKey || owner == number_, bound(number_),
                          bound(number_ + 1)});
}

/// The slots of a field's rows here, and its vector where the field is at home here.
table::RowLayout Part::row_layout(std::uint32_t field) const {
  if (!plan_->holds(number_, field)) return {};
  table::RowLayout all = tables().row_layout().with_opposite(plan_->opposite(number_, field));
  std::vector<table::RowPart> parts = all.parts();
  for (table::RowPart& part : parts) {
    if (!part.by_field && plan_->home(field) != number_) part.slots = 0;
  }
  return table::RowLayout(std::move(parts));
}

void Part::fit_tables() {
  table::Tables& all = tables();
  if (!all.has_rows()) return;
  for (std::uint32_t f = 0; f < all.fields(); ++f) {
    if (all.field(f).has_rows()) all.field(f).widen_rows(row_layout(f));
  }
  while (all.fields() < plan_->fields()) {
    const std::uint32_t f = all.fields();
    all.add(plan_->feature_group_owner(f + 1) == number_, row_layout(f));
  }
}

void Part::fit(tape::Extent to) {
  tape::Parameters& parameters = model_.parameters();
  if (parameters.has_arrays() && parameters.layout.fields == to.fields) return;
  set_partition(to);
  tape::Declarations declared = arrays_of(model_.spec(), config_, to, Has::kPart);
  for (tape::Tensor& tensor : declared.tensors) {
    if (tensor.owner == tape::Owner::Kind::kPair) tensor.size = partition_.pairs();
  }
  parameters.fit(to, std::make_shared<tape::Declarations>(std::move(declared)));
  if (to.fields > 0) fit_columns(to);
  shares_ = network_.share(parameters, partition_);
}

/// Notes what it has when there are so many fields. Its tables may have more of them already, whose
/// slots come behind.
void Part::set_partition(tape::Extent to) {
  partition_ = {};
  partition_.shared = plan_->feature_groups_by_key(to.fields);
  for (std::uint32_t g = 0; g < to.feature_groups(); ++g) {
    if (owns(g)) partition_.feature_groups.push_back(g);
  }
  for (std::uint32_t f = 0; f < to.fields; ++f) {
    partition_.homes.push_back(plan_->home(f) == number_);
    if (!config_.has_ffm()) continue;
    std::vector<std::uint32_t> opposite = plan_->opposite(number_, f);
    std::erase_if(opposite, [&](std::uint32_t g) { return g >= to.fields; });
    partition_.opposite.push_back(std::move(opposite));
  }
}

void Part::fit_columns(tape::Extent to) {
  const tape::Declarations whole = net::declare_all(config_, to);
  const bool is_first = columns_.empty();
  for (std::size_t l = 0; is_first && l < whole.layers.size(); ++l) {
    if (!whole.layers[l].is_divided()) continue;
    for (const bool normalised : {true, false}) columns_.emplace_back(l, normalised);
  }
  partition_.columns.clear();
  for (Columns& columns : columns_) {
    const tape::Join& join = whole.layers[columns.of_layer()].join;
    columns.fit(partition_.columns_of(join, columns.normalised()), to, whole);
    partition_.columns.push_back({columns.of_layer(), columns.normalised(), columns.names(),
                                  std::as_const(columns).layer()});
  }
}

void Part::open(const PartBatch& batch, Frame& frame, model::Use use) {
  take_common(frame);  // first values of what is new go by it, too
  use == model::Use::kLearn ? lookup_.resolve_all(model_, batch.features, tape_)
                            : lookup_.find_all(model_, batch.features, tape_);
  tape_.wholes = batch.wholes();
  network_.open_partition(model_.parameters(), batch.size(), frame.tape(), tape_);
}

/// Copies what everyone learns alike, and blocks read on the way to sums.
void Part::take_common(const Frame& frame) {
  const tape::Parameters& from = frame.model().parameters();
  tape::Parameters& to = model_.parameters();
  to.scalars = from.scalars;
  const std::vector<tape::LearnedArray>& arrays = to.declared().arrays;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto id = static_cast<tape::ArrayId>(i);
    if (arrays[i].owner == tape::Owner::Kind::kAll && !to[id].empty()) {
      std::ranges::copy(from[id], to[id].begin());
    }
  }
  for (Columns& columns : columns_) columns.take_common(from);
}

void Part::partial(const SumLayout& at, std::uint32_t round, std::span<float> sums) {
  network_.partial(model_.parameters(), tape_, partition_, shares_,
                   at.in_round(sums, round, tape_.size));
}

void Part::learn(const Frame& frame) {
  std::copy_n(frame.tape().learn.begin(), tape_.size, tape_.learn.begin());
  std::vector<tape::LearnedDense> layers;
  for (Columns& columns : columns_) layers.push_back(columns.layer());
  optim::Steps steps(optimizer_, tables(), model_.parameters(), tape_, std::move(layers));
  network_.partial_back(model_.parameters(), tape_, partition_, shares_);
  steps.finish();
}

}  // namespace leveret::dist
