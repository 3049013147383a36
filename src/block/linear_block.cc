#include "block/linear_block.h"

#include <algorithm>
#include <cmath>

#include "block/logistic.h"

namespace leveret::block {
namespace {

/// Sum of w x of features [begin, end): four sums side by side, as each waits for its last one.
float weighted_sum(const Tape& tape, std::size_t begin, std::size_t end) {
  const table::Cell* const* const cells = tape.cells.data();
  const float* const values = tape.values.data();
  float sums[4] = {};
  std::size_t i = begin;
  for (; i + 4 <= end; i += 4) {
    for (std::size_t s = 0; s < 4; ++s) sums[s] += cells[i + s]->weight * values[i + s];
  }
  for (; i < end; ++i) sums[0] += cells[i]->weight * values[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

void LinearBlock::forward(const Parameters& parameters, Tape& tape, std::size_t begin,
                          std::size_t end) const {
  for (std::size_t b = begin; b < end; ++b) {
    if (config_.mixed) {
      forward_mixed(parameters, tape, b);
    } else {
      forward_one(parameters, tape, b);
    }
  }
}

void LinearBlock::forward_one(const Parameters& parameters, Tape& tape, std::size_t b) const {
  const std::uint32_t groups = parameters.layout.groups();
  Scores& scores = tape.scores[b];
  scores.base = tape.initial(b) + (config_.constant ? parameters.scalars.bias : 0.0f);
  float sum = scores.base;
  const bool grouped = config_.uses_groups();
  if (!grouped) {
    sum += weighted_sum(tape, tape.batch->linear_begin(tape.first + b),
                        tape.batch->linear_end(tape.first + b));
  }
  if (grouped || tape.keep_parts) {
    float* group_linear = tape.group_linear.data() + b * groups;
    std::fill(group_linear, group_linear + groups, 0.0f);
    for (const feature::LinearRun& run : tape.linear_runs(b)) {
      float partial = 0;
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        partial += tape.cells[i]->weight * tape.values[i];
      }
      group_linear[run.group] += partial;
      if (grouped) sum += partial;
    }
  }
  scores.linear = scores.first = scores.ffm = scores.deep = scores.last = sum;
}

/// Of each feature of example b the log-odds of (clicks + prior) / (count + kPriorCount), and
/// log(1 + count): all of them side by side. Threads lose updates of either number, so clicks may
/// be the more: nobody else has then seen the feature.
void LinearBlock::take_logs(Tape& tape, std::size_t b, float rate) const {
  const std::uint32_t begin = tape.batch->linear_begin(tape.first + b);
  const std::size_t count = tape.batch->linear_end(tape.first + b) - begin;
  const table::Cell* const* const cells = tape.cells.data() + begin;
  float* const odds = tape.log_odds.data() + begin;
  float* const counts = tape.log_counts.data() + begin;
  const float clicks_before = kPriorCount * rate, others_before = kPriorCount * (1.0f - rate);
  for (std::size_t i = 0; i < count; ++i) {
    const table::MixedCell& cell = table::mixed(*cells[i]);
    odds[i] = cell.clicks + clicks_before;
    counts[i] = std::max(cell.count - cell.clicks, 0.0f) + others_before;
  }
  for (std::size_t i = 0; i < count; ++i) odds[i] /= counts[i];
  for (std::size_t i = 0; i < count; ++i) counts[i] = 1.0f + table::mixed(*cells[i]).count;
  kernels_.log(odds, count, odds);
  kernels_.log(counts, count, counts);
}

void LinearBlock::forward_mixed(const Parameters& parameters, Tape& tape, std::size_t b) const {
  const Scalars& scalars = parameters.scalars;
  const std::uint32_t groups = parameters.layout.groups();
  float* group_linear = tape.group_linear.data() + b * groups;
  float* group_counts = tape.group_counts.data() + b * groups;
  float* group_seen = tape.group_seen.data() + b * groups;
  std::fill(group_linear, group_linear + groups, 0.0f);
  std::fill(group_counts, group_counts + groups, 0.0f);
  std::fill(group_seen, group_seen + groups, 0.0f);

  Scores& scores = tape.scores[b];
  // As a float, the rate of a stream of clicks alone may round to 1.
  const float rate =
      std::clamp(static_cast<float>(scalars.clicks / scalars.count), 1e-7f, 1.0f - 1e-7f);
  const float base = logit(rate);
  scores.base = base + tape.initial(b);
  const bool constant = config_.constant;
  float linear = scores.base + (constant ? scalars.bias : 0.0f);
  float linear2 = constant ? scalars.bias2 : 0.0f;
  float counts = scores.base;
  take_logs(tape, b, rate);
  for (const feature::LinearRun& run : tape.linear_runs(b)) {
    float sum = 0, odds = 0, seen = 0;
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const table::MixedCell& cell = table::mixed(*tape.cells[i]);
      sum += cell.weight * tape.values[i];
      linear2 += cell.weight2 * tape.values[i];
      if (cell.count > 0) {
        odds += tape.log_odds[i] - base;
        seen += tape.log_counts[i];
      }
    }
    const float length = static_cast<float>(run.end - run.begin);
    group_linear[run.group] += sum;
    // A group that comes in several runs counts with the mean of each.
    group_counts[run.group] += odds / length;
    group_seen[run.group] += seen / length;
    linear += sum;
  }
  const float* weights = parameters.group_weights.data();
  for (std::uint32_t g = 0; g < groups; ++g) counts += weights[2 * g] * group_counts[g];
  scores.counts = clamp_score(counts);
  scores.linear = clamp_score(linear);
  scores.linear2 = clamp_score(linear2 + scores.counts);
  scores.first_mix.score = {scores.linear, scores.counts, 0.0f, 0.0f};
  Mixer(kFirstHeads).forward(scalars.first, scores.first_mix);
  scores.first = scores.first_mix.mixed;
  scores.ffm = scores.deep = scores.last = scores.linear2;
}

}  // namespace leveret::block
