#include "block/embedding_layer.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "block/embedding_block.h"

namespace leveret::block {

/// Of n fields, one behind the other: n * d inputs, and zeros up to whole cache lines.
struct EmbeddingLayer::Columns final : Share {
  std::span<const std::uint32_t> fields;
  std::size_t width = 0;             ///< of a row of weights, and of an example's inputs
  table::AlignedFloats weights, in;  ///< of each output, of each example
  std::vector<float> no_bias, out;
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
                                             const tape::Portion& portion) const {
  if (portion.of == tape::Portion::Of::kEveryone) return nullptr;
  auto mine = std::make_unique<Columns>();
  mine->fields = portion.split_fields();
  mine->no_bias.resize(outputs_);
  const tape::ConstDense layer = parameters.layer(number_);
  mine->width = table::whole_lines(mine->fields.size() * d_);
  mine->weights.assign(mine->width * outputs_, 0.0f);
  for (std::size_t o = 0; o < outputs_; ++o) {
    const float* const row = layer.weights.data() + o * layer.stride();
    float* to = mine->weights.data() + o * mine->width;
    for (const std::uint32_t field : mine->fields) to = std::copy_n(row + field * d_, d_, to);
  }
  return mine;
}

void EmbeddingLayer::partial(const tape::Tape& tape, Share* share,
                             const tape::BatchSums<float>& sums) const {
  auto& mine = static_cast<Columns&>(*share);
  const std::size_t width = mine.width;
  if (mine.in.size() < tape.size * width) mine.in.assign(tape.size * width, 0.0f);
  mine.out.resize(tape.size * outputs_);
  for (std::size_t b = 0; b < tape.size; ++b) {
    float* to = mine.in.data() + b * width;
    const float* const e = sums[b].all(sums_.embeddings).data();
    for (const std::uint32_t field : mine.fields) to = std::copy_n(e + field * d_, d_, to);
  }
  kernels_->dense_forward(mine.weights.data(), mine.no_bias.data(), mine.in.data(), width, outputs_,
                          width, tape.size, mine.out.data());
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
