#include "model/network.h"

#include <algorithm>
#include <cmath>

#include "model/ffm_block.h"
#include "model/hot_copies.h"
#include "model/linear_block.h"
#include "model/loss_block.h"
#include "model/mlp_block.h"
#include "model/norm_block.h"

namespace leveret::model {
namespace {

/// A slot with no key, whose cell stands in for a feature the model does not know. Never written:
/// prediction does not write.
float zero_slot[1 + kMixedCell] = {};
float* const zero_cell = zero_slot + 1;

template <class Vector>
void at_least(Vector& v, std::size_t size) {
  if (v.size() < size) v.resize(size);
}

/// Room for `size` examples on their way through the MLP.
void open_mlp(const Spec& spec, const InputLayout& layout, std::size_t size, Tape& tape) {
  const std::size_t inputs = layout.stride(spec.mixed());
  at_least(tape.inputs_store, size * inputs);
  at_least(tape.d_inputs_store, size * inputs + kernels::Kernels::kSpare);
  tape.inputs = tape.inputs_store;
  tape.d_inputs = tape.d_inputs_store;
  at_least(tape.hidden, spec.hidden.size());
  at_least(tape.d_hidden, spec.hidden.size());
  for (std::size_t l = 0; l < spec.hidden.size(); ++l) {
    at_least(tape.hidden[l], size * spec.hidden[l]);
    at_least(tape.d_hidden[l], size * spec.hidden[l]);
  }
}

/// The RowWord of a feature whose linear cell has been found, or nullptr.
std::uint32_t* row_word(const Model& model, const Tape& tape, const feature::FieldFeature& f) {
  if (!model.rows_in_cells() || f.linear == feature::kNoLinear) return nullptr;
  return model.linear().own_word(tape.cells[f.linear], f.hash);
}

}  // namespace

Network::Network(const Spec& spec, const kernels::Kernels& kernels) {
  blocks_.push_back(std::make_unique<LinearBlock>(kernels));
  if (spec.has_ffm()) blocks_.push_back(std::make_unique<FfmBlock>(kernels));
  if (spec.has_mlp()) {
    blocks_.push_back(std::make_unique<NormBlock>(kernels));
  }
  alone_ = blocks_.size();
  if (spec.has_mlp()) blocks_.push_back(std::make_unique<MlpBlock>(kernels));
  blocks_.push_back(std::make_unique<LossBlock>());
}

void Network::open(const Model& model, const feature::FeatureBatch& batch, std::size_t size,
                   Tape& tape) const {
  open_alone(model, batch, size, tape);
  if (model.spec().has_mlp()) open_mlp(model.spec(), model.layout(), size, tape);
}

/// All but what the MLP needs.
void Network::open_alone(const Model& model, const feature::FeatureBatch& batch, std::size_t size,
                         Tape& tape) const {
  const Spec& spec = model.spec();
  const InputLayout layout = model.layout();
  tape.batch = &batch;
  tape.first = 0;
  tape.size = size;
  at_least(tape.cells, batch.linear.size());
  at_least(tape.values, batch.linear.size());
  at_least(tape.homes_in, batch.size());
  tape.large_index = std::ranges::any_of(model.fields(), &FieldTable::has_large_index);
  at_least(tape.rows, batch.field_features.size());
  at_least(tape.field_values, batch.field_features.size());
  at_least(tape.scores, size);
  at_least(tape.group_linear, size * layout.groups());
  if (spec.mixed()) {
    at_least(tape.group_counts, size * layout.groups());
    at_least(tape.group_seen, size * layout.groups());
    at_least(tape.log_odds, batch.linear.size());
    at_least(tape.log_counts, batch.linear.size());
  }
  if (!spec.has_ffm()) return;
  at_least(tape.ffm_scale, size);
  at_least(tape.pairs_sum, size);
  at_least(tape.pairs, size * layout.pairs() + kernels::Kernels::kSpare);
  if (!spec.has_mlp()) return;
  at_least(tape.d_group_linear, size * layout.groups());
  at_least(tape.norm_scale, size);
}

void Network::open_together(const Model& model, const feature::FeatureBatch& batch,
                            std::span<Tape> tapes, Tape& joint) const {
  const InputLayout layout = model.layout();
  joint.size = tapes.size();
  at_least(joint.scores, joint.size);
  open_mlp(model.spec(), layout, joint.size, joint);
  const std::size_t inputs = layout.stride(model.spec().mixed());
  for (std::size_t b = 0; b < tapes.size(); ++b) {
    open_alone(model, batch, 1, tapes[b]);
    tapes[b].inputs = joint.inputs.subspan(b * inputs);
    tapes[b].d_inputs = joint.d_inputs.subspan(b * inputs);
  }
}

/// The cells in which the example's features belong.
void Network::find_homes(const Model& model, Tape& tape, std::size_t example) const {
  model.linear().prefetch_homes(tape.batch->linear_of(example),
                                tape.cells.data() + tape.batch->linear_begin(example));
  tape.homes_in[example] = model.linear().capacity();
}

/// The same again where the table has grown since; returns whether it has.
bool Network::renew_homes(const Model& model, Tape& tape, std::size_t example) const {
  if (tape.homes_in[example] == model.linear().capacity()) return false;
  find_homes(model, tape, example);
  return true;
}

/// Room for the linear cells of examples [first, first + size). Cells move when the table grows, so
/// it is made for all before the first is put in.
void Network::make_room(Model& model, const feature::FeatureBatch& batch, std::size_t first,
                        std::size_t size) const {
  const std::uint32_t begin = batch.linear_begin(first);
  const std::uint32_t end = batch.linear_end(first + size - 1);
  if (end - begin <= kManyFeatures) {
    model.linear().reserve_if_alone(end - begin);
  } else {
    for (std::uint32_t i = begin; i < end; ++i) model.linear().find_or_insert(batch.linear[i].hash);
  }
}

void Network::prefetch(const Model& model, Tape& tape, std::size_t example) const {
  const feature::FeatureBatch& batch = *tape.batch;
  find_homes(model, tape, example);
  if (!tape.large_index) return;
  for (const feature::FieldRun& run : batch.field_runs_of(example)) {
    const FieldTable& table = model.fields()[run.field];
    if (!table.has_large_index()) continue;
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      table.prefetch(batch.field_features[i].hash);
    }
  }
}

