#include "dist/learn/part_batch.h"

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
    if (shard_ == 0) add_numbers(b);
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
  void add_numbers(std::size_t b) {
    const std::size_t each = batch_.numbers.size() / batch_.size();
    const float* const of = batch_.numbers.data() + b * each;
    to_.numbers.insert(to_.numbers.end(), of, of + each);
  }

  void add(const LinearRun& run) {
    const std::uint32_t owner = plan_.feature_group_owner(run.group);
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

/// Batches of a stream for which sizes are guessed. Real streams are longer; fields differ by then
/// as they will.
constexpr double kHorizon = 64;

/// How many of a field's features have rows when `twice` have come twice: among features of Zipf's
/// law those that have come m times are as 1 / m^power.
double rows_of(double twice, double power, const table::Admission& admission) {
  double rows = 0;
  for (std::uint64_t most = table::Admission::kRowsOfFewOccurrences;; most *= 2) {
    const double needed = admission.needed(most - 1);
    const double admitted = twice * std::pow(needed / 2, -power);
    rows = std::max(rows, std::min(admitted, static_cast<double>(most)));
    if (admitted < static_cast<double>(most) || admission.admit > 0) {
      return admission.admit > 0 ? admitted : rows;
    }
  }
}

}  // namespace

void PartBatch::clear() {
  features.clear();
  instance_features.clear();
  instance_squares.clear();
}

void cut(const FeatureBatch& batch, const Plan& plan, std::uint32_t shard, PartBatch& part) {
  cut(batch, plan, shard, 0, batch.size(), part);
}

void cut(const FeatureBatch& batch, const Plan& plan, std::uint32_t shard, std::size_t begin,
         std::size_t end, PartBatch& part) {
  part.clear();
  Cutter cutter(batch, plan, shard, part);
  for (std::size_t b = begin; b < end; ++b) cutter.add(b);
}

/// n(t) = n (t / B)^p (Heaps 1978) with p = n1 / n, where n1 have come once: the next one is new
/// with the probability n1 / t (Good 1953).
std::vector<FieldSize> guess_sizes(const FeatureBatch& batch, std::uint32_t first,
                                   std::uint32_t fields, const table::Admission& admission) {
  std::vector<std::unordered_map<std::uint32_t, std::uint32_t>> seen(fields - first);
  for (std::size_t b = 0; b < batch.size(); ++b) {
    for (const FieldRun& run : batch.field_runs_of(b)) {
      if (run.field < first || run.field >= fields) continue;
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        ++seen[run.field - first][batch.field_features[i].hash];
      }
    }
  }
  std::vector<FieldSize> sizes;
  for (const auto& of : seen) {
    const auto all = static_cast<double>(of.size());
    const auto once = static_cast<double>(
        std::ranges::count_if(of, [](const auto& feature) { return feature.second == 1; }));
    const double power = once / std::max(all, 1.0);
    const double times = std::pow(kHorizon, power);
    const double rows = rows_of((all - once) * times, power, admission);
    sizes.push_back({static_cast<std::uint64_t>(all * times),
                     static_cast<std::uint64_t>(std::min(rows, all * times))});
  }
  return sizes;
}

}  // namespace leveret::dist
