/// Numbers of the linear stage, of the mixers and of dense numbers, and how much has been learned
/// from. Every example reads and writes them: they lie side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "table/aligned.h"

namespace leveret::tape {

struct Scalars {
  // Learned: LinearBlock, NumbersBlock and LossBlock declare them.
  double clicks = 0.5, count = 1.0;  ///< running base rate; starts as half a click in one
  float bias = 0, bias2 = 0, fast_bias = 0;
  float bias_sum = 0;           ///< of bias and bias2
  table::AlignedFloats mixers;  ///< the arrays of all mixers (MixerDecl)
  std::vector<double> totals;   ///< of numbers of examples (TotalsDecl)

  // Counted.
  /// The sum of what each example has taken away (forgetting.h). Not in files: only differences
  /// within a run of several threads matter.
  double forgotten = 0;
  std::uint64_t examples = 0;  ///< learned from
  std::uint64_t dropped_gradients =
      0;                        ///< examples whose gradient was not finite: not learned from
  std::uint64_t ticked_at = 0;  ///< `examples` at the last tick of --expire (model/expiry.h)
  std::uint64_t evictions = 0;  ///< by --when_full evict
  bool evicts_next = false;     ///< memory had run out when the model was saved
};

}  // namespace leveret::tape
