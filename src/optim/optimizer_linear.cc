// Optimizer: the linear stage.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "block/fast_head.h"
#include "block/forgetting.h"
#include "optim/ftrl.h"
#include "optim/optimizer.h"

namespace leveret::optim {
namespace {

/// A gradient whose square is not finite is dropped: it would freeze the weight for ever.
inline float finite(float g) { return g * g <= std::numeric_limits<float>::max() ? g : 0.0f; }

/// rate / G^power with G = init + sum.
inline float adagrad_scale(const PartLearning& learning, float sum) {
  const float total = learning.init_acc + sum;
  if (learning.power_t == 0.0f) return learning.rate;
  if (!(total > 0.0f)) return 0.0f;
  return learning.power_t == 0.5f ? learning.rate / std::sqrt(total)
                                  : learning.rate * std::pow(total, -learning.power_t);
}

/// The step of a weight with a sum of its own, which takes g².
inline float adagrad_step(const PartLearning& learning, float* sum, float g) {
  g = finite(g);
  *sum += g * g;
  return adagrad_scale(learning, *sum) * g;
}

}  // namespace

PartLearning Optimizer::linear_learning() const {
  PartLearning learning = learning_.linear;
  learning.power_t = adagrad_power(learning);
  return learning;
}

/// FTRL-proximal, McMahan et al. 2013, algorithm 1; alpha is --learning_rate.
void Optimizer::ftrl_step(table::FtrlCell& cell, float g) const {
  const float square = g * g;
  if (!std::isfinite(square)) return;
  const float alpha = learning_.linear.rate;
  const float before = std::sqrt(cell.sum);
  cell.sum += square;
  const float after = std::sqrt(cell.sum);
  cell.z += g - (after - before) / alpha * cell.weight;
  const float excess = std::fabs(cell.z) - learning_.l1;
  cell.weight = excess <= 0.0f ? 0.0f
                               : -std::copysign(excess, cell.z) /
                                     ((learning_.ftrl_beta + after) / alpha + learning_.l2);
}

void Optimizer::step_cell(const CellGradient& of) const {
  const bool ftrl = learning_.linear.rule == UpdateRule::kFtrl;
  if (ftrl && !config_.mixed) {
    if (of.g != 0.0f) ftrl_step(static_cast<table::FtrlCell&>(*of.cell), of.g);
    return;
  }
  const PartLearning learning = linear_learning();
  const auto with_l2 = [&](float g, float weight) {
    return g != 0.0f ? finite(g + learning_.l2 * weight) : 0.0f;
  };
  if (!config_.mixed) {
    Cell& cell = *of.cell;
    cell.weight -= adagrad_step(learning, &cell.sum, with_l2(of.g, cell.weight));
    return;
  }
  table::MixedCell& cell = table::mixed(*of.cell);
  if (ftrl) {
    FtrlWeights(learning_).step(cell.weight, cell.weight2, cell.sum, finite(of.g), finite(of.g2));
  } else {
    const float g2 = with_l2(of.g2, cell.weight2);
    cell.sum += g2 * g2;
    const float scale = adagrad_scale(learning, cell.sum);
    cell.weight -= scale * with_l2(of.g, cell.weight);
    cell.weight2 -= scale * g2;
  }
  cell.fast -= block::fast_rate(of.fast_curvature) * with_l2(of.fast, cell.fast);
}

/// step_cell of every feature of example b by AdaGrad with the power 1/2 and without L2.
void Optimizer::step_cells(const Tape& tape, std::size_t b) {
  const tape::LinearErrors& errors = tape.linear_errors[b];
  const std::size_t begin = tape.batch->linear_begin(tape.first + b);
  const std::size_t count = tape.batch->linear_end(tape.first + b) - begin;
  Cell* const* const cells = tape.to_learn.cells.data() + begin;
  const float* const values = tape.values.data() + begin;
  const float init = learning_.linear.init_acc, rate = learning_.linear.rate;
  weights_.resize(count);
  for (std::size_t i = 0; i < count; ++i) weights_[i] = &cells[i]->weight;
  if (config_.mixed) {
    const float fast = block::fast_rate(errors.fast_curvature) * errors.fast;
    kernels_->step_cells(weights_.data(), values, count,
                         {errors.linear, errors.linear2, fast, init, rate});
    return;
  }
  const auto step = [&](const float* x, float scale) {
    kernels_->adagrad_gather_scatter(weights_.data(), x, scale, count, init, rate);
  };
  if (feeds_mlp()) {
    fit_steps(count);
    for (const feature::LinearRun& run : tape.linear_runs(b)) {
      const float d = tape.d_group_linear[run.group];
      for (std::size_t i = run.begin - begin; i < run.end - begin; ++i) steps_[i] = d * values[i];
    }
    step(steps_.data(), 1.0f);
  } else {
    step(values, errors.linear);
  }
}

/// Makes room for so many steps and their sums.
void Optimizer::fit_steps(std::size_t count) {
  if (steps_.size() >= count) return;
  steps_.resize(count);
  sums_.resize(count);
}

/// One step of each cell of example b alone. What comes through layers is that of the tape's only
/// example: with it there are no turns.
void Optimizer::apply_linear(Parameters& parameters, const Tape& tape, std::size_t b) {
  const bool simple = learning_.linear.rule != UpdateRule::kFtrl &&
                      linear_learning().power_t == 0.5f && learning_.l2 == 0.0f;
  if (simple) {
    step_cells(tape, b);
  } else {
    const tape::LinearErrors& errors = tape.linear_errors[b];
    for (const feature::LinearRun& run : tape.linear_runs(b)) {
      const float d = feeds_mlp() ? tape.d_group_linear[run.group] : errors.linear;
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        const float x = tape.values[i];
        step_cell({tape.to_learn.cells[i], d * x, errors.linear2 * x, errors.fast * x,
                   errors.fast_curvature});
      }
    }
  }
  if (config_.constant) step_constants(parameters.scalars, tape.d_constant);
}

