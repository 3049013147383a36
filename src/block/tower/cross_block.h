/// Cross layers over embeddings. With x_0 the e of all fields, n = F · d numbers
/// (embedding_block.h), and layers l = 0 … L - 1,
///   vectors:   x_{l+1} = x_0 (w_l · x_l + c_l) + b_l + x_l
///     (DCN: Wang et al., Deep & Cross Network for Ad Click Predictions, ADKDD 2017, equation 3;
///     w_l has n numbers, and c_l, which they lack, is one),
///   matrices:  x_{l+1} = x_0 ⊙ (U_l (V_l x_l + c_l) + b_l) + x_l
///     (DCNv2: Wang et al., DCN V2, WWW 2021, equation 4; V_l is r × n, U_l is n × r; c_l has r
///     numbers, which U_l could give to b_l).
/// On the way back, with D = d loss / d x_{l+1} and y what is multiplied by x_0:
///   d y = D ⊙ x_0,   d x_0 += D ⊙ y,   d x_l = D + what comes back through the products.
/// Numbers of x and D are kept within ±1e6: they grow with the power of L, and what one example
/// does to sums of squares is to stay finite.
///
/// It makes x_L, over which a tower stands (mlp_block.h): a neuron alone, or ReLU layers.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "block/block.h"
#include "block/config.h"
#include "kernels/kernels.h"

namespace leveret::block {

class CrossBlock final : public Block {
 public:
  CrossBlock(const kernels::Kernels& kernels, Config config, Tower tower)
      : kernels_(&kernels), config_(std::move(config)), tower_(std::move(tower)) {
    if (has_matrices()) rank_ = tower_.number("rank");
  }

  static constexpr float kMost = 1e6f;
  /// The tensor that the cross layers of a tower make, n.
  static std::string output_of(const Tower& tower) { return tower.name + ".crossed"; }

  void declare(const tape::Extent& layout, tape::Declarations& declarations) override;
  bool has_layers() const override { return true; }
  void open(const tape::Parameters& parameters, std::size_t size, tape::Tape& tape) const override;
  void finish(const Run& run) const override;
  /// From the gradient of x_L; writes that of the embeddings.
  void finish_back(const Run& run) const override;

  Split split() const override { return Split::kBehindSums; }

 private:
  struct Layer {
    tape::TensorId in;                              ///< n: x_l
    tape::TensorId middle = tape::TensorId::kNone;  ///< r: V x + c
    tape::TensorId y = tape::TensorId::kNone;       ///< n, or 1 of a vector
    tape::TensorId out = tape::TensorId::kNone;     ///< n: x_{l+1}
    std::size_t first = 0;                          ///< w, or V and behind it U: numbers of layers
    tape::ArrayId bias = tape::ArrayId::kNone;      ///< n: b of a vector
  };
  /// n. A block that runs may have declared when there were fewer fields.
  std::size_t numbers(const tape::Parameters& parameters) const {
    return std::size_t{parameters.layout.fields} * d_;
  }
  bool has_matrices() const { return tower_.kind == &kCrossMatrixTower; }
  Layer declare_layer(std::uint32_t l, tape::TensorId in, tape::Declarations& declarations) const;
  void products(const tape::Parameters& parameters, tape::Tape& tape, const Layer& layer,
                std::size_t begin, std::size_t end) const;
  void products_back(const tape::Parameters& parameters, tape::Tape& tape,
                     const Layer& layer) const;
  void multiply(const tape::Parameters& parameters, tape::Tape& tape, const Layer& layer,
                std::size_t b) const;
  void multiply_back(std::size_t n, tape::Tape& tape, const Layer& layer, std::size_t b,
                     float* d_first) const;

  const kernels::Kernels* kernels_;
  Config config_;
  Tower tower_;
  std::uint32_t rank_ = 0;  ///< of matrices
  tape::TensorInput fields_;
  std::uint32_t d_ = 0;  ///< numbers of an embedding
  std::vector<Layer> layers_;
  tape::TensorId back_ = tape::TensorId::kNone;  ///< n: what comes back through the products
};

}  // namespace leveret::block
