/// The first layer of a tower over embeddings (as MergedLayer is that over merged inputs), where
/// examples come as contexts and their candidates (tape/partition.h): the layer is linear, so that
/// each partition has the products of its fields' embeddings with their columns, and the sums of
/// these are the layer's. A context makes its own once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "block/block.h"
#include "block/config.h"

namespace leveret::block {

/// A part of MlpBlock (partial, finish, …: see Block).
class EmbeddingLayer {
 public:
  explicit EmbeddingLayer(const kernels::Kernels& kernels) : kernels_(&kernels) {}

  /// `name`: of the layer; `number`: in Parameters; `out`: what it makes.
  void declare(std::string name, std::uint32_t outputs, std::size_t number, tape::TensorId out,
               std::size_t embedding_dim);
  void declare_sums(tape::SumDecls& sums);
  /// Copies of the columns of its fields. Null for what is everyone's.
  std::unique_ptr<Share> share(const tape::Parameters& parameters,
                               const tape::Partition& partition) const;
  void partial(const tape::Tape& tape, Share* share, const tape::BatchSums<float>& sums) const;
  /// Writes the layer's outputs before ReLU.
  void finish(const tape::Parameters& parameters, tape::Tape& tape,
              const tape::BatchSums<const float>& sums) const;

 private:
  struct Columns;

  const kernels::Kernels* kernels_;
  std::string name_;
  std::uint32_t outputs_ = 0;
  std::size_t number_ = 0, d_ = 0;
  tape::TensorId out_ = tape::TensorId::kNone;
  struct {
    tape::SumId embeddings = tape::SumId::kNone, products = tape::SumId::kNone;
  } sums_;
};

}  // namespace leveret::block
