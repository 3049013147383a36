/// Predictions of one model for labelled examples, or of two for the same: kept, to tell by how
/// much their figures would differ on other examples of the kind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "metrics/metrics.h"

namespace leveret::metrics {

/// The middle 95 % of what a figure is over samples. NaN where it has no value.
struct Interval {
  double low, high;
};

/// One owner. Takes 4 bytes an example, and 4 more for each model. At most 2^32 examples.
class Scores {
 public:
  static constexpr std::size_t kMostModels = 2;
  using Answers = std::array<float, kMostModels>;

  /// `models`: 1 or 2.
  explicit Scores(std::size_t models) : models_(models) {}

  /// As Metrics::add.
  void add(const Answers& probabilities, float label, float importance);
  void append(const Scores& other);
  /// Whether all models have finite answers to an example.
  bool is_answered(std::size_t example) const;
  /// Those examples.
  Scores answered() const;

  std::size_t models() const { return models_; }
  std::size_t size() const { return weights_.size(); }
  std::uint64_t not_finite(std::size_t model) const;
  /// As Metrics with an exact AUC has it.
  MetricsSnapshot snapshot(std::size_t model) const;
  /// In [0, 1], or not finite.
  const std::vector<float>& probabilities(std::size_t model) const { return probabilities_[model]; }
  /// Importance, negative where the label is.
  const std::vector<float>& weights() const { return weights_; }

 private:
  std::size_t models_;
  std::array<std::vector<float>, kMostModels> probabilities_;
  std::vector<float> weights_;
};

/// A figure of each model, and by how much the second's is above the first's.
struct FigureIntervals {
  std::array<Interval, Scores::kMostModels> of;
  Interval difference;
};
struct ScoreIntervals {
  FigureIntervals logloss, auc, calibration;
};

/// The Poisson bootstrap: in each of `replicates` samples an example occurs as often as a Poisson
/// variable of mean 1 says (Chamandy et al. 2012, "Estimating uncertainty for massive data
/// streams"), for both models alike, so that differences are paired. Examples count as independent:
/// those of one user, which are not, make intervals too narrow. Those that a model cannot
/// answer are in no sample. The same for any number of threads.
/// Takes 16 bytes more an example and model, and one a thread.
ScoreIntervals bootstrap(const Scores& scores, std::size_t threads, std::size_t replicates = 500,
                         std::uint64_t seed = 0);

/// Whether there are kFewest examples with answers, of both labels. Samples of fewer are too like
/// each other for intervals to mean anything, and for those of one label whoever predicts less (or
/// more) is better.
constexpr std::size_t kFewest = 30;
bool are_enough(const Scores& scores);

/// The second model beside the first: worse where it has more answers that are not finite, better
/// where it has fewer; else by logloss, where there are enough examples, and they tell: worse where
/// the interval of the difference is above `tolerance` as a whole, better where it is below 0.
enum class Standing : std::uint8_t { kWorse, kNotEnough, kNotTold, kBetter };
Standing standing_of(const Scores& scores, const ScoreIntervals& intervals, double tolerance);

}  // namespace leveret::metrics
