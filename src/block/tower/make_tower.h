/// TowerKind::make, for kinds of one block, and of one with layers over what it makes.
#pragma once

#include <memory>
#include <vector>

#include "block/block.h"
#include "block/config.h"
#include "block/tower/mlp_block.h"
#include "block/tower/tower.h"
#include "kernels/kernels.h"

namespace leveret::block {

/// A block of class B alone.
template <class B>
void make_tower(const kernels::Kernels& kernels, const Config& config, const Tower& tower,
                std::vector<std::unique_ptr<Block>>& blocks) {
  blocks.push_back(std::make_unique<B>(kernels, config, tower));
}

/// The same, and over the tensor B::output_of(tower) the ReLU layers and the output neuron.
template <class B>
void make_tower_with_layers(const kernels::Kernels& kernels, const Config& config,
                            const Tower& tower, std::vector<std::unique_ptr<Block>>& blocks) {
  make_tower<B>(kernels, config, tower, blocks);
  Tower over = tower;
  over.inputs = {B::output_of(tower)};
  make_tower<MlpBlock>(kernels, config, over, blocks);
}

}  // namespace leveret::block
