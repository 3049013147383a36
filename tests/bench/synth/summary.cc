#include "summary.h"

#include <fmt/format.h>

#include <cmath>

namespace leveret::synth {

void Summary::add(double probability, bool clicked) {
  ++rows_;
  positives_ += clicked;
  loss_ -= std::log(clicked ? probability : 1 - probability);
  ++(clicked ? positive_ : negative_)[static_cast<std::uint32_t>(probability * kBins)];
}

double Summary::auc() const {
  double won = 0, below = 0;
  for (std::uint32_t i = 0; i <= kBins; ++i) {
    auto p = static_cast<double>(positive_[i]), n = static_cast<double>(negative_[i]);
    won += p * (below + n / 2);
    below += n;
  }
  double pairs = static_cast<double>(positives_) * static_cast<double>(rows_ - positives_);
  return pairs > 0 ? won / pairs : 0.5;
}

std::string Summary::text() const {
  if (rows_ == 0) return "rows 0";
  auto n = static_cast<double>(rows_);
  return fmt::format("rows {}, base rate {:.4f}, true logloss {:.5f}, true AUC {:.4f}", rows_,
                     static_cast<double>(positives_) / n, loss_ / n, auc());
}

}  // namespace leveret::synth
