/// What the best possible learner could reach on the rows written: the true model's own scores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace leveret::synth {

class Summary {
 public:
  void add(double probability, bool clicked);
  /// One line, e.g. "rows 1000000, base rate 0.2501, true logloss 0.37350, true AUC 0.8722".
  std::string text() const;

 private:
  static constexpr std::uint32_t kBins = 1u << 20;  ///< resolution of the AUC
  double auc() const;

  std::uint64_t rows_ = 0, positives_ = 0;
  double loss_ = 0;
  std::vector<std::uint64_t> positive_ = std::vector<std::uint64_t>(kBins + 1),
                             negative_ = std::vector<std::uint64_t>(kBins + 1);
};

}  // namespace leveret::synth
