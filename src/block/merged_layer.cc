#include "block/merged_layer.h"

#include <algorithm>
#include <span>
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

/// Some columns, their weights, and their inputs, `width` floats of each example.
struct MergedLayer::Inputs {
  tape::JoinColumns columns;
  tape::ConstDense weights;
  table::AlignedFloats copies;  ///< of weights, where nobody learns
  table::AlignedFloats values;

  std::size_t width() const { return weights.stride(); }
  float* at(std::size_t b) { return values.data() + b * width(); }
  /// Floats behind the columns stay 0.
  void open(std::size_t size) {
    if (values.size() < size * width()) values.assign(size * width(), 0.0f);
  }
  void gather(const tape::Tape& tape, std::size_t b) { columns.gather(tape.tensors, b, at(b)); }
  /// Those of the whole layer.
  void copy(const tape::ConstDense& layer, const tape::Join& join,
            const std::vector<std::uint32_t>& names, tape::JoinColumns::Pairs pairs);
};

void MergedLayer::Inputs::copy(const tape::ConstDense& layer, const tape::Join& join,
                               const std::vector<std::uint32_t>& names,
                               tape::JoinColumns::Pairs pairs) {
  columns = {join, names, pairs};
  weights.inputs = static_cast<std::uint32_t>(names.size());
  weights.outputs = layer.outputs;
  copies.assign(width() * layer.outputs, 0.0f);
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::uint32_t o = 0; o < layer.outputs && names[i] != tape::kNewColumn; ++o) {
      copies[o * width() + i] = layer.weights[o * layer.stride() + names[i]];
    }
  }
  weights.weights = copies;
}

struct MergedLayer::PartitionShare final : Share {
  Inputs normalised, others;
  tape::JoinColumns everyones;
  std::vector<float> column_sums;  ///< h: W 1, where nobody learns
  table::AlignedFloats d_inputs;   ///< of the normalised ones
  std::vector<float> outputs;      ///< B * h
};

struct MergedLayer::EveryonesShare final : Share {
  tape::JoinColumns columns;
  Inputs copied;  ///< the same, where nobody learns
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
    if (part.per != tape::Owner::Kind::kFeatureGroup || name == LinearBlock::kGroupCounts) continue;
    sums.add({name, kFirstLayer, shared, tape::Tensor::Per::kExample, part.from});
  }
}

std::unique_ptr<Share> MergedLayer::share(const tape::Parameters& parameters,
                                          const tape::Partition& partition) const {
  const tape::Join& all = join(parameters);
  const std::vector<std::uint32_t> everyones = all.everyones(partition.shared);
  if (partition.of == tape::Partition::Of::kEveryone) {
    auto mine = std::make_unique<EveryonesShare>();
    mine->columns = {all, everyones};
    mine->shared = partition.shared;
    if (partition.split == nullptr) return mine;
    const tape::ConstDense layer = parameters.layer(number_);
    mine->copied.copy(layer, all, everyones, tape::JoinColumns::Pairs::kAll);
    mine->copied.weights.bias = layer.bias;
    return mine;
  }
  auto mine = std::make_unique<PartitionShare>();
  if (partition.split != nullptr) {
    copy_columns(parameters, partition, *mine);
    return mine;
  }
  mine->everyones = {all, everyones};
  for (const auto& [columns, inputs] : {std::pair(&partition.normalised, &mine->normalised),
                                        std::pair(&partition.others, &mine->others)}) {
    const std::vector<std::uint32_t> names(columns->names.begin(), columns->names.end());
    inputs->columns = {all, names, tape::JoinColumns::Pairs::kThese};
    inputs->weights = columns->weights;
  }
  return mine;
}

/// Those of a context or a candidate.
void MergedLayer::copy_columns(const tape::Parameters& parameters, const tape::Partition& partition,
                               PartitionShare& mine) const {
  const tape::Join& all = join(parameters);
  const bool is_context = partition.of == tape::Partition::Of::kContext;
  std::vector<std::uint32_t> names =
      is_context ? partition.split->of_context(all) : partition.split->of_candidate(all);
  const auto others = std::ranges::stable_partition(
      names, [&](std::uint32_t name) { return name < all.normalised(); });
  const std::vector<std::uint32_t> other_names(others.begin(), others.end());
  names.erase(others.begin(), others.end());
  const tape::ConstDense layer = parameters.layer(number_);
  using Pairs = tape::JoinColumns::Pairs;
  mine.normalised.copy(layer, all, names, is_context ? Pairs::kAll : Pairs::kThese);
  mine.others.copy(layer, all, other_names, Pairs::kAll);
  mine.column_sums.resize(layer.outputs);
  add_columns(mine.normalised.weights, mine.column_sums);
}

// ---- forward ----

/// W 1.
void MergedLayer::add_columns(const tape::ConstDense& layer, std::span<float> to) const {
  for (std::size_t o = 0; o < to.size(); ++o) {
    to[o] = kernels_->total(layer.weights.data() + o * layer.stride(), layer.inputs);
  }
}

