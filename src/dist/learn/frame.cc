#include "dist/learn/frame.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "block/gemm.h"
#include "block/norm_block.h"
#include "net/make_blocks.h"

namespace leveret::dist {
namespace {

/// Nobody asks them for anything: all features are the shards'.
std::shared_ptr<table::Tables> no_tables() {
  return std::make_shared<table::Tables>(table::ShardOptions{}, 0, std::uint64_t{1} << 20);
}

/// A matrix of the first layer with these columns alone. When fields come they stay what they are,
/// or `source` says where they come from.
void keep_columns(tape::LearnedArray& array, std::vector<std::uint32_t> names,
                  tape::ColumnSource source) {
  array.shape[1] = names.size();
  array.source = source;
  if (!array.first) return;
  array.first = [first = array.first, names = std::move(names),
                 state = array.kind == table::Learned::kState](std::uint32_t row,
                                                               std::uint32_t column) {
    const std::uint32_t name = names[column];
    return name != tape::kNewColumn || state ? first(row, name) : 0.0f;
  };
}

}  // namespace

std::vector<std::uint32_t> frame_columns(const model::Spec& spec, const tape::InputLayout& layout) {
  std::vector<std::uint32_t> names;
  if (layout.fields == 0) return names;
  const auto add = [&](std::uint32_t first) {
    const std::uint32_t count = groups_by_key(spec, layout.fields);
    for (std::uint32_t g = 0; g < count; ++g) names.push_back(first + g);
  };
  add(layout.linear());
  if (spec.mixed()) add(layout.counts());
  if (spec.mixed()) add(layout.seen());
  if (spec.mixed()) names.push_back(layout.first());
  if (names.empty()) names.push_back(tape::kNewColumn);
  return names;
}

tape::Declarations arrays_of(const model::Spec& spec, const block::Config& config,
                             const tape::InputLayout& layout, Has has) {
  tape::Declarations all = net::declare_all(config, layout);
  // Each part has some of the pairs, for itself.
  if (config.has_ffm()) all[all.find_tensor(block::FfmBlock::kPairs)].size = 0;
  for (std::size_t l = 0; l < all.layers.size(); ++l) {
    const tape::LayerArrays& of = all.layers[l];
    const auto array = [&](tape::ArrayId id) -> tape::LearnedArray& {
      return all.arrays[static_cast<std::size_t>(id)];
    };
    tape::Tensor& input = all[of.input];
    if (has == Has::kPart) {
      input.size = 0;
    } else if (l == 0) {
      input.size = static_cast<std::uint32_t>(frame_columns(spec, layout).size());
    }
    for (const tape::ArrayId id : {of.weights, of.weights_state, of.weights_moment}) {
      if (id == tape::ArrayId::kNone) continue;
      if (has == Has::kPart) {
        array(id).shape = {0, 0};
      } else if (l == 0) {
        const bool grows = spec.mixed() && groups_by_key(spec, layout.fields) == layout.groups();
        keep_columns(array(id), frame_columns(spec, layout),
                     grows ? &tape::source_of_segments : nullptr);
      }
    }
    for (const tape::ArrayId id : {of.bias, of.bias_state, of.bias_moment}) {
      if (id != tape::ArrayId::kNone && has == Has::kPart) array(id).shape = {0};
    }
  }
  return all;
}

Frame::Frame(const model::Spec& spec, const kernels::Kernels& kernels)
    : features_(std::make_shared<feature::FeatureMap>(spec.map_options(),
                                                      std::vector<feature::NamespacePlan>())),
      model_(spec, features_, no_tables()),
      kernels_(kernels),
      blocks_(net::make_blocks(model_.config(), kernels)),
      linear_(*net::find_block<block::LinearBlock>(blocks_)),
      ffm_(net::find_block<block::FfmBlock>(blocks_)),
      fm_(net::find_block<block::FmBlock>(blocks_)),
      mlp_(net::find_block<block::MlpBlock>(blocks_)),
      loss_(*net::find_block<block::LossBlock>(blocks_)),
      optimizer_(kernels, model_.config(), spec) {
  config_ = model_.config();
  tape_.in_batches = true;
  if (spec.batch_size > 1) tape_.gemm = &block::openblas();
  // Declared fields are there from the start, but get their places with the first batch.
  if (features_->field_count() == 0) fit({0});
}

void Frame::set_features(std::vector<feature::NamespacePlan> namespaces) {
  *features_ = feature::FeatureMap(model_.spec().map_options(), std::move(namespaces));
}

void Frame::fit(tape::InputLayout to) {
  tape::Parameters& parameters = model_.parameters();
  if (parameters.has_arrays() && parameters.layout.fields == to.fields) return;
  parameters.fit(
      to, std::make_shared<tape::Declarations>(arrays_of(model_.spec(), config_, to, Has::kFrame)));
}

bool Frame::has_layers() const {
  return config_.has_mlp() && model_.parameters().layout.fields > 0;
}

void Frame::open(const feature::FeatureBatch& batch) {
  const std::size_t size = batch.size();
  examples_.clear();
  examples_.label = batch.label;
  examples_.importance = batch.importance;
  examples_.initial = batch.initial;
  examples_.linear_runs_begin.assign(size + 1, 0);
  examples_.runs_begin.assign(size + 1, 0);
  examples_.field_features_begin.assign(size + 1, 0);
  tape_.batch = &examples_;
  tape_.first = 0;
  tape_.size = size;
  tape_.learns = true;
  const tape::Parameters& parameters = model_.parameters();
  tape_.open(parameters.declared(), size);
  linear_.open(parameters, size, tape_);
  tape::at_least(tape_.ffm_scale, size);
  tape::at_least(tape_.pairs_sum, size);
  tape::at_least(tape_.d_pairs, size);
  tape_.d_group_linear.assign(size * parameters.layout.groups(), 0.0f);
  if (fm_ != nullptr) fm_->open(parameters, size, tape_);
}

void Frame::forward(const PartBatch& batch, const SumLayout& at, std::span<const float> sums) {
  const tape::Parameters& parameters = model_.parameters();
  for (std::size_t b = 0; b < tape_.size; ++b) {
    const float* const of = sums.data() + at.example(b);
    linear_forward(at, of, b);
    if (parameters.layout.fields > 0) rows_forward(batch, at, of, b);
  }
  if (has_layers()) {
    first_layer(at, sums);
    mlp_->forward_rest(parameters, tape_, 0, tape_.size);
  }
  loss_.forward(parameters, tape_, 0, tape_.size);
}

void Frame::linear_forward(const SumLayout& at, const float* sums, std::size_t b) {
  const tape::Parameters& parameters = model_.parameters();
  block::LinearSums all = linear_.start(parameters, tape_, b);
  all.linear += sums[at.linear];
  float counts = tape_[linear_.base()].values[b];
  if (config_.mixed) {
    all.linear2 += sums[at.linear2];
    all.fast += sums[at.fast];
    all.squares += sums[at.squares];
    counts += sums[at.counts];
    const std::uint32_t groups = parameters.layout.groups();
    float* const group_counts = tape_.group_counts.data() + b * groups;
    std::fill_n(group_counts, groups, 0.0f);
    std::copy_n(sums + at.by_key, at.by_key_groups, group_counts);
    const float* const weights = parameters[linear_.group_weights()].data();
    for (std::size_t g = 0; g < at.by_key_groups; ++g) counts += weights[g] * group_counts[g];
  }
  linear_.finish(parameters, tape_, b, all, counts);
}

void Frame::rows_forward(const PartBatch& batch, const SumLayout& at, const float* sums,
                         std::size_t b) {
  if (!config_.has_ffm() && !config_.has_fm()) return;
  const block::InstanceSums instance{batch.instance_features[b], config_.mixed
                                                                     ? sums[at.value_squares]
                                                                     : batch.instance_squares[b]};
  const auto sum = [&](std::size_t place) {
    return place == SumLayout::kNone ? 0.0f : sums[place];  // else it is in the score
  };
  if (config_.has_ffm()) ffm_->finish(tape_, b, sum(at.pairs), instance);
  if (!config_.has_fm()) return;
  const std::size_t k = config_.fm_row.k;
  float* const vector = tape_[fm_->sums()].at(b);
  std::copy_n(sums + at.vector, k, vector);
  fm_->finish(tape_, b, vector, {sum(at.vector_squares), instance});
}

/// hidden[0] = bias + W x, where x are its own columns' inputs, + what the parts' columns make.
void Frame::first_layer(const SumLayout& at, std::span<const float> sums) {
  const std::size_t h = at.hidden, size = tape_.size;
  for (std::vector<float>* of : {&norm_.mean, &norm_.scale, &norm_.d_mean, &norm_.d_along}) {
    of->resize(size);
  }
  normalised_.resize(size * h);
  d_by_key_.resize(size * by_key());
  const tape::TensorPlace& inputs = tape_[mlp_->in(0)];
  std::fill_n(inputs.values, size * inputs.stride, 0.0f);
  norm_forward(at, sums);
  for (std::size_t b = 0; b < size; ++b) put_inputs(at, sums.data() + at.example(b), b);
  mlp_->forward_first(model_.parameters(), tape_, 0, size);
  column_sums_.assign(sums.begin() + at.column_sums(), sums.begin() + at.column_sums() + h);
  for (std::size_t b = 0; b < size; ++b) {
    const float* const of = sums.data() + at.example(b);
    float* const out = tape_[mlp_->first()].at(b);
    float* const y = normalised_.data() + b * h;
    for (std::size_t o = 0; o < h; ++o) {
      y[o] = (of[at.normalised + o] - norm_.mean[b] * column_sums_[o]) * norm_.scale[b];
      out[o] += at.others != SumLayout::kNone ? y[o] + of[at.others + o] : y[o];
    }
  }
  // On the way back the frame's own normalised inputs count, too: they are its first columns.
  const tape::ConstDense layer = std::as_const(model_).parameters().layer(0);
  for (std::size_t o = 0; o < h; ++o) {
    const float* const w = layer.weights.data() + o * layer.stride();
    column_sums_[o] += kernels_.total(w, at.by_key_groups);
    for (std::size_t b = 0; b < size; ++b) {
      normalised_[b * h + o] += kernels_.dot(w, inputs.at(b), at.by_key_groups);
    }
  }
}

/// Mean and deviation of all normalised inputs.
void Frame::norm_forward(const SumLayout& at, std::span<const float> sums) {
  const float count = static_cast<float>(model_.parameters().layout.counts());
  for (std::size_t b = 0; b < tape_.size; ++b) {
    const float* const of = sums.data() + at.example(b);
    const float mean = (of[at.pairs] + of[at.linear]) / count;
    float squares = of[at.input_squares];
    if (at.group_linear != SumLayout::kNone) {
      const float* const linear = of + at.group_linear;
      squares += kernels_.dot(linear, linear, at.by_key_groups);
    }
    const float variance = std::max(squares / count - mean * mean, 0.0f);
    norm_.mean[b] = mean;
    norm_.scale[b] = 1.0f / std::sqrt(variance + block::NormBlock::kEpsilon);
  }
}

/// In the order of frame_columns.
void Frame::put_inputs(const SumLayout& at, const float* sums, std::size_t b) {
  float* x = tape_[mlp_->in(0)].at(b);
  const std::size_t groups = at.by_key_groups;
  for (std::size_t g = 0; g < groups; ++g) {
    *x++ = (sums[at.group_linear + g] - norm_.mean[b]) * norm_.scale[b];
  }
  if (config_.mixed) {
    x = std::copy_n(sums + at.by_key, groups, x);
    for (std::size_t g = 0; g < groups; ++g) {
      *x++ = block::NormBlock::kSeenScale * sums[at.group_seen + g];
    }
  }
  if (config_.mixed) *x = tape_[linear_.first()].values[b];
}

/// Mean of d x^ over all inputs = d . W 1 / P, and that of d x^ x^ = d . W x^ / P.
void Frame::backward() {
  const tape::Parameters& parameters = model_.parameters();
  loss_.backward(parameters, tape_);
  if (config_.has_ffm()) ffm_->backward(parameters, tape_);
  if (has_layers()) {
    const optim::Optimizer::LayerSteps steps(optimizer_, model_.parameters(), tape_);
    mlp_->backward(parameters, tape_);
    const std::size_t h = column_sums_.size();
    tape::TensorPlace& inputs = tape_[mlp_->in(0)];
    const float count = static_cast<float>(parameters.layout.counts());
    for (std::size_t b = 0; b < tape_.size; ++b) {
      const float* const d = d_first() + b * h;
      norm_.d_mean[b] = kernels_.dot(d, column_sums_.data(), h) / count;
      norm_.d_along[b] = kernels_.dot(d, normalised_.data() + b * h, h) / count;
      kernels_.normalise_back(inputs.at(b), by_key(), norm_.d_mean[b], norm_.d_along[b],
                              norm_.scale[b], inputs.d_at(b));
      std::copy_n(inputs.d_at(b), by_key(), d_by_key_.data() + b * by_key());
    }
  }
  linear_.backward(parameters, tape_);
}

void Frame::learn() { optimizer_.apply(model_.tables(), model_.parameters(), tape_); }

}  // namespace leveret::dist
