#include "net/make_blocks.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "block/embedding_block.h"
#include "block/ffm_block.h"
#include "block/linear_block.h"
#include "block/loss_block.h"
#include "block/numbers_block.h"
#include "kernels/dispatch.h"
#include "net/tower_kinds.h"

namespace leveret::net {
namespace {

/// Its place in the table.
std::size_t place_of_kind(const block::Tower& tower) {
  return static_cast<std::size_t>(std::ranges::find(tower_kinds(), tower.kind) -
                                  tower_kinds().begin());
}

/// The blocks of all towers whose kind has layers, in the order of the spec; or of those whose kind
/// has none, in the order of kinds, so that their order in files does not depend on the spec's.
template <bool kLayers>
constexpr BlockKind towers(const char* name) {
  return {name,
          [](const block::Config& config) {
            return std::ranges::any_of(config.towers, [](const block::Tower& of) {
              return of.kind->has_layers == kLayers;
            });
          },
          [](const block::Config& config, const kernels::Kernels& kernels, Blocks& blocks) {
            std::vector<block::Tower> all = config.towers;
            if (!kLayers) std::ranges::stable_sort(all, {}, place_of_kind);
            for (const block::Tower& tower : all) {
              if (tower.kind->has_layers == kLayers) {
                tower.kind->make(kernels, config, tower, blocks);
              }
            }
          }};
}

/// A line for each class of blocks, in the order of running.
constexpr BlockKind kKinds[] = {
    block_kind<block::LinearBlock>("linear"),        //
    block_kind<block::FfmBlock>("ffm"),              //
    block_kind<block::EmbeddingBlock>("embedding"),  //
    block_kind<block::NumbersBlock>("numbers"),      //
    towers<false>("towers without layers"),
    towers<true>("towers with layers"),
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
