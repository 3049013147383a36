#include "block/context_layer.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "block/embedding_block.h"

namespace leveret::block {

/// Of n fields, one behind the other: n * d inputs.
struct ContextLayer::Columns final : Share {
  std::span<const std::uint32_t> fields;
  table::AlignedFloats weights;  ///< of each output those of all inputs
  std::vector<float> no_bias;
  std::vector<float> in, out;  ///< of B examples
};

void ContextLayer::declare(std::string name, std::uint32_t outputs, std::size_t number,
                           tape::TensorId out, std::size_t embedding_dim) {
  name_ = std::move(name);
  outputs_ = outputs;
  number_ = number;
  out_ = out;
  d_ = embedding_dim;
}

void ContextLayer::declare_sums(tape::SumDecls& sums) {
  sums_.embeddings = sums.find(EmbeddingBlock::kFields);
  sums_.products = sums.add({name_ + ".products", name_, outputs_});
}

std::unique_ptr<Share> ContextLayer::share(const tape::Parameters& parameters,
                                           const tape::Portion& portion) const {
  if (portion.of == tape::Portion::Of::kEveryone) return nullptr;
  auto mine = std::make_unique<Columns>();
  mine->fields = portion.fields();
  mine->no_bias.resize(outputs_);
  const tape::ConstDense layer = parameters.layer(number_);
  const std::size_t inputs = mine->fields.size() * d_;
  mine->weights.assign(inputs * outputs_, 0.0f);
  float* to = mine->weights.data();
  for (std::size_t o = 0; o < outputs_; ++o) {
    const float* const row = layer.weights.data() + o * layer.stride();
    for (const std::uint32_t field : mine->fields) to = std::copy_n(row + field * d_, d_, to);
  }
  return mine;
}

void ContextLayer::partial(const tape::Tape& tape, Share* share,
                           const tape::BatchSums<float>& sums) const {
  auto& mine = static_cast<Columns&>(*share);
  const std::size_t inputs = mine.fields.size() * d_;
  mine.in.resize(tape.size * inputs);
  mine.out.resize(tape.size * outputs_);
  float* to = mine.in.data();
  for (std::size_t b = 0; b < tape.size; ++b) {
    const float* const e = sums[b].all(sums_.embeddings).data();
    for (const std::uint32_t field : mine.fields) to = std::copy_n(e + field * d_, d_, to);
  }
  kernels_->dense_forward(mine.weights.data(), mine.no_bias.data(), mine.in.data(), inputs,
                          outputs_, inputs, tape.size, mine.out.data());
  for (std::size_t b = 0; b < tape.size; ++b) {
    std::copy_n(mine.out.data() + b * outputs_, outputs_, sums[b].all(sums_.products).begin());
  }
}

void ContextLayer::finish(const tape::Parameters& parameters, tape::Tape& tape,
                          const tape::BatchSums<const float>& sums) const {
  const std::span<const float> bias = parameters.layer(number_).bias;
  for (std::size_t b = 0; b < tape.size; ++b) {
    const std::span<const float> products = sums[b].all(sums_.products);
    std::ranges::transform(products, bias, tape[out_].at(b), std::plus<>());
  }
}

}  // namespace leveret::block
