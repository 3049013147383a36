/// `leveret predict`, once its options are known to fit together.
#pragma once

#include <string>
#include <vector>

#include "cli/input.h"

namespace leveret::cli {

struct PredictOptions {
  InputOptions input;
  std::string model;
  bool mmap = false;
  std::string predictions;           ///< file; empty: standard output
  std::string raw_predictions;       ///< file; empty: none
  std::string link = "logistic";     ///< of predictions; or identity
  std::vector<std::string> context;  ///< namespaces of contexts; empty: lines are on their own
  bool context_lines = false;        ///< contexts have lines of their own
  unsigned threads = 1;
};

void predict_all(const PredictOptions& options);

}  // namespace leveret::cli
