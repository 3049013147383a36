#include "block/embedding_layer.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "block/dense_products.h"
#include "block/embedding_block.h"

namespace leveret::block {

/// The columns of n fields, one behind the other: n * d inputs.
struct EmbeddingLayer::Columns final : Share {
  std::span<const std::uint32_t> fields;
  table::AlignedFloats copies;
  tape::ConstDense weights;  ///< the copies, without biases
  table::AlignedFloats in;   ///< weights.stride() of each example
  std::vector<float> out;
};

void EmbeddingLayer::declare(std::string name, std::uint32_t outputs, std::size_t number,
                             tape::TensorId out, std::size_t embedding_dim) {
  name_ = std::move(name);
  outputs_ = outputs;
  number_ = number;
  out_ = out;
  d_ = embedding_dim;
}

void EmbeddingLayer::declare_sums(tape::SumDecls& sums) {
  sums_.embeddings = sums.find(EmbeddingBlock::kFields);
  sums_.products = sums.add({name_ + ".products", name_, outputs_});
}

std::unique_ptr<Share> EmbeddingLayer::share(const tape::Parameters& parameters,
                                             const tape::Partition& partition) const {
  if (partition.of == tape::Partition::Of::kEveryone) return nullptr;
  auto mine = std::make_unique<Columns>();
  mine->fields = partition.split_fields();
  mine->weights.inputs = static_cast<std::uint32_t>(mine->fields.size() * d_);
  mine->weights.outputs = outputs_;
  const tape::ConstDense layer = parameters.layer(number_);
  const std::size_t width = mine->weights.stride();
  mine->copies.assign(width * outputs_, 0.0f);
  for (std::size_t o = 0; o < outputs_; ++o) {
    const float* const row = layer.weights.data() + o * layer.stride();
    float* to = mine->copies.data() + o * width;
    for (const std::uint32_t field : mine->fields) to = std::copy_n(row + field * d_, d_, to);
  }
  mine->weights.weights = mine->copies;
  return mine;
}

void EmbeddingLayer::partial(const tape::Tape& tape, Share* share,
                             const tape::BatchSums<float>& sums) const {
  auto& mine = static_cast<Columns&>(*share);
  const std::size_t width = mine.weights.stride();
  if (mine.in.size() < tape.size * width) mine.in.assign(tape.size * width, 0.0f);
  mine.out.resize(tape.size * outputs_);
  for (std::size_t b = 0; b < tape.size; ++b) {
    float* to = mine.in.data() + b * width;
    const float* const e = sums[b].all(sums_.embeddings).data();
    for (const std::uint32_t field : mine.fields) to = std::copy_n(e + field * d_, d_, to);
  }
  DenseProducts{kernels_, tape.gemm}.forward(mine.weights, width, mine.in.data(), tape.size,
                                             mine.out.data());
  for (std::size_t b = 0; b < tape.size; ++b) {
    std::copy_n(mine.out.data() + b * outputs_, outputs_, sums[b].all(sums_.products).begin());
  }
}

void EmbeddingLayer::finish(const tape::Parameters& parameters, tape::Tape& tape,
                            const tape::BatchSums<const float>& sums) const {
  const std::span<const float> bias = parameters.layer(number_).bias;
  for (std::size_t b = 0; b < tape.size; ++b) {
    const std::span<const float> products = sums[b].all(sums_.products);
    std::ranges::transform(products, bias, tape[out_].at(b), std::plus<>());
  }
}

}  // namespace leveret::block
