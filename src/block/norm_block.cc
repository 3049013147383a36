#include "block/norm_block.h"

#include <algorithm>
#include <string>

#include "block/ffm_block.h"
#include "block/linear_block.h"
#include "block/merge_norm.h"

namespace leveret::block {
namespace {

/// An input of the first layer, all numbers of a tensor.
struct InputKind {
  std::string tensor;
  tape::Owner::Kind per;
  bool normalised;
  float scale = 1;
  const char* sum = nullptr;  ///< the tensor of their sum, if there is one
};

/// In the order of the layer's columns. What is normalised comes first.
std::vector<InputKind> input_kinds(const Config& config) {
  using Kind = tape::Owner::Kind;
  std::vector<InputKind> kinds;
  kinds.push_back({FfmBlock::kPairs, Kind::kPair, true, 1, FfmBlock::kPairsSum});
  kinds.push_back({LinearBlock::kGroupLinear, Kind::kFeatureGroup, true});
  if (config.mixed) {
    constexpr float kSeenScale = 0.3f;
    kinds.push_back({LinearBlock::kGroupCounts, Kind::kFeatureGroup, false});
    kinds.push_back({LinearBlock::kGroupSeen, Kind::kFeatureGroup, false, kSeenScale});
    kinds.push_back({std::string("heads.") + LinearBlock::kFirst, Kind::kAll, false});
  }
  return kinds;
}

}  // namespace

void NormBlock::declare(const tape::Extent& layout, tape::Declarations& declarations) {
  std::vector<tape::JoinPart> parts;
  inputs_.clear();
  for (const InputKind& kind : input_kinds(config_)) {
    const tape::TensorInput from = declarations.read(kind.tensor);
    inputs_.push_back(
        {from, kind.sum != nullptr ? declarations.find_tensor(kind.sum) : tape::TensorId::kNone});
    parts.push_back({from.id, kind.per, kind.normalised, kind.scale});
  }
  const tape::Join join(parts, layout);
  outputs_ = declarations.add(tape::Tensor{
      .name = kOutputs,
      .size = layout.fields > 0 ? join.size() : 0,
      .whole_lines = true,
      .gradient = true,
      .source = [parts](
                    const tape::Extent& from, const tape::Extent& to,
                    std::uint32_t column) { return tape::Join(parts, to).before(from, column); },
      .join = join});
  scale_ = declarations.add(tape::Tensor{.name = "norm.scale", .size = 1});
  // The pairs' gradients are made in place, unless somebody else reads the pairs, too.
  for (const Input& input : inputs_) {
    tape::Tensor& from = declarations[input.from.id];
    if (from.name != FfmBlock::kPairs || from.readers > 1) continue;
    from.gradient = false;
    from.gradient_in = outputs_;
  }
}

void NormBlock::forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t begin,
                        std::size_t end) const {
  const tape::Tensor& made = parameters.declared()[outputs_];
  const std::vector<tape::JoinPart>& parts = made.join.parts();
  tape::TensorPlace& outputs = tape[outputs_];
  for (std::size_t b = begin; b < end; ++b) {
    float* const x = outputs.at(b);
    std::fill(x + made.size, x + outputs.stride, 0.0f);
    float sum = 0;
    std::uint32_t first = 0, count = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const float* const from = tape[parts[p].from].at(b);
      const std::uint32_t columns = made.join.columns(p);
      if (parts[p].normalised) {
        const tape::TensorId known = inputs_[p].sum;
        sum +=
            known != tape::TensorId::kNone ? tape[known].values[b] : kernels_->total(from, columns);
        count += columns;
      } else if (parts[p].scale != 1.0f) {
        kernels_->scale(from, columns, parts[p].scale, x + first);
      } else {
        std::copy_n(from, columns, x + first);
      }
      first += columns;
    }
    const float mean = sum / static_cast<float>(count);
    // Subtracting first keeps the variance of a large common value from cancelling away.
    float squares = 0;
    for (std::size_t p = 0, at = 0; at < count; ++p) {
      const std::uint32_t columns = made.join.columns(p);
      squares += kernels_->centre(tape[parts[p].from].at(b), columns, mean, x + at);
      at += columns;
    }
    const Norm<float> norm = Norm<float>::of_variance(mean, squares / static_cast<float>(count));
    kernels_->scale(x, count, norm.scale, x);
    tape[scale_].values[b] = norm.scale;
  }
}

void NormBlock::backward(const tape::Parameters& parameters, tape::Tape& tape) const {
  const tape::Join& join = parameters.declared()[outputs_].join;
  const std::uint32_t count = join.normalised();
  tape::TensorPlace& outputs = tape[outputs_];
  for (std::size_t b = 0; b < tape.size; ++b) {
    const float* x = outputs.at(b);
    float* d = outputs.d_at(b);
    const NormBack back{kernels_->total(d, count) / static_cast<float>(count),
                        kernels_->dot(d, x, count) / static_cast<float>(count)};
    normalise_back(*kernels_, {0, tape[scale_].values[b]}, back, x, count, d);
  }
  add_gradients(join, tape);
}

/// Those of tensors that learn through this, and have a place of their own for it.
void NormBlock::add_gradients(const tape::Join& join, tape::Tape& tape) const {
  const tape::TensorPlace& outputs = tape[outputs_];
  for (std::size_t p = 0; p < inputs_.size(); ++p) {
    const tape::TensorInput& from = inputs_[p].from;
    const tape::TensorPlace& place = tape[from.id];
    if (place.gradient == nullptr || place.gradient == outputs.gradient) continue;
    const std::uint32_t first = join.begin(p);
    float* const d = tape.tensors.d_of_reader(from, tape.size);
    for (std::size_t b = 0; b < tape.size; ++b) {
      std::copy_n(outputs.d_at(b) + first, join.columns(p), d + b * place.d_stride);
    }
    tape.tensors.add_d_of_reader(from, tape.size);
  }
}

}  // namespace leveret::block
