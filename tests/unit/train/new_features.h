/// A stream of ever new features, for what forgets, and how many a model knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/model.h"

namespace leveret::train {

/// Line i has a feature of its own beside one that all have.
inline std::string lines_with_new_features(std::size_t from, std::size_t end) {
  std::string lines;
  for (std::size_t i = from; i < end; ++i) {
    lines += (i % 3 == 0 ? "1" : "-1") + std::string(" |a x |b n") + std::to_string(i) + " m" +
             std::to_string(i / 2) + "\n";
  }
  return lines;
}

inline std::uint64_t features_of(const model::Model& model) {
  std::uint64_t features = 0;
  for (const table::Shard& shard : model.tables()) features += shard.index().size();
  return features;
}

}  // namespace leveret::train
