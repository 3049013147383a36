// Optimizer: the rows of the field tables.
#include <algorithm>
#include <cmath>

#include "optim/optimizer.h"
#include "table/mix.h"

namespace leveret::optim {

void Optimizer::apply_ffm_in_place(Tape& tape) {
  const tape::FfmInPlace& at = tape.ffm.at;
  const table::RowLayout::Column& state = tape.row_layout->state(0, 0);
  const std::vector<std::byte*>& rows = at.to_learn;
  accs_.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) accs_[i] = rows[i] + state.begin;
  kernels_->ffm_update_pairs(config_.weights, state.codec, rows.data(), accs_.data(),
                             at.fields.data(), rows.size(), config_.k, tape.ffm.pair_deltas,
                             config_.ffm_rule, next_noise());
}

/// Seeds depend on the number of examples learned from, so that a resumed run goes on with those of
/// an uninterrupted one, and on the thread, as threads count alike.
void Optimizer::seed_noise(const Parameters& parameters) {
  noise_ = table::mix(table::mix((std::uint64_t{learning_.seed} << 32) ^ thread_) ^
                      parameters.scalars.examples);
}

std::uint32_t Optimizer::noise_of(RowName name) const {
  const std::uint64_t both = std::uint64_t{name.field} << 32 | name.key;
  return static_cast<std::uint32_t>(table::mix(noise_ ^ both) >> 32);
}

std::uint32_t Optimizer::next_noise() {
  noise_ = table::mix(noise_);
  return static_cast<std::uint32_t>(noise_ >> 32);
}

/// The step of a part of a row, of which the results are in row_ and state_, to be rounded. What
/// has no gradient stays as it is: a weight or accumulator that was read is rounded to itself.
void Optimizer::step_floats(const table::RowLayout& layout, std::size_t number,
                            kernels::StepRule rule, const std::byte* row, const float* contra,
                            const float* delta) {
  const table::RowPart& part = layout.parts()[number];
  const table::RowLayout::Column& weights = layout.weights(number);
  const table::RowLayout::Column& state = layout.state(number, 0);
  const bool by_slot = part.states[0].per == table::RowState::Per::kSlot;
  const auto update = by_slot ? kernels_->ffm_update_slice : kernels_->ffm_update;
  row_.resize(weights.count);
  state_.resize(state.count);
  kernels_->decode(weights.codec, row + weights.begin, weights.count, row_.data());
  kernels_->decode(state.codec, row + state.begin, state.count, state_.data());
  update(row_.data(), state_.data(), contra, delta, part.slots, part.k, rule);
}

void Optimizer::step_part(const table::RowLayout& layout, std::size_t number,
                          kernels::StepRule rule, std::byte* row, const float* contra,
                          const float* delta) {
  step_floats(layout, number, rule, row, contra, delta);
  const table::RowLayout::Column& weights = layout.weights(number);
  const table::RowLayout::Column& state = layout.state(number, 0);
  kernels_->encode(weights.codec, row_.data(), weights.count, next_noise(), row + weights.begin);
  kernels_->encode(state.codec, state_.data(), state.count, next_noise(), row + state.begin);
}

void Optimizer::apply_ffm(const Parameters& parameters, Tape& tape) {
  if (!tape.learn[0] || tape.row_layout == nullptr) return;
  seed_noise(parameters);
  const bool by_slot = tape.row_layout->parts()[0].states[0].per == table::RowState::Per::kSlot;
  if (tape.ffm.in_place && by_slot) return apply_ffm_in_place(tape);
  const block::FfmBlock& ffm = *tape.ffm.block;
  if (tape.ffm.in_place) ffm.gather(parameters, tape, 0, false);
  ffm.for_each_row(parameters, tape, 0,
                   [&](std::uint32_t f, const float* contra, const float* delta) {
                     step_row(*tape.row_layout, tape.to_learn.rows[f], contra, delta);
                   });
}

/// Numbers the rows of examples that are learned from, counts how often each comes, and gives it
/// the noise of its step: by (seed, field, key, examples learned), and in the row by the name of
/// the slot, so that neither the order of rows nor who has which slots, nor who else learns in the
/// batch, matters. The features that share the overflow row give it that of the first of them.
void Optimizer::meet_rows(const Tape& tape) {
  const feature::FeatureBatch& batch = *tape.batch;
  rows_.clear();
  distinct_.start(batch.field_features_begin[tape.first + tape.size] -
                  batch.field_features_begin[tape.first]);
  row_numbers_.resize(batch.field_features.size());
  for (std::size_t b = 0; b < tape.size; ++b) {
    if (!tape.learn[b]) continue;
    for (const feature::FieldRun& run : tape.field_runs(b)) {
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        std::byte* const row = tape.to_learn.rows[i];
        if (row == nullptr) continue;
        const std::uint32_t number = distinct_.number(row);
        if (number == rows_.size()) {
          const table::Key key = table::key_of(batch.field_features[i].hash);
          rows_.push_back({row, run.field, noise_of({run.field, key})});
        }
        ++rows_[number].times;
        row_numbers_[i] = number;
      }
    }
  }
}

