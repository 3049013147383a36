#include "cli/mpi/summary.h"

#include <algorithm>

#include "files/bytes.h"

namespace leveret::cli {
namespace {

/// Weights and biases of all layers of a model with so many fields.
std::uint64_t layer_weights(const model::Spec& spec, std::uint32_t fields) {
  if (!spec.has_mlp() || fields == 0) return 0;
  std::uint64_t inputs = tape::InputLayout{fields}.size(spec.mixed()), count = 0;
  std::vector<std::uint32_t> layers = spec.hidden;
  layers.push_back(1);
  for (const std::uint32_t outputs : layers) {
    count += (inputs + 1) * outputs;
    inputs = outputs;
  }
  return count;
}

}  // namespace

dist::Bytes rank_figures(const RankModel& model) {
  std::uint64_t weights = 0, overflow = 0;
  for (const table::Tables* const tables : model.tables()) {
    weights += weight_count(*tables);
    overflow += tables->overflow_lookups();
  }
  dist::Bytes bytes;
  for (const std::uint64_t figure : {weights, overflow, peak_memory()}) files::put(bytes, figure);
  return bytes;
}

std::string mpi_summary(const RankModel& model, const RunFigures& run,
                        std::span<const dist::Bytes> of_ranks) {
  ModelFigures figures;
  figures.ranks = of_ranks.size();
  for (const dist::Bytes& bytes : of_ranks) {
    files::BytesReader reader(bytes);
    figures.weights += reader.get<std::uint64_t>();
    figures.overflow_lookups += reader.get<std::uint64_t>();
    figures.peak_memory = std::max(figures.peak_memory, reader.get<std::uint64_t>());
  }
  figures.weights += layer_weights(model.common().spec(), model.fields());
  return train_summary(model.common(), figures, run);
}

}  // namespace leveret::cli
