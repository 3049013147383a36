// Optimizer: the linear stage.
#include <algorithm>
#include <cmath>
#include <limits>

#include "model/optimizer.h"

namespace leveret::model {
namespace {

/// rate * g / G^power with G = init + *sum after *sum took g². A square that is not finite is
/// dropped: it would freeze the weight for ever.
inline float adagrad_step(const PartLearning& learning, float* sum, float g) {
  const float square = g * g;
  if (!(square <= std::numeric_limits<float>::max())) return 0.0f;
  *sum += square;
  const float total = learning.init_acc + *sum;
  if (learning.power_t == 0.5f) {
    return total > 0.0f ? learning.rate * g / std::sqrt(total) : 0.0f;
  }
  if (learning.power_t == 0.0f) return learning.rate * g;
  return total > 0.0f ? learning.rate * g * std::pow(total, -learning.power_t) : 0.0f;
}

/// Gradient descent is AdaGrad with the power 0.
PartLearning linear_learning(const Spec& spec) {
  PartLearning learning = spec.linear;
  if (spec.optimizer == OptimizerKind::kSgd) learning.power_t = 0.0f;
  return learning;
}

/// Whether the one loss reaches the linear weights through the MLP, too.
bool feeds_mlp(const Spec& spec) { return !spec.mixed() && spec.has_mlp(); }

/// FTRL-proximal, McMahan et al. 2013, algorithm 1; alpha is --learning_rate.
void ftrl_step(const Spec& spec, float* cell, float g) {
  const float square = g * g;
  if (!std::isfinite(square)) return;
  const float alpha = spec.linear.rate;
  const float before = std::sqrt(cell[kSum]);
  cell[kSum] += square;
  const float after = std::sqrt(cell[kSum]);
  cell[kZ] += g - (after - before) / alpha * cell[kWeight];
  const float z = cell[kZ];
  const float excess = std::fabs(z) - spec.l1;
  cell[kWeight] = excess <= 0.0f
                      ? 0.0f
                      : -std::copysign(excess, z) / ((spec.ftrl_beta + after) / alpha + spec.l2);
}

}  // namespace

void Optimizer::step_cell(const Spec& spec, float* cell, float g, float g2) const {
  if (spec.optimizer == OptimizerKind::kFtrl) {
    if (g != 0.0f) ftrl_step(spec, cell, g);
    return;
  }
  const PartLearning learning = linear_learning(spec);
  if (g != 0.0f) {
    cell[kWeight] -= adagrad_step(learning, &cell[kSum], g + spec.l2 * cell[kWeight]);
  }
  if (spec.mixed() && g2 != 0.0f) {
    cell[kWeight2] -= adagrad_step(learning, &cell[kSum2], g2 + spec.l2 * cell[kWeight2]);
  }
}

/// step_cell of every feature of the tape's one example, and apply_bias, by AdaGrad with the power
/// 1/2 and without L2.
void Optimizer::step_cells(Model& model, const Tape& tape) {
  const Spec& spec = model.spec();
  const Scores& scores = tape.scores[0];
  const std::size_t begin = tape.batch->linear_begin(tape.first);
  const std::size_t count = tape.batch->linear_end(tape.first) - begin;
  float* const* const cells = tape.cells.data() + begin;
  const float* const values = tape.values.data() + begin;
  const float init = spec.linear.init_acc, rate = spec.linear.rate;
  const auto step = [&](float* const* places, const float* x, float scale) {
    kernels_->adagrad_gather_scatter(places, x, scale, count, init, rate);
  };
  if (feeds_mlp(spec)) {
    fit_steps(count);
    for (const feature::LinearRun& run : tape.linear_runs(0)) {
      const float d = scores.d_linear + tape.d_group_linear[run.group];
      for (std::size_t i = run.begin - begin; i < run.end - begin; ++i) steps_[i] = d * values[i];
    }
    step(cells, steps_.data(), 1.0f);
  } else {
    step(cells, values, scores.d_linear);
  }
  if (spec.mixed()) {
    places_.resize(count);
    for (std::size_t i = 0; i < count; ++i) places_[i] = cells[i] + kWeight2;
    step(places_.data(), values, scores.d_linear2);
  }
  if (spec.constant) apply_bias(model, tape);
}

/// Makes room for so many steps and their sums.
void Optimizer::fit_steps(std::size_t count) {
  if (steps_.size() >= count) return;
  steps_.resize(count);
  sums_.resize(count);
}

void Optimizer::apply_linear(Model& model, const Tape& tape) {
  const Spec& spec = model.spec();
  if (spec.optimizer != OptimizerKind::kFtrl && linear_learning(spec).power_t == 0.5f &&
      spec.l2 == 0.0f) {
    return step_cells(model, tape);
  }
  const Scores& scores = tape.scores[0];
  const bool through_mlp = feeds_mlp(spec);
  for (const feature::LinearRun& run : tape.linear_runs(0)) {
    const float d = scores.d_linear + (through_mlp ? tape.d_group_linear[run.group] : 0.0f);
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      step_cell(spec, tape.cells[i], d * tape.values[i], scores.d_linear2 * tape.values[i]);
    }
  }
  if (spec.constant) apply_bias(model, tape);
}

