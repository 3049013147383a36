/// Inner products of the fields' embeddings. With e_f the embedding of field f, d numbers
/// (embedding_block.h), it makes
///   p_fg = <e_f, e_g> for all fields f < g,
/// and before them, unless keep=products says otherwise, the numbers of all e. Where there are
/// dense numbers their token (field_tokens.h) comes before e_0, and is kept in any case. ReLU
/// layers and an output neuron stand over these (mlp_block.h). So it has
///   the product layer of IPNN (Qu et al., Product-based Neural Networks, ICDM 2016, equations 2,
///   3 and 8): linear signals z and quadratic signals p go to the first ReLU layer, and
///   the dot interaction of DLRM (Naumov et al. 2019, section 2.1.3; DHEN paper, equation 3) and
///   its top MLP: keep=products with dense numbers is all of DLRM.
/// On the way back, with P_fg = d loss / d p_fg: d e_f = sum over g of P_fg e_g, and what comes for
/// its own numbers.
///
/// All F² products are made, of which half are kept: 2 F² d floating point operations of an
/// example, and as many on the way back. Products and gradients are kept within ±1e6. A field that
/// an example lacks has an e of zeros.
///
/// Shapes: B examples, F fields.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "block/block.h"
#include "block/config.h"
#include "block/module/field_tokens.h"
#include "kernels/kernels.h"

namespace leveret::block {

class DotBlock final : public Block {
 public:
  DotBlock(const kernels::Kernels& kernels, Config config, Tower tower)
      : kernels_(&kernels),
        config_(std::move(config)),
        tower_(std::move(tower)),
        tokens_(kernels) {}

  static constexpr float kMost = 1e6f;
  /// The tensor that it makes: d numbers of the token of dense numbers, if there are some; F · d
  /// numbers of e, if they are kept; and F (F - 1) / 2 products, of f < g at g (g - 1) / 2 + f,
  /// where the token counts as the first field. Products alone are one number, 0, where there is
  /// one field.
  static std::string output_of(const Tower& tower) { return tower.name + ".products"; }

  void declare(const tape::Extent& layout, tape::Declarations& declarations) override;
  bool has_layers() const override { return true; }
  void finish(const Run& run) const override;
  /// From the gradient of what it makes; writes that of the embeddings.
  void finish_back(const Run& run) const override;

  Split split() const override { return Split::kBehindSums; }

 private:
  /// How much it makes of so many fields.
  struct Shape {
    std::uint32_t of_token = 0;  ///< numbers of the token that it makes, too; 0: there is no token
    std::uint32_t of_field = 0;  ///< likewise, of each e; 0: they are not kept
    std::uint32_t chosen = 0;    ///< fields; 0: all

    bool has_token() const { return of_token > 0; }
    /// Whether its vectors are in a tensor of its own.
    bool has_tokens() const { return has_token() || chosen > 0; }
    std::uint32_t read(std::uint32_t fields) const { return chosen > 0 ? chosen : fields; }
    std::uint32_t vectors(std::uint32_t fields) const {
      return read(fields) + (has_token() ? 1 : 0);
    }
    std::uint32_t kept(std::uint32_t fields) const { return of_token + read(fields) * of_field; }
    std::size_t size(std::uint32_t fields) const;
  };
  static std::uint32_t place_before(const Shape& shape, const tape::Extent& from,
                                    const tape::Extent& to, std::uint32_t column);

  const kernels::Kernels* kernels_;
  Config config_;
  Tower tower_;
  Shape shape_;
  FieldTokens tokens_;        ///< where there is a token of numbers, or fields are chosen
  tape::TensorInput fields_;  ///< where not: e, in the place where it lies
  tape::TensorId vectors_ = tape::TensorId::kNone;  ///< of these two
  std::uint32_t d_ = 0;                             ///< numbers of an embedding
  tape::TensorId out_ = tape::TensorId::kNone;
  tape::TensorId scratch_ = tape::TensorId::kNone;  ///< of a batch: working memory
};

}  // namespace leveret::block
