#include "block/linear_block.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "block/fast_head.h"
#include "block/logistic.h"
#include "block/mixer.h"
#include "rules/adagrad.h"

namespace leveret::block {
namespace {

/// Sum of w x of features [begin, end): four sums side by side, as each waits for its last one.
float weighted_sum(const tape::Tape& tape, std::size_t begin, std::size_t end) {
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

/// As a float, the rate of a stream of clicks alone may round to 1.
float base_rate(const tape::Scalars& scalars) {
  return std::clamp(static_cast<float>(scalars.clicks / scalars.count), 1e-7f, 1.0f - 1e-7f);
}

}  // namespace

void LinearBlock::declare(const tape::Extent& layout, tape::Declarations& declarations) {
  using table::Learned;
  const auto number = [&](const char* name, Learned kind, float* (*at)(tape::Scalars&),
                          tape::Merge merge = tape::Merge::kAdd) {
    tape::LearnedArray array{name, kind, merge, {}};
    array.floats = at;
    declarations.add(std::move(array));
  };
  const auto total = [&](const char* name, double* (*at)(tape::Scalars&)) {
    tape::LearnedArray array{name, Learned::kStatistic, tape::Merge::kAdd, {}};
    array.doubles = at;
    declarations.add(std::move(array));
  };
  total("base_rate.clicks", [](tape::Scalars& s) { return &s.clicks; });
  total("base_rate.count", [](tape::Scalars& s) { return &s.count; });
  number("constant.weight", Learned::kParameter, [](tape::Scalars& s) { return &s.bias; });
  number("constant.sum", Learned::kState, [](tape::Scalars& s) { return &s.bias_sum; });
  number("constant.weight2", Learned::kParameter, [](tape::Scalars& s) { return &s.bias2; });
  number(
      "constant.fast", Learned::kParameter, [](tape::Scalars& s) { return &s.fast_bias; },
      tape::Merge::kLatest);
  declare_heads(declarations);
  const auto of_groups = [&](const char* name, bool gradient) {
    return declarations.add(tape::Tensor{.name = name,
                                         .size = layout.feature_groups(),
                                         .owner = tape::Owner::Kind::kFeatureGroup,
                                         .gradient = gradient});
  };
  group_linear_ = of_groups(kGroupLinear, !config_.mixed && config_.merges());
  declarations.contributions.push_back({.name = "linear", .of = group_linear_});
  if (!config_.mixed) return;
  group_counts_ = of_groups(kGroupCounts, false);
  group_seen_ = of_groups(kGroupSeen, false);
  const float first = 1.0f / std::sqrt(static_cast<float>(std::max(layout.fields, 1u)));
  tape::LearnedArray weights{
      kGroupWeights, Learned::kParameter, tape::Merge::kAdd, {layout.feature_groups()}};
  weights.first = [first](std::uint32_t, std::uint32_t) { return first; };
  weights.owner = tape::Owner::Kind::kFeatureGroup;
  groups_ = declarations.weights(
      std::move(weights),
      std::make_shared<rules::Adagrad>(rules::RuleOptions{.part = {0.02f, 0.5f, 1.0f}}),
      "groups.sum");
  declarations.contributions.push_back({.name = "counts", .of = group_counts_, .weights = groups_});
}

void LinearBlock::declare_heads(tape::Declarations& declarations) {
  using tape::HeadDecl;
  using tape::HeadError;
  constexpr const char* kMixer = "first_mixer";
  constexpr float kJointWeight = 0.3f, kLinear = 2.0f, kCounts = 1.0f;
  base_ = declarations.add(tape::Tensor{.name = "linear.base", .size = 1});
  declarations.contributions.push_back({.name = "base", .of = base_});
  if (!config_.mixed) {
    linear_ = declarations.add(
        HeadDecl{.name = "linear", .error = HeadError::kJoint, .first_weight = kJointWeight});
    // In files, though nothing moves it.
    declare_mixer_arrays(kMixer, std::vector{kLinear, kCounts}, declarations);
    return;
  }
  curvature_ = declarations.add(tape::Tensor{.name = "linear.curvature", .size = 1});
  linear_ = declarations.add(HeadDecl{.name = "linear"});
  linear2_ = declarations.add(
      HeadDecl{.name = "linear2", .error = HeadError::kJoint, .first_weight = kJointWeight});
  counts_ = declarations.add(HeadDecl{.name = "counts"});
  std::vector<MixerInput> inputs{{linear_, kLinear}, {counts_, kCounts}};
  if (config_.fast_head) {
    fast_ = declarations.add(
        HeadDecl{.name = "fast", .first_weight = 0.0f, .most_error = kMostFastError});
    inputs.push_back({fast_, 0.0f});
  }
  first_ = declarations.add(
      HeadDecl{.name = kFirst, .error = HeadError::kNone, .first_weight = kFirstStageWeight});
  mixer_ = declare_mixer(kMixer, inputs, declarations);
}

void LinearBlock::open(const tape::Parameters& parameters, std::size_t size,
                       tape::Tape& tape) const {
  tape::at_least(tape.linear_errors, size);
  if (config_.mixed) tape.open_gradient(groups_, parameters.layout.feature_groups());
}

void LinearBlock::backward(const Run& run) const {
  const auto error = [&](tape::TensorId head, std::size_t b) {
    return head != tape::TensorId::kNone ? run.tape[head].gradient[b] : 0.0f;
  };
  tape::CellGradients cells;
  cells.errors = run.tape.linear_errors.data();
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const tape::LinearErrors errors{
        .linear = error(linear_, b),
        .linear2 = error(linear2_, b),
        .fast = error(fast_, b),
        .fast_curvature = config_.mixed ? run.tape[curvature_].values[b] : 1.0f};
    run.tape.linear_errors[b] = errors;
    if (run.tape.learn[b]) cells.d_constant.add(errors);
  }
  if (config_.mixed) {
    groups_backward(run);
  } else if (config_.merges()) {
    add_own_errors(run);
    cells.d_groups = run.tape.d_group_linear.data();
  }
  if (run.tape.sink != nullptr) run.tape.sink->cells(cells);
}

/// With one head and an MLP: what comes of a group's sum is its head's error and what comes through
/// the MLP.
void LinearBlock::add_own_errors(const Run& run) const {
  const std::uint32_t groups = run.parameters.layout.feature_groups();
  tape::at_least(run.tape.d_group_linear, run.tape.size * groups);
  for (std::size_t b = run.begin; b < run.end; ++b) {
    float* const d = run.tape.d_group_linear.data() + b * groups;
    const float own = run.tape.linear_errors[b].linear;
    // Without fields nothing has come through the MLP.
    if (run.parameters.layout.fields == 0) {
      std::fill_n(d, groups, own);
      continue;
    }
    const float* const by_readers = run.tape[group_linear_].d_at(b);
    for (std::uint32_t g = 0; g < groups; ++g) d[g] = by_readers[g] + own;
  }
}

/// One weight per group for the counts head.
void LinearBlock::groups_backward(const Run& run) const {
  const std::uint32_t groups = run.parameters.layout.feature_groups();
  float* const gradient = run.tape.gradient(groups_);
  std::fill(gradient, gradient + groups, 0.0f);
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const float d = run.tape[counts_].gradient[b];
    const float* const counts = run.tape[group_counts_].at(b);
    for (std::uint32_t g = 0; g < groups; ++g) gradient[g] += d * counts[g];
  }
  if (run.tape.sink != nullptr) run.tape.sink->array(groups_, gradient);
}

