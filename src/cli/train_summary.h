/// What `train` says at its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/model.h"
#include "train/metrics.h"

namespace leveret::cli {

/// Figures of a run that the model does not know.
struct RunFigures {
  std::uint64_t examples = 0, features = 0, bad_lines = 0;
  train::MetricsSnapshot total;
  std::optional<train::MetricsSnapshot> held_out;
  double seconds = 0;
  const char* kernels = "";
  const char* gemm = nullptr;  ///< the code that OpenBLAS picked, where batches may need it
};

/// Several lines, "name   value".
std::string train_summary(const model::Model& model, const RunFigures& run);

/// Names what the user will not have meant: namespaces of the options that no line had. Empty where
/// there is none.
std::string train_warning(const model::Model& model);

}  // namespace leveret::cli
