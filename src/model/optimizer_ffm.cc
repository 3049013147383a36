// Optimizer: the rows of the field tables.
#include <algorithm>
#include <cmath>

#include "model/hash_mix.h"
#include "model/optimizer.h"
#include "model/step_rule.h"

namespace leveret::model {

/// Calls visit(row, contra, delta) for every row of example b, which is gathered on the
/// tape: the gradient of its slot g is delta[g] * contra[g].
template <class Visit>
void Optimizer::each_row_gradient(const Model& model, Tape& tape, std::size_t b, Visit visit) {
  const std::size_t slots = model.fields().size();
  const std::size_t k = model.spec().ffm_k;
  FfmTape& ffm = tape.ffm;
  ffm_.spread(model, tape, b);
  delta_.resize(slots);
  self_.resize(k);
  for (std::size_t i = 0; i < ffm.present.size(); ++i) {
    const PresentField& present = ffm.present[i];
    float* contra = ffm.contra.data() + i * slots * k;
    float* own_slot = contra + present.field * k;
    std::copy_n(own_slot, k, self_.data());
    for (std::uint32_t f = present.begin; f < present.end; ++f) {
      if (tape.rows[f] == nullptr) continue;
      const float x = tape.field_values[f];
      const float* delta = ffm.delta.data() + i * slots;
      if (x != 1.0f) {
        for (std::size_t g = 0; g < slots; ++g) delta_[g] = x * delta[g];
        delta = delta_.data();
      }
      if (present.several) {
        row_.resize(k);
        kernels_->decode(model.row_codec(), slot_at(model, tape.rows[f], present.field), k,
                         row_.data());
        for (std::size_t c = 0; c < k; ++c) own_slot[c] = self_[c] - x * row_[c];
      }
      visit(tape.rows[f], contra, delta);
    }
    std::copy_n(self_.data(), k, own_slot);
  }
}

void Optimizer::apply_ffm_in_place(Model& model, Tape& tape, const kernels::StepRule& rule) {
  const float* delta = ffm_.spread_in_place(model, tape);
  const FfmInPlace& at = tape.ffm.at;
  const RowShape shape = model.row_shape();
  accs_.resize(at.rows.size());
  for (std::size_t i = 0; i < at.rows.size(); ++i) accs_[i] = shape.state_at(at.rows[i]);
  kernels_->ffm_update_pairs(shape.codec, shape.state_codec(), at.rows.data(), accs_.data(),
                             at.fields.data(), at.rows.size(), shape.k, delta, rule, next_noise());
}

/// Seeds depend on the number of examples learned from, so that a resumed run goes on with those of
/// an uninterrupted one, and on the thread, as threads count alike.
void Optimizer::seed_noise(const Model& model) {
  noise_ = mix(mix((std::uint64_t{model.spec().seed} << 32) ^ thread_) ^ model.scalars().examples);
}

std::uint32_t Optimizer::next_noise() {
  noise_ = mix(noise_);
  return static_cast<std::uint32_t>(noise_ >> 32);
}

/// One row's step. What has no gradient stays as it is: a weight or accumulator that was read is
/// rounded to itself.
void Optimizer::step_row(const Model& model, const kernels::StepRule& rule, std::byte* row,
                         const float* contra, const float* delta) {
  const RowShape shape = model.row_shape();
  const auto update = shape.slice_state ? kernels_->ffm_update_slice : kernels_->ffm_update;
  if (shape.codec == kernels::Codec::f32()) {
    update(reinterpret_cast<float*>(row), reinterpret_cast<float*>(shape.state_at(row)), contra,
           delta, shape.slots, shape.k, rule);
    return;
  }
  row_.resize(shape.weights());
  state_.resize(shape.state());
  kernels_->decode(shape.codec, row, shape.weights(), row_.data());
  for (std::size_t i = 0; i < state_.size(); ++i) state_[i] = shape.state_of(row, i);
  update(row_.data(), state_.data(), contra, delta, shape.slots, shape.k, rule);
  kernels_->encode(shape.codec, row_.data(), shape.weights(), next_noise(), row);
  std::uint32_t noise = next_noise();
  for (std::size_t i = 0; i < state_.size(); ++i) {
    shape.set_state(row, i, state_[i], noise += 0x9e3779b9u);
  }
}

void Optimizer::apply_ffm(Model& model, Tape& tape) {
  if (!tape.scores[0].learn) return;
  const Spec& spec = model.spec();
  const kernels::StepRule rule = step_rule(spec, spec.ffm);
  seed_noise(model);
  if (tape.ffm.in_place) {
    apply_ffm_in_place(model, tape, rule);
    return;
  }
  each_row_gradient(model, tape, 0, [&](std::byte* row, const float* contra, const float* delta) {
    step_row(model, rule, row, contra, delta);
  });
}

void Optimizer::apply_ffm_batch(Model& model, Tape& tape) {
  const Spec& spec = model.spec();
  const std::size_t slots = model.fields().size();
  const std::size_t k = spec.ffm_k;
  const std::size_t length = slots * k;
  // Rows stay as they are until all gradients are summed: `gather` reads them again.
  row_gradients_.clear();
  row_sums_.clear();
  std::size_t sums = 0;
  for (std::size_t b = 0; b < tape.size; ++b) {
    if (!tape.scores[b].learn) continue;
    ffm_.gather(model, tape, b, false);
    each_row_gradient(model, tape, b, [&](std::byte* row, const float* contra, const float* delta) {
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
  const kernels::StepRule rule = step_rule(spec, spec.ffm);
  delta_.assign(slots, 1.0f);
  seed_noise(model);
  for (std::size_t i = 0; i < row_gradients_.size();) {
    const RowGradient first = row_gradients_[i];
    float* sum = row_sums_.data() + first.sum * length;
    for (++i; i < row_gradients_.size() && row_gradients_[i].first == first.first; ++i) {
      kernels_->axpy(1.0f, row_sums_.data() + row_gradients_[i].sum * length, length, sum);
    }
    step_row(model, rule, first.row, sum, delta_.data());
  }
}

}  // namespace leveret::model