void Network::resolve_rows(Model& model, Tape& tape, std::size_t example) const {
  const feature::FeatureBatch& batch = *tape.batch;
  if (model.rows_in_cells()) {
    make_room(model, batch, example, 1);
    renew_homes(model, tape, example);
    const std::span features = batch.linear_of(example);
    float** const cells = tape.cells.data() + batch.linear_begin(example);
    model.linear().find_or_insert_all(features, cells);
    if (model.spec().mixed()) {
      for (std::size_t i = 0; i < features.size(); ++i) {
        if (features[i].value != 1.0f) model.numbers_come(cells[i]);
      }
    }
  }
  for (const feature::FieldRun& run : batch.field_runs_of(example)) {
    FieldTable& table = model.fields()[run.field];
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const feature::FieldFeature& f = batch.field_features[i];
      const Row row = table.touch(f.hash, row_word(model, tape, f));
      if (tape.hot != nullptr && (tape.rows[i] = tape.hot->rows.find(run.field, row)) != nullptr) {
        continue;  // it is in the cache
      }
      tape.rows[i] = row != kNoRow ? table.at(row) : nullptr;
      if (row != kNoRow) table.prefetch_row(tape.rows[i]);
    }
  }
}

void Network::focus(Model& model, Tape& tape, std::size_t first) const {
  const feature::FeatureBatch& batch = *tape.batch;
  tape.first = first;
  // Where resolve_rows has found them, they are at hand, unless the table has grown since.
  bool to_find = !model.rows_in_cells();
  if (to_find) make_room(model, batch, first, tape.size);
  for (std::size_t b = 0; b < tape.size; ++b) to_find |= renew_homes(model, tape, first + b);
  const std::uint32_t begin = batch.linear_begin(first);
  const std::uint32_t end = batch.linear_end(first + tape.size - 1);
  const std::span features(batch.linear.data() + begin, end - begin);
  float** const cells = tape.cells.data() + begin;
  // Not earlier: the example before may have claimed places for some.
  if (tape.hot != nullptr) tape.hot->cells.find(features, cells);
  if (to_find) model.linear().find_or_insert_all(features, cells);
  if (tape.hot != nullptr) tape.hot->cells.claim(features, cells);
  for (std::size_t b = 0; b < tape.size; ++b) set_values(model, tape, b);
}

void Network::resolve(Model& model, const feature::FeatureBatch& batch, Tape& tape) const {
  open(model, batch, batch.size(), tape);
  if (batch.size() == 0) return;
  for (std::size_t b = 0; b < batch.size(); ++b) prefetch(model, tape, b);
  for (std::size_t b = 0; b < batch.size(); ++b) resolve_rows(model, tape, b);
  focus(model, tape, 0);
}

void Network::look_up(const Model& model, const feature::FeatureBatch& batch, Tape& tape) const {
  open(model, batch, batch.size(), tape);
  if (batch.size() == 0) return;
  for (std::size_t b = 0; b < batch.size(); ++b) prefetch(model, tape, b);
  for (std::size_t b = 0; b < batch.size(); ++b) look_up_rows(model, tape, b);
  for (std::size_t b = 0; b < batch.size(); ++b) look_at(model, tape, b);
}

void Network::look_up_cells(const Model& model, Tape& tape, std::size_t example) const {
  model.linear().find_all(tape.batch->linear_of(example), zero_cell,
                          tape.cells.data() + tape.batch->linear_begin(example));
}

