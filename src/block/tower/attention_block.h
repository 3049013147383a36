/// Self-attention over the fields' embeddings (AutoInt: Song et al., CIKM 2019). A token of m
/// numbers for each field, at first its e, and one before these of dense numbers, where there are
/// some (field_tokens.h), pass layers of H heads of D numbers each:
///   q = W_Q x + b_Q, k = W_K x + b_K, v = W_V x + b_V,        of each token, H · D numbers;
///   a_fg = exp <q_f, k_g> / sum over j of exp <q_f, k_j>,     by head (equation 5);
///   o_f = sum over g of a_fg v_g,                             by head, side by side (6, 7);
///   x_f becomes ReLU(o_f + W_R x_f + b_R)                     (8).
/// (The paper's layers have no biases; softmax_attention.h has the way back.) Numbers of tokens are
/// kept within ±1e6, as what one example does to sums of squares is to stay finite.
///
/// It makes all tokens of the last layer, over which a tower stands (mlp_block.h).
///
/// Shapes: B examples, F tokens.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "block/block.h"
#include "block/config.h"
#include "block/dense/softmax_attention.h"
#include "block/module/field_tokens.h"
#include "kernels/kernels.h"

namespace leveret::block {

class AttentionBlock final : public Block {
 public:
  AttentionBlock(const kernels::Kernels& kernels, Config config, Tower tower)
      : kernels_(&kernels),
        config_(std::move(config)),
        tower_(std::move(tower)),
        heads_(tower_.number("heads")),
        dim_(tower_.number("dim")),
        first_(kernels) {}

  static constexpr float kMost = 1e6f;
  /// The tensor that it makes: F · H · D.
  static std::string output_of(const Tower& tower) { return tower.name + ".attended"; }

  void declare(const tape::Extent& layout, tape::Declarations& declarations) override;
  bool has_layers() const override { return true; }
  void finish(const Run& run) const override;
  /// From the gradient of what it makes; writes that of the embeddings.
  void finish_back(const Run& run) const override;

  Split split() const override { return Split::kBehindSums; }

 private:
  enum Projection : std::size_t { kQuery, kKey, kValue, kRest, kCount };
  struct Layer {
    tape::TensorId in = tape::TensorId::kNone;       ///< F · m: tokens
    std::size_t width = 0;                           ///< m
    std::size_t first = 0;                           ///< layers of Parameters: W_Q, W_K, W_V, W_R
    std::array<tape::TensorId, kCount> made{};       ///< F · H · D: q, k, v, W_R x + b_R
    tape::TensorId weights = tape::TensorId::kNone;  ///< H · F · F: a
    tape::TensorId out = tape::TensorId::kNone;      ///< F · H · D
  };
  std::size_t token() const { return std::size_t{heads_} * dim_; }
  AttentionShape shape(std::size_t tokens) const { return {tokens, heads_, dim_, token()}; }
  Layer declare_layer(std::uint32_t l, std::uint32_t tokens, tape::TensorId in, std::size_t width,
                      tape::Declarations& declarations) const;
  void attend(tape::Tape& tape, const Layer& layer, std::size_t b, std::size_t tokens) const;
  void attend_back(tape::Tape& tape, const Layer& layer, std::size_t b, std::size_t tokens) const;
  void layers_back(const tape::Parameters& parameters, tape::Tape& tape, const Layer& layer) const;

  const kernels::Kernels* kernels_;
  Config config_;
  Tower tower_;
  std::uint32_t heads_, dim_;
  FieldTokens first_;
  Tokens tokens_;                                   ///< these
  tape::TensorId back_ = tape::TensorId::kNone;     ///< F · m: what comes back through one layer
  tape::TensorId scratch_ = tape::TensorId::kNone;  ///< of a batch: working memory of attention
  std::vector<Layer> layers_;
};

}  // namespace leveret::block
