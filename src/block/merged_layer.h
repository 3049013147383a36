/// MergeNorm and the first layer over what it makes, where the inputs of an example are in
/// partitions of a model (DES paper, eq. 8; norm: merge_norm.h).
///
/// The layer is linear, so that goes through the normalisation, too: with W of the normalised
/// inputs p, of which there are P with the mean m and the deviation d, W (p - m) / d =
/// (W p - m W 1) / d, and W p, W 1, the sum and the sum of squares of p add up over partitions. On
/// the way back, with d x^ = W' d y, the mean of d x^ is d y . W 1 / P, and that of d x^ x^ is d y
/// . W x^ / P: nothing has to be added up again.
///
/// Everyone has the biases and the columns of what nobody owns alone (tape::Join::everyones). For
/// contexts and candidates each partition has copies of its columns, in an order of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "block/block.h"
#include "block/config.h"

namespace leveret::block {

/// A part of MlpBlock (partial, finish, …: see Block).
class MergedLayer {
 public:
  MergedLayer(const kernels::Kernels& kernels, const Config& config)
      : kernels_(&kernels), config_(config) {}

  /// `name`: of the layer; `number`: in Parameters; `in`: NormBlock's tensor; `out`: what the layer
  /// makes.
  void declare(const std::string& name, std::uint32_t outputs, std::size_t number,
               tape::TensorId in, tape::TensorId out, tape::Declarations& declarations);
  void declare_sums(std::uint32_t shared, const tape::Declarations& declared, tape::SumDecls& sums);
  std::unique_ptr<Share> share(const tape::Parameters& parameters,
                               const tape::Partition& partition) const;
  void partial(tape::Tape& tape, Share* share, const tape::BatchSums<float>& sums) const;
  /// Writes the layer's outputs before ReLU.
  void finish(const tape::Parameters& parameters, tape::Tape& tape, Share* share,
              const tape::BatchSums<const float>& sums) const;
  /// The layer's outputs have gradients, and those of its inputs that everyone has.
  void finish_back(const tape::Parameters& parameters, tape::Tape& tape, Share* share) const;
  void partial_back(const tape::Parameters& parameters, tape::Tape& tape, Share* share) const;

 private:
  struct Inputs;
  struct PartitionShare;
  struct EveryonesShare;
  const tape::Join& join(const tape::Parameters& parameters) const {
    return parameters.declared()[in_].join;
  }
  void copy_columns(const tape::Parameters& parameters, const tape::Partition& partition,
                    PartitionShare& mine) const;
  void add_columns(const tape::ConstDense& layer, std::span<float> to) const;
  void add_products(const Inputs& inputs, const tape::Tape& tape, float* outputs,
                    const tape::BatchSums<float>& sums, tape::SumId id) const;
  void own_columns_forward(const tape::ConstDense& layer, const tape::JoinColumns& columns,
                           tape::Tape& tape, std::size_t width, float* in) const;
  void norm_forward(const tape::Parameters& parameters, tape::Tape& tape,
                    const EveryonesShare& mine, const tape::BatchSums<const float>& sums) const;
  void add_partitions(tape::Tape& tape, EveryonesShare& mine,
                      const tape::BatchSums<const float>& sums) const;
  void add_own_columns(const tape::Parameters& parameters, tape::Tape& tape,
                       EveryonesShare& mine) const;
  void clear_group_gradients(const tape::Parameters& parameters, tape::Tape& tape) const;

  const kernels::Kernels* kernels_;
  Config config_;
  std::string name_;
  std::uint32_t outputs_ = 0;
  std::size_t number_ = 0;
  tape::TensorId in_ = tape::TensorId::kNone, out_ = tape::TensorId::kNone;
  /// 4 of each example: mean and 1 / deviation of p, and the means of the way back.
  tape::TensorId norm_ = tape::TensorId::kNone;
  tape::TensorId group_linear_ = tape::TensorId::kNone;
  struct {
    tape::SumId linear, pairs;  ///< of p: those of other blocks; the latter only with an FFM
    tape::SumId squares;        ///< of p, over what a partition has alone
    tape::SumId columns;        ///< once a batch: W 1 of what is normalised
    tape::SumId normalised;     ///< W p of that
    tape::SumId others;         ///< W u of what is not; no floats where none is
  } sums_{};
};

}  // namespace leveret::block
