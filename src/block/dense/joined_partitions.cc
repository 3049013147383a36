// JoinedDense, where the features of an example are in partitions of a model.
#include <algorithm>
#include <cassert>
#include <span>
#include <utility>
#include <vector>

#include "block/dense/dense_products.h"
#include "block/dense/joined_dense.h"
#include "block/dense/layer_back.h"
#include "block/dense/merge_norm.h"

namespace leveret::block {
namespace {

constexpr const char* kFirstLayer = "first layer";

}  // namespace

/// Some columns, their weights, and the numbers that come in, `width` floats of each example.
struct JoinedDense::Columns {
  std::size_t place = 0;  ///< in Partition::columns
  tape::JoinColumns columns;
  tape::ConstDense weights;
  table::AlignedFloats copies;  ///< of weights, where nobody learns
  table::AlignedFloats values, gradient;

  std::size_t width() const { return weights.stride(); }
  float* at(std::size_t b) { return values.data() + b * width(); }
  /// Floats behind the columns stay 0.
  void open(std::size_t size) {
    if (values.size() < size * width()) values.assign(size * width(), 0.0f);
  }
  void gather(const tape::Tape& tape) {
    open(tape.size);
    for (std::size_t b = 0; b < tape.size; ++b) columns.gather(tape.tensors, b, at(b));
  }
  /// Whether what comes in learns.
  bool has_gradient(const tape::Tape& tape) const {
    return std::ranges::any_of(columns.runs(),
                               [&](const auto& run) { return tape[run.from].gradient != nullptr; });
  }
  /// Those of the whole layer.
  void copy(const tape::ConstDense& layer, const tape::Join& join,
            const std::vector<std::uint32_t>& names, tape::JoinColumns::Pairs pairs);
};

void JoinedDense::Columns::copy(const tape::ConstDense& layer, const tape::Join& join,
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

struct JoinedDense::PartitionShare final : Share {
  Columns normalised, others;
  tape::JoinColumns everyones;
  std::vector<float> column_sums;  ///< h: W 1, where nobody learns
  std::vector<float> outputs;      ///< B * h
};

struct JoinedDense::EveryonesShare final : Share {
  tape::JoinColumns columns;
  Columns copied;                  ///< the same, where nobody learns
  std::vector<float> column_sums;  ///< h: W 1 of what is normalised
  std::vector<float> normalised;   ///< B * h: W x^
};

/// The gradients of columns, `width` floats of each example; null: nothing learns by them.
struct JoinedDense::Back {
  const tape::JoinColumns& columns;
  const float* d;
  std::size_t width;
};

void JoinedDense::declare_sums(std::uint32_t shared, const tape::Declarations& declared,
                               tape::SumDecls& sums) {
  if (!is_divided()) return;
  const std::uint32_t h = layer_.outputs;
  const std::vector<tape::JoinPart>& parts = declared.layers[number_].join.parts();
  for (Input& input : inputs_) {
    if (input.sum != nullptr) input.sum_id = sums.find(input.sum);
  }
  if (normalises_) {
    sums_.squares = sums.add({layer_.name + ".squares", "norm"});
    sums_.columns = sums.add({layer_.name + ".columns", kFirstLayer, h, tape::Tensor::Per::kBatch});
    sums_.normalised = sums.add({layer_.name + ".normalised", kFirstLayer, h});
  }
  const bool some_others = std::ranges::any_of(parts, [&](const tape::JoinPart& part) {
    using Kind = tape::Owner::Kind;
    if (part.normalised || part.per == Kind::kAll) return false;
    return part.per != Kind::kFeatureGroup || shared < declared[part.from].size;
  });
  sums_.others = sums.add({layer_.name + ".others", kFirstLayer, some_others ? h : 0});
  // What comes in of shared groups, where nobody else adds it up.
  for (const tape::JoinPart& part : parts) {
    const std::string& name = declared[part.from].name;
    if (part.per != tape::Owner::Kind::kFeatureGroup) continue;
    if (sums.find(name) != tape::SumId::kNone) continue;
    sums.add({name, kFirstLayer, shared, tape::Tensor::Per::kExample, part.from});
  }
}

std::unique_ptr<Share> JoinedDense::share(const tape::Parameters& parameters,
                                          const tape::Partition& partition) const {
  if (!is_divided()) return nullptr;
  const tape::Join& join = joined(parameters);
  if (partition.of == tape::Partition::Of::kEveryone) {
    auto mine = std::make_unique<EveryonesShare>();
    const std::vector<std::uint32_t> names = join.everyones(partition.shared);
    mine->columns = {join, names};
    if (partition.split == nullptr) return mine;
    const tape::ConstDense layer = parameters.layer(number_);
    mine->copied.copy(layer, join, names, tape::JoinColumns::Pairs::kAll);
    mine->copied.weights.bias = layer.bias;
    return mine;
  }
  auto mine = std::make_unique<PartitionShare>();
  if (partition.split != nullptr) {
    copy_columns(parameters, partition, *mine);
    return mine;
  }
  mine->everyones = {join, join.everyones(partition.shared)};
  for (std::size_t place = 0; place < partition.columns.size(); ++place) {
    const tape::PartitionColumns& columns = partition.columns[place];
    if (columns.layer != number_) continue;
    Columns& to = columns.normalised ? mine->normalised : mine->others;
    to.place = place;
    to.columns = {
        join, {columns.names.begin(), columns.names.end()}, tape::JoinColumns::Pairs::kThese};
    to.weights = columns.weights;
  }
  return mine;
}

/// Those of a context or a candidate.
void JoinedDense::copy_columns(const tape::Parameters& parameters, const tape::Partition& partition,
                               PartitionShare& mine) const {
  const tape::Join& join = joined(parameters);
  const tape::ConstDense layer = parameters.layer(number_);
  using Pairs = tape::JoinColumns::Pairs;
  const Pairs pairs = partition.of == tape::Partition::Of::kContext ? Pairs::kAll : Pairs::kThese;
  mine.normalised.copy(layer, join, partition.columns_of(join, true), pairs);
  mine.others.copy(layer, join, partition.columns_of(join, false), pairs);
  mine.column_sums.resize(layer.outputs);
  add_columns(mine.normalised.weights, mine.column_sums);
}

// ---- forward ----

/// W 1.
void JoinedDense::add_columns(const tape::ConstDense& layer, std::span<float> to) const {
  for (std::size_t o = 0; o < to.size(); ++o) {
    to[o] = kernels_->total(layer.weights.data() + o * layer.stride(), layer.inputs);
  }
}

void JoinedDense::partial(const Run& run) const {
  if (!is_divided()) return;
  auto& mine = static_cast<PartitionShare&>(*run.share);
  if (has_others_) {
    mine.others.gather(run.tape);
    add_products(run, mine.others, mine.outputs, sums_.others);
  }
  if (!normalises_) return;
  mine.normalised.gather(run.tape);
  const std::span<float> columns = run.sums->of_batch(sums_.columns);
  if (mine.column_sums.empty()) {
    add_columns(mine.normalised.weights, columns);
  } else {
    std::ranges::copy(mine.column_sums, columns.begin());
  }
  add_products(run, mine.normalised, mine.outputs, sums_.normalised);
  for (std::size_t b = 0; b < run.tape.size; ++b) {
    const float* const x = mine.normalised.at(b);
    run.sums_of(b)[sums_.squares] = kernels_->dot(x, x, mine.normalised.weights.inputs);
  }
}

void JoinedDense::add_products(const Run& run, const Columns& columns, std::vector<float>& outputs,
                               tape::SumId id) const {
  const tape::ConstDense& layer = columns.weights;
  if (layer.inputs == 0) return;
  outputs.resize(run.tape.size * layer.outputs);
  DenseProducts{kernels_, run.tape.gemm}.forward(layer, layer.stride(), columns.values.data(),
                                                 run.tape.size, outputs.data());
  for (std::size_t b = 0; b < run.tape.size; ++b) {
    std::copy_n(outputs.data() + b * layer.outputs, layer.outputs, run.sums_of(b).all(id).begin());
  }
}

/// out = bias + W x, where x are the inputs that everyone has, + what the partitions' columns make.
void JoinedDense::finish(const Run& run, float* out) const {
  assert(is_divided());
  auto& mine = static_cast<EveryonesShare&>(*run.share);
  own_columns_forward(run, mine, out);
  add_partitions(run, mine, out);
  // The way back asks for them.
  if (normalises_ && mine.copied.weights.outputs == 0) add_own_columns(run, mine);
}

void JoinedDense::own_columns_forward(const Run& run, EveryonesShare& mine, float* out) const {
  tape::TensorPlace& place = run.tape[in_];
  const bool copied = mine.copied.weights.outputs > 0;
  tape::ConstDense layer = copied ? mine.copied.weights : run.parameters.layer(number_);
  if (!layer_.bias) layer.bias = {};
  if (copied) {
    mine.copied.open(run.tape.size);
  } else {
    std::fill_n(place.values, run.tape.size * place.stride, 0.0f);
  }
  float* const in = copied ? mine.copied.values.data() : place.values;
  const std::size_t width = copied ? mine.copied.width() : place.stride;
  const std::size_t own = mine.columns.normalised();
  for (std::size_t b = 0; b < run.tape.size; ++b) {
    float* const x = in + b * width;
    mine.columns.gather(run.tape.tensors, b, x);
    if (!normalises_) continue;
    norm_forward(run, b, own, x);
    normalise(*kernels_, ExampleNorm::of(run.tape[norm_].at(b)).norm, own, x);
  }
  DenseProducts{kernels_, run.tape.gemm}.forward(layer, width, in, run.tape.size, out);
}

/// Mean and deviation of all normalised numbers, of which everyone has the first `own` of x.
void JoinedDense::norm_forward(const Run& run, std::size_t b, std::size_t own,
                               const float* x) const {
  const tape::SumsOf sums = run.sums_of(b);
  float squares = sums[sums_.squares];
  if (own > 0) squares += kernels_->dot(x, x, own);
  float sum = 0;
  for (const Input& input : inputs_) {
    if (input.sum_id != tape::SumId::kNone) sum += sums[input.sum_id];
  }
  const auto count = static_cast<float>(joined(run.parameters).normalised());
  ExampleNorm{Norm<float>::of_sums(sum, squares, count), {}}.put(run.tape[norm_].at(b));
}

void JoinedDense::add_partitions(const Run& run, EveryonesShare& mine, float* out) const {
  const std::size_t h = layer_.outputs;
  if (!normalises_) {
    for (std::size_t b = 0; b < run.tape.size; ++b) {
      const std::span<const float> others = run.sums_of(b).all(sums_.others);
      for (std::size_t o = 0; o < others.size(); ++o) out[b * h + o] += others[o];
    }
    return;
  }
  const std::span<const float> columns = run.sums->of_batch(sums_.columns);
  mine.column_sums.assign(columns.begin(), columns.end());
  mine.normalised.resize(run.tape.size * h);
  for (std::size_t b = 0; b < run.tape.size; ++b) {
    const tape::SumsOf of = run.sums_of(b);
    const std::span<const float> normalised = of.all(sums_.normalised);
    const std::span<const float> others = of.all(sums_.others);
    const Norm<float> norm = ExampleNorm::of(run.tape[norm_].at(b)).norm;
    float* const to = out + b * h;
    float* const y = mine.normalised.data() + b * h;
    for (std::size_t o = 0; o < h; ++o) {
      y[o] = (normalised[o] - norm.mean * columns[o]) * norm.scale;
      to[o] += others.empty() ? y[o] : y[o] + others[o];
    }
  }
}

/// On the way back everyone's normalised inputs count, too: they are the first columns.
void JoinedDense::add_own_columns(const Run& run, EveryonesShare& mine) const {
  const tape::ConstDense layer = run.parameters.layer(number_);
  const std::size_t h = mine.column_sums.size(), own = mine.columns.normalised();
  for (std::size_t o = 0; o < h; ++o) {
    const float* const w = layer.weights.data() + o * layer.stride();
    mine.column_sums[o] += kernels_->total(w, own);
    for (std::size_t b = 0; b < run.tape.size; ++b) {
      mine.normalised[b * h + o] += kernels_->dot(w, run.tape[in_].at(b), own);
    }
  }
}

// ---- back ----

void JoinedDense::finish_back(const Run& run, const float* d_out) const {
  assert(is_divided());
  auto& mine = static_cast<EveryonesShare&>(*run.share);
  tape::TensorPlace& in = run.tape[in_];
  layer_back(*kernels_, run.parameters, run.tape, number_, in, d_out, in.gradient);
  const auto count = static_cast<float>(joined(run.parameters).normalised());
  const std::size_t h = layer_.outputs;
  for (std::size_t b = 0; normalises_ && b < run.tape.size; ++b) {
    const float* const d = d_out + b * h;
    ExampleNorm of = ExampleNorm::of(run.tape[norm_].at(b));
    of.back = {kernels_->dot(d, mine.column_sums.data(), h) / count,
               kernels_->dot(d, mine.normalised.data() + b * h, h) / count};
    of.put(run.tape[norm_].at(b));
    normalise_back(*kernels_, of.norm, of.back, in.at(b), mine.columns.normalised(), in.d_at(b));
  }
  const Back back{mine.columns, in.gradient, in.d_stride};
  hand_back(joined(run.parameters), run.tape, true, {&back, 1});
}

/// As `backward`, with the means of all partitions' inputs. Inputs become x^, of which the step is
/// made.
void JoinedDense::partial_back(const Run& run, const float* d_out) const {
  if (!is_divided()) return;
  auto& mine = static_cast<PartitionShare&>(*run.share);
  columns_back(run.tape, mine.normalised, true, d_out);
  columns_back(run.tape, mine.others, false, d_out);
  const auto back = [](const Columns& of) {
    return Back{of.columns, of.gradient.empty() ? nullptr : of.gradient.data(), of.width()};
  };
  const tape::TensorPlace& in = run.tape[in_];
  const Back backs[] = {
      {mine.everyones, in.gradient, in.d_stride}, back(mine.normalised), back(mine.others)};
  hand_back(joined(run.parameters), run.tape, false, backs);
  if (run.tape.sink == nullptr) return;
  for (const Columns* const of : {&mine.normalised, &mine.others}) {
    if (of->weights.inputs == 0) continue;
    run.tape.sink->columns({of->place, {run.tape.size, of->width(), of->values.data()}, d_out});
  }
}

void JoinedDense::columns_back(tape::Tape& tape, Columns& columns, bool normalised,
                               const float* d_out) const {
  const tape::ConstDense& layer = columns.weights;
  if (layer.inputs == 0) return;
  for (std::size_t b = 0; b < tape.size; ++b) {
    if (normalised) {
      normalise(*kernels_, ExampleNorm::of(tape[norm_].at(b)).norm, layer.inputs, columns.at(b));
    }
    // It must not meet the gradients of others: 0 times what is not finite is not 0.
    if (!tape.learn[b]) std::fill_n(columns.at(b), columns.width(), 0.0f);
  }
  if (!columns.has_gradient(tape)) return;
  tape::at_least(columns.gradient, columns.values.size() + kernels::Kernels::kSpare);
  DenseProducts{kernels_, tape.gemm}.backward(layer, columns.width(), d_out, tape.size,
                                              columns.gradient.data());
  for (std::size_t b = 0; normalised && b < tape.size; ++b) {
    const ExampleNorm of = ExampleNorm::of(tape[norm_].at(b));
    normalise_back(*kernels_, of.norm, of.back, columns.at(b), layer.inputs,
                   columns.gradient.data() + b * columns.width());
  }
}

/// To the tensors of inputs: of everyone's those of shared groups and of nobody's alone, of a
/// partition's all others.
void JoinedDense::hand_back(const tape::Join& join, tape::Tape& tape, bool everyones,
                            std::span<const Back> from) const {
  for (std::size_t p = inputs_.size(); p-- > 0;) {  // the last reader comes first
    const tape::Owner::Kind per = join.parts()[p].per;
    const bool is_shared = per == tape::Owner::Kind::kFeatureGroup;
    const bool is_everyones = per == tape::Owner::Kind::kAll;
    const tape::TensorPlace& place = tape[inputs_[p].from.id];
    if ((!is_shared && is_everyones != everyones) || place.gradient == nullptr) continue;
    float* const d = tape.tensors.d_of_reader(inputs_[p].from, tape.size);
    // A partition has all pairs of its tensor; of the others it may have some.
    if (per != tape::Owner::Kind::kPair) std::fill_n(d, tape.size * place.d_stride, 0.0f);
    for (const Back& back : from) {
      if (back.d == nullptr) continue;
      for (std::size_t b = 0; b < tape.size; ++b) {
        back.columns.put_gradients(p, back.d + b * back.width, d + b * place.d_stride);
      }
    }
    tape.tensors.add_d_of_reader(inputs_[p].from, tape.size);
  }
}

}  // namespace leveret::block
