#include "metrics/scores.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <span>
#include <thread>
#include <utility>

#include "metrics/auc_area.h"
#include "metrics/metrics.h"

namespace leveret::metrics {
namespace {

constexpr std::size_t kModels = Scores::kMostModels;
constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

/// splitmix64: its n-th number is a function of n.
std::uint64_t mixed(std::uint64_t n) {
  n = (n + 1) * 0x9e3779b97f4a7c15u;
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9u;
  n = (n ^ (n >> 27)) * 0x94d049bb133111ebu;
  return n ^ (n >> 31);
}

/// How often an example occurs, by 16 random bits: Poisson, mean 1.
std::vector<std::uint8_t> poisson_of_bits() {
  std::vector<std::uint8_t> counts(1u << 16);
  double probability = std::exp(-1.0), sum = 0;
  std::uint8_t count = 0;
  for (std::size_t bits = 0; bits < counts.size(); ++bits) {
    const double at = (static_cast<double>(bits) + 0.5) / static_cast<double>(counts.size());
    while (at > sum + probability) {
      sum += probability;
      probability /= ++count;
    }
    counts[bits] = count;
  }
  return counts;
}

/// The figures of one sample.
struct Sample {
  std::array<double, kModels> logloss, auc, calibration;
};

class Sampler {
 public:
  explicit Sampler(const Scores& scores) : scores_(scores), poisson_(poisson_of_bits()) {
    for (std::size_t m = 0; m < scores.models(); ++m) {
      const std::vector<float>& p = scores.probabilities(m);
      losses_[m].reserve(p.size());
      for (std::size_t i = 0; i < p.size(); ++i) losses_[m].push_back(loss(p[i], i));
      sort(p, sorted_[m]);
    }
  }

  /// `counts`: room for one of each example; so no thread asks for memory.
  Sample sample(std::uint64_t seed, std::vector<std::uint8_t>& counts) const {
    draw(seed, counts);
    Sample sample{};
    for (std::size_t m = 0; m < scores_.models(); ++m) {
      put_sums(m, counts, sample);
      sample.auc[m] = auc(m, counts);
    }
    return sample;
  }

 private:
  struct Sorted {
    std::uint32_t example;
    float weight;  ///< as Scores::weights
    bool last;     ///< of those of equal probability
  };

  void sort(const std::vector<float>& p, std::vector<Sorted>& sorted) const {
    sorted.reserve(p.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      sorted.push_back({static_cast<std::uint32_t>(i), scores_.weights()[i], false});
    }
    std::ranges::sort(sorted, {},
                      [&](const Sorted& at) { return std::pair(p[at.example], at.example); });
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      sorted[i].last = i + 1 == sorted.size() || p[sorted[i].example] != p[sorted[i + 1].example];
    }
  }

  float loss(float p, std::size_t i) const {
    const double right = scores_.weights()[i] > 0 ? p : 1 - double{p};
    return static_cast<float>(-std::log(std::max(right, Metrics::kClamp)));
  }

  void draw(std::uint64_t seed, std::vector<std::uint8_t>& counts) const {
    const std::uint64_t first = mixed(seed);
    for (std::size_t i = 0; i < counts.size(); i += 4) {
      std::uint64_t bits = mixed(first + i);
      for (std::size_t j = i; j < std::min(i + 4, counts.size()); ++j, bits >>= 16) {
        counts[j] = poisson_[bits & 0xffff];
      }
    }
  }

  void put_sums(std::size_t m, std::span<const std::uint8_t> counts, Sample& sample) const {
    double loss = 0, weight = 0, predictions = 0, clicks = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const double signed_weight = scores_.weights()[i];
      const double w = std::fabs(signed_weight) * counts[i];
      loss += w * losses_[m][i];
      predictions += w * scores_.probabilities(m)[i];
      clicks += signed_weight > 0 ? w : 0;
      weight += w;
    }
    sample.logloss[m] = weight > 0 ? loss / weight : kNoValue;
    sample.calibration[m] = clicks > 0 ? predictions / clicks : kNoValue;
  }

  double auc(std::size_t m, std::span<const std::uint8_t> counts) const {
    AucArea area;
    double positive = 0, negative = 0;
    for (const Sorted& at : sorted_[m]) {
      const double w = double{at.weight} * counts[at.example];
      (w > 0 ? positive : negative) += std::fabs(w);
      if (!at.last) continue;
      area.group(positive, negative);
      positive = negative = 0;
    }
    return area.auc();
  }

  const Scores& scores_;
  const std::vector<std::uint8_t> poisson_;
  std::array<std::vector<float>, kModels> losses_;
  std::array<std::vector<Sorted>, kModels> sorted_;  ///< by probability
};

