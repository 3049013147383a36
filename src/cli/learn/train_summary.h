/// The summary that `train` ends with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "metrics/metrics.h"
#include "model/model.h"

namespace leveret::cli {

/// Figures of several passes, from which examples are held out.
struct PassFigures {
  std::uint64_t period = 0;  ///< every such example is
  std::uint32_t asked = 0, made = 0;
  std::uint32_t best = 0;  ///< whose model is kept; 0: that is the last one's, none is known to be
  bool is_enough = false;  ///< they ended before all that were asked for
  metrics::MetricsSnapshot held_out;  ///< after the best pass, or else the last
  std::uint64_t weights = 0;          ///< of the best pass's model
};

/// Figures of a run that the model does not know.
struct RunFigures {
  std::uint64_t examples = 0, features = 0, bad_lines = 0;
  metrics::MetricsSnapshot total;
  std::optional<metrics::MetricsSnapshot> held_out;
  std::optional<PassFigures> passes = {};
  double seconds = 0;
  const char* kernels = "";
  const char* gemm = nullptr;  ///< the code that OpenBLAS picked, where batches may need it
};

/// Figures of a model's tables and layers, which several processes may hold together.
struct ModelFigures {
  std::uint64_t weights = 0;
  std::uint64_t overflow_lookups = 0;
  std::uint64_t forgotten = 0;  ///< features
  std::uint64_t peak_memory = 0;  ///< bytes; of several processes the most that one has
  std::uint64_t ranks = 1;        ///< processes
};

/// Weights of cells and rows.
std::uint64_t weight_count(const table::Tables& tables);
/// The same, with layers.
std::uint64_t weight_count(const model::Model& model);
/// The peak memory of this process, in bytes.
std::uint64_t peak_memory();

/// Several lines, "name   value".
std::string train_summary(const model::Model& model, const RunFigures& run);
/// The same of a run in one process, as one object of JSON without a line end.
std::string train_json(const model::Model& model, const RunFigures& run);
/// `model`: spec, namespaces, and what all processes have.
std::string train_summary(const model::Model& model, const ModelFigures& figures,
                          const RunFigures& run);

/// The same for a log: a line of figures, and one for each thing that the model had no room for, or
/// could not use.
std::string train_log(const model::Model& model, const RunFigures& run);

/// Words about features for which this run had no memory; empty: it had. `before`: look-ups that had
/// found none when the run began.
std::string memory_warning(const model::Model& model, std::uint64_t before);

/// Names what the user will not have meant: namespaces of the options that no line had. Empty where
/// there is none.
std::string train_warning(const model::Model& model);

}  // namespace leveret::cli
