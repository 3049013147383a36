/// The tensors whose numbers a fully connected layer reads side by side (joined_dense.h).
#pragma once

#include <string>
#include <vector>

#include "block/config.h"

namespace leveret::block {

/// All numbers of a tensor.
struct JoinInput {
  std::string tensor;
  bool normalised = false;  ///< with all others that are; these come first
  float scale = 1;          ///< what comes in is so many times the number; 1 where it is normalised
  /// Where normalised: the name of the sum over partitions that is that of its numbers
  /// (tape/sums.h), and of the tensor of it, if there is one.
  const char* sum = nullptr;
};

/// Those of Tower::inputs, in the order of the layer's columns: a tensor by its name; for
/// kEmbeddings those of each field; and for kMergedInputs MergeNorm of the linear and the FFM part
/// (FW paper, section 2.1), behind which with mixed heads the counts and the linear stage's score
/// stand as they are.
std::vector<JoinInput> joined_inputs(const Config& config, const std::vector<std::string>& inputs);

}  // namespace leveret::block
