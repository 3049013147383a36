#include "model/model.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "model/loss_block.h"
#include "model/spec_entries.h"

namespace leveret::model {

Model::Model(Spec spec, std::uint64_t memory_limit)
    : Model(std::move(spec), std::vector<feature::NamespacePlan>(), memory_limit) {}

Model::Model(Spec spec, std::vector<feature::NamespacePlan> plans, std::uint64_t memory_limit)
    : spec_(std::move(spec)) {
  check_spec(spec_);
  tables_ = std::make_shared<Tables>(spec_, std::move(plans), memory_limit);
  dense_.scalars.first = Mixer(kFirstHeads).first_state({2.0f, 1.0f, 0.0f});
  dense_.scalars.second = Mixer(mixed_heads(spec_)).first_state({0.2f, 0.3f, 0.5f});
  fit_fields();
}

namespace {

/// Floats of a cell. In a growing table a key and two floats take as much room as a key and three.
std::uint32_t linear_cell(const Spec& spec) {
  if (spec.mixed()) return kMixedCell;
  const bool two = spec.bit_precision != 0 && spec.optimizer != OptimizerKind::kFtrl;
  return two ? kStepCell : kPlainCell;
}

/// Whether linear cells, of a table with keys, have a word for field tables that can do with it.
bool has_row_words(const Spec& spec) {
  return spec.has_ffm() && spec.ffm_bits == 0 && spec.bit_precision == 0 &&
         spec.optimizer != OptimizerKind::kFtrl;
}

}  // namespace

Tables::Tables(const Spec& spec, std::vector<feature::NamespacePlan> plans,
               std::uint64_t memory_limit)
    : features(spec.map_options(), std::move(plans)),
      budget(memory_limit),
      linear(spec.bit_precision, linear_cell(spec), budget),
      rows_in_cells(has_row_words(spec)) {}

namespace {

void add_difference(std::span<float> to, std::span<const float> before,
                    std::span<const float> after) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += after[i] - before[i];
}

void add_difference(MixerState& to, const MixerState& before, const MixerState& after) {
  float best = -1e30f;
  for (std::size_t i = 0; i < to.log_share.size(); ++i) {
    to.log_share[i] += after.log_share[i] - before.log_share[i];
    best = std::max(best, to.log_share[i]);
  }
  for (float& share : to.log_share) share -= best;
  for (std::size_t i = 0; i < to.weight.size(); ++i) {
    to.weight[i] += after.weight[i] - before.weight[i];
    to.sum[i] += after.sum[i] - before.sum[i];
  }
}

}  // namespace

void DensePart::add_change(const DensePart& before, const DensePart& after) {
  for (std::size_t l = 0; l < layers.size(); ++l) {
    for (const auto part : {&Dense::weights, &Dense::bias, &Dense::weights_state,
                            &Dense::bias_state, &Dense::weights_moment, &Dense::bias_moment}) {
      add_difference(layers[l].*part, before.layers[l].*part, after.layers[l].*part);
    }
  }
  add_difference(group_weights, before.group_weights, after.group_weights);
  const Scalars &a = after.scalars, &b = before.scalars;
  scalars.clicks += a.clicks - b.clicks;
  scalars.count += a.count - b.count;
  scalars.bias += a.bias - b.bias;
  scalars.bias_sum += a.bias_sum - b.bias_sum;
  scalars.bias2 += a.bias2 - b.bias2;
  scalars.bias2_sum += a.bias2_sum - b.bias2_sum;
  add_difference(scalars.first, b.first, a.first);
  add_difference(scalars.second, b.second, a.second);
  scalars.examples += a.examples - b.examples;
  scalars.dropped_gradients += a.dropped_gradients - b.dropped_gradients;
  scalars.adam_steps += a.adam_steps - b.adam_steps;
}

RowShape Model::row_shape() const {
  return {features().field_count(), spec_.ffm_k, spec_.adagrad_slice, spec_.ffm.init_acc,
          row_codec()};
}

kernels::Codec Model::row_codec() const {
  return spec_.ffm_precision == 16 ? kernels::Codec::fixed(16, kernels::kDefaultShift)
                                   : kernels::Codec::f32();
}

DenseInit Model::dense_init(std::uint32_t layer) const {
  DenseInit init;
  init.seed = spec_.seed;
  init.layer = layer;
  // The output neuron starts at zero: at first the deep part adds nothing.
  init.gain = layer < spec_.hidden.size() ? 2.0f : 0.0f;
  init.moments = spec_.optimizer == OptimizerKind::kAdam;
  init.init_acc = init.moments ? 0.0f : spec_.nn.init_acc;
  return init;
}

