/// `leveret predict`, once its options are known to fit together.
#pragma once

#include <string>
#include <vector>

#include "cli/input.h"
#include "cli/score/results.h"

namespace leveret::cli {

struct PredictOptions {
  InputOptions input;
  std::string model;
  bool mmap = false;
  std::string watch;  ///< a file or a folder from which new models come; empty: none
  ResultOptions results;
  std::vector<std::string> context;  ///< namespaces of contexts; empty: lines are on their own
  bool context_lines = false;        ///< contexts have lines of their own
  unsigned threads = 1;
  bool strict = false;  ///< what is not as it was learned is an error
};

void predict_all(const PredictOptions& options);

}  // namespace leveret::cli