void Network::look_up_rows(const Model& model, Tape& tape, std::size_t example) const {
  if (model.rows_in_cells()) look_up_cells(model, tape, example);
  for (const feature::FieldRun& run : tape.batch->field_runs_of(example)) {
    const FieldTable& table = model.fields()[run.field];
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const feature::FieldFeature& f = tape.batch->field_features[i];
      const Row row = table.find(f.hash, row_word(model, tape, f));
      tape.rows[i] = row != kNoRow ? const_cast<std::byte*>(table.at(row)) : nullptr;
      if (row != kNoRow) table.prefetch_weights(tape.rows[i]);
    }
  }
}

void Network::look_at(const Model& model, Tape& tape, std::size_t b) const {
  if (!model.rows_in_cells()) look_up_cells(model, tape, tape.first + b);
  set_values(model, tape, b);
}

void Network::set_values(const Model& model, Tape& tape, std::size_t b) const {
  const feature::FeatureBatch& batch = *tape.batch;
  const feature::Feature* const linear = batch.linear.data();
  const feature::FieldFeature* const features = batch.field_features.data();
  float* const* const cells = tape.cells.data();
  float* const values = tape.values.data();
  float* const field_values = tape.field_values.data();
  const std::size_t example = tape.first + b;
  const std::uint32_t begin = batch.linear_begin(example), end = batch.linear_end(example);
  const std::uint32_t field_begin = batch.field_features_begin[example];
  const std::uint32_t field_end = batch.field_features_begin[example + 1];
  if (!model.spec().mixed()) {
    for (std::uint32_t i = begin; i < end; ++i) values[i] = linear[i].value;
    for (std::uint32_t i = field_begin; i < field_end; ++i) field_values[i] = features[i].value;
    return;
  }
  for (std::uint32_t i = begin; i < end; ++i) {
    const float x = linear[i].value, largest = largest_value(cells[i]);
    // Almost every value of categorical data is 1 among ones.
    values[i] = x == 1.0f && largest <= 1.0f ? x : x / std::max(largest, std::fabs(x));
  }
  for (std::uint32_t i = field_begin; i < field_end; ++i) {
    const feature::FieldFeature f = features[i];
    field_values[i] = f.linear != feature::kNoLinear ? values[f.linear] : f.value;
  }
}

bool Network::works(const Model& model, const Block& block) const {
  const bool needs_fields = &block != blocks_.front().get() && &block != blocks_.back().get();
  return !needs_fields || model.layout().fields > 0;
}

Network::Blocks Network::alone() const { return Blocks(blocks_).first(alone_); }
Network::Blocks Network::together() const { return Blocks(blocks_).subspan(alone_); }

void Network::forward(Blocks blocks, const Model& model, Tape& tape, std::size_t begin,
                      std::size_t end) const {
  for (const auto& block : blocks) {
    if (works(model, *block)) block->forward(model, tape, begin, end);
  }
}

void Network::backward(Blocks blocks, const Model& model, Tape& tape) const {
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    if (works(model, **block)) (*block)->backward(model, tape);
  }
}

void Network::forward(const Model& model, Tape& tape) const {
  forward(blocks_, model, tape, 0, tape.size);
}

void Network::forward_alone(const Model& model, Tape& tape, std::size_t b) const {
  forward(alone(), model, tape, b, b + 1);
}

void Network::forward_together(const Model& model, Tape& tape) const {
  forward(together(), model, tape, 0, tape.size);
}

void Network::backward(const Model& model, Tape& tape) const { backward(blocks_, model, tape); }

void Network::learn(Model& model, Tape& tape, Optimizer& optimizer) const {
  if (model.spec().has_mlp() && Optimizer::steps_on_the_way(model.spec(), tape)) {
    const Block& mlp = *together().front();
    backward(together().subspan(1), model, tape);
    if (works(model, mlp)) {
      optimizer.backward_dense(model, tape);
      tape.dense_stepped = true;
    }
    backward(alone(), model, tape);
  } else {
    backward(model, tape);
  }
  optimizer.apply(model, tape);
}

void Network::learn_together(Model& model, std::span<Tape> tapes, Tape& joint,
                             Optimizer& optimizer) const {
  const Block &mlp = *together().front(), &loss = *together().back();
  if (!works(model, mlp)) {
    for (Tape& tape : tapes) {
      forward_together(model, tape);
      learn(model, tape, optimizer);
    }
    return;
  }
  for (std::size_t b = 0; b < joint.size; ++b) joint.scores[b] = tapes[b].scores[0];
  mlp.forward(model, joint, 0, joint.size);
  for (std::size_t b = 0; b < joint.size; ++b) {
    tapes[b].scores[0] = joint.scores[b];
    loss.forward(model, tapes[b], 0, 1);
    loss.backward(model, tapes[b]);
    joint.scores[b].d_deep = tapes[b].scores[0].d_deep;
  }
  optimizer.backward_dense(model, joint);
  for (std::size_t b = 0; b < joint.size; ++b) {
    tapes[b].dense_stepped = true;
    backward(alone(), model, tapes[b]);
    optimizer.apply(model, tapes[b]);
  }
}

}  // namespace leveret::model
