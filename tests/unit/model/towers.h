/// Networks with more towers than a spec has words for.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "block/ffm_block.h"
#include "block/mlp_block.h"
#include "block/norm_block.h"
#include "model/model.h"
#include "net/make_blocks.h"

namespace leveret::model {

/// Over what DeepFFM's own has.
inline block::Tower tower(std::string name, std::vector<std::uint32_t> hidden) {
  return {std::move(name), block::NormBlock::kOutputs, std::move(hidden)};
}

/// Over the FFM's pairs as they are, which the norm reads, too.
inline block::Tower tower_over_pairs(std::string name, std::vector<std::uint32_t> hidden) {
  return {std::move(name), block::FfmBlock::kPairs, std::move(hidden)};
}

/// The blocks of the model's network and, before the loss, these towers. They have declared.
inline net::Blocks with_towers(const Model& model, const kernels::Kernels& kernels,
                               const std::vector<block::Tower>& towers) {
  const block::Config config = model.config();
  net::Blocks blocks = net::make_blocks(config, kernels);
  for (const block::Tower& tower : towers) {
    blocks.insert(blocks.end() - 1, std::make_unique<block::MlpBlock>(kernels, config, tower));
  }
  net::declare_all(blocks, {});
  return blocks;
}

/// Gives the model the arrays that blocks declare, with first values. Its fields are all met.
inline void fit_to(const net::Blocks& blocks, Model& model) {
  const tape::Extent layout = model.parameters().layout;
  model.parameters() = Parameters();
  model.parameters().fit(layout,
                         std::make_shared<tape::Declarations>(net::declare_all(blocks, layout)));
}

}  // namespace leveret::model
