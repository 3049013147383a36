/// DHEN, a deep and hierarchical ensemble network (Zhang et al. 2022, section 2.2): layers of
/// modules of interaction (block/module/module.h) over tokens, at first those of fields and of
/// dense numbers (field_tokens.h). It makes the tokens of the last layer (dhen_layer.h), over which
/// a tower stands (mlp_block.h).
///
/// Numbers of tokens, and gradients, are kept within ±1e6 from layer to layer, as what one example
/// does to sums of squares is to stay finite.
///
/// Shapes: B examples, F fields.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "block/block.h"
#include "block/config.h"
#include "block/module/field_tokens.h"
#include "block/tower/dhen_layer.h"
#include "kernels/kernels.h"

namespace leveret::block {

class DhenBlock final : public Block {
 public:
  DhenBlock(const kernels::Kernels& kernels, Config config, Tower tower)
      : kernels_(&kernels), config_(std::move(config)), tower_(std::move(tower)), first_(kernels) {}

  /// The tensor that it makes: all tokens of the last layer.
  static std::string output_of(const Tower& tower) { return tower.name + ".tokens"; }

  void declare(const tape::Extent& layout, tape::Declarations& declarations) override;
  bool has_layers() const override { return true; }
  void open(const tape::Parameters& parameters, std::size_t size, tape::Tape& tape) const override;
  void finish(const Run& run) const override;
  /// From the gradient of what it makes; writes that of the embeddings.
  void finish_back(const Run& run) const override;

  Split split() const override { return Split::kBehindSums; }

 private:
  const kernels::Kernels* kernels_;
  Config config_;
  Tower tower_;
  FieldTokens first_;
  tape::TensorId back_ = tape::TensorId::kNone;  ///< what comes back through one module
  std::vector<tape::TensorId> own_;              ///< all of examples that it makes
  std::vector<std::unique_ptr<DhenLayer>> layers_;
};

}  // namespace leveret::block