std::vector<Sample> samples_of(const Scores& scores, std::size_t threads, std::size_t replicates,
                               std::uint64_t seed) {
  const Sampler sampler(scores);
  std::vector<Sample> samples(replicates);
  std::atomic<std::size_t> next = 0;
  std::vector<std::vector<std::uint8_t>> counts(std::max<std::size_t>(threads, 1),
                                                std::vector<std::uint8_t>(scores.size()));
  const auto work = [&](std::size_t t) {
    for (std::size_t r; (r = next++) < replicates;) {
      samples[r] = sampler.sample(mixed(seed) + r, counts[t]);
    }
  };
  std::vector<std::jthread> workers;
  for (std::size_t t = 1; t < threads; ++t) workers.emplace_back(work, t);
  work(0);
  workers.clear();  // waits
  return samples;
}

/// Samples in which a figure has no value (one class only) are left out.
template <class Value>
Interval middle(const std::vector<Sample>& samples, Value value) {
  std::vector<double> values;
  for (const Sample& sample : samples) {
    const double v = value(sample);
    if (std::isfinite(v)) values.push_back(v);
  }
  if (values.empty()) return {kNoValue, kNoValue};
  std::ranges::sort(values);
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(
        std::lround(share * static_cast<double>(values.size() - 1)))];
  };
  return {at(0.025), at(0.975)};
}

using Figure = std::array<double, kModels> Sample::*;

FigureIntervals intervals(const std::vector<Sample>& samples, std::size_t models, Figure figure) {
  FigureIntervals all{};
  for (std::size_t m = 0; m < models; ++m) {
    all.of[m] = middle(samples, [&](const Sample& s) { return (s.*figure)[m]; });
  }
  if (models > 1) {
    all.difference =
        middle(samples, [&](const Sample& s) { return (s.*figure)[1] - (s.*figure)[0]; });
  }
  return all;
}

}  // namespace

void Scores::add(const Answers& probabilities, float label, float importance) {
  if (label == 0 || !(importance > 0)) return;
  for (std::size_t m = 0; m < models_; ++m) {
    const float p = probabilities[m];
    probabilities_[m].push_back(std::isfinite(p) ? std::clamp(p, 0.0f, 1.0f) : p);
  }
  weights_.push_back(label > 0 ? importance : -importance);
}

void Scores::append(const Scores& other) {
  const auto add_all = [](std::vector<float>& to, const std::vector<float>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (std::size_t m = 0; m < models_; ++m) add_all(probabilities_[m], other.probabilities_[m]);
  add_all(weights_, other.weights_);
}

bool Scores::is_answered(std::size_t example) const {
  bool all = true;
  for (std::size_t m = 0; m < models_; ++m) all &= std::isfinite(probabilities_[m][example]);
  return all;
}

Scores Scores::answered() const {
  Scores finite(models_);
  for (std::size_t i = 0; i < size(); ++i) {
    if (!is_answered(i)) continue;
    Answers answers{};
    for (std::size_t m = 0; m < models_; ++m) answers[m] = probabilities_[m][i];
    finite.add(answers, weights_[i], std::fabs(weights_[i]));
  }
  return finite;
}

std::uint64_t Scores::not_finite(std::size_t model) const {
  const auto is_not = [](float p) { return !std::isfinite(p); };
  return static_cast<std::uint64_t>(std::ranges::count_if(probabilities_[model], is_not));
}

MetricsSnapshot Scores::snapshot(std::size_t model) const {
  Metrics metrics(AucKind::kExact);
  for (std::size_t i = 0; i < size(); ++i) {
    metrics.add(probabilities_[model][i], weights_[i], std::fabs(weights_[i]));
  }
  return metrics.snapshot();
}

bool are_enough(const Scores& scores) {
  std::size_t clicks = 0, others = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores.is_answered(i)) ++(scores.weights()[i] > 0 ? clicks : others);
  }
  return clicks > 0 && others > 0 && clicks + others >= kFewest;
}

Standing standing_of(const Scores& scores, const ScoreIntervals& intervals, double tolerance) {
  const std::uint64_t first = scores.not_finite(0), second = scores.not_finite(1);
  if (first != second) return second > first ? Standing::kWorse : Standing::kBetter;
  if (!are_enough(scores)) return Standing::kNotEnough;
  const Interval& difference = intervals.logloss.difference;
  if (difference.low > tolerance) return Standing::kWorse;
  return difference.high < 0 ? Standing::kBetter : Standing::kNotTold;
}

ScoreIntervals bootstrap(const Scores& scores, std::size_t threads, std::size_t replicates,
                         std::uint64_t seed) {
  const std::size_t models = scores.models();
  for (std::size_t m = 0; m < models; ++m) {
    if (scores.not_finite(m) > 0) return bootstrap(scores.answered(), threads, replicates, seed);
  }
  const std::vector<Sample> samples = samples_of(scores, threads, replicates, seed);
  return {intervals(samples, models, &Sample::logloss), intervals(samples, models, &Sample::auc),
          intervals(samples, models, &Sample::calibration)};
}

}  // namespace leveret::metrics
