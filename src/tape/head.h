/// The heads of a network: raw scores (log-odds) of an example that have names, and how each of
/// them learns. The loss, mixers and the audit go over the list of them (Declarations::heads).
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "tape/tensor.h"

namespace leveret::tape {

/// How d loss / d score of an example that is learned from is made.
enum class HeadError : std::uint8_t {
  kNone,   ///< it learns by others (a mixture of them): it has no error
  kJoint,  ///< by the loss of the last of these, which has what all of them add
  kOwn,    ///< by the loss of its own score
};

struct HeadDecl {
  static constexpr float kNotMixed = -1.0f;

  std::string name;  ///< no other head has it; the audit shows it
  HeadError error = HeadError::kOwn;
  /// Its first weight in the mixer of the answer, beside those of the others; kNotMixed: it is not
  /// in there.
  float first_weight = kNotMixed;
  float most_error = std::numeric_limits<float>::infinity();  ///< its error is within ± this
  /// The score, one number of each example. Its gradient is the error, 0 for an example that is not
  /// learned from.
  TensorId score = TensorId::kNone;
};

/// The place of what a block adds, in the joint score or over the linear stage's: its head says
/// what the head before it says, and what the block adds. They are one head where several blocks
/// add to it in turn.
struct ResidualPlace {
  TensorId before = TensorId::kNone, score = TensorId::kNone;
};

}  // namespace leveret::tape
