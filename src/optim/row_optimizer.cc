#include "optim/row_optimizer.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "ffm/pair_index.h"
#include "optim/moved.h"
#include "table/mix.h"

namespace leveret::optim {
namespace {

/// Whether kernels step rows of the part as they lie: by a rule that they know, whose only state
/// is a sum for each slot.
bool in_kernels(const table::RowPart& part, const rules::Rule& rule) {
  return rule.fused() != nullptr && part.states[0].per == table::RowState::Per::kSlot;
}

}  // namespace

RowOptimizer::RowOptimizer(const kernels::Kernels& kernels, const block::Config& config,
                           std::uint32_t seed, std::uint32_t thread)
    : kernels_(&kernels), seed_(seed), thread_(thread), bounded_(kernels) {
  for (const block::Rows& rows : config.rows) {
    assert(rows.rule != nullptr);
    rules_.push_back(rows.rule);
  }
}

void RowOptimizer::step(const tape::Parameters& parameters, tape::Tape& tape, std::size_t part,
                        const tape::RowGradients& gradients) {
  if (tape.row_layout == nullptr || parameters.layout.fields == 0) return;
  seed_noise(parameters, *tape.row_layout, part);
  if (tape.is_single()) return step_single(parameters, tape, part, gradients);
  each_row_sum(parameters, tape, part, gradients, [&](const BatchRow& row, const float* sum) {
    step_by_sum(tape.layout_of(row.field), part, row, sum);
  });
}

void RowOptimizer::visit_sums(const tape::Parameters& parameters, tape::Tape& tape,
                              std::size_t part, const tape::RowGradients& gradients,
                              const std::function<void(const std::byte*, const float*)>& visit) {
  if (tape.row_layout == nullptr || parameters.layout.fields == 0) return;
  each_row_sum(parameters, tape, part, gradients,
               [&](const BatchRow& row, const float* sum) { visit(row.row, sum); });
}

void RowOptimizer::step_row(const tape::Parameters& parameters, const table::RowLayout& layout,
                            RowName name, std::byte* row, const float* sums) {
  for (std::size_t p = 0; p < layout.parts().size(); ++p) {
    seed_noise(parameters, layout, p);
    step_by_sum(layout, p, {row, name.field, noise_of(name)}, sums);
    sums += layout.parts()[p].weights();
  }
}

// ---- an example that is learned alone ----

class RowOptimizer::Visitor final : public tape::RowVisitor {
 public:
  Visitor(RowOptimizer& optimizer, const tape::Tape& tape, std::size_t part)
      : optimizer_(optimizer), tape_(tape), part_(part) {}
  void visit(std::uint32_t feature, const float* contra, const float* delta) override {
    optimizer_.step_factors(*tape_.row_layout, part_, tape_.to_learn.rows[feature], contra, delta);
  }

 private:
  RowOptimizer& optimizer_;
  const tape::Tape& tape_;
  std::size_t part_;
};

void RowOptimizer::step_single(const tape::Parameters& parameters, tape::Tape& tape,
                               std::size_t part, const tape::RowGradients& gradients) {
  if (!tape.learn[0]) return;
  const table::RowLayout& layout = *tape.row_layout;
  if (in_kernels(layout.parts()[part], *rules_[part])) {
    const tape::PairGradients pairs = gradients.in_place(parameters, tape);
    if (!pairs.rows.empty()) return step_pairs(layout, part, pairs);
    const tape::VectorGradients vectors = gradients.vectors(parameters, tape);
    if (!vectors.rows.empty()) return step_vectors(layout, part, vectors);
  }
  Visitor visitor(*this, tape, part);
  gradients.each(parameters, tape, visitor);
}

void RowOptimizer::step_pairs(const table::RowLayout& layout, std::size_t part,
                              const tape::PairGradients& pairs) {
  const table::RowLayout::Column &weights = layout.weights(part), &state = layout.state(part, 0);
  const std::size_t to_state = state.begin - weights.begin;
  const std::size_t n = pairs.rows.size();
  if (n < 2) return;
  states_.resize(n);
  for (std::size_t i = 0; i < states_.size(); ++i) states_[i] = pairs.rows[i] + to_state;
  const bool by_copies = weights.codec.is_narrow();
  std::byte* const* const rows = by_copies ? widened(weights, pairs) : pairs.rows.data();
  kernels_->ffm_update_pairs(weights.codec.widened(), state.codec, rows, states_.data(),
                             pairs.fields, n, layout.parts()[part].k,
                             bounded_.numbers(pairs.deltas, ffm::pair_index(0, n)),
                             *rules_[part]->fused(), next_noise());
  for (std::size_t i = 0; by_copies && i < n; ++i) {
    if (pairs.rows[i] == pairs.nothing) continue;
    kernels_->narrow(weights.codec, reinterpret_cast<const kernels::Fixed16*>(rows[i]),
                     weights.count, pairs.rows[i]);
  }
}

/// Copies of rows of fewer than 16 bits, of which kernels step pairs: to be deleted when there are
/// kernels for such rows as they lie. They are made for the step, though the way forward had some:
/// rows are written back whole, so that what another thread has learned of them since then would be
/// lost.
std::byte* const* RowOptimizer::widened(const table::RowLayout::Column& weights,
                                        const tape::PairGradients& pairs) {
  const std::size_t n = pairs.rows.size();
  const std::size_t stride = table::odd_lines(weights.count * sizeof(kernels::Fixed16));
  if (wide_.size() < n * stride) wide_.resize(n * stride);
  copies_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    copies_[i] = pairs.rows[i];
    if (pairs.rows[i] == pairs.nothing) continue;  // zeros in any codec, with room for a copy's
    copies_[i] = wide_.data() + i * stride;
    kernels_->widen(weights.codec, pairs.rows[i], weights.count,
                    reinterpret_cast<kernels::Fixed16*>(copies_[i]));
  }
  return copies_.data();
}

