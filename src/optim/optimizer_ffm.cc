// Optimizer: the rows of the field tables.
#include <algorithm>
#include <cmath>

#include "optim/optimizer.h"
#include "table/mix.h"

namespace leveret::optim {

/// Calls visit(row, contra, delta) for every row of example b, which is gathered on the
/// tape: the gradient of its slot g is delta[g] * contra[g].
template <class Visit>
void Optimizer::each_row_gradient(const Parameters& parameters, Tape& tape, std::size_t b,
                                  Visit visit) {
  const std::size_t slots = parameters.layout.fields;
  const std::size_t k = config_.k;
  block::FfmTape& ffm = tape.ffm;
  ffm_.spread(parameters, tape, b);
  delta_.resize(slots);
  self_.resize(k);
  for (std::size_t i = 0; i < ffm.present.size(); ++i) {
    const block::PresentField& present = ffm.present[i];
    float* contra = ffm.contra.data() + i * slots * k;
    float* own_slot = contra + present.field * k;
    std::copy_n(own_slot, k, self_.data());
    for (std::uint32_t f = present.begin; f < present.end; ++f) {
      std::byte* const row = tape.to_learn.rows[f];
      if (row == nullptr) continue;
      const float x = tape.field_values[f];
      const float* delta = ffm.delta.data() + i * slots;
      if (x != 1.0f) {
        for (std::size_t g = 0; g < slots; ++g) delta_[g] = x * delta[g];
        delta = delta_.data();
      }
      if (present.several) {
        row_.resize(k);
        kernels_->decode(config_.weights, ffm_.slot_at(row, present.field), k, row_.data());
        for (std::size_t c = 0; c < k; ++c) own_slot[c] = self_[c] - x * row_[c];
      }
      visit(row, contra, delta);
    }
    std::copy_n(self_.data(), k, own_slot);
  }
}

void Optimizer::apply_ffm_in_place(const Parameters& parameters, Tape& tape) {
  const float* const delta = ffm_.spread_in_place(parameters, tape);
  const block::FfmInPlace& at = tape.ffm.at;
  const table::RowLayout::Column& state = tape.row_layout->state(0, 0);
  const std::vector<std::byte*>& rows = at.to_learn;
  accs_.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) accs_[i] = rows[i] + state.begin;
  kernels_->ffm_update_pairs(config_.weights, state.codec, rows.data(), accs_.data(),
                             at.fields.data(), rows.size(), config_.k, delta, config_.ffm_rule,
                             next_noise());
}

/// Seeds depend on the number of examples learned from, so that a resumed run goes on with those of
/// an uninterrupted one, and on the thread, as threads count alike.
void Optimizer::seed_noise(const Parameters& parameters) {
  noise_ = table::mix(table::mix((std::uint64_t{learning_.seed} << 32) ^ thread_) ^
                      parameters.scalars.examples);
}

std::uint32_t Optimizer::next_noise() {
  noise_ = table::mix(noise_);
  return static_cast<std::uint32_t>(noise_ >> 32);
}

/// One row's step. What has no gradient stays as it is: a weight or accumulator that was read is
/// rounded to itself.
void Optimizer::step_row(const table::RowLayout& layout, std::byte* row, const float* contra,
                         const float* delta) {
  const table::RowPart& part = layout.parts()[0];
  const table::RowLayout::Column &weights = layout.weights(0), &state = layout.state(0, 0);
  const bool by_slot = part.states[0].per == table::RowState::Per::kSlot;
  const auto update = by_slot ? kernels_->ffm_update_slice : kernels_->ffm_update;
  row_.resize(weights.count);
  state_.resize(state.count);
  kernels_->decode(weights.codec, row + weights.begin, weights.count, row_.data());
  kernels_->decode(state.codec, row + state.begin, state.count, state_.data());
  update(row_.data(), state_.data(), contra, delta, part.slots, part.k, config_.ffm_rule);
  kernels_->encode(weights.codec, row_.data(), weights.count, next_noise(), row + weights.begin);
  kernels_->encode(state.codec, state_.data(), state.count, next_noise(), row + state.begin);
}

void Optimizer::apply_ffm(const Parameters& parameters, Tape& tape) {
  if (!tape.scores[0].learn || tape.row_layout == nullptr) return;
  seed_noise(parameters);
  const bool by_slot = tape.row_layout->parts()[0].states[0].per == table::RowState::Per::kSlot;
  if (tape.ffm.in_place && by_slot) return apply_ffm_in_place(parameters, tape);
  if (tape.ffm.in_place) ffm_.gather(parameters, tape, 0, false);
  each_row_gradient(parameters, tape, 0,
                    [&](std::byte* row, const float* contra, const float* delta) {
                      step_row(*tape.row_layout, row, contra, delta);
                    });
}

void Optimizer::apply_ffm_batch(const Parameters& parameters, Tape& tape) {
  const std::size_t slots = parameters.layout.fields;
  const std::size_t k = config_.k;
  const std::size_t length = slots * k;
  // Rows stay as they are until all gradients are summed: `gather` reads them again.
  row_gradients_.clear();
  row_sums_.clear();
  std::size_t sums = 0;
  for (std::size_t b = 0; b < tape.size; ++b) {
    if (!tape.scores[b].learn) continue;
    ffm_.gather(parameters, tape, b, false);
    each_row_gradient(parameters, tape, b,
                      [&](std::byte* row, const float* contra, const float* delta) {
                        row_gradients_.push_back({row, static_cast<std::uint32_t>(sums++), 0});
                        row_sums_.resize(sums * length);
                        float* sum = row_sums_.data() + (sums - 1) * length;
                        for (std::size_t g = 0; g < slots; ++g) {
                          for (std::size_t c = 0; c < k; ++c) {
                            sum[g * k + c] = delta[g] * contra[g * k + c];
                          }
                        }
                      });
  }
  // By row, and rows in the order in which they were met: that of their addresses is another one in
  // each run, and the noise of rounding goes from row to row.
  std::stable_sort(row_gradients_.begin(), row_gradients_.end(),
                   [](const RowGradient& a, const RowGradient& b) { return a.row < b.row; });
  for (std::size_t i = 0; i < row_gradients_.size(); ++i) {
    RowGradient& here = row_gradients_[i];
    const bool again = i > 0 && row_gradients_[i - 1].row == here.row;
    here.first = again ? row_gradients_[i - 1].first : here.sum;
  }
  std::stable_sort(row_gradients_.begin(), row_gradients_.end(),
                   [](const RowGradient& a, const RowGradient& b) { return a.first < b.first; });
  delta_.assign(slots, 1.0f);
  seed_noise(parameters);
  for (std::size_t i = 0; i < row_gradients_.size();) {
    const RowGradient first = row_gradients_[i];
    float* sum = row_sums_.data() + first.sum * length;
    for (++i; i < row_gradients_.size() && row_gradients_[i].first == first.first; ++i) {
      kernels_->axpy(1.0f, row_sums_.data() + row_gradients_[i].sum * length, length, sum);
    }
    step_row(*tape.row_layout, first.row, sum, delta_.data());
  }
}

}  // namespace leveret::optim
