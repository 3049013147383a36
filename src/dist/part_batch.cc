#include "dist/part_batch.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace leveret::dist {
namespace {

using feature::FeatureBatch;
using feature::FieldFeature;
using feature::FieldRun;
using feature::LinearRun;

/// Cuts one example after the other for one shard.
class Cutter {
 public:
  Cutter(const FeatureBatch& batch, const Plan& plan, std::uint32_t shard, PartBatch& part)
      : batch_(batch), plan_(plan), shard_(shard), to_(part.features), part_(part) {
    for (std::uint32_t f = 0; f < plan.fields(); ++f) holds_.push_back(plan.holds(shard, f));
    to_.groups = batch.groups;
    place_.resize(batch.linear.size());
  }

  void add(std::size_t b) {
    to_.label.push_back(batch_.label[b]);
    to_.importance.push_back(batch_.importance[b]);
    to_.initial.push_back(batch_.initial[b]);
    for (const LinearRun& run : batch_.linear_runs_of(b)) add(run);
    to_.linear_runs_begin.push_back(static_cast<std::uint32_t>(to_.linear_runs.size()));
    float features = 0, squares = 0;
    for (const FieldRun& run : batch_.field_runs_of(b)) {
      features += static_cast<float>(run.end - run.begin);
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        squares += batch_.field_features[i].value * batch_.field_features[i].value;
      }
      if (holds_[run.field]) add(run);
    }
    part_.instance_features.push_back(features);
    part_.instance_squares.push_back(squares);
    to_.runs_begin.push_back(static_cast<std::uint32_t>(to_.runs.size()));
    to_.field_features_begin.push_back(static_cast<std::uint32_t>(to_.field_features.size()));
  }

 private:
  void add(const LinearRun& run) {
    const std::uint32_t owner = plan_.group_owner(run.group);
    const auto begin = static_cast<std::uint32_t>(to_.linear.size());
    std::vector<text::Feature>& own = to_.linear.own();
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const text::Feature& feature = batch_.linear[i];
      const std::uint32_t of = owner == Plan::kByKey ? plan_.key_owner(feature.hash) : owner;
      place_[i] = of == shard_ ? static_cast<std::uint32_t>(own.size()) : feature::kLinearElsewhere;
      if (of == shard_) own.push_back(feature);
    }
    const auto end = static_cast<std::uint32_t>(own.size());
    if (begin == end) return;
    to_.linear_runs.push_back({run.group, begin, end});
    to_.lengths.push_back(run.end - run.begin);
  }

  void add(const FieldRun& run) {
    const auto begin = static_cast<std::uint32_t>(to_.field_features.size());
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      FieldFeature feature = batch_.field_features[i];
      if (feature.linear != feature::kNoLinear) feature.linear = place_[feature.linear];
      to_.field_features.push_back(feature);
    }
    to_.runs.push_back({run.field, begin, static_cast<std::uint32_t>(to_.field_features.size())});
  }

  const FeatureBatch& batch_;
  const Plan& plan_;
  std::uint32_t shard_;
  FeatureBatch& to_;
  PartBatch& part_;
  std::vector<bool> holds_;           ///< by field
  std::vector<std::uint32_t> place_;  ///< by linear feature of the batch: where it is in the part
};

/// Examples of a stream for which sizes are guessed, in batches. Fields that have not shown all
/// their features by then differ as they do now.
constexpr double kHorizon = 256;

}  // namespace

void PartBatch::clear() {
  features.clear();
  instance_features.clear();
  instance_squares.clear();
}

void cut(const FeatureBatch& batch, const Plan& plan, std::uint32_t shard, PartBatch& part) {
  part.clear();
  Cutter cutter(batch, plan, shard, part);
  for (std::size_t b = 0; b < batch.size(); ++b) cutter.add(b);
}

/// n(t) = n (t / B)^p, where the second half of the batch says p (Heaps 1978).
std::vector<FieldSize> guess_sizes(const FeatureBatch& batch, std::uint32_t first,
                                   std::uint32_t fields) {
  std::vector<std::unordered_map<std::uint32_t, std::uint32_t>> seen(fields - first);
  std::vector<std::uint64_t> halves(fields - first, 0);
  for (std::size_t b = 0; b < batch.size(); ++b) {
    if (2 * b == batch.size() || 2 * b == batch.size() + 1) {
      for (std::size_t f = 0; f < seen.size(); ++f) halves[f] = seen[f].size();
    }
    for (const FieldRun& run : batch.field_runs_of(b)) {
      if (run.field < first) continue;
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        ++seen[run.field - first][batch.field_features[i].hash];
      }
    }
  }
  std::vector<FieldSize> sizes;
  for (std::size_t f = 0; f < seen.size(); ++f) {
    const auto all = static_cast<double>(seen[f].size());
    const double half = static_cast<double>(std::max<std::uint64_t>(halves[f], 1));
    const double power = std::clamp(std::log2(std::max(all, 1.0) / half), 0.0, 1.0);
    const double times = std::pow(kHorizon, power);
    std::uint64_t again = 0;
    for (const auto& [hash, count] : seen[f]) again += count > 1;
    sizes.push_back({static_cast<std::uint64_t>(all * times),
                     static_cast<std::uint64_t>(static_cast<double>(again) * times)});
  }
  return sizes;
}

}  // namespace leveret::dist
