/// What is learned beside the tables: layers, group weights, mixers, biases and the base rate.
/// Small, and written by every example, so that each hogwild thread has a replica.
///
/// Owned by a model or a replica of it; blocks read it, optimizers write it.
#pragma once

#include <cstdint>
#include <vector>

#include "block/dense.h"
#include "block/mixer.h"

namespace leveret::block {

/// Learned numbers that belong to no table and no layer. Stored in the header.
struct Scalars {
  double clicks = 0.5, count = 1.0;  ///< running base rate; starts as half a click in one
  float bias = 0, bias2 = 0, fast_bias = 0;
  float bias_sum = 0;  ///< of bias and bias2
  MixerState first;    ///< linear, counts, fast
  MixerState second;   ///< first stage, joint head without and with MLP, fast
  /// The sum of what each example has taken away (forgetting.h). Not in files: only differences
  /// within a run of several threads matter.
  double forgotten = 0;
  std::uint64_t examples = 0;  ///< learned from
  std::uint64_t dropped_gradients =
      0;  ///< examples whose gradient was not finite: not learned from
  std::uint64_t adam_steps = 0;
};

/// Where a group of inputs of the MLP begins, behind the pairs, which come first; see NormBlock.
struct InputLayout {
  std::uint32_t fields = 0;
  std::uint32_t pairs() const { return fields * (fields + 1) / 2; }
  std::uint32_t groups() const { return fields + 1; }
  std::uint32_t linear() const { return pairs(); }
  std::uint32_t counts() const { return linear() + groups(); }
  std::uint32_t seen() const { return counts() + groups(); }
  std::uint32_t first() const { return seen() + groups(); }
  /// With one head only pairs and linear sums are inputs.
  std::uint32_t size(bool mixed) const { return mixed ? first() + 1 : counts(); }
  /// Floats from one example's inputs to the next one's.
  std::size_t stride(bool mixed) const { return table::whole_lines(size(mixed)); }
};

struct Parameters {
  InputLayout layout;                ///< of the fields that have been met
  std::vector<Dense> layers;         ///< hidden layers, then the output neuron; empty without MLP
  std::vector<float> group_weights;  ///< weight and AdaGrad sum of each group's count: groups * 2
  Scalars scalars;

  /// Adds what happened between `before` and `after` to this: the work of another thread.
  void add_change(const Parameters& before, const Parameters& after);
};

}  // namespace leveret::block
