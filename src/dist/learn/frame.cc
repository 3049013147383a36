#include "dist/learn/frame.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "block/gemm.h"
#include "net/make_blocks.h"

namespace leveret::dist {
namespace {

/// Nobody asks them for anything: all features are the shards'.
std::shared_ptr<table::Tables> no_tables() {
  return std::make_shared<table::Tables>(table::ShardOptions{}, 0, std::uint64_t{1} << 20);
}

/// The columns' places where there were fewer fields; `names` of the matrix that has these alone.
tape::ColumnSource source_of_some(const tape::ColumnSource& source, const tape::Join& join,
                                  const model::Spec& spec, std::vector<std::uint32_t> names) {
  return [source, parts = join.parts(), spec, names = std::move(names)](
             const tape::Extent& from, const tape::Extent& to, std::uint32_t column) {
    const std::uint32_t name = names[column];
    const std::uint32_t before = name != tape::kNewColumn ? source(from, to, name) : name;
    const std::vector<std::uint32_t> old =
        frame_columns(tape::Join(parts, from), groups_by_key(spec, from.fields));
    const auto found = std::ranges::lower_bound(old, before);
    const bool known = found != old.end() && *found == before;
    return known ? static_cast<std::uint32_t>(found - old.begin()) : tape::kNewColumn;
  };
}

/// A matrix of the first layer with these columns alone.
void keep_columns(tape::LearnedArray& array, const tape::Join& join, const model::Spec& spec,
                  std::vector<std::uint32_t> names) {
  array.shape[1] = names.size();
  array.source = source_of_some(array.source, join, spec, names);
  if (!array.first) return;
  array.first = [first = array.first, names = std::move(names),
                 state = array.kind == table::Learned::kState](std::uint32_t row,
                                                               std::uint32_t column) {
    const std::uint32_t name = names[column];
    return name != tape::kNewColumn || state ? first(row, name) : 0.0f;
  };
}

}  // namespace

std::vector<std::uint32_t> frame_columns(const tape::Join& join, std::uint32_t by_key) {
  std::vector<std::uint32_t> names;
  for (std::size_t p = 0; p < join.parts().size(); ++p) {
    const tape::Owner::Kind per = join.parts()[p].per;
    if (per == tape::Owner::Kind::kPair) continue;
    const std::uint32_t count = per == tape::Owner::Kind::kAll ? join.columns(p) : by_key;
    for (std::uint32_t i = 0; i < count; ++i) names.push_back(join.begin(p) + i);
  }
  if (names.empty()) names.push_back(tape::kNewColumn);
  return names;
}

std::vector<std::uint32_t> frame_columns(const model::Spec& spec,
                                         const tape::Parameters& parameters) {
  const std::uint32_t fields = parameters.layout.fields;
  if (fields == 0 || parameters.layer_count() == 0) return {};
  const tape::Declarations& declared = parameters.declared();
  return frame_columns(declared[declared.layers[0].input].join, groups_by_key(spec, fields));
}

tape::Declarations arrays_of(const model::Spec& spec, const block::Config& config,
                             const tape::Extent& layout, Has has) {
  tape::Declarations all = net::declare_all(config, layout);
  if (has == Has::kPart) all.mixers.clear();  // the frame has them
  // Each part has some of the pairs, for itself.
  if (config.has_ffm()) all[all.find_tensor(block::FfmBlock::kPairs)].size = 0;
  for (std::size_t l = 0; l < all.layers.size(); ++l) {
    const tape::LayerArrays& of = all.layers[l];
    const auto array = [&](tape::ArrayId id) -> tape::LearnedArray& {
      return all.arrays[static_cast<std::size_t>(id)];
    };
    tape::Tensor& input = all[of.input];
    std::vector<std::uint32_t> names;
    if (l == 0 && layout.fields > 0) {
      names = frame_columns(input.join, groups_by_key(spec, layout.fields));
    }
    if (has == Has::kPart) {
      input.size = 0;
    } else if (l == 0) {
      input.size = static_cast<std::uint32_t>(names.size());
    }
    for (const tape::ArrayId id : {of.weights, of.weights_state, of.weights_moment}) {
      if (id == tape::ArrayId::kNone) continue;
      if (has == Has::kPart) {
        array(id).shape = {0, 0};
      } else if (l == 0) {
        keep_columns(array(id), input.join, spec, names);
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
      optimizer_(kernels, model_.config(), spec),
      steps_(optimizer_, model_.tables(), model_.parameters(), tape_) {
  config_ = model_.config();
  if (!spec.more_towers.empty()) {
    throw std::runtime_error("a model with the tower " + spec.more_towers[0].name +
                             " cannot be learned in shards: only that of --hidden can");
  }
  tape_.in_batches = true;
  if (spec.batch_size > 1) tape_.gemm = &block::openblas();
  // Declared fields are there from the start, but get their places with the first batch.
  if (features_->field_count() == 0) fit({0});
}

void Frame::set_features(std::vector<feature::NamespacePlan> namespaces) {
  *features_ = feature::FeatureMap(model_.spec().map_options(), std::move(namespaces));
}

void Frame::fit(tape::Extent to) {
  tape::Parameters& parameters = model_.parameters();
  if (parameters.has_arrays() && parameters.layout.fields == to.fields) return;
  parameters.fit(
      to, std::make_shared<tape::Declarations>(arrays_of(model_.spec(), config_, to, Has::kFrame)));
  sums_ = SumLayout::of(config_, to, by_key());
  if (!has_layers()) return;
  columns_ = tape::JoinColumns(mlp_->join(parameters), frame_columns(model_.spec(), parameters));
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
  tape::at_least(tape_.d_pairs, size);
  tape::TensorPlace& linear = tape_[linear_.group_linear()];
  if (linear.gradient != nullptr) std::fill_n(linear.gradient, size * linear.d_stride, 0.0f);
}

void Frame::forward(const PartBatch& batch, std::span<const float> sums) {
  const tape::Parameters& parameters = model_.parameters();
  tape_.wholes = batch.wholes();
  for (std::size_t b = 0; b < tape_.size; ++b) finish_blocks(sums, b);
  if (has_layers()) {
    first_layer(sums);
    mlp_->forward_rest(parameters, tape_, 0, tape_.size);
  }
  loss_.forward(parameters, tape_, 0, tape_.size);
}

void Frame::finish_blocks(std::span<const float> sums, std::size_t b) {
  const tape::SumsOf<const float> of = sums_.of_example(sums, b);
  const std::span<const tape::SumDecl> declared = sums_.declared.all();
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (declared[i].tensor == tape::TensorId::kNone) continue;
    std::ranges::copy(of.all(tape::SumId{static_cast<std::uint32_t>(i)}),
                      tape_[declared[i].tensor].at(b));
  }
  for (const auto& block : blocks_) {
    if (block->needs_fields() && model_.parameters().layout.fields == 0) continue;
    block->finish(model_.parameters(), tape_, b, of);
  }
}

/// hidden[0] = bias + W x, where x are its own columns' inputs, + what the parts' columns make.
void Frame::first_layer(std::span<const float> sums) {
  const block::MlpBlock::LayerSums& of_layer = mlp_->sums();
  const std::span<const float> columns = sums_.of_batch(sums, of_layer.columns);
  const std::size_t h = columns.size(), size = tape_.size;
  norms_.resize(size);
  normalised_.resize(size * h);
  d_by_key_.resize(size * by_key());
  const tape::TensorPlace& inputs = tape_[mlp_->in(0)];
  std::fill_n(inputs.values, size * inputs.stride, 0.0f);
  norm_forward(sums);
  for (std::size_t b = 0; b < size; ++b) put_inputs(b);
  mlp_->forward_first(model_.parameters(), tape_, 0, size);
  column_sums_.assign(columns.begin(), columns.end());
  for (std::size_t b = 0; b < size; ++b) {
    const tape::SumsOf<const float> of = sums_.of_example(sums, b);
    const std::span<const float> normalised = of.all(of_layer.normalised);
    const std::span<const float> others = of.all(of_layer.others);
    const block::Norm<float>& norm = norms_[b].norm;
    float* const out = tape_[mlp_->first()].at(b);
    float* const y = normalised_.data() + b * h;
    for (std::size_t o = 0; o < h; ++o) {
      y[o] = (normalised[o] - norm.mean * column_sums_[o]) * norm.scale;
      out[o] += others.empty() ? y[o] : y[o] + others[o];
    }
  }
  // On the way back the frame's own normalised inputs count, too: they are its first columns.
  const tape::ConstDense layer = std::as_const(model_).parameters().layer(0);
  for (std::size_t o = 0; o < h; ++o) {
    const float* const w = layer.weights.data() + o * layer.stride();
    column_sums_[o] += kernels_.total(w, sums_.shared);
    for (std::size_t b = 0; b < size; ++b) {
      normalised_[b * h + o] += kernels_.dot(w, inputs.at(b), sums_.shared);
    }
  }
}

/// Mean and deviation of all normalised inputs.
void Frame::norm_forward(std::span<const float> sums) {
  const float count = static_cast<float>(mlp_->join(model_.parameters()).normalised());
  const tape::SumDecls& declared = sums_.declared;
  const tape::SumId squares_of = declared.find(block::NormBlock::kSquaresSum);
  const tape::SumId linear = declared.find(block::LinearBlock::kScoreSum);
  const tape::SumId pairs = declared.find(block::FfmBlock::kPairsSum);
  for (std::size_t b = 0; b < tape_.size; ++b) {
    const tape::SumsOf<const float> of = sums_.of_example(sums, b);
    float squares = of[squares_of];
    if (sums_.shared > 0) {
      const float* const shared = tape_[linear_.group_linear()].at(b);
      squares += kernels_.dot(shared, shared, sums_.shared);
    }
    const float sum = pairs != tape::SumId::kNone ? of[pairs] + of[linear] : of[linear];
    norms_[b].norm = block::Norm<float>::of_sums(sum, squares, count);
  }
}

void Frame::put_inputs(std::size_t b) {
  float* const x = tape_[mlp_->in(0)].at(b);
  columns_.gather(tape_.tensors, b, false, x);
  block::normalise(kernels_, norms_[b].norm, columns_.normalised(), x);
}

/// Mean of d x^ over all inputs = d . W 1 / P, and that of d x^ x^ = d . W x^ / P.
void Frame::backward() {
  const tape::Parameters& parameters = model_.parameters();
  loss_.backward(parameters, tape_);
  if (config_.has_ffm()) ffm_->backward(parameters, tape_);
  if (has_layers()) {
    mlp_->backward(parameters, tape_);
    const std::size_t h = column_sums_.size();
    tape::TensorPlace& inputs = tape_[mlp_->in(0)];
    const float count = static_cast<float>(mlp_->join(parameters).normalised());
    for (std::size_t b = 0; b < tape_.size; ++b) {
      const float* const d = d_first() + b * h;
      ExampleNorm& of = norms_[b];
      of.back = {kernels_.dot(d, column_sums_.data(), h) / count,
                 kernels_.dot(d, normalised_.data() + b * h, h) / count};
      block::normalise_back(kernels_, of.norm, of.back, inputs.at(b), by_key(), inputs.d_at(b));
      std::copy_n(inputs.d_at(b), by_key(), d_by_key_.data() + b * by_key());
      columns_.put_gradients_of_all(tape_.tensors, b, inputs.d_at(b));
    }
  }
  linear_.backward(parameters, tape_);
}

void Frame::learn() { steps_.finish(); }

}  // namespace leveret::dist
