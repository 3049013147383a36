#include "block/dense/joined_dense.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "block/dense/layer_back.h"
#include "block/dense/merge_norm.h"

namespace leveret::block {

void JoinedDense::declare(Layer layer, const std::vector<JoinInput>& inputs,
                          const tape::Extent& extent, tape::Declarations& declarations) {
  layer_ = std::move(layer);
  number_ = declarations.layers.size();
  inputs_.clear();
  normalises_ = has_others_ = false;
  const auto declare_layer = [&](tape::TensorId in) {
    in_ = in;
    tape::declare_dense(layer_.name, in, layer_.outputs, layer_.init, layer_.rule, declarations);
  };
  const tape::TensorId first = declarations.find_tensor(inputs.front().tensor);
  if (inputs.size() == 1 && declarations[first].owner == tape::Owner::Kind::kAll) {
    direct_ = declarations.read(inputs.front().tensor);
    return declare_layer(direct_.id);
  }
  std::vector<tape::JoinPart> parts;
  for (const JoinInput& input : inputs) {
    const tape::TensorInput from = declarations.read(input.tensor);
    const tape::Tensor& tensor = declarations[from.id];
    const bool is_everyones = tensor.owner == tape::Owner::Kind::kAll;
    assert(!is_everyones || tensor.source == nullptr);  // it has one size, whatever the fields
    parts.push_back({from.id, tensor.owner, input.normalised, input.scale,
                     is_everyones ? tensor.size : tensor.width});
    inputs_.push_back(
        {from, input.sum,
         input.sum != nullptr ? declarations.find_tensor(input.sum) : tape::TensorId::kNone});
    (input.normalised ? normalises_ : has_others_) = true;
  }
  const tape::Join join(parts, extent);
  declare_layer(declarations.add(tape::Tensor{
      .name = layer_.name + ".in",
      .size = extent.fields > 0 ? join.size() : 0,
      .whole_lines = true,
      .gradient = true,
      .source = [parts](const tape::Extent& from, const tape::Extent& to, std::uint32_t column) {
        return tape::Join(parts, to).before(from, column);
      }}));
  declarations.layers.back().join = join;
  if (normalises_) {
    norm_ = declarations.add(tape::Tensor{.name = layer_.name + ".norm", .size = 4});
  }
  // The gradients of pairs are made in place, unless somebody else reads the pairs, too.
  tape::Tensor& pairs = declarations[first];
  if (pairs.owner != tape::Owner::Kind::kPair || pairs.readers > 1) return;
  pairs.gradient = false;
  pairs.gradient_in = in_;
}

// ---- forward ----

void JoinedDense::join(const Run& run) const {
  if (!is_divided()) return;
  const tape::Join& join = joined(run.parameters);
  tape::TensorPlace& in = run.tape[in_];
  for (std::size_t b = run.begin; b < run.end; ++b) {
    float* const x = in.at(b);
    std::fill(x + join.size(), x + in.stride, 0.0f);
    if (has_others_) copy_through(join, run.tape, b, x);
    if (normalises_) normalise_whole(join, run.tape, b, x);
  }
}

/// Copies the inputs that are not normalised.
void JoinedDense::copy_through(const tape::Join& join, tape::Tape& tape, std::size_t b,
                               float* x) const {
  std::uint32_t first = 0;
  for (std::size_t p = 0; p < inputs_.size(); ++p) {
    const tape::JoinPart& part = join.parts()[p];
    const std::uint32_t columns = join.columns(p);
    if (!part.normalised) kernels_->scale(tape[part.from].at(b), columns, part.scale, x + first);
    first += columns;
  }
}

void JoinedDense::normalise_whole(const tape::Join& join, tape::Tape& tape, std::size_t b,
                                  float* x) const {
  const std::vector<tape::JoinPart>& parts = join.parts();
  const std::uint32_t count = join.normalised();
  float sum = 0;
  for (std::size_t p = 0; p < parts.size() && parts[p].normalised; ++p) {
    const tape::TensorId known = inputs_[p].sum_place;
    sum += known != tape::TensorId::kNone
               ? tape[known].values[b]
               : kernels_->total(tape[parts[p].from].at(b), join.columns(p));
  }
  const float mean = sum / static_cast<float>(count);
  // Subtracting first keeps the variance of a large common value from cancelling away.
  float squares = 0;
  for (std::size_t p = 0, at = 0; at < count; ++p) {
    const std::uint32_t columns = join.columns(p);
    squares += kernels_->centre(tape[parts[p].from].at(b), columns, mean, x + at);
    at += columns;
  }
  const Norm<float> norm = Norm<float>::of_variance(mean, squares / static_cast<float>(count));
  kernels_->scale(x, count, norm.scale, x);
  ExampleNorm{norm, {}}.put(tape[norm_].at(b));
}

// ---- back ----

void JoinedDense::backward(const Run& run, const float* d_out) const {
  tape::TensorPlace& in = run.tape[in_];
  if (!is_divided()) {
    layer_back(*kernels_, run.parameters, run.tape, number_, in, d_out,
               run.tape.tensors.d_of_reader(direct_, run.tape.size));
    return run.tape.tensors.add_d_of_reader(direct_, run.tape.size);
  }
  layer_back(*kernels_, run.parameters, run.tape, number_, in, d_out, in.gradient);
  const tape::Join& join = joined(run.parameters);
  if (normalises_) normalise_whole_back(join, run.tape);
  hand_back_whole(join, run.tape);
}

void JoinedDense::normalise_whole_back(const tape::Join& join, tape::Tape& tape) const {
  const std::uint32_t count = join.normalised();
  tape::TensorPlace& in = tape[in_];
  for (std::size_t b = 0; b < tape.size; ++b) {
    const float* x = in.at(b);
    float* d = in.d_at(b);
    const NormBack back{kernels_->total(d, count) / static_cast<float>(count),
                        kernels_->dot(d, x, count) / static_cast<float>(count)};
    normalise_back(*kernels_, ExampleNorm::of(tape[norm_].at(b)).norm, back, x, count, d);
  }
}

/// To tensors that learn through this, and have a place of their own for it.
void JoinedDense::hand_back_whole(const tape::Join& join, tape::Tape& tape) const {
  const tape::TensorPlace& in = tape[in_];
  std::uint32_t begin = join.size();
  for (std::size_t p = inputs_.size(); p-- > 0;) {  // the last reader comes first
    const std::uint32_t columns = join.columns(p);
    begin -= columns;
    const tape::TensorInput& from = inputs_[p].from;
    const tape::TensorPlace& place = tape[from.id];
    if (place.gradient == nullptr || place.gradient == in.gradient) continue;
    float* const d = tape.tensors.d_of_reader(from, tape.size);
    for (std::size_t b = 0; b < tape.size; ++b) {
      kernels_->scale(in.d_at(b) + begin, columns, join.parts()[p].scale, d + b * place.d_stride);
    }
    tape.tensors.add_d_of_reader(from, tape.size);
  }
}

}  // namespace leveret::block
