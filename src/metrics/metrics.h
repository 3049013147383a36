/// The worth of predictions: importance-weighted sums over (probability,
/// label, importance), and the figures made of them. Used progressively (predict, add, then learn)
/// and by `evaluate`.
///
/// Metrics holds no lock: each thread adds to its own and merges it at the end of a chunk into one
/// that a lock or a single owner guards. merge() and clear() take time in the examples added since,
/// not in the size of the histogram.
#pragma once

#include <cstdint>
#include <string>

#include "metrics/auc.h"

namespace leveret::metrics {

/// All means are weighted by importance. A figure that has no value (nothing seen, or one class
/// only) is NaN here and null in JSON.
struct MetricsSnapshot {
  std::uint64_t examples = 0;    ///< labelled, with importance above 0
  std::uint64_t not_finite = 0;  ///< predictions that were NaN or infinite: in no other figure
  double weight = 0;             ///< sum of importances
  double loss_sum = 0;           ///< sum of importance * logloss, natural logarithm
  double logloss = 0;            ///< loss_sum / weight
  double auc = 0;
  double auc_error = 0;    ///< 0 when auc is exact, else the bound of its error
  double ne = 0;           ///< normalised entropy: logloss / entropy of base_rate (He et al. 2014)
  double rig = 0;          ///< relative information gain, 1 - ne
  double calibration = 0;  ///< sum of predictions / number of clicks
  double base_rate = 0;    ///< clicks / weight: the constant prediction `ne` compares with
  double mean_prediction = 0;
  double mean_label = 0;  ///< labels as 0/1, so the same number as base_rate; kept beside
                          ///< mean_prediction because plots want the two together
};

enum class AucKind {
  kHistogram,  ///< 1 MiB at most, any number of examples, error bounded: progress and windows
  kExact,      ///< 8 bytes per example up to AucList::kDefaultLimit: `evaluate`
};

class Metrics {
 public:
  explicit Metrics(AucKind kind = AucKind::kHistogram) : kind_(kind) {}

  /// `label` +1 or -1; 0 (unlabelled) and importance 0 are "predict only" and leave no trace here.
  /// A probability that is not finite is counted apart, one outside [0, 1] is moved to its border.
  void add(float probability, float label, float importance);

  /// Both must be of the same kind.
  void merge(const Metrics& other);
  void clear();

  /// Labelled examples with importance, so far.
  std::uint64_t examples() const { return examples_; }

  /// Not const: the exact AUC sorts what it keeps. Costs some 50 us with a histogram.
  MetricsSnapshot snapshot();

  /// A float cannot tell 1 - p from 0 below this; a wrong answer costs at most 16.6 nats.
  static constexpr double kClamp = 1.0 / (1 << 24);

 private:
  AucKind kind_;
  std::uint64_t examples_ = 0, not_finite_ = 0;
  double weight_ = 0, clicks_ = 0, predictions_ = 0, loss_ = 0;
  AucHistogram histogram_;
  AucList list_;
};

/// One JSON object on one line, without the newline: examples, logloss, auc, ne, rig, calibration,
/// base_rate, mean_prediction, mean_label; then auc_error where the AUC is not exact though
/// `exact_auc` was asked for, and not_finite where there were any. Six decimals, null for NaN.
std::string metrics_json(const MetricsSnapshot& snapshot, bool exact_auc);

/// The line of what is held out, after pass `pass` (counted from 1): pass, held_out_logloss,
/// held_out_auc, held_out_examples, best_pass. `best_pass` 0: none is known; null. A window has
/// none of these keys.
std::string held_out_json(std::uint32_t pass, const MetricsSnapshot& held_out,
                          std::uint32_t best_pass);

/// The stream cut into windows, each with its own figures, beside those over all of it.
/// One owner; other threads hand in their chunk's Metrics.
class MetricsWindows {
 public:
  static constexpr std::uint64_t kDefaultSize = 30000;  ///< examples, as in the paper (section 5)

  explicit MetricsWindows(std::uint64_t examples_per_window = kDefaultSize)
      : size_(examples_per_window) {}

  /// Both say whether the window is full now: then call close() before the next one. add() fills
  /// windows exactly; merge() ends one with the chunk that fills it.
  bool add(float probability, float label, float importance) {
    window_.add(probability, label, importance);
    return window_.examples() >= size_;
  }
  bool merge(const Metrics& chunk) {
    window_.merge(chunk);
    return window_.examples() >= size_;
  }

  /// Ends the window and returns its line: `window` (from 1), the keys of metrics_json, then
  /// examples_per_second, bad_lines (in this window) and examples_seen (over all windows). To be
  /// called once more at the end, for a last window that is not full, where pending() says so.
  /// `seconds` and `bad_lines` count from the start of the run.
  std::string close(double seconds, std::uint64_t bad_lines);
  bool pending() const { return window_.examples() > 0; }

  /// Over everything so far, the open window included.
  MetricsSnapshot total();
  std::uint64_t examples() const { return closed_.examples() + window_.examples(); }

 private:
  std::uint64_t size_;
  Metrics window_, closed_;
  std::uint64_t windows_ = 0, bad_lines_ = 0;
  double seconds_ = 0;
};

}  // namespace leveret::metrics
