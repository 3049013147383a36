// FfmBlock: the way back, and the gradients of rows.
#include <algorithm>

#include "block/ffm_block.h"
#include "block/ffm_share.h"

namespace leveret::block {

void FfmBlock::finish_back(const tape::Parameters&, tape::Tape& tape, Share*) const {
  for (std::size_t b = 0; b < tape.size; ++b) {
    tape[d_pair_].values[b] = head_.errors(tape)[b] * tape[scale_].values[b];
  }
}

void FfmBlock::partial_back(const tape::Parameters&, tape::Tape& tape, const tape::Partition&,
                            Share* share) const {
  const auto& pairs = static_cast<const FfmShare&>(*share);
  if (tape.sink != nullptr && !pairs.empty()) tape.sink->rows(part_, pairs);
}

void FfmBlock::backward(const tape::Parameters& parameters, tape::Tape& tape) const {
  finish_back(parameters, tape, nullptr);
  if (tape.is_single() && tape.ffm.in_place) {
    tape.ffm.pair_deltas = spread_in_place(tape, 0);
  }
  if (tape.sink != nullptr) tape.sink->rows(part_, *this);
}

/// From the gradients of example b's pairs to tape.ffm.delta: slot g of a feature with value x in
/// the i-th present field has the gradient x * delta[i][g] * contra[i][g], but for the field's
/// own slot, where it is x * delta[i][f] * (contra[i][f] - x * v_f).
void FfmBlock::spread(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b) const {
  const std::size_t fields = parameters.layout.fields;
  const float own = tape[d_pair_].values[b];
  const float* const d = by_readers(tape, b);
  const auto gradient = [&](std::size_t pair) { return d != nullptr ? d[pair] + own : own; };
  for (std::size_t i = 0; i < tape.ffm.present.size(); ++i) {
    const std::size_t g = tape.ffm.present[i].field;
    float* delta = tape.ffm.delta.data() + i * fields;
    for (std::size_t f = 0; f < g; ++f) delta[f] = gradient(pair_index(f, g));
    delta[g] = tape.ffm.present[i].several ? gradient(pair_index(g, g)) : 0.0f;
    for (std::size_t f = g + 1; f < fields; ++f) delta[f] = gradient(pair_index(g, f));
  }
}

/// `delta` of a field for its feature with the value x.
const float* FfmBlock::scale_deltas(tape::Tape& tape, const float* delta, std::size_t slots,
                                    float x) const {
  if (x == 1.0f) return delta;
  tape::at_least(tape.ffm.of_feature, slots);
  for (std::size_t g = 0; g < slots; ++g) tape.ffm.of_feature[g] = x * delta[g];
  return tape.ffm.of_feature.data();
}

/// The slot of the field itself, in which a feature meets the field's other features.
void FfmBlock::put_own_slot(tape::Tape& tape, const std::byte* weights, std::uint32_t field,
                            float x, float* to) const {
  float* const v = tape.ffm.row.data();
  kernels_->decode(row_.codec, weights + row_.codec.bytes(field * k_), k_, v);
  for (std::size_t c = 0; c < k_; ++c) to[c] = tape.ffm.own_slot[c] - x * v[c];
}

template <class Visit>
void FfmBlock::for_each_row(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
                            Visit visit) const {
  const std::size_t slots = parameters.layout.fields;
  const std::size_t k = k_, row_begin = this->row_begin(tape);
  tape::FfmTape& ffm = tape.ffm;
  spread(parameters, tape, b);
  for (std::size_t i = 0; i < ffm.present.size(); ++i) {
    const tape::PresentField& present = ffm.present[i];
    float* const contra = ffm.contra.data() + i * slots * k;
    float* const own_slot = contra + present.field * k;
    ffm.own_slot.assign(own_slot, own_slot + k);
    for (std::uint32_t f = present.begin; f < present.end; ++f) {
      if (tape.rows[f] == nullptr) continue;
      const float x = tape.field_values[f];
      if (present.several) put_own_slot(tape, tape.rows[f] + row_begin, present.field, x, own_slot);
      visit(f, contra, scale_deltas(tape, ffm.delta.data() + i * slots, slots, x));
    }
    std::copy_n(ffm.own_slot.data(), k, own_slot);
  }
}

void FfmBlock::each(const tape::Parameters& parameters, tape::Tape& tape,
                    tape::RowVisitor& visitor) const {
  if (tape.ffm.in_place) gather(parameters, tape, 0, false);
  for_each_row(parameters, tape, 0, [&](std::uint32_t i, const float* contra, const float* delta) {
    visitor.visit(i, contra, delta);
  });
}

tape::PairGradients FfmBlock::in_place(const tape::Tape& tape) const {
  if (!tape.ffm.in_place) return {};
  const tape::FfmInPlace& at = tape.ffm.at;
  return {at.to_learn, at.fields.data(), tape.ffm.pair_deltas, at.nothing.data()};
}

void FfmBlock::add(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
                   float* const* sums) const {
  gather(parameters, tape, b, true);
  const std::uint32_t first = tape.field_begin(b);
  const tape::FfmInPlace& at = tape.ffm.at;
  if (tape.ffm.in_place) {
    tape.ffm.row_sums.assign(at.rows.size(), nullptr);
    std::size_t place = 0;
    for (const feature::FieldRun& run : tape.field_runs(b)) {
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        float* const sum = sums[i - first];
        if (sum != nullptr) tape.ffm.row_sums[at.filled ? run.field : place++] = sum;
      }
    }
    return add_in_place(tape, b);
  }
  const std::size_t slots = parameters.layout.fields, k = k_;
  for_each_row(parameters, tape, b, [&](std::uint32_t f, const float* contra, const float* delta) {
    float* const sum = sums[f - first];
    for (std::size_t g = 0; g < slots; ++g) {
      for (std::size_t c = g * k; c < (g + 1) * k; ++c) sum[c] += delta[g] * contra[c];
    }
  });
}

}  // namespace leveret::block