void LinearBlock::forward(const Run& run) const {
  const std::uint32_t groups = run.parameters.layout.feature_groups();
  for (std::size_t b = run.begin; b < run.end; ++b) {
    if (has_groups(run.tape)) std::fill_n(run.tape[group_linear_].at(b), groups, 0.0f);
    if (config_.mixed) {
      std::fill_n(run.tape[group_counts_].at(b), groups, 0.0f);
      std::fill_n(run.tape[group_seen_].at(b), groups, 0.0f);
    }
    const LinearSums sums = add(run.tape, b, start(run.parameters, run.tape, b));
    float counts = run.tape[base_].values[b];
    if (config_.mixed) {
      const float* const weights = run.parameters[groups_].data();
      const float* const group_counts = run.tape[group_counts_].at(b);
      for (std::uint32_t g = 0; g < groups; ++g) counts += weights[g] * group_counts[g];
    }
    finish(run.parameters, run.tape, b, sums, counts);
  }
}

void LinearBlock::declare_sums(const tape::Extent&, std::uint32_t shared, const tape::Declarations&,
                               tape::SumDecls& sums) {
  const auto number = [&](const char* name) { return sums.add({name, "linear"}); };
  sums_.linear = number(kScoreSum);
  if (!config_.mixed) return;
  sums_.linear2 = number("linear.linear2");
  sums_.fast = number("linear.fast");
  sums_.squares = number("linear.squares");
  sums_.counts = number("linear.counts");
  sums_.shared_counts = sums.add({kGroupCounts, "linear", shared});
}

