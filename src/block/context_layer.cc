#include "block/context_layer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "block/ffm_block.h"
#include "block/norm_block.h"

namespace leveret::block {
namespace {

/// Field f's pair number i of a triangle over `fields`.
std::uint32_t pair_column(const std::vector<std::uint32_t>& fields, std::size_t i) {
  std::size_t row = 0;
  while (pair_index(0, row + 1) <= i) ++row;
  return static_cast<std::uint32_t>(pair_index(fields[i - pair_index(0, row)], fields[row]));
}

}  // namespace

/// The columns of a layer that source(i) names, i < inputs.
template <class Source>
ContextLayer::Columns ContextLayer::columns_of(const tape::ConstDense& layer, std::size_t inputs,
                                               const Source& source) {
  Columns some;
  some.inputs = static_cast<std::uint32_t>(inputs);
  some.weights.resize(some.stride() * layer.outputs);
  for (std::uint32_t i = 0; i < some.inputs; ++i) {
    const std::uint32_t from = source(i);
    for (std::uint32_t o = 0; o < layer.outputs; ++o) {
      some.weights[o * some.stride() + i] = layer.weights[o * layer.stride() + from];
    }
  }
  return some;
}

ContextLayer::ContextLayer(const kernels::Kernels& kernels, Config config,
                           const tape::Parameters& parameters, const FieldSplit& split,
                           const MlpBlock& mlp)
    : kernels_(kernels),
      config_(std::move(config)),
      split_(split),
      mlp_(mlp),
      layout_(parameters.layout) {
  const tape::ConstDense layer = mlp_.layer(parameters, 0);
  bias_.assign(layer.bias.begin(), layer.bias.end());
  const bool mixed = config_.mixed;
  candidate_ = columns_of(layer, split_.size(mixed),
                          [&](std::uint32_t i) { return source_of_candidate(i); });
  context_ = columns_of(layer, split_.context_size(mixed),
                        [&](std::uint32_t i) { return source_of_context(i); });
  for (std::uint32_t o = 0; o < layer.outputs; ++o) {
    double sum = 0;
    const float* const row = layer.weights.data() + o * layer.stride();
    for (std::uint32_t i = 0; i < layout_.counts(); ++i) sum += row[i];
    ones_.push_back(static_cast<float>(sum));
  }
  inputs_.resize(split_.context_size(mixed));
}

/// Which column of the model's layer is input i of a candidate.
std::uint32_t ContextLayer::source_of_candidate(std::uint32_t i) const {
  const std::size_t in_context = split_.context.size(), groups = split_.groups();
  if (i < split_.cross()) {
    const std::uint32_t f = split_.context[i % in_context], g = split_.candidate[i / in_context];
    return static_cast<std::uint32_t>(pair_index(std::min(f, g), std::max(f, g)));
  }
  if (i < split_.linear()) return pair_column(split_.candidate, i - split_.cross());
  if (i == split_.first()) return layout_.first();
  const auto segment = static_cast<std::uint32_t>((i - split_.linear()) / groups);
  return layout_.linear() + segment * layout_.groups() +
         split_.group((i - split_.linear()) % groups);
}

std::uint32_t ContextLayer::source_of_context(std::uint32_t i) const {
  if (i < split_.context_pairs()) return pair_column(split_.context, i);
  const std::size_t groups = split_.context.size(), at = i - split_.context_pairs();
  return layout_.linear() + static_cast<std::uint32_t>(at / groups) * layout_.groups() +
         split_.context[at % groups] + 1;
}

void ContextLayer::keep(const tape::Parameters& parameters, const tape::Tape& tape, std::size_t b,
                        const float* pairs, Kept& kept) {
  const std::size_t groups = split_.context.size(), counted = split_.context_counts();
  const std::size_t group_at = b * layout_.groups() + 1;
  float* to = inputs_.data();
  for (const std::uint32_t g : split_.context) {
    for (const std::uint32_t f : split_.context) {
      if (f > g) break;
      *to++ = pairs[pair_index(f, g)];
    }
  }
  for (const std::uint32_t f : split_.context) *to++ = tape.group_linear[group_at + f];
  if (config_.mixed) {
    for (const std::uint32_t f : split_.context) *to++ = tape.group_counts[group_at + f];
    for (const std::uint32_t f : split_.context) {
      *to++ = NormBlock::kSeenScale * tape.group_seen[group_at + f];
    }
  }
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
                         config_.mixed ? 2 * groups : 0, first.outputs, context_.stride(), 1,
                         kept.as_they_are.data());
}

ContextLayer::Norm ContextLayer::normalise(const Kept& kept, float* inputs) const {
  const std::size_t counted = split_.counts();
  const float squares = kernels_.centre(inputs, counted, kept.mean, inputs);
  const double all = layout_.counts();
  const double mean = (kept.sum + kernels_.total(inputs, counted)) / all;
  const double variance = (kept.squares + squares) / all - mean * mean;
  const auto scale = static_cast<float>(
      1.0 / std::sqrt(std::max(variance, 0.0) + static_cast<double>(NormBlock::kEpsilon)));
  kernels_.scale(inputs, counted, scale, inputs);
  if (config_.mixed) {
    float* const seen = inputs + split_.seen();
    kernels_.scale(seen, split_.groups(), NormBlock::kSeenScale, seen);
  }
  return {scale, static_cast<float>(mean)};
}

void ContextLayer::forward(const Kept& kept, const float* inputs, const Norm* norms,
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
