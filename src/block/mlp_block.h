/// The neural part: ReLU layers over the normalised inputs and one output neuron, whose value is
/// added to what linear and FFM part say (skip connection), so that the deep part can only add.
#pragma once

#include <utility>

#include "block/block.h"
#include "block/config.h"

namespace leveret::block {

class MlpBlock final : public Block {
 public:
  explicit MlpBlock(const kernels::Kernels& kernels, Config config)
      : kernels_(&kernels), config_(std::move(config)) {}

  static bool is_in(const Config& config) { return config.has_mlp(); }
  void declare(const InputLayout& layout, Declarations& declarations) override;
  void open(const Parameters& parameters, std::size_t size, Tape& tape) const override;
  bool has_layers() const override { return true; }

  /// Writes hidden and scores.deep.
  void forward(const Parameters& parameters, Tape& tape, std::size_t begin,
               std::size_t end) const override;
  // The same in two steps, for an example whose inputs come in portions.

  /// Writes the first layer's outputs for tape.inputs, as they are before ReLU, to
  /// tape.hidden[0].
  void forward_first(const Parameters& parameters, Tape& tape, std::size_t begin,
                     std::size_t end) const {
    layer_forward(parameters, tape, 0, begin, end);
  }
  /// All that follows the first layer, whose outputs are in tape.hidden[0] as they are before ReLU.
  void forward_rest(const Parameters& parameters, Tape& tape, std::size_t begin,
                    std::size_t end) const;
  /// Writes d_hidden (0 for a neuron that did not fire, which costs nothing from there on: sparse
  /// updates, FW paper, section 4.3) and d_inputs. Each layer is handed to Tape::layer_learner, if
  /// there is one.
  void backward(const Parameters& parameters, Tape& tape) const override;
  void add_score(const Parameters& parameters, Tape& tape, std::size_t b) const override;

  /// Floats from one example's inputs of a layer to the next one's. The first layer's are whole
  /// cache lines, filled up with zeros, for which it has weights of zero.
  static std::size_t width(const Parameters& parameters, std::size_t l) {
    const ConstDense layer = parameters.layer(l);
    return l == 0 ? layer.stride() : layer.inputs;
  }

 private:
  /// What a layer reads of the tape: example b's begin at b * width(parameters, l).
  static float* layer_input(Tape& tape, std::size_t l) {
    return l == 0 ? tape.inputs.data() : tape.hidden[l - 1].data();
  }
  void layer_forward(const Parameters& parameters, Tape& tape, std::size_t l, std::size_t begin,
                     std::size_t end) const;
  static void clear_unlearned(const Parameters& parameters, Tape& tape);

  const kernels::Kernels* kernels_;
  Config config_;
};

}  // namespace leveret::block
