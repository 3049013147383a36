/// The blocks of a model, in their order, over one tape: what every mode runs.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/block.h"
#include "model/optimizer.h"

namespace leveret::model {

/// Const after construction; any number of threads, each with its tape. Learning:
/// resolve → forward → learn. Prediction: look_up → forward.
class Network {
 public:
  /// Room is made for as many features as if all were new. Those of a line of many megabytes mostly
  /// repeat, and room for each would be gigabytes: they are put in first, and looked up again.
  static constexpr std::uint32_t kManyFeatures = 1 << 22;

  Network(const Spec& spec, const kernels::Kernels& kernels);

  /// Puts the batch on the tape with the cells and rows of its features; new features get theirs
  /// (needs the model's tables to themselves, or concurrent with room reserved).
  void resolve(Model& model, const feature::FeatureBatch& batch, Tape& tape) const;
  /// The same for prediction: what the model does not know stays unknown.
  void look_up(const Model& model, const feature::FeatureBatch& batch, Tape& tape) const;

  // resolve in steps, to have memory on its way before it is needed: `open` once for a batch, then
  // for each example `prefetch`, `resolve_rows` (in order) and `focus`, which puts examples
  // [first, first + size) on the tape.
  void open(const Model& model, const feature::FeatureBatch& batch, std::size_t size,
            Tape& tape) const;
  /// The same for the tapes of learn_together, which share joint's arrays for the MLP.
  void open_together(const Model& model, const feature::FeatureBatch& batch, std::span<Tape> tapes,
                     Tape& joint) const;
  void prefetch(const Model& model, Tape& tape, std::size_t example) const;
  void resolve_rows(Model& model, Tape& tape, std::size_t example) const;
  void focus(Model& model, Tape& tape, std::size_t first) const;
  // The last two for prediction; look_at is about example b of the tape alone.
  void look_up_rows(const Model& model, Tape& tape, std::size_t example) const;
  void look_at(const Model& model, Tape& tape, std::size_t b) const;

  /// All examples of the tape.
  void forward(const Model& model, Tape& tape) const;
  // The same in two steps: first each example on its own, when its rows have come, through the
  // blocks that read them; then all of the tape together, through those whose weights they share.
  void forward_alone(const Model& model, Tape& tape, std::size_t b) const;
  void forward_together(const Model& model, Tape& tape) const;
  void backward(const Model& model, Tape& tape) const;
  /// backward and Optimizer::apply. The dense layers of a single example take their step on the way
  /// back, so that their weights are read once for both.
  void learn(Model& model, Tape& tape, Optimizer& optimizer) const;
  /// The same for several tapes of an example each, after open_together and forward_alone: they
  /// pass the MLP together and its layers make one step; then each takes its other steps, in order.
  /// The linear table has had room for all of their features before the first `focus`.
  void learn_together(Model& model, std::span<Tape> tapes, Tape& joint, Optimizer& optimizer) const;

 private:
  using Blocks = std::span<const std::unique_ptr<Block>>;
  Blocks alone() const;     ///< those that forward_alone runs
  Blocks together() const;  ///< the others; the MLP, where there is one, comes first
  void forward(Blocks blocks, const Model& model, Tape& tape, std::size_t begin,
               std::size_t end) const;
  void backward(Blocks blocks, const Model& model, Tape& tape) const;

  /// FFM and MLP have nothing to work on before the first field is met.
  bool works(const Model& model, const Block& block) const;
  void open_alone(const Model& model, const feature::FeatureBatch& batch, std::size_t size,
                  Tape& tape) const;
  void find_homes(const Model& model, Tape& tape, std::size_t example) const;
  bool renew_homes(const Model& model, Tape& tape, std::size_t example) const;
  void make_room(Model& model, const feature::FeatureBatch& batch, std::size_t first,
                 std::size_t size) const;
  void look_up_cells(const Model& model, Tape& tape, std::size_t example) const;
  void set_values(const Model& model, Tape& tape, std::size_t b) const;

  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t alone_ = 0;  ///< the first so many take part in forward_alone
};

}  // namespace leveret::model
