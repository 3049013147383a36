/// The weights that a model has learned of single features: `inspect --weights`, as VW's
/// --invert_hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/input.h"
#include "model/model.h"

namespace leveret::cli {

/// The sum of the squares of a row's weights.
float row_squares(const table::Shard& shard, table::Row row);

struct FeatureWeight {
  std::uint32_t group;    ///< 0: of no field, or the model does not keep fields apart
  std::uint32_t key;      ///< its hash, or with -b the number of its cell
  std::string name = {};  ///< empty: not known
  float weight = 0;       ///< linear; with mixed heads the first of two
  float clicks = 0, count = 0;
  std::optional<float> row_length = {};  ///< of the weights of its row; nothing: it has none
};

/// The `most` features with the largest |weight|, largest first; of equal ones those with the
/// longest rows, then by group and key.
std::vector<FeatureWeight> largest_weights(const model::Model& model, std::size_t most);

/// Gives those that occur in the data their names, of examples that the model itself would read.
void name_features(const model::Model& model, const InputOptions& data,
                   std::vector<FeatureWeight>& weights);

/// A table, or a line of JSON for each.
std::string weights_text(const model::Model& model, const std::vector<FeatureWeight>& weights,
                         bool json);

}  // namespace leveret::cli