void RowOptimizer::step_vectors(const table::RowLayout& layout, std::size_t part,
                                const tape::VectorGradients& all) {
  const table::RowLayout::Column &weights = layout.weights(part), &state = layout.state(part, 0);
  const std::size_t k = layout.parts()[part].k;
  const tape::VectorGradients vectors = bounded_.vectors(all, k);
  kernels_->step_vectors(weights.codec, state.codec,
                         {vectors.rows.data(), vectors.gradients, vectors.factors,
                          vectors.rows.size(), state.begin - weights.begin, next_noise()},
                         k, *rules_[part]->fused());
}

// ---- steps ----

/// Leaves the results in row_ and row_states_, to be rounded. What has no gradient stays as it is:
/// a weight or state that was read is rounded to itself.
void RowOptimizer::step_floats(const table::RowLayout& layout, std::size_t number,
                               const std::byte* row, const float* contra, const float* delta) {
  const table::RowPart& part = layout.parts()[number];
  const auto read = [&](const table::RowLayout::Column& column, std::vector<float>& to) {
    to.resize(column.count);
    kernels_->decode(column.codec, row + column.begin, column.count, to.data());
  };
  read(layout.weights(number), row_);
  for (std::size_t s = 0; s < part.states.size(); ++s)
    read(layout.state(number, s), row_states_[s]);
  const rules::Rule& rule = *rules_[number];
  if (rule.fused() == nullptr) return step_slots(part, rule, contra, delta);
  const auto update = in_kernels(part, rule) ? kernels_->ffm_update_slice : kernels_->ffm_update;
  update(row_.data(), row_states_[0].data(), contra, delta, part.slots, part.k, *rule.fused());
}

void RowOptimizer::step_slots(const table::RowPart& part, const rules::Rule& rule,
                              const float* contra, const float* delta) {
  tape::States states{};
  std::ranges::copy(row_states_, states.begin());
  gradient_.resize(part.k);
  for (std::size_t slot = 0; slot < part.slots; ++slot) {
    float any = 0;
    for (std::size_t c = 0; c < part.k; ++c) {
      gradient_[c] = delta[slot] * contra[slot * part.k + c];
      any = std::max(any, std::fabs(gradient_[c]));
    }
    if (any == 0.0f) continue;
    rule.step(*kernels_,
              moved(rule, {row_.data(), gradient_.data(), part.k, part.k}, slot, states));
  }
}

void RowOptimizer::step_factors(const table::RowLayout& layout, std::size_t part, std::byte* row,
                                const float* contra, const float* delta) {
  const table::RowPart& of = layout.parts()[part];
  if (of.slots == 1 && in_kernels(of, *rules_[part])) {
    std::byte* const vector = row + layout.weights(part).begin;
    return step_vectors(layout, part, {{&vector, 1}, &contra, delta, {contra, of.k}});
  }
  const SlotFactors factors = bounded_.slots({contra, delta}, of.slots, of.k);
  step_floats(layout, part, row, factors.contra, factors.delta);
  const auto write = [&](const table::RowLayout::Column& column, const std::vector<float>& from) {
    kernels_->encode(column.codec, from.data(), column.count, next_noise(), row + column.begin);
  };
  write(layout.weights(part), row_);
  for (std::size_t s = 0; s < of.states.size(); ++s) write(layout.state(part, s), row_states_[s]);
}

void RowOptimizer::step_by_sum(const table::RowLayout& layout, std::size_t part,
                               const BatchRow& row, const float* sum) {
  if (layout.parts()[part].by_field) return step_slots_by_sum(layout, part, row, sum);
  const float one = 1.0f;
  noise_ = row.noise;
  step_factors(layout, part, row.row, sum, &one);
}