void Optimizer::apply_linear_batch(Parameters& parameters, const Tape& tape) {
  sum_cells(parameters, tape);
  for (const CellGradient& sum : cells_) step_cell(sum);
  if (config_.constant) step_constants(parameters.scalars, tape.d_constant);
}

/// In the order of examples.
void Optimizer::sum_cells(const Parameters& parameters, const Tape& tape) {
  const std::uint32_t groups = parameters.layout.groups();
  cells_.clear();
  distinct_.start(tape.batch->linear_end(tape.first + tape.size - 1) -
                  tape.batch->linear_begin(tape.first));
  for (std::size_t b = 0; b < tape.size; ++b) {
    const tape::LinearErrors& errors = tape.linear_errors[b];
    if (!tape.learn[b]) continue;
    for (const feature::LinearRun& run : tape.linear_runs(b)) {
      const float d = feeds_mlp() ? tape.d_group_linear[b * groups + run.group] : errors.linear;
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        const float x = tape.values[i];
        Cell* const cell = tape.to_learn.cells[i];
        const std::uint32_t number = distinct_.number(cell);
        if (number == cells_.size()) cells_.push_back({.cell = cell});
        CellGradient& sum = cells_[number];
        sum.g += d * x;
        sum.g2 += errors.linear2 * x;
        sum.fast += errors.fast * x;
        sum.fast_curvature += errors.fast_curvature;
      }
    }
  }
}

void Optimizer::step_constants(tape::Scalars& scalars, const tape::LinearErrors& d) const {
  const PartLearning learning = linear_learning();
  if (!config_.mixed) {
    scalars.bias -= adagrad_step(learning, &scalars.bias_sum, d.linear);
    return;
  }
  const float g2 = finite(d.linear2);
  scalars.bias_sum += g2 * g2;
  const float scale = adagrad_scale(learning, scalars.bias_sum);
  scalars.bias -= scale * finite(d.linear);
  scalars.bias2 -= scale * g2;
  scalars.fast_bias -= block::fast_rate(d.fast_curvature) * d.fast;
}

/// Every array that learns by Rule::kAdagrad.
void Optimizer::apply_vectors(Parameters& parameters, const Tape& tape) {
  for (std::size_t id = 0; id < parameters.declared().arrays.size(); ++id) {
    const tape::LearnedArray& array = parameters.declared().arrays[id];
    if (array.rule != tape::Rule::kAdagrad) continue;
    const std::span<float> weights = parameters[static_cast<tape::ArrayId>(id)];
    const std::span<float> squares = parameters[array.sums];
    const std::size_t count = weights.size();
    fit_steps(count);
    float* const steps = steps_.data();
    float* const sums = sums_.data();
    kernels_->squares(tape.gradients[id].data(), 1.0f, count, steps, sums);
    for (std::size_t i = 0; i < count; ++i) sums[i] = squares[i] += sums[i];
    kernels_->adagrad_deltas(steps, sums, count, array.rate, steps);
    for (std::size_t i = 0; i < count; ++i) weights[i] -= steps[i];
  }
}

/// The largest values of the features that have their own.
void Optimizer::learn_values(table::Tables& tables, const Tape& tape, std::size_t b) {
  for (const feature::FieldRun& run : tape.field_runs(b)) {
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const feature::FieldFeature& feature = tape.batch->field_features[i];
      if (!feature::has_own_largest(feature, tables.hashed() != nullptr)) continue;
      tables.field(run.field).learn_value(table::key_of(feature.hash), std::fabs(feature.value));
    }
  }
}

/// Base rate, clicks and counts of every feature, and the largest value seen.
void Optimizer::count_features(table::Tables& tables, Parameters& parameters, const Tape& tape,
                               std::size_t begin, std::size_t end) {
  const feature::FeatureBatch& batch = *tape.batch;
  for (std::size_t b = begin; b < end; ++b) {
    if (!tape.learn[b]) continue;
    const float importance = tape.importance(b);
    const float clicks = tape.label(b) > 0 ? importance : 0.0f;
    parameters.scalars.clicks += clicks;
    parameters.scalars.count += importance;
    const float most = block::most_sights(parameters.scalars, config_);
    for (const feature::LinearRun& run : tape.linear_runs(b)) {
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        const float size = std::fabs(batch.linear[i].value);
        table::MixedCell& cell = table::mixed(*tape.to_learn.cells[i]);
        if (tables.hashed() != nullptr) {
          float& largest = table::hashed(cell).largest_value;
          largest = std::max(largest, size);
        } else {
          tables.of_group(run.group).raise_largest_value(*tape.to_learn.slots[i], size);
        }
        cell.clicks += clicks;
        cell.count += importance;
        if (cell.count > most) {
          cell.clicks *= most / cell.count;
          cell.count = most;
        }
      }
    }
    if (tables.is_part()) learn_values(tables, tape, b);
  }
}

}  // namespace leveret::optim