void Optimizer::apply_linear_batch(Model& model, const Tape& tape) {
  const Spec& spec = model.spec();
  const bool through_mlp = feeds_mlp(spec);
  const std::uint32_t groups = model.layout().groups();
  cells_.clear();
  for (std::size_t b = 0; b < tape.size; ++b) {
    const Scores& scores = tape.scores[b];
    if (!scores.learn) continue;
    for (const feature::LinearRun& run : tape.linear_runs(b)) {
      const float d =
          scores.d_linear + (through_mlp ? tape.d_group_linear[b * groups + run.group] : 0.0f);
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        cells_.push_back({tape.cells[i], d * tape.values[i], scores.d_linear2 * tape.values[i]});
      }
    }
  }
  std::stable_sort(cells_.begin(), cells_.end(),
                   [](const CellGradient& a, const CellGradient& b) { return a.cell < b.cell; });
  for (std::size_t i = 0; i < cells_.size();) {
    CellGradient sum = cells_[i];
    for (++i; i < cells_.size() && cells_[i].cell == sum.cell; ++i) {
      sum.g += cells_[i].g;
      sum.g2 += cells_[i].g2;
    }
    step_cell(spec, sum.cell, sum.g, sum.g2);
  }
  if (spec.constant) apply_bias(model, tape);
}

void Optimizer::apply_bias(Model& model, const Tape& tape) {
  Scalars& scalars = model.scalars();
  float g = 0, g2 = 0;
  for (std::size_t b = 0; b < tape.size; ++b) {
    g += tape.scores[b].d_linear;
    g2 += tape.scores[b].d_linear2;
  }
  const PartLearning learning = linear_learning(model.spec());
  if (g != 0.0f) scalars.bias -= adagrad_step(learning, &scalars.bias_sum, g);
  if (g2 != 0.0f) scalars.bias2 -= adagrad_step(learning, &scalars.bias2_sum, g2);
}

/// One weight per group for the counts head, by AdaGrad at a rate of its own.
void Optimizer::apply_groups(Model& model, const Tape& tape) {
  constexpr float kRate = 0.02f;
  const std::uint32_t groups = model.layout().groups();
  fit_steps(groups);
  float* const steps = steps_.data();
  float* const sums = sums_.data();
  std::fill(steps, steps + groups, 0.0f);
  for (std::size_t b = 0; b < tape.size; ++b) {
    const float d = tape.scores[b].d_counts;
    const float* const counts = tape.group_counts.data() + b * groups;
    for (std::uint32_t g = 0; g < groups; ++g) steps[g] += d * counts[g];
  }
  kernels_->squares(steps, 1.0f, groups, steps, sums);
  float* const weights = model.group_weights().data();
  for (std::uint32_t g = 0; g < groups; ++g) sums[g] = weights[2 * g + 1] += sums[g];
  kernels_->adagrad_deltas(steps, sums, groups, kRate, steps);
  for (std::uint32_t g = 0; g < groups; ++g) weights[2 * g] -= steps[g];
}

/// Base rate, clicks and counts of every feature, and the largest value seen.
void Optimizer::count_features(Model& model, const Tape& tape) {
  const feature::FeatureBatch& batch = *tape.batch;
  for (std::size_t b = 0; b < tape.size; ++b) {
    if (!tape.scores[b].learn) continue;
    const float importance = tape.importance(b);
    const float clicks = tape.label(b) > 0 ? importance : 0.0f;
    model.scalars().clicks += clicks;
    model.scalars().count += importance;
    const std::size_t example = tape.first + b;
    for (std::uint32_t i = batch.linear_begin(example); i < batch.linear_end(example); ++i) {
      float* cell = tape.cells[i];
      cell[kClicks] += clicks;
      cell[kCount] += importance;
      // A float stops counting at 2^24; halving long before keeps the rate and follows change.
      if (cell[kCount] >= 0x1p22f) {
        cell[kClicks] *= 0.5f;
        cell[kCount] *= 0.5f;
      }
      raise_largest_value(cell, std::fabs(batch.linear[i].value));
    }
  }
}

}  // namespace leveret::model