void MergedLayer::partial(tape::Tape& tape, Share* share,
                          const tape::BatchSums<float>& sums) const {
  auto& mine = static_cast<PartitionShare&>(*share);
  for (Inputs* const inputs : {&mine.normalised, &mine.others}) {
    inputs->open(tape.size);
    for (std::size_t b = 0; b < tape.size; ++b) inputs->gather(tape, b);
  }
  const std::span<float> columns = sums.of_batch(sums_.columns);
  if (mine.column_sums.empty()) {
    add_columns(mine.normalised.weights, columns);
  } else {
    std::ranges::copy(mine.column_sums, columns.begin());
  }
  mine.outputs.resize(tape.size * columns.size());
  add_products(mine.normalised, tape, mine.outputs.data(), sums, sums_.normalised);
  if (config_.mixed) add_products(mine.others, tape, mine.outputs.data(), sums, sums_.others);
  for (std::size_t b = 0; b < tape.size; ++b) {
    const float* const x = mine.normalised.at(b);
    sums[b][sums_.squares] = kernels_->dot(x, x, mine.normalised.weights.inputs);
  }
}

void MergedLayer::add_products(const Inputs& inputs, const tape::Tape& tape, float* outputs,
                               const tape::BatchSums<float>& sums, tape::SumId id) const {
  const tape::ConstDense& layer = inputs.weights;
  if (layer.inputs == 0) return;
  DenseProducts{kernels_, tape.gemm}.forward(layer, layer.stride(), inputs.values.data(), tape.size,
                                             outputs);
  for (std::size_t b = 0; b < tape.size; ++b) {
    std::copy_n(outputs + b * layer.outputs, layer.outputs, sums[b].all(id).begin());
  }
}

/// out = bias + W x, where x are the inputs that everyone has, + what the partitions' columns make.
void MergedLayer::finish(const tape::Parameters& parameters, tape::Tape& tape, Share* share,
                         const tape::BatchSums<const float>& sums) const {
  auto& mine = static_cast<EveryonesShare&>(*share);
  norm_forward(parameters, tape, mine, sums);
  if (mine.copied.weights.outputs > 0) {
    mine.copied.open(tape.size);
    own_columns_forward(mine.copied.weights, mine.columns, tape, mine.copied.width(),
                        mine.copied.values.data());
    return add_partitions(tape, mine, sums);
  }
  tape::TensorPlace& in = tape[in_];
  std::fill_n(in.values, tape.size * in.stride, 0.0f);
  own_columns_forward(parameters.layer(number_), mine.columns, tape, in.stride, in.values);
  add_partitions(tape, mine, sums);
  add_own_columns(parameters, tape, mine);
}

/// `in`: so many floats of each example, to be filled.
void MergedLayer::own_columns_forward(const tape::ConstDense& layer,
                                      const tape::JoinColumns& columns, tape::Tape& tape,
                                      std::size_t width, float* in) const {
  for (std::size_t b = 0; b < tape.size; ++b) {
    columns.gather(tape.tensors, b, in + b * width);
    normalise(*kernels_, ExampleNorm::of(tape[norm_], b).norm, columns.normalised(),
              in + b * width);
  }
  DenseProducts{kernels_, tape.gemm}.forward(layer, width, in, tape.size, tape[out_].values);
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

void MergedLayer::add_partitions(tape::Tape& tape, EveryonesShare& mine,
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

/// Those of groups in which no column of the partition or of everyone has put any.
void MergedLayer::clear_group_gradients(const tape::Parameters& parameters,
                                        tape::Tape& tape) const {
  for (const tape::JoinPart& part : join(parameters).parts()) {
    tape::TensorPlace& place = tape[part.from];
    if (part.per != tape::Owner::Kind::kFeatureGroup || place.gradient == nullptr) continue;
    std::fill_n(place.gradient, tape.size * place.d_stride, 0.0f);
  }
}

/// As NormBlock::backward, with the means of all partitions' inputs. Inputs become x^, of which the
/// step is made.
void MergedLayer::partial_back(const tape::Parameters& parameters, tape::Tape& tape,
                               Share* share) const {
  auto& mine = static_cast<PartitionShare&>(*share);
  Inputs &normalised = mine.normalised, &others = mine.others;
  const tape::ConstDense& layer = normalised.weights;
  clear_group_gradients(parameters, tape);
  for (std::size_t b = 0; b < tape.size; ++b) {
    mine.everyones.put_gradients(tape.tensors, b, tape[in_].d_at(b));
    normalise(*kernels_, ExampleNorm::of(tape[norm_], b).norm, layer.inputs, normalised.at(b));
    if (tape.learn[b]) continue;
    // It must not meet the gradients of others: 0 times what is not finite is not 0.
    std::fill_n(normalised.at(b), normalised.width(), 0.0f);
    std::fill_n(others.at(b), others.width(), 0.0f);
  }
  const float* const d_out = tape[out_].gradient;
  using Which = tape::ColumnsGradient::Which;
  if (layer.inputs > 0) {
    tape::at_least(mine.d_inputs, normalised.values.size() + kernels::Kernels::kSpare);
    DenseProducts{kernels_, tape.gemm}.backward(layer, normalised.width(), d_out, tape.size,
                                                mine.d_inputs.data());
    for (std::size_t b = 0; b < tape.size; ++b) {
      const ExampleNorm of = ExampleNorm::of(tape[norm_], b);
      float* const d = mine.d_inputs.data() + b * normalised.width();
      normalise_back(*kernels_, of.norm, of.back, normalised.at(b), layer.inputs, d);
      normalised.columns.put_gradients(tape.tensors, b, d);
    }
  }
  if (tape.sink == nullptr) return;
  for (const auto& [which, inputs] :
       {std::pair(Which::kNormalised, &normalised), std::pair(Which::kOthers, &others)}) {
    if (inputs->weights.inputs == 0) continue;
    tape.sink->columns({which, {tape.size, inputs->width(), inputs->values.data()}, d_out});
  }
}

}  // namespace leveret::block
