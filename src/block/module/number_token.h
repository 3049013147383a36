/// A token of dense numbers (numbers_block.h), which modules take as those of fields (DHEN paper,
/// section 2.1; DLRM's bottom MLP: Naumov et al. 2019, section 2.1.1):
///   t = W ReLU(V z + c) + b,
/// of D numbers, with `width` hidden ones. The paper lets raw numbers in beside the tokens, too;
/// here they come as this token alone.
///
/// 4 N width + 2 width D floating point operations of an example, of N numbers, which come twice.
#pragma once

#include <cstdint>
#include <string>

#include "block/dense/dense_rows.h"
#include "block/module/module.h"

namespace leveret::block {

class NumberToken {
 public:
  static constexpr std::uint32_t kUsualHidden = 64;

  explicit NumberToken(const kernels::Kernels& kernels) : hidden_layer_(kernels), layer_(kernels) {}

  /// Makes the tensor NAME of `width` numbers with a gradient, by so many hidden ones.
  tape::TensorId declare(const std::string& name, std::uint32_t hidden, std::uint32_t width,
                         const Config& config, tape::Declarations& declarations);
  void forward(const Run& run) const;
  /// From the gradient of what it makes.
  void backward(const Run& run) const;

 private:
  tape::TensorInput numbers_;                      ///< 2 N: z
  tape::TensorId hidden_ = tape::TensorId::kNone;  ///< ReLU(V z + c)
  tape::TensorId out_ = tape::TensorId::kNone;
  DenseRows hidden_layer_, layer_;
};

}  // namespace leveret::block
