#include "block/context_layer.h"

#include <cassert>
#include <utility>

namespace leveret::block {

ContextLayer::Columns ContextLayer::columns_of(const tape::ConstDense& layer,
                                               tape::JoinColumns columns) {
  Columns some{std::move(columns), {}};
  const std::vector<std::uint32_t>& names = some.columns.names();
  some.weights.resize(some.stride() * layer.outputs);
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::uint32_t o = 0; o < layer.outputs; ++o) {
      some.weights[o * some.stride() + i] = layer.weights[o * layer.stride() + names[i]];
    }
  }
  return some;
}

ContextLayer::ContextLayer(const kernels::Kernels& kernels, const tape::Parameters& parameters,
                           const FieldSplit& split, const MlpBlock& mlp)
    : kernels_(kernels), mlp_(mlp), normalised_(mlp.join(parameters).normalised()) {
  const tape::ConstDense layer = mlp_.layer(parameters, 0);
  const tape::Join& join = mlp_.join(parameters);
  // Candidates' pairs are made where the first inputs are (FfmContext::forward).
  for (std::size_t p = 1; p < join.parts().size(); ++p) {
    assert(join.parts()[p].per != tape::Owner::Kind::kPair);
  }
  bias_.assign(layer.bias.begin(), layer.bias.end());
  candidate_ = columns_of(layer, {join, split.of_candidate(join)});
  context_ = columns_of(layer, {join, split.of_context(join)});
  for (std::uint32_t o = 0; o < layer.outputs; ++o) {
    double sum = 0;
    const float* const row = layer.weights.data() + o * layer.stride();
    for (std::uint32_t i = 0; i < normalised_; ++i) sum += row[i];
    ones_.push_back(static_cast<float>(sum));
  }
  inputs_.resize(context_.columns.size());
}

void ContextLayer::keep(const tape::Parameters& parameters, const tape::Tape& tape, std::size_t b,
                        Kept& kept) {
  const std::size_t counted = context_.columns.normalised();
  context_.columns.gather(tape.tensors, b, true, inputs_.data());
  double sum = 0;
  for (std::size_t i = 0; i < counted; ++i) sum += inputs_[i];
  kept.mean = counted > 0 ? static_cast<float>(sum / static_cast<double>(counted)) : 0.0f;
  kept.sum = sum - static_cast<double>(kept.mean) * static_cast<double>(counted);
  kept.squares = kernels_.centre(inputs_.data(), counted, kept.mean, inputs_.data());

  const tape::ConstDense first = mlp_.layer(parameters, 0);
  kept.part.resize(first.outputs);
  kept.as_they_are.resize(first.outputs);
  const std::vector<float> nothing(first.outputs, 0.0f);
  kernels_.dense_forward(context_.weights.data(), nothing.data(), inputs_.data(), counted,
                         first.outputs, context_.stride(), 1, kept.part.data());
  kernels_.dense_forward(context_.weights.data() + counted, bias_.data(), inputs_.data() + counted,
                         context_.columns.size() - counted, first.outputs, context_.stride(), 1,
                         kept.as_they_are.data());
}

Norm<float> ContextLayer::normalise(const Kept& kept, float* inputs) const {
  const std::size_t counted = candidate_.columns.normalised();
  const float squares = kernels_.centre(inputs, counted, kept.mean, inputs);
  const Norm<double> norm = Norm<double>::of_sums(kept.sum + kernels_.total(inputs, counted),
                                                  kept.squares + squares, normalised_);
  const auto scale = static_cast<float>(norm.scale);
  kernels_.scale(inputs, counted, scale, inputs);
  return {static_cast<float>(norm.mean), scale};
}

void ContextLayer::forward(const Kept& kept, const float* inputs, const Norm<float>* norms,
                           std::size_t examples, float* out) const {
  const std::size_t outputs = bias_.size();
  kernels_.dense_forward(candidate_.weights.data(), kept.as_they_are.data(), inputs,
                         candidate_.stride(), outputs, candidate_.stride(), examples, out);
  for (std::size_t e = 0; e < examples; ++e, out += outputs) {
    const float scale = norms[e].scale, mean = norms[e].mean;
    for (std::size_t o = 0; o < outputs; ++o) out[o] += scale * (kept.part[o] - mean * ones_[o]);
  }
}

}  // namespace leveret::block
