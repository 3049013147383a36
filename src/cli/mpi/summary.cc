#include "cli/mpi/summary.h"

#include <algorithm>

#include "files/bytes.h"
#include "net/make_blocks.h"

namespace leveret::cli {
namespace {

/// Weights and biases of all layers of a model with so many fields.
std::uint64_t layer_weights(const model::Model& model, std::uint32_t fields) {
  const tape::Declarations declared = net::declare_all(model.config(), {fields});
  std::uint64_t count = 0;
  for (const tape::LayerArrays& layer : declared.layers) {
    for (const tape::ArrayId id : {layer.weights, layer.bias}) {
      count += std::uint64_t{declared[id].rows()} * declared[id].columns();
    }
  }
  return count;
}

}  // namespace

dist::Bytes rank_figures(const RankModel& model) {
  std::uint64_t weights = 0, overflow = 0, forgotten = 0;
  for (const table::Tables* const tables : model.tables()) {
    weights += weight_count(*tables);
    overflow += tables->overflow_lookups();
    forgotten += tables->forgotten();
  }
  dist::Bytes bytes;
  for (const std::uint64_t figure : {weights, overflow, forgotten, peak_memory()}) {
    files::put(bytes, figure);
  }
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
    figures.forgotten += reader.get<std::uint64_t>();
    figures.peak_memory = std::max(figures.peak_memory, reader.get<std::uint64_t>());
  }
  figures.weights += layer_weights(model.common(), model.fields());
  return train_summary(model.common(), figures, run);
}

}  // namespace leveret::cli
