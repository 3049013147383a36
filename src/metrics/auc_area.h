/// The area under the ROC curve of groups of equal scores. Private to src/metrics.
#pragma once

#include <limits>

namespace leveret::metrics {

/// Groups of equal score, ascending: each positive wins over all negatives of lower groups and ties
/// with those of its own.
class AucArea {
 public:
  void group(double positive, double negative) {
    area_ += positive * (negatives_ + 0.5 * negative);
    tied_ += positive * negative;
    positives_ += positive;
    negatives_ += negative;
  }

  double auc() const {
    const double pairs = positives_ * negatives_;
    return pairs > 0 ? area_ / pairs : std::numeric_limits<double>::quiet_NaN();
  }

  /// Where a group stands for several scores, its pairs count one half instead of 0 or 1.
  double tie_error() const {
    const double pairs = positives_ * negatives_;
    return pairs > 0 ? 0.5 * tied_ / pairs : 0;
  }

 private:
  double area_ = 0, tied_ = 0, positives_ = 0, negatives_ = 0;
};

}  // namespace leveret::metrics
