/// A fully connected layer over the numbers of any tensors side by side (joined_inputs.h), some of
/// them normalised together to mean 0 and variance 1 (MergeNorm, FW paper, section 2.1;
/// merge_norm.h).
///
/// With partitions of a model each has the columns of what it makes from the features in it
/// (DES paper, eq. 8), in an order of its own (tape::Partition::columns_of); everyone has the
/// biases and the columns of what nobody owns alone. The layer is linear, so that goes through the
/// normalisation, too: with W of the normalised inputs p, of which there are P with the mean m and
/// the deviation d, W (p - m) / d = (W p - m W 1) / d, and W p, W 1, the sum and the sum of squares
/// of p add up over partitions. On the way back, with d x^ = W' d y, the mean of d x^ is d y . W 1
/// / P, and that of d x^ x^ is d y . W x^ / P: nothing has to be added up again.
///
/// The whole path normalises first, as its variance is then that of centred numbers: what goes
/// through `forward` and `backward` differs from partitions by rounding alone
/// (tests/unit/dist/sharded_test.cc, tests/unit/predict/context_predictor_test.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "block/block.h"
#include "block/dense/joined_inputs.h"

namespace leveret::block {

/// A part of a block with layers (partial, finish, …: see Block). `out`, `d_out`: B * h numbers,
/// of the layer's outputs before an activation, and their gradients.
class JoinedDense {
 public:
  /// The block's description of its layer.
  struct Layer {
    std::string name;  ///< arrays, tensors and sums are called NAME.…
    std::uint32_t outputs;
    tape::DenseInit init;
    rules::RulePtr rule;
    bool bias = true;  ///< `finish` adds the biases; else the block does, with its score
  };

  explicit JoinedDense(const kernels::Kernels& kernels) : kernels_(&kernels) {}

  void declare(Layer layer, const std::vector<JoinInput>& inputs, const tape::Extent& extent,
               tape::Declarations& declarations);
  /// The tensor of what comes in, normalised where it is: all numbers; where there are partitions
  /// those that are everyone's.
  tape::TensorId in() const { return in_; }
  /// Whether partitions have columns of it; else all that comes in is everyone's.
  bool is_divided() const { return !inputs_.empty(); }

  // Where the model is whole.

  /// Fills `in`; nothing to do where the layer is not divided.
  void join(const Run& run) const;
  /// Hands the layer's gradient on, and those of its inputs.
  void backward(const Run& run, const float* d_out) const;

  // With partitions. What is not divided has no sums and no share, and goes by `join` and
  // `backward` in place of `finish` and `finish_back`.

  void declare_sums(std::uint32_t shared, const tape::Declarations& declared, tape::SumDecls& sums);
  std::unique_ptr<Share> share(const tape::Parameters& parameters,
                               const tape::Partition& partition) const;
  void partial(const Run& run) const;
  void finish(const Run& run, float* out) const;
  /// Hands the gradient of everyone's columns on, and those of their inputs.
  void finish_back(const Run& run, const float* d_out) const;
  void partial_back(const Run& run, const float* d_out) const;

 private:
  struct Input {
    tape::TensorInput from;
    const char* sum;           ///< JoinInput::sum
    tape::TensorId sum_place;  ///< the tensor of it, if there is one
    tape::SumId sum_id = tape::SumId::kNone;
  };
  struct Columns;
  struct PartitionShare;
  struct EveryonesShare;
  struct Back;

  const tape::Join& joined(const tape::Parameters& parameters) const {
    return parameters.declared().layers[number_].join;
  }
  void copy_through(const tape::Join& join, tape::Tape& tape, std::size_t b, float* x) const;
  void normalise_whole(const tape::Join& join, tape::Tape& tape, std::size_t b, float* x) const;
  void normalise_whole_back(const tape::Join& join, tape::Tape& tape) const;
  void hand_back_whole(const tape::Join& join, tape::Tape& tape) const;

  void copy_columns(const tape::Parameters& parameters, const tape::Partition& partition,
                    PartitionShare& mine) const;
  void add_columns(const tape::ConstDense& layer, std::span<float> to) const;
  void add_products(const Run& run, const Columns& columns, std::vector<float>& outputs,
                    tape::SumId id) const;
  void own_columns_forward(const Run& run, EveryonesShare& mine, float* out) const;
  void norm_forward(const Run& run, std::size_t b, std::size_t own, const float* x) const;
  void add_partitions(const Run& run, EveryonesShare& mine, float* out) const;
  void add_own_columns(const Run& run, EveryonesShare& mine) const;
  void columns_back(tape::Tape& tape, Columns& columns, bool normalised, const float* d_out) const;
  void hand_back(const tape::Join& join, tape::Tape& tape, bool everyones,
                 std::span<const Back> from) const;

  const kernels::Kernels* kernels_;
  Layer layer_;
  std::size_t number_ = 0;  ///< in Parameters
  tape::TensorId in_ = tape::TensorId::kNone;
  tape::TensorInput direct_;   ///< what comes in, where it is not divided
  std::vector<Input> inputs_;  ///< by part of the join
  bool normalises_ = false, has_others_ = false;
  /// 4 of each example: mean and 1 / deviation of p, and the means of the way back.
  tape::TensorId norm_ = tape::TensorId::kNone;
  struct {
    tape::SumId squares;     ///< of p, over what a partition has alone
    tape::SumId columns;     ///< once a batch: W 1 of what is normalised
    tape::SumId normalised;  ///< W p of that
    tape::SumId others;      ///< W u of what is not; no floats where none is
  } sums_{};
};

}  // namespace leveret::block
