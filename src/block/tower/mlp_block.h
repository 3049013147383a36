/// A tower: ReLU layers over Tower::inputs, and one output neuron, whose value is added to what the
/// blocks before it say (skip connection), so that it can only add. A network may have several.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "block/block.h"
#include "block/config.h"
#include "block/dense/joined_dense.h"
#include "block/residual_score.h"

namespace leveret::block {

class MlpBlock final : public Block {
 public:
  MlpBlock(const kernels::Kernels& kernels, Config config, Tower tower)
      : kernels_(&kernels),
        config_(std::move(config)),
        tower_(std::move(tower)),
        hidden_(tower_.numbers("hidden")),
        needs_fields_(tower_.inputs != std::vector<std::string>{kNumbers}),
        first_(kernels) {}

  void declare(const tape::Extent& layout, tape::Declarations& declarations) override;
  bool has_layers() const override { return true; }
  /// Over dense numbers alone it has its inputs before.
  bool needs_fields() const override { return needs_fields_; }

  /// Writes its tensors, and adds to its head.
  void forward(const Run& run) const override;
  /// Writes the gradients of its layers (0 for a neuron that did not fire, which costs nothing from
  /// there on: sparse updates, FW paper, section 4.3) and that of its input. Each layer is handed
  /// to Tape::sink, if there is one.
  void backward(const Run& run) const override;
  void add_score(const tape::Parameters& parameters, tape::Tape& tape,
                 std::size_t b) const override;

  Split split() const override { return first_.is_divided() ? Split::kSums : Split::kBehindSums; }
  void declare_sums(const tape::Extent& layout, std::uint32_t shared,
                    const tape::Declarations& declared, tape::SumDecls& sums) override;
  std::unique_ptr<Share> share(const tape::Parameters& parameters,
                               const tape::Partition& partition) const override;
  void partial(const Run& run) const override;
  void finish(const Run& run) const override;
  void finish_back(const Run& run) const override;
  void partial_back(const Run& run) const override;

  // Its layers and tensors.

  /// The last one is the output neuron.
  std::size_t layers() const { return ins_.size(); }
  tape::ConstDense layer(const tape::Parameters& parameters, std::size_t l) const {
    return parameters.layer(first_layer_ + l);
  }
  /// What layer l reads: the tower's input, then what the layer before makes, after ReLU; the
  /// gradients of these are those before ReLU. The width of a layer's input may be more than it has
  /// weights for, as far as whole cache lines go: these are filled up with zeros.
  tape::TensorId in(std::size_t l) const { return ins_[l]; }

 private:
  /// What layer l writes: the input of the next one, or the score.
  tape::TensorId out(std::size_t l) const { return l + 1 < layers() ? in(l + 1) : score_; }
  void layer_forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t l,
                     std::size_t begin, std::size_t end) const;
  void forward_behind_first(const tape::Parameters& parameters, tape::Tape& tape, std::size_t begin,
                            std::size_t end) const;
  void backward_to_first(const tape::Parameters& parameters, tape::Tape& tape) const;

  const kernels::Kernels* kernels_;
  Config config_;
  Tower tower_;
  std::vector<std::uint32_t> hidden_;             ///< widths of its ReLU layers
  bool needs_fields_;                             ///< asked for by the example
  std::size_t first_layer_ = 0;                   ///< its layers' numbers begin there
  std::vector<tape::TensorId> ins_;               ///< by layer
  tape::TensorId score_ = tape::TensorId::kNone;  ///< 1: the output neuron, without its bias
  ResidualScore head_;
  JoinedDense first_;  ///< the first layer
};

}  // namespace leveret::block
