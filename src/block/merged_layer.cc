#include "block/merged_layer.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "block/dense_products.h"
#include "block/ffm_block.h"
#include "block/linear_block.h"
#include "block/merge_norm.h"

namespace leveret::block {
namespace {

constexpr const char* kFirstLayer = "first layer";

/// On the tensor norm_, of an example.
struct ExampleNorm {
  Norm<float> norm;
  NormBack back;

  static ExampleNorm of(const tape::TensorPlace& at, std::size_t b) {
    const float* const n = at.at(b);
    return {{n[0], n[1]}, {n[2], n[3]}};
  }
  void put(tape::TensorPlace& at, std::size_t b) const {
    float* const n = at.at(b);
    n[0] = norm.mean;
    n[1] = norm.scale;
    n[2] = back.mean;
    n[3] = back.along;
  }
};

}  // namespace

/// A portion's columns and their inputs, `width` floats of each example.
struct MergedLayer::PortionShare final : Share {
  struct Inputs {
    tape::JoinColumns columns;
    std::size_t width = 0;
    table::AlignedFloats values;

    /// Behind the columns there are zeros, and stay.
    void open(std::size_t size) {
      if (values.size() < size * width) values.assign(size * width, 0.0f);
    }
    float* at(std::size_t b) { return values.data() + b * width; }
  };
  Inputs normalised, others;
  tape::JoinColumns everyones;
  table::AlignedFloats d_inputs;  ///< of the normalised ones
  std::vector<float> outputs;     ///< B * h
};

struct MergedLayer::EveryonesShare final : Share {
  tape::JoinColumns columns;
  std::uint32_t shared = 0;
  std::vector<float> column_sums;  ///< h: W 1 of what is normalised
  std::vector<float> normalised;   ///< B * h: W x^
};

void MergedLayer::declare(const std::string& name, std::uint32_t outputs, std::size_t number,
                          tape::TensorId in, tape::TensorId out, tape::Declarations& declarations) {
  name_ = name;
  outputs_ = outputs;
  number_ = number;
  in_ = in;
  out_ = out;
  norm_ = declarations.add(tape::Tensor{.name = name + ".norm", .size = 4});
  group_linear_ = declarations.find_tensor(LinearBlock::kGroupLinear);
}

void MergedLayer::declare_sums(std::uint32_t shared, const tape::Declarations& declared,
                               tape::SumDecls& sums) {
  const std::uint32_t h = outputs_;
  const bool some_others = config_.mixed && shared < declared[group_linear_].size;
  sums_.linear = sums.find(LinearBlock::kScoreSum);
  sums_.pairs = sums.find(FfmBlock::kPairsSum);
  sums_.squares = sums.add({"norm.squares", "norm"});
  sums_.columns = sums.add({name_ + ".columns", kFirstLayer, h, tape::Tensor::Per::kBatch});
  sums_.normalised = sums.add({name_ + ".normalised", kFirstLayer, h});
  sums_.others = sums.add({name_ + ".others", kFirstLayer, some_others ? h : 0});
  // Inputs of shared groups; those of counts are sums of the linear part already.
  for (const tape::JoinPart& part : declared[in_].join.parts()) {
    const std::string& name = declared[part.from].name;
    if (part.per != tape::Owner::Kind::kGroup || name == LinearBlock::kGroupCounts) continue;
    sums.add({name, kFirstLayer, shared, tape::Tensor::Per::kExample, part.from});
  }
}

std::unique_ptr<Share> MergedLayer::share(const tape::Parameters& parameters,
                                          const tape::Portion& portion) const {
  const tape::Join& all = join(parameters);
  tape::JoinColumns everyones(all, all.everyones(portion.shared));
  if (portion.everyones) {
    auto mine = std::make_unique<EveryonesShare>();
    mine->columns = std::move(everyones);
    mine->shared = portion.shared;
    return mine;
  }
  auto mine = std::make_unique<PortionShare>();
  mine->everyones = std::move(everyones);
  const auto fill = [&](const tape::PortionColumns& columns, PortionShare::Inputs& inputs) {
    inputs.columns = {
        all, {columns.names.begin(), columns.names.end()}, tape::JoinColumns::Pairs::kThese};
    inputs.width = columns.weights.stride();
  };
  fill(portion.normalised, mine->normalised);
  fill(portion.others, mine->others);
  return mine;
}

// ---- forward ----

void MergedLayer::partial(tape::Tape& tape, const tape::Portion& portion, Share* share,
                          const tape::BatchSums<float>& sums) const {
  auto& mine = static_cast<PortionShare&>(*share);
  for (PortionShare::Inputs* const inputs : {&mine.normalised, &mine.others}) {
    inputs->open(tape.size);
    for (std::size_t b = 0; b < tape.size; ++b) {
      inputs->columns.gather(tape.tensors, b, true, inputs->at(b));
    }
  }
  const std::span<float> columns = sums.of_batch(sums_.columns);
  const tape::ConstDense& layer = portion.normalised.weights;
  for (std::size_t o = 0; o < columns.size(); ++o) {
    columns[o] = kernels_->total(layer.weights.data() + o * layer.stride(), layer.inputs);
  }
  mine.outputs.resize(tape.size * columns.size());
  add_products(portion.normalised, mine.normalised.values.data(), tape, mine, sums,
               sums_.normalised);
  if (config_.mixed) {
    add_products(portion.others, mine.others.values.data(), tape, mine, sums, sums_.others);
  }
  for (std::size_t b = 0; b < tape.size; ++b) {
    const float* const x = mine.normalised.at(b);
    sums[b][sums_.squares] = kernels_->dot(x, x, layer.inputs);
  }
}

void MergedLayer::add_products(const tape::PortionColumns& columns, const float* in,
                               const tape::Tape& tape, PortionShare& mine,
                               const tape::BatchSums<float>& sums, tape::SumId id) const {
  const tape::ConstDense& layer = columns.weights;
  if (layer.inputs == 0) return;
  DenseProducts{kernels_, tape.gemm}.forward(layer, layer.stride(), in, tape.size,
                                             mine.outputs.data());
  for (std::size_t b = 0; b < tape.size; ++b) {
    std::copy_n(mine.outputs.data() + b * layer.outputs, layer.outputs, sums[b].all(id).begin());
  }
}

/// out = bias + W x, where x are the inputs that everyone has, + what the portions' columns make.
void MergedLayer::finish(const tape::Parameters& parameters, tape::Tape& tape, Share* share,
                         const tape::BatchSums<const float>& sums) const {
  auto& mine = static_cast<EveryonesShare&>(*share);
  tape::TensorPlace& in = tape[in_];
  std::fill_n(in.values, tape.size * in.stride, 0.0f);
  norm_forward(parameters, tape, mine, sums);
  for (std::size_t b = 0; b < tape.size; ++b) {
    mine.columns.gather(tape.tensors, b, false, in.at(b));
    normalise(*kernels_, ExampleNorm::of(tape[norm_], b).norm, mine.columns.normalised(), in.at(b));
  }
  DenseProducts{kernels_, tape.gemm}.forward(parameters.layer(number_), in.stride, in.values,
                                             tape.size, tape[out_].values);
  add_portions(tape, mine, sums);
  add_own_columns(parameters, tape, mine);
}

/// Mean and deviation of all normalised inputs.
void MergedLayer::norm_forward(const tape::Parameters& parameters, tape::Tape& tape,
                               const EveryonesShare& mine,
                               const tape::BatchSums<const float>& sums) const {
  const auto count = static_cast<float>(join(parameters).normalised());
  for (std::size_t b = 0; b < tape.size; ++b) {
    const tape::SumsOf<const float> of = sums[b];
    float squares = of[sums_.squares];
    if (mine.shared > 0) {
      const float* const shared = tape[group_linear_].at(b);
      squares += kernels_->dot(shared, shared, mine.shared);
    }
    const float linear = of[sums_.linear];
    const float sum = sums_.pairs != tape::SumId::kNone ? of[sums_.pairs] + linear : linear;
    ExampleNorm{Norm<float>::of_sums(sum, squares, count), {}}.put(tape[norm_], b);
  }
}

void MergedLayer::add_portions(tape::Tape& tape, EveryonesShare& mine,
                               const tape::BatchSums<const float>& sums) const {
  const std::span<const float> columns = sums.of_batch(sums_.columns);
  const std::size_t h = columns.size();
  mine.column_sums.assign(columns.begin(), columns.end());
  mine.normalised.resize(tape.size * h);
  for (std::size_t b = 0; b < tape.size; ++b) {
    const tape::SumsOf<const float> of = sums[b];
    const std::span<const float> normalised = of.all(sums_.normalised);
    const std::span<const float> others = of.all(sums_.others);
    const Norm<float> norm = ExampleNorm::of(tape[norm_], b).norm;
    float* const out = tape[out_].at(b);
    float* const y = mine.normalised.data() + b * h;
    for (std::size_t o = 0; o < h; ++o) {
      y[o] = (normalised[o] - norm.mean * columns[o]) * norm.scale;
      out[o] += others.empty() ? y[o] : y[o] + others[o];
    }
  }
}

/// On the way back everyone's normalised inputs count, too: they are the first columns.
void MergedLayer::add_own_columns(const tape::Parameters& parameters, tape::Tape& tape,
                                  EveryonesShare& mine) const {
  const tape::ConstDense layer = parameters.layer(number_);
  const std::size_t h = mine.column_sums.size();
  for (std::size_t o = 0; o < h; ++o) {
    const float* const w = layer.weights.data() + o * layer.stride();
    mine.column_sums[o] += kernels_->total(w, mine.shared);
    for (std::size_t b = 0; b < tape.size; ++b) {
      mine.normalised[b * h + o] += kernels_->dot(w, tape[in_].at(b), mine.shared);
    }
  }
}

// ---- back ----

void MergedLayer::finish_back(const tape::Parameters& parameters, tape::Tape& tape,
                              Share* share) const {
  auto& mine = static_cast<EveryonesShare&>(*share);
  const auto count = static_cast<float>(join(parameters).normalised());
  const std::size_t h = mine.column_sums.size();
  tape::TensorPlace& in = tape[in_];
  clear_group_gradients(parameters, tape);
  for (std::size_t b = 0; b < tape.size; ++b) {
    const float* const d = tape[out_].d_at(b);
    ExampleNorm of = ExampleNorm::of(tape[norm_], b);
    of.back = {kernels_->dot(d, mine.column_sums.data(), h) / count,
               kernels_->dot(d, mine.normalised.data() + b * h, h) / count};
    of.put(tape[norm_], b);
    normalise_back(*kernels_, of.norm, of.back, in.at(b), mine.columns.normalised(), in.d_at(b));
    mine.columns.put_gradients(tape.tensors, b, in.d_at(b));
  }
}

/// Those of groups in which no column of the portion or of everyone has put any.
void MergedLayer::clear_group_gradients(const tape::Parameters& parameters,
                                        tape::Tape& tape) const {
  for (const tape::JoinPart& part : join(parameters).parts()) {
    tape::TensorPlace& place = tape[part.from];
    if (part.per != tape::Owner::Kind::kGroup || place.gradient == nullptr) continue;
    std::fill_n(place.gradient, tape.size * place.d_stride, 0.0f);
  }
}

/// As NormBlock::backward, with the means of all portions' inputs. Inputs become x^, of which the
/// step is made.
void MergedLayer::partial_back(const tape::Parameters& parameters, tape::Tape& tape,
                               const tape::Portion& portion, Share* share) const {
  auto& mine = static_cast<PortionShare&>(*share);
  const tape::ConstDense& layer = portion.normalised.weights;
  PortionShare::Inputs &normalised = mine.normalised, &others = mine.others;
  clear_group_gradients(parameters, tape);
  for (std::size_t b = 0; b < tape.size; ++b) {
    mine.everyones.put_gradients(tape.tensors, b, tape[in_].d_at(b));
    normalise(*kernels_, ExampleNorm::of(tape[norm_], b).norm, layer.inputs, normalised.at(b));
    if (tape.learn[b]) continue;
    // It must not meet the gradients of others: 0 times what is not finite is not 0.
    std::fill_n(normalised.at(b), normalised.width, 0.0f);
    std::fill_n(others.at(b), others.width, 0.0f);
  }
  const float* const d_out = tape[out_].gradient;
  using Which = tape::ColumnsGradient::Which;
  if (layer.inputs > 0) {
    tape::at_least(mine.d_inputs, normalised.values.size() + kernels::Kernels::kSpare);
    DenseProducts{kernels_, tape.gemm}.backward(layer, normalised.width, d_out, tape.size,
                                                mine.d_inputs.data());
    for (std::size_t b = 0; b < tape.size; ++b) {
      const ExampleNorm of = ExampleNorm::of(tape[norm_], b);
      float* const d = mine.d_inputs.data() + b * normalised.width;
      normalise_back(*kernels_, of.norm, of.back, normalised.at(b), layer.inputs, d);
      normalised.columns.put_gradients(tape.tensors, b, d);
    }
  }
  if (tape.sink == nullptr) return;
  for (const auto& [which, inputs, weights] :
       {std::tuple{Which::kNormalised, &normalised, &portion.normalised.weights},
        std::tuple{Which::kOthers, &others, &portion.others.weights}}) {
    if (weights->inputs == 0) continue;
    tape.sink->columns({which, inputs->values.data(), inputs->width, d_out});
  }
}

}  // namespace leveret::block