/// Rounds by the names of slots, as who has which of them must not matter.
void RowOptimizer::step_slots_by_sum(const table::RowLayout& layout, std::size_t number,
                                     const BatchRow& row, const float* all) {
  const table::RowPart& part = layout.parts()[number];
  const float* const sum = bounded_.numbers(all, part.weights());
  const table::RowLayout::Column& weights = layout.weights(number);
  const kernels::RowNoise noise = layout.noise(number, row.noise);
  if (in_kernels(part, *rules_[number])) {
    const table::RowLayout::Column& state = layout.state(number, 0);
    return kernels_->ffm_step_row(weights.codec, state.codec, row.row + weights.begin,
                                  row.row + state.begin, sum, part.slots, part.k,
                                  *rules_[number]->fused(), noise);
  }
  ones_.assign(part.slots, 1.0f);
  step_floats(layout, number, row.row, sum, ones_.data());
  for (std::size_t i = 0; i < weights.count; ++i) {
    kernels::encode(weights.codec, row.row + weights.begin, i, row_[i], noise.of_number(i));
  }
  for (std::size_t s = 0; s < part.states.size(); ++s) {
    const table::RowLayout::Column& state = layout.state(number, s);
    const std::size_t of_slot = state.count == weights.count ? 1 : part.k;
    for (std::size_t i = 0; i < state.count; ++i) {
      kernels::encode(
          state.codec, row.row + state.begin, i, row_states_[s][i],
          kernels::state_noise(noise.of_number(i * of_slot)) + static_cast<std::uint32_t>(s));
    }
  }
}

// ---- noise ----

/// Seeds depend on the number of examples learned from, so that a resumed run goes on with those of
/// an uninterrupted one, and on the thread, as threads count alike.
void RowOptimizer::seed_noise(const tape::Parameters& parameters, const table::RowLayout& layout,
                              std::size_t part) {
  noise_ =
      table::mix(table::mix((std::uint64_t{seed_} << 32) ^ thread_) ^ parameters.scalars.examples);
  // The names of slots tell parts with slots apart from others, which have a noise of their own.
  if (!layout.parts()[part].by_field) noise_ = table::mix(noise_ + part + 1);
}

std::uint32_t RowOptimizer::noise_of(RowName name) const {
  const std::uint64_t both = std::uint64_t{name.field} << 32 | name.key;
  return static_cast<std::uint32_t>(table::mix(noise_ ^ both) >> 32);
}

std::uint32_t RowOptimizer::next_noise() {
  noise_ = table::mix(noise_);
  return static_cast<std::uint32_t>(noise_ >> 32);
}

// ---- sums of a batch ----

/// Numbers the rows of examples that are learned from, counts how often each comes, and gives it
/// the noise of its step, so that neither the order of rows nor who has which slots, nor who else
/// learns in the batch, matters. The features that share the overflow row give it that of the first
/// of them.
void RowOptimizer::meet_rows(const tape::Tape& tape) {
  const feature::FeatureBatch& batch = *tape.batch;
  rows_.clear();
  distinct_.start(tape.field_begin(tape.size) - tape.field_begin(0));
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
float* RowOptimizer::sum_of_row(std::uint32_t number) {
  const BatchRow& row = rows_[number];
  if (row.times > 1) return row_sums_.data() + row.sum * row_floats_;
  float* const sum = single_sums_.data() + singles_.size() * row_floats_;
  std::fill_n(sum, row_floats_, 0.0f);
  singles_.push_back({number, sum});
  return sum;
}

/// Places the sums of the features of example b.
void RowOptimizer::place_sums(const tape::Tape& tape, std::size_t b) {
  const std::uint32_t first = tape.field_begin(b);
  const std::size_t features = tape.field_begin(b + 1) - first;
  singles_.clear();
  if (single_sums_.size() < features * row_floats_) single_sums_.resize(features * row_floats_);
  sums_.resize(features);
  for (std::size_t i = 0; i < features; ++i) {
    const bool has_row = tape.to_learn.rows[first + i] != nullptr;
    sums_[i] = has_row ? sum_of_row(row_numbers_[first + i]) : nullptr;
  }
}

/// Rows are as they were before the batch while gradients are made of them: one that comes several
/// times is taken at the end, in the order of their first coming, one that comes once when its
/// example is through. Sums are made in the order of examples.
template <class Take>
void RowOptimizer::each_row_sum(const tape::Parameters& parameters, tape::Tape& tape,
                                std::size_t part, const tape::RowGradients& gradients, Take take) {
  meet_rows(tape);
  row_floats_ = table::whole_lines(gradients.floats(parameters));
  std::uint32_t sums = 0;
  for (BatchRow& row : rows_) {
    if (row.times > 1) row.sum = sums++;
  }
  row_sums_.assign(sums * row_floats_, 0.0f);
  const auto take_sum = [&](const BatchRow& row, const float* sum) {
    if (tape.has_part(row.field, part)) take(row, sum);
  };
  for (std::size_t b = 0; b < tape.size; ++b) {
    if (!tape.learn[b]) continue;
    place_sums(tape, b);
    gradients.add(parameters, tape, b, sums_.data());
    for (const SingleRow& single : singles_) take_sum(rows_[single.number], single.sum);
  }
  for (const BatchRow& row : rows_) {
    if (row.times > 1) take_sum(row, row_sums_.data() + row.sum * row_floats_);
  }
}

}  // namespace leveret::optim
