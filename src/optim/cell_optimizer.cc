#include "optim/cell_optimizer.h"

#include <cmath>

#include "block/fast_head.h"
#include "optim/bounded.h"
#include "optim/ftrl.h"

namespace leveret::optim {
namespace {

/// rate / G^power with G = init + sum.
inline float adagrad_scale(const rules::PartLearning& learning, float sum) {
  const float total = learning.init_acc + sum;
  if (learning.power_t == 0.0f) return learning.rate;
  if (!(total > 0.0f)) return 0.0f;
  return learning.power_t == 0.5f ? learning.rate / std::sqrt(total)
                                  : learning.rate * std::pow(total, -learning.power_t);
}

/// The step of a weight with a sum of its own, which takes g².
inline float adagrad_step(const rules::PartLearning& learning, float* sum, float g) {
  g = bounded(g);
  *sum += g * g;
  return adagrad_scale(learning, *sum) * g;
}

inline float with_l2(const rules::Learning& learning, float g, float weight) {
  return g != 0.0f ? bounded(g + learning.l2 * weight) : 0.0f;
}

}  // namespace

rules::PartLearning CellOptimizer::linear_learning() const {
  rules::PartLearning learning = learning_.linear;
  learning.power_t = rules::adagrad_power(learning);
  return learning;
}

/// FTRL-proximal, McMahan et al. 2013, algorithm 1; alpha is --learning_rate.
void CellOptimizer::ftrl_step(table::FtrlCell& cell, float g) const {
  if (!is_bounded(std::fabs(g))) return;
  const float square = g * g;
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

void CellOptimizer::step_cell(const CellGradient& of) const {
  if (mixed_) return step_mixed(of);
  if (learning_.linear.rule == rules::kFtrl) {
    if (of.g != 0.0f) ftrl_step(static_cast<table::FtrlCell&>(*of.cell), of.g);
    return;
  }
  table::Cell& cell = *of.cell;
  const float g = with_l2(learning_, of.g, cell.weight);
  cell.weight -= adagrad_step(linear_learning(), &cell.sum, g);
}

void CellOptimizer::step_mixed(const CellGradient& of) const {
  table::MixedCell& cell = table::mixed(*of.cell);
  if (learning_.linear.rule == rules::kFtrl) {
    FtrlWeights(learning_).step(cell.weight, cell.weight2, cell.sum, bounded(of.g), bounded(of.g2));
  } else {
    const float g2 = with_l2(learning_, of.g2, cell.weight2);
    cell.sum += g2 * g2;
    const float scale = adagrad_scale(linear_learning(), cell.sum);
    cell.weight -= scale * with_l2(learning_, of.g, cell.weight);
    cell.weight2 -= scale * g2;
  }
  cell.fast -= block::fast_rate(of.fast_curvature) * with_l2(learning_, of.fast, cell.fast);
}

/// step_cell of every feature of example b by AdaGrad with the power 1/2 and without L2.
void CellOptimizer::step_cells(const tape::Tape& tape, const tape::CellGradients& gradients,
                               std::size_t b) {
  const tape::LinearErrors& errors = gradients.errors[b];
  const std::size_t begin = tape.batch->linear_begin(tape.first + b);
  const std::size_t count = tape.batch->linear_end(tape.first + b) - begin;
  table::Cell* const* const cells = tape.to_learn.cells.data() + begin;
  const float* const values = tape.values.data() + begin;
  const float init = learning_.linear.init_acc, rate = learning_.linear.rate;
  weights_.resize(count);
  for (std::size_t i = 0; i < count; ++i) weights_[i] = &cells[i]->weight;
  if (mixed_) {
    const float fast = block::fast_rate(errors.fast_curvature) * errors.fast;
    kernels_->step_cells(weights_.data(), values, count,
                         {errors.linear, errors.linear2, fast, init, rate});
    return;
  }
  const auto step = [&](const float* x, float scale) {
    kernels_->adagrad_gather_scatter(weights_.data(), x, scale, count, init, rate);
  };
  if (gradients.d_groups != nullptr) {
    tape::at_least(gradients_, count);
    for (const feature::LinearRun& run : tape.linear_runs(b)) {
      const float d = gradients.d_groups[run.group];
      for (std::size_t i = run.begin - begin; i < run.end - begin; ++i)
        gradients_[i] = d * values[i];
    }
    step(gradients_.data(), 1.0f);
  } else {
    step(values, errors.linear);
  }
}

/// Whether step_cells has the rule.
bool CellOptimizer::is_simple() const {
  return learning_.linear.rule != rules::kFtrl && linear_learning().power_t == 0.5f &&
         learning_.l2 == 0.0f;
}

void CellOptimizer::step_one(const tape::Tape& tape, const tape::CellGradients& gradients,
                             std::size_t b) {
  if (is_simple()) return step_cells(tape, gradients, b);
  const tape::LinearErrors& errors = gradients.errors[b];
  for (const feature::LinearRun& run : tape.linear_runs(b)) {
    const float d = gradients.d_groups != nullptr ? gradients.d_groups[run.group] : errors.linear;
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const float x = tape.values[i];
      step_cell({tape.to_learn.cells[i], d * x, errors.linear2 * x, errors.fast * x,
                 errors.fast_curvature});
    }
  }
}

void CellOptimizer::step_batch(const tape::Parameters& parameters, const tape::Tape& tape,
                               const tape::CellGradients& gradients) {
  sum_cells(parameters, tape, gradients);
  for (const CellGradient& sum : cells_) step_cell(sum);
}

void CellOptimizer::visit_sums(const tape::Parameters& parameters, const tape::Tape& tape,
                               const tape::CellGradients& gradients,
                               const std::function<void(const table::Cell&, float)>& visit) {
  sum_cells(parameters, tape, gradients);
  for (const CellGradient& sum : cells_) visit(*sum.cell, sum.g);
}

void CellOptimizer::step(table::Cell& cell, float gradient) const {
  step_cell({.cell = &cell, .g = gradient});
}

/// In the order of examples.
void CellOptimizer::sum_cells(const tape::Parameters& parameters, const tape::Tape& tape,
                              const tape::CellGradients& gradients) {
  const std::uint32_t groups = parameters.layout.feature_groups();
  cells_.clear();
  distinct_.start(tape.batch->linear_end(tape.first + tape.size - 1) -
                  tape.batch->linear_begin(tape.first));
  for (std::size_t b = 0; b < tape.size; ++b) {
    const tape::LinearErrors& errors = gradients.errors[b];
    if (!tape.learn[b]) continue;
    for (const feature::LinearRun& run : tape.linear_runs(b)) {
      const float d = gradients.d_groups != nullptr ? gradients.d_groups[b * groups + run.group]
                                                    : errors.linear;
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        const float x = tape.values[i];
        table::Cell* const cell = tape.to_learn.cells[i];
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

void CellOptimizer::step_constants(tape::Scalars& scalars, const tape::LinearErrors& d) const {
  if (!constant_) return;
  const rules::PartLearning learning = linear_learning();
  if (!mixed_) {
    scalars.bias -= adagrad_step(learning, &scalars.bias_sum, d.linear);
    return;
  }
  const float g2 = bounded(d.linear2);
  scalars.bias_sum += g2 * g2;
  const float scale = adagrad_scale(learning, scalars.bias_sum);
  scalars.bias -= scale * bounded(d.linear);
  scalars.bias2 -= scale * g2;
  scalars.fast_bias -= block::fast_rate(d.fast_curvature) * d.fast;
}

}  // namespace leveret::optim