void LinearBlock::partial(const Run& run) const {
  for (std::size_t b = run.begin; b < run.end; ++b) partial(run, b, run.sums_of(b));
}

void LinearBlock::partial(const Run& run, std::size_t b, const tape::SumsOf& sums) const {
  for (const tape::TensorId id : {group_linear_, group_counts_, group_seen_}) {
    if (id != tape::TensorId::kNone) {
      std::fill_n(run.tape[id].at(b), run.parameters.layout.feature_groups(), 0.0f);
    }
  }
  const LinearSums added = add(run.tape, b, start(run.parameters, run.tape, b).of_nothing());
  sums[sums_.linear] = added.linear;
  if (!config_.mixed) return;
  sums[sums_.linear2] = added.linear2;
  sums[sums_.fast] = added.fast;
  sums[sums_.squares] = added.squares;
  float* const counts = run.tape[group_counts_].at(b);
  // Their weights are moved where all of their features are told.
  std::copy_n(counts, run.partition->shared, sums.all(sums_.shared_counts).data());
  std::fill_n(counts, run.partition->shared, 0.0f);
  const float* const weights = run.parameters[groups_].data();
  float sum = 0;
  for (const std::uint32_t g : run.partition->feature_groups) sum += weights[g] * counts[g];
  sums[sums_.counts] = sum;
}

void LinearBlock::finish(const Run& run) const {
  for (std::size_t b = run.begin; b < run.end; ++b) finish(run, b, run.sums_of(b));
}

void LinearBlock::finish(const Run& run, std::size_t b, const tape::SumsOf& sums) const {
  LinearSums all = start(run.parameters, run.tape, b);
  all.linear += sums[sums_.linear];
  float counts = run.tape[base_].values[b];
  if (config_.mixed) {
    all.linear2 += sums[sums_.linear2];
    all.fast += sums[sums_.fast];
    all.squares += sums[sums_.squares];
    counts += sums[sums_.counts];
    const std::span<const float> shared = sums.all(sums_.shared_counts);
    float* const group_counts = run.tape[group_counts_].at(b);
    std::fill_n(group_counts, run.parameters.layout.feature_groups(), 0.0f);
    std::ranges::copy(shared, group_counts);
    const float* const weights = run.parameters[groups_].data();
    for (std::size_t g = 0; g < shared.size(); ++g) counts += weights[g] * group_counts[g];
  }
  finish(run.parameters, run.tape, b, all, counts);
}

