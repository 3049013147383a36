#include "block/norm_block.h"

#include <algorithm>
#include <cmath>

#include "block/ffm_block.h"
#include "block/linear_block.h"

namespace leveret::block {
namespace {

/// How many of the inputs are normalised, from the first on: pairs and linear sums.
std::uint32_t normalised(const tape::Parameters& parameters) { return parameters.layout.counts(); }

/// Pairs, segments of groups, and the linear stage's score.
std::uint32_t column_before(const tape::InputLayout& from, const tape::InputLayout& to,
                            std::uint32_t column) {
  if (column < to.linear()) return column < from.linear() ? column : tape::kNewColumn;
  const std::uint32_t source = tape::source_of_segments(from, to, column - to.linear());
  return source != tape::kNewColumn ? from.linear() + source : tape::kNewColumn;
}

}  // namespace

void NormBlock::declare(const tape::InputLayout& layout, tape::Declarations& declarations) {
  pairs_ = declarations.read(FfmBlock::kPairs).id;
  if (config_.mixed) first_ = declarations.find_head(LinearBlock::kFirst)->score;
  outputs_ =
      declarations.add(tape::Tensor{.name = kOutputs,
                                    .size = layout.fields > 0 ? layout.size(config_.mixed) : 0,
                                    .whole_lines = true,
                                    .gradient = true,
                                    .source = column_before});
  scale_ = declarations.add(tape::Tensor{.name = "norm.scale", .size = 1});
  declarations[pairs_].gradient_in = outputs_;
}

void NormBlock::open(const tape::Parameters& parameters, std::size_t size, tape::Tape& tape) const {
  tape::at_least(tape.d_group_linear, size * parameters.layout.groups());
}

void NormBlock::forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t begin,
                        std::size_t end) const {
  const tape::InputLayout layout = parameters.layout;
  const std::uint32_t size = layout.size(config_.mixed);
  const std::uint32_t count = normalised(parameters);
  const std::uint32_t groups = layout.groups();
  tape::TensorPlace& outputs = tape[outputs_];
  for (std::size_t b = begin; b < end; ++b) {
    float* x = outputs.at(b);
    std::fill(x + size, x + outputs.stride, 0.0f);
    if (config_.mixed) {
      std::copy_n(tape.group_counts.data() + b * groups, groups, x + layout.counts());
      kernels_->scale(tape.group_seen.data() + b * groups, groups, kSeenScale, x + layout.seen());
      x[layout.first()] = tape[first_].values[b];
    }
    const float* const pairs = tape[pairs_].at(b);
    const float* const linear = tape.group_linear.data() + b * groups;
    const float sum = tape.pairs_sum[b] + kernels_->total(linear, groups);
    const float mean = sum / static_cast<float>(count);
    // Subtracting first keeps the variance of a large common value from cancelling away.
    const float squares = kernels_->centre(pairs, layout.pairs(), mean, x) +
                          kernels_->centre(linear, groups, mean, x + layout.linear());
    const float scale = 1.0f / std::sqrt(squares / static_cast<float>(count) + kEpsilon);
    kernels_->scale(x, count, scale, x);
    tape[scale_].values[b] = scale;
  }
}

/// d x = scale * (d x^ - mean(d x^) - x^ mean(d x^ x^)).
void NormBlock::backward(const tape::Parameters& parameters, tape::Tape& tape) const {
  const tape::InputLayout layout = parameters.layout;
  const std::uint32_t count = normalised(parameters);
  tape::TensorPlace& outputs = tape[outputs_];
  for (std::size_t b = 0; b < tape.size; ++b) {
    const float* x = outputs.at(b);
    float* d = outputs.d_at(b);
    const float mean = kernels_->total(d, count) / static_cast<float>(count);
    const float along = kernels_->dot(d, x, count) / static_cast<float>(count);
    const float scale = tape[scale_].values[b];
    kernels_->normalise_back(x, count, mean, along, scale, d);
    if (!config_.mixed) {
      std::copy_n(d + layout.linear(), layout.groups(),
                  tape.d_group_linear.data() + b * layout.groups());
    }
  }
}

}  // namespace leveret::block