Row Model::find_row(std::uint32_t field, std::uint32_t hash) const {
  const float* const cell = rows_in_cells() ? linear().find(hash) : nullptr;
  return fields()[field].find(hash, cell != nullptr ? linear().own_word(cell, hash) : nullptr);
}

void Model::numbers_come(float* cell) {
  std::uint32_t* const word = linear().last_word(cell);
  std::uint32_t seen = RowWord::load(word);
  if (RowWord::says(seen)) {
    // Which need not be a field of the feature at hand: hashes of two features may be the same.
    fields()[RowWord::field(seen)].leave(LinearTable::key_of(cell), *word);
  } else if (seen == 0) {
    RowWord::change(word, seen, RowWord::kNothingYet);
  }
}

/// By field: the rows whose keys have them in their linear cells.
std::vector<std::vector<FieldTable::KeyOfRow>> Model::keys_of_rows() const {
  std::vector<std::vector<FieldTable::KeyOfRow>> keys(fields().size());
  for_each_row_word([&](std::uint32_t key, std::uint32_t word) {
    if (RowWord::has_row(word)) {
      keys[RowWord::field(word)].push_back({key, RowWord::row(word)});
    }
  });
  return keys;
}

void Model::fit_fields() {
  const std::uint32_t fields = features().field_count();
  std::vector<float>& groups = dense_.group_weights;
  if (spec_.mixed() && groups.size() < 2 * std::size_t{fields + 1}) {
    const float first = 1.0f / std::sqrt(static_cast<float>(std::max(fields, 1u)));
    while (groups.size() < 2 * std::size_t{fields + 1}) {
      groups.insert(groups.end(), {first, 1.0f});
    }
  }
  if (!spec_.has_ffm() || fields == 0 || fields == fitted_) return;
  const auto keys = keys_of_rows();
  for (FieldTable& table : tables_->fields) table.set_slots(fields, keys[table.field()]);
  tables_->fields.reserve(fields);
  while (tables_->fields.size() < fields) {
    FieldTableOptions options;
    options.bits = spec_.ffm_bits;
    options.admit = spec_.admit;
    options.seed = spec_.seed;
    options.init_width = spec_.ffm_init_width * std::sqrt(3.0f / static_cast<float>(spec_.ffm_k));
    tables_->fields.emplace_back(static_cast<std::uint32_t>(tables_->fields.size()), options,
                                 row_shape(), tables_->budget);
    tables_->fields.back().set_concurrent(tables_->concurrent);
  }
  lend_first_rows();
  if (spec_.has_mlp()) fit_dense(fields);
  fitted_ = fields;
}

void Model::fit_dense(std::uint32_t fields) {
  const InputLayout from{fitted_}, to{fields};
  const std::uint32_t inputs = to.size(spec_.mixed());
  if (dense_.layers.empty()) {
    std::uint32_t width = inputs;
    for (std::uint32_t layer = 0; layer <= spec_.hidden.size(); ++layer) {
      const std::uint32_t outputs = layer < spec_.hidden.size() ? spec_.hidden[layer] : 1;
      dense_.layers.push_back(make_dense(width, outputs, dense_init(layer)));
      width = outputs;
    }
    return;
  }
  // Segment by segment: what was input i of a segment stays input i of it.
  const auto source = [&](std::uint32_t column) {
    if (column < to.linear()) return column < from.linear() ? column : kNewColumn;
    if (column >= to.first()) return from.first();
    const std::uint32_t segment = (column - to.linear()) / to.groups();
    const std::uint32_t group = (column - to.linear()) % to.groups();
    return group < from.groups() ? from.linear() + segment * from.groups() + group : kNewColumn;
  };
  dense_.layers[0] = with_inputs(dense_.layers[0], inputs, source, dense_init(0));
}

std::uint64_t Model::shared_lookups() const {
  std::uint64_t shared = linear().shared();
  for (const FieldTable& table : tables_->fields) shared += table.shared();
  return shared;
}

void Model::set_concurrent(bool concurrent) {
  tables_->concurrent = concurrent;
  linear().set_concurrent(concurrent);
  for (FieldTable& table : tables_->fields) table.set_concurrent(concurrent);
}

}  // namespace leveret::model
