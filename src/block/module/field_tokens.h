/// The tokens that towers begin with: one of dense numbers, where the tower reads these
/// (number_token.h), and behind it the embeddings of the fields (embedding_block.h), or of those
/// that the tower stands over (Tower::fields). They lie as tokens do, in a tensor of the tower's
/// own. A field that an example lacks has a token of zeros.
///
/// Numbers of the first token are within ±kMost, as what one example does to sums of squares is to
/// stay finite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "block/module/module.h"
#include "block/module/number_token.h"

namespace leveret::block {

class FieldTokens {
 public:
  static constexpr float kMost = 1e6f;

  explicit FieldTokens(const kernels::Kernels& kernels) : numbers_(kernels) {}

  /// `hidden`: numbers of the layer that makes the token of dense numbers. They have a gradient.
  Tokens declare(const Tower& tower, std::uint32_t hidden, const Config& config,
                 const tape::Extent& extent, tape::Declarations& declarations);
  /// Makes those of all examples of the tape.
  void put(const Run& run) const;
  /// From their gradients to those of embeddings and dense numbers.
  void hand_back(const Run& run) const;

 private:
  std::size_t before() const { return std::size_t{tokens_.before} * tokens_.width; }

  tape::TensorInput fields_;
  std::vector<std::uint32_t> chosen_;  ///< fields; empty: all
  NumberToken numbers_;
  tape::TensorId numbers_token_ = tape::TensorId::kNone;  ///< kNone: there are none
  Tokens tokens_;
};

}  // namespace leveret::block
