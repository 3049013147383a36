/// How fully connected layers move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "block/config.h"
#include "kernels/kernels.h"
#include "optim/bounded.h"
#include "tape/dense.h"
#include "tape/parameters.h"
#include "tape/tape.h"

namespace leveret::optim {

/// A layer, or columns of one without biases of which somebody else has the others, what came in,
/// and the gradients of all outputs.
struct LayerPart {
  tape::LearnedDense layer;
  tape::LayerRows rows;
  const float* d_out;
};

/// Owned by a thread, with working memory of its own.
class LayerOptimizer {
 public:
  LayerOptimizer(const kernels::Kernels& kernels, const block::Config& config)
      : kernels_(&kernels), config_(config), bounded_(kernels), bounded_sums_(kernels) {}

  /// Writes d_in and takes the layer's step.
  void step(tape::Parameters& parameters, const tape::Tape& tape,
            const tape::LayerGradient& gradient);
  /// Neuron by neuron, so that one that no example of the batch fired costs nothing, and stays as
  /// it is.
  void step_part(const tape::Scalars& scalars, const tape::Tape& tape, const LayerPart& at);

  // Sums in place of steps. What each neuron has is told, whether it fired or not.

  /// Floats of the sums of all layers.
  static std::size_t sum_floats(const tape::Parameters& parameters);
  /// Writes d_in, and this layer's sums to their place in `to`, sum_floats zeros.
  void sum(tape::Parameters& parameters, const tape::Tape& tape,
           const tape::LayerGradient& gradient, std::span<float> to);
  /// The steps of all layers by such sums.
  void step_by_sums(tape::Parameters& parameters, std::span<const float> sums);

 private:
  struct NeuronSum {
    std::size_t fired;      ///< for rows of so many examples; 0: there is no gradient
    float bias;             ///< gradient
    const float* gradient;  ///< of the weights
  };
  bool in_one_pass(const tape::Tape& tape, const rules::Rule& rule,
                   const tape::LayerRows& rows) const;
  void pass(const tape::Scalars& scalars, const tape::LearnedDense& layer,
            const tape::LayerGradient& at);
  void step_biases(const tape::LearnedDense& layer, const tape::LayerGradient& at,
                   const kernels::StepRule& rule) const;
  bool sum_together(const tape::Tape& tape, const LayerPart& at);
  void sum_neurons(const LayerPart& at);
  NeuronSum sum_of_neuron(const LayerPart& at, std::uint32_t o, bool together);
  float decay_of(const tape::Scalars& scalars, std::size_t examples);
  NeuronSum clipped(NeuronSum sum, std::uint32_t inputs);
  void find_learned(const tape::Tape& tape, const tape::LayerRows& rows);
  void step_neuron(const tape::Scalars& scalars, const tape::LearnedDense& layer, std::uint32_t o,
                   const NeuronSum& whole);

  const kernels::Kernels* kernels_;
  block::Config config_;  ///< for what forgets, warms up and is clipped
  std::vector<float> layer_sums_;
  // The sums of a layer that are made together, by neuron.
  std::vector<float> d_biases_;
  std::vector<std::uint32_t> fired_;    ///< NeuronSum::fired
  std::vector<std::uint32_t> fires_;    ///< 1: the neuron has fired for this example
  std::vector<std::uint32_t> learned_;  ///< rows of examples that are learned from, ascending
  std::vector<float> clipped_;          ///< gradient of a neuron's weights
  std::vector<float> decays_;           ///< what is kept after 0, 1, 2, … examples
  float decay_of_one_ = 1;              ///< of these
  BoundedGradients bounded_, bounded_sums_;
};

}  // namespace leveret::optim