LinearSums LinearBlock::start(const tape::Parameters& parameters, tape::Tape& tape,
                              std::size_t b) const {
  const tape::Scalars& scalars = parameters.scalars;
  float& base = tape[base_].values[b];
  const float bias = config_.constant ? scalars.bias : 0.0f;
  if (!config_.mixed) {
    base = tape.initial(b) + bias;
    return {.linear = base};
  }
  const float rate = base_rate(scalars), odds = logit(rate);
  base = odds + tape.initial(b);
  return {.linear = base + bias,
          .linear2 = config_.constant ? scalars.bias2 : 0.0f,
          .fast = base + (config_.constant ? scalars.fast_bias : 0.0f),
          .rate = rate,
          .odds = odds};
}

LinearSums LinearBlock::add(tape::Tape& tape, std::size_t b, LinearSums before) const {
  return config_.mixed ? add_mixed(tape, b, before) : add_one(tape, b, before);
}

void LinearBlock::finish(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
                         const LinearSums& sums, float counts) const {
  if (!config_.mixed) return put_joint(parameters, tape, b, sums.linear);
  const float counts_score = tape[counts_].values[b] = clamp_score(counts);
  tape[linear_].values[b] = clamp_score(sums.linear);
  if (config_.fast_head) tape[fast_].values[b] = clamp_score(sums.fast);
  tape[curvature_].values[b] = fast_curvature(sums.squares);
  tape[first_].values[b] = mix(parameters.scalars, mixer_, tape, b);
  for (const tape::TensorId head : parameters.declared().over_first) {
    tape[head].values[b] = tape[first_].values[b];
  }
  put_joint(parameters, tape, b, clamp_score(sums.linear2 + counts_score));
}

/// All heads of the joint score begin as its start: who adds to it may rest (Block::needs_fields).
void LinearBlock::put_joint(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
                            float score) const {
  for (const tape::TensorId head : parameters.declared().joint) tape[head].values[b] = score;
}

LinearSums LinearBlock::add_one(tape::Tape& tape, std::size_t b, LinearSums before) const {
  LinearSums sums = before;
  const bool grouped = config_.uses_feature_groups();
  if (!grouped) {
    sums.linear += weighted_sum(tape, tape.batch->linear_begin(tape.first + b),
                                tape.batch->linear_end(tape.first + b));
  }
  if (has_groups(tape)) {
    float* const group_linear = tape[group_linear_].at(b);
    for (const feature::LinearRun& run : tape.linear_runs(b)) {
      float partial = 0;
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        partial += tape.cells[i]->weight * tape.values[i];
      }
      group_linear[run.group] += partial;
      if (grouped) sums.linear += partial;
    }
  }
  return sums;
}

/// Of each feature of example b the log-odds of (clicks + prior) / (count + kPriorCount), and
/// log(1 + count): all of them side by side. Threads lose updates of either number, so clicks may
/// be the more: nobody else has then seen the feature.
void LinearBlock::take_logs(tape::Tape& tape, std::size_t b, float rate) const {
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

LinearSums LinearBlock::add_mixed(tape::Tape& tape, std::size_t b, LinearSums before) const {
  float* const group_linear = tape[group_linear_].at(b);
  float* const group_counts = tape[group_counts_].at(b);
  float* const group_seen = tape[group_seen_].at(b);
  LinearSums sums = before;
  take_logs(tape, b, sums.rate);
  for (const feature::LinearRun& run : tape.linear_runs(b)) {
    float sum = 0, odds = 0, seen = 0;
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const table::MixedCell& cell = table::mixed(*tape.cells[i]);
      sum += cell.weight * tape.values[i];
      sums.linear2 += cell.weight2 * tape.values[i];
      sums.fast += cell.fast * tape.values[i];
      sums.squares += tape.values[i] * tape.values[i];
      if (cell.count > 0) {
        odds += tape.log_odds[i] - sums.odds;
        seen += tape.log_counts[i];
      }
    }
    const float length = static_cast<float>(tape.batch->length(run));
    group_linear[run.group] += sum;
    // A group that comes in several runs counts with the mean of each.
    group_counts[run.group] += odds / length;
    group_seen[run.group] += seen / length;
    sums.linear += sum;
  }
  return sums;
}

}  // namespace leveret::block
