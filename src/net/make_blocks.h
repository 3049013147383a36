/// The blocks of a network, made in one place, and what they declare.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "block/block.h"
#include "block/config.h"
#include "kernels/kernels.h"

namespace leveret::net {

using Blocks = std::vector<std::unique_ptr<block::Block>>;

/// A class of blocks.
struct BlockKind {
  const char* name;
  bool (*is_in)(const block::Config& config);  ///< whether a network has one, or some
  void (*add)(const block::Config& config, const kernels::Kernels& kernels, Blocks& blocks);
};
/// The kind of a class of which a network has one (block.h).
template <class B>
constexpr BlockKind block_kind(const char* name) {
  return {name, B::is_in,
          [](const block::Config& config, const kernels::Kernels& kernels, Blocks& blocks) {
            blocks.push_back(std::make_unique<B>(kernels, config));
          }};
}
/// All that there are, in the order of running.
std::vector<BlockKind> block_kinds();
/// Those that a program has beside the others, before the loss: none (extra_kinds.cc), unless it
/// links a file that says otherwise, as tests do.
std::span<const BlockKind> extra_kinds();

/// Lets blocks declare what they learn and make, as it is with so many fields, in their order,
/// which is that of running. Afterwards they may be used by threads.
tape::Declarations declare_all(const Blocks& blocks, const tape::Extent& layout);

/// The sums of all blocks, for a model with so many fields whose first `shared` feature groups have
/// features in all partitions (tape/sums.h). `blocks` declare, and keep the ids.
tape::SumDecls declare_sums(const Blocks& blocks, const tape::Extent& layout, std::uint32_t shared);
tape::SumDecls declare_sums(const block::Config& config, const tape::Extent& layout,
                            std::uint32_t shared);

/// In the order of running. They have declared.
Blocks make_blocks(const block::Config& config, const kernels::Kernels& kernels);

/// The arrays and tensors of all blocks of such a network, as they are with so many fields.
tape::Declarations declare_all(const block::Config& config, const tape::Extent& layout);

/// All that blocks have of a row, in the order of parts, and how it learns; none: features have no
/// rows.
std::vector<block::Rows> declare_rows(const block::Config& config);

}  // namespace leveret::net
