#include "net/make_blocks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "block/cross_block.h"
#include "block/embedding_block.h"
#include "block/ffm_block.h"
#include "block/fm_block.h"
#include "block/fm_tower_block.h"
#include "block/fwfm_block.h"
#include "block/linear_block.h"
#include "block/loss_block.h"
#include "block/mlp_block.h"
#include "block/norm_block.h"
#include "kernels/dispatch.h"

namespace leveret::net {
namespace {

using block::TowerKind;

/// The kind of a class of which a network has one for each tower of a kind.
template <class B, TowerKind kTower>
constexpr BlockKind tower_kind(const char* name) {
  return {name,
          [](const block::Config& config) {
            return std::ranges::find(config.towers, kTower, &block::Tower::kind) !=
                   config.towers.end();
          },
          [](const block::Config& config, const kernels::Kernels& kernels, Blocks& blocks) {
            for (const block::Tower& tower : config.towers) {
              if (tower.kind == kTower)
                blocks.push_back(std::make_unique<B>(kernels, config, tower));
            }
          }};
}

bool is_of_layers(const block::Tower& tower) {
  return tower.kind != TowerKind::kFm && tower.kind != TowerKind::kFwfm;
}

/// Towers of layers, each behind its cross layers, if it has some.
void add_layers(const block::Config& config, const kernels::Kernels& kernels, Blocks& blocks) {
  for (block::Tower tower : config.towers) {
    if (!is_of_layers(tower)) continue;
    if (tower.kind != TowerKind::kMlp) {
      blocks.push_back(std::make_unique<block::CrossBlock>(kernels, config, tower));
      tower.input = block::CrossBlock::output_of(tower);
    }
    blocks.push_back(std::make_unique<block::MlpBlock>(kernels, config, tower));
  }
}

/// A line for each class of blocks, in the order of running.
constexpr BlockKind kKinds[] = {
    block_kind<block::LinearBlock>("linear"),        //
    block_kind<block::FfmBlock>("ffm"),              //
    block_kind<block::FmBlock>("fm"),                //
    block_kind<block::EmbeddingBlock>("embedding"),  //
    tower_kind<block::FmTowerBlock, TowerKind::kFm>("fm tower"),
    tower_kind<block::FwfmBlock, TowerKind::kFwfm>("fwfm tower"),
    block_kind<block::NormBlock>("norm"),  //
    {"layers",
     [](const block::Config& config) { return std::ranges::any_of(config.towers, is_of_layers); },
     add_layers},
};
constexpr BlockKind kLoss = block_kind<block::LossBlock>("loss");

Blocks all_blocks(const block::Config& config, const kernels::Kernels& kernels) {
  Blocks blocks;
  for (const BlockKind& kind : block_kinds()) {
    if (kind.is_in(config)) kind.add(config, kernels, blocks);
  }
  return blocks;
}

}  // namespace

std::vector<BlockKind> block_kinds() {
  std::vector<BlockKind> kinds(std::begin(kKinds), std::end(kKinds));
  kinds.insert(kinds.end(), extra_kinds().begin(), extra_kinds().end());
  kinds.push_back(kLoss);
  return kinds;
}

tape::Declarations declare_all(const Blocks& blocks, const tape::Extent& layout) {
  tape::Declarations declared;
  std::vector<block::Rows> rows;
  for (const auto& block : blocks) {
    block->declare(layout, declared);
    block->declare_rows(rows);
  }
  return declared;
}

tape::SumDecls declare_sums(const Blocks& blocks, const tape::Extent& layout,
                            std::uint32_t shared) {
  const tape::Declarations declared = declare_all(blocks, layout);
  tape::SumDecls sums;
  for (const auto& block : blocks) {
    sums.next_block();
    block->declare_sums(layout, shared, declared, sums);
  }
  return sums;
}

tape::SumDecls declare_sums(const block::Config& config, const tape::Extent& layout,
                            std::uint32_t shared) {
  return declare_sums(all_blocks(config, kernels::active()), layout, shared);
}

Blocks make_blocks(const block::Config& config, const kernels::Kernels& kernels) {
  Blocks blocks = all_blocks(config, kernels);
  declare_sums(blocks, {}, 0);
  return blocks;
}

tape::Declarations declare_all(const block::Config& config, const tape::Extent& layout) {
  return declare_all(all_blocks(config, kernels::active()), layout);
}

std::vector<block::Rows> declare_rows(const block::Config& config) {
  std::vector<block::Rows> rows;
  for (const auto& block : all_blocks(config, kernels::active())) block->declare_rows(rows);
  return rows;
}

}  // namespace leveret::net