/// Where a gradient of the row is added: its sum of the batch, or for a row that comes once one of
/// the example, which is 0.
float* Optimizer::sum_of_row(std::uint32_t number) {
  const BatchRow& row = rows_[number];
  if (row.times > 1) return row_sums_.data() + row.sum * row_floats_;
  float* const sum = single_sums_.data() + singles_.size() * row_floats_;
  std::fill_n(sum, row_floats_, 0.0f);
  singles_.push_back({number, sum});
  return sum;
}

/// Makes room for the sums of the rows of example b that come once.
void Optimizer::start_singles(const Tape& tape, std::size_t b) {
  const std::size_t features = tape.field_begin(b + 1) - tape.field_begin(b);
  singles_.clear();
  if (single_sums_.size() < features * row_floats_) single_sums_.resize(features * row_floats_);
}

void Optimizer::step_by_sum(const table::RowLayout& layout, const BatchRow& row, const float* sum) {
  const table::RowPart& part = layout.parts()[0];
  const table::RowLayout::Column &weights = layout.weights(0), &state = layout.state(0, 0);
  if (part.states[0].per == table::RowState::Per::kSlot) {
    return kernels_->ffm_step_row(weights.codec, state.codec, row.row + weights.begin,
                                  row.row + state.begin, sum, part.slots, part.k, config_.ffm_rule,
                                  layout.noise(0, row.noise));
  }
  delta_.assign(part.slots, 1.0f);
  step_floats(layout, 0, config_.ffm_rule, row.row, sum, delta_.data());
  const kernels::RowNoise noise = layout.noise(0, row.noise);
  for (std::size_t i = 0; i < weights.count; ++i) {
    const std::uint32_t of = noise.of_number(i);
    kernels::encode(weights.codec, row.row + weights.begin, i, row_[i], of);
    kernels::encode(state.codec, row.row + state.begin, i, state_[i], kernels::state_noise(of));
  }
}

/// Rows are as they were before the batch while gradients are made of them: one that comes several
/// times takes its step at the end, in the order of their first coming, one that comes once when
/// its example is through. Sums are made in the order of examples: add(b) adds those of an example,
/// and step(row, sum) takes what has been added.
template <class AddGradients, class Step>
void Optimizer::each_row_sum(const Tape& tape, std::size_t row_floats, AddGradients add,
                             Step step) {
  meet_rows(tape);
  row_floats_ = table::whole_lines(row_floats);
  std::uint32_t sums = 0;
  for (BatchRow& row : rows_) {
    if (row.times > 1) row.sum = sums++;
  }
  row_sums_.assign(sums * row_floats_, 0.0f);
  for (std::size_t b = 0; b < tape.size; ++b) {
    if (!tape.learn[b]) continue;
    start_singles(tape, b);
    add(b);
    for (const SingleRow& single : singles_) step(rows_[single.number], single.sum);
  }
  for (std::uint32_t number = 0; number < rows_.size(); ++number) {
    if (rows_[number].times == 1) continue;
    step(rows_[number], row_sums_.data() + rows_[number].sum * row_floats_);
  }
}

void Optimizer::apply_ffm_batch(const Parameters& parameters, Tape& tape) {
  if (tape.row_layout == nullptr || parameters.layout.fields == 0) return;
  seed_noise(parameters);
  sum_slots(parameters, tape, [&](const BatchRow& row, const float* sum) {
    step_by_sum(*tape.row_layout, row, sum);
  });
}

void Optimizer::sum_slots(const Parameters& parameters, Tape& tape, const VisitRow& visit) {
  const auto add = [&](std::size_t b) {
    tape.ffm.block->add_gradients(parameters, tape, b,
                                  [&](std::uint32_t i) { return sum_of_row(row_numbers_[i]); });
  };
  each_row_sum(tape, std::size_t{parameters.layout.fields} * config_.k, add, visit);
}

void Optimizer::apply_pairs(const Parameters& parameters, Tape& tape, const PartOf& part) {
  if (part.pairs->pairs().empty()) return;
  seed_noise(parameters);
  const auto add = [&](std::size_t b) {
    part.pairs->gather(tape, b, *part.at);
    const float* const d = part.d_pairs != nullptr ? part.d_pairs + b * part.d_stride : nullptr;
    part.pairs->backward(tape, *part.at, tape.d_pairs[b], d,
                         [&](std::uint32_t i) { return sum_of_row(row_numbers_[i]); });
  };
  each_row_sum(tape, part.pairs->row_floats(), add, [&](const BatchRow& row, const float* sum) {
    step_by_sum(tape.layout_of(row.field), row, sum);
  });
}

}  // namespace leveret::optim
