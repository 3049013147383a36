#include "dist/learn/frame.h"

#include <algorithm>
#include <utility>

#include "block/dense/gemm.h"
#include "net/make_blocks.h"

namespace leveret::dist {
namespace {

/// Nobody asks them for anything: all features are the shards'.
std::shared_ptr<table::Tables> no_tables() {
  return std::make_shared<table::Tables>(table::ShardOptions{}, 0, std::uint64_t{1} << 20);
}

/// The columns' places where there were fewer fields; `names` of the matrix that has these alone.
tape::ColumnSource source_of_some(const tape::ColumnSource& source, const tape::Join& join,
                                  const spec::Spec& spec, std::vector<std::uint32_t> names) {
  return [source, parts = join.parts(), spec, names = std::move(names)](
             const tape::Extent& from, const tape::Extent& to, std::uint32_t column) {
    const std::uint32_t name = names[column];
    const std::uint32_t before = name != tape::kNewColumn ? source(from, to, name) : name;
    const std::vector<std::uint32_t> old =
        tape::Join(parts, from).everyones(feature_groups_by_key(spec, from.fields));
    const auto found = std::ranges::lower_bound(old, before);
    const bool known = found != old.end() && *found == before;
    return known ? static_cast<std::uint32_t>(found - old.begin()) : tape::kNewColumn;
  };
}

/// A matrix of a layer with these columns alone.
void keep_columns(tape::LearnedArray& array, const tape::Join& join, const spec::Spec& spec,
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

std::vector<std::uint32_t> frame_columns(const spec::Spec& spec, const tape::Parameters& parameters,
                                         std::size_t layer) {
  const std::uint32_t fields = parameters.layout.fields;
  const tape::LayerArrays& of = parameters.declared().layers[layer];
  if (fields == 0 || !of.is_divided()) return {};
  return of.join.everyones(feature_groups_by_key(spec, fields));
}

tape::Declarations arrays_of(const spec::Spec& spec, const block::Config& config,
                             const tape::Extent& layout, Has has) {
  tape::Declarations all = net::declare_all(config, layout);
  if (has == Has::kPart) {  // the frame has them
    all.mixers.clear();
    all.totals.clear();
  }
  for (tape::Tensor& tensor : all.tensors) {
    if (tensor.owner != tape::Owner::Kind::kPair) continue;
    // Each part has some, for itself.
    tensor.size = 0;
    tensor.gradient |= tensor.gradient_in != tape::TensorId::kNone;
    tensor.gradient_in = tape::TensorId::kNone;
  }
  for (const tape::LayerArrays& of : all.layers) {
    const bool by_columns = of.is_divided();
    const auto array = [&](tape::ArrayId id) -> tape::LearnedArray& {
      return all.arrays[static_cast<std::size_t>(id)];
    };
    tape::Tensor& input = all[of.input];
    std::vector<std::uint32_t> names;
    if (by_columns && layout.fields > 0) {
      names = of.join.everyones(feature_groups_by_key(spec, layout.fields));
    }
    if (has == Has::kPart) {
      input.size = 0;
    } else if (by_columns) {
      input.size = static_cast<std::uint32_t>(names.size());
    }
    for (const tape::ArrayId weights : {of.weights, of.bias}) {
      for (const tape::ArrayId id : all.with_states(weights)) {
        if (has == Has::kPart) {
          std::ranges::fill(array(id).shape, 0);
        } else if (by_columns && array(id).shape.size() > 1) {
          keep_columns(array(id), of.join, spec, names);
        }
      }
    }
  }
  return all;
}

Frame::Frame(const spec::Spec& spec, const kernels::Kernels& kernels)
    : features_(std::make_shared<feature::FeatureMap>(spec.map_options(),
                                                      std::vector<feature::NamespacePlan>())),
      model_(spec, features_, no_tables()),
      network_(model_.config(), kernels),
      optimizer_(kernels, model_.config(), spec),
      steps_(optimizer_, model_.tables(), model_.parameters(), tape_) {
  network_.check_partitions();
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
  const block::Config config = model_.config();
  parameters.fit(
      to, std::make_shared<tape::Declarations>(arrays_of(model_.spec(), config, to, Has::kFrame)));
  const std::uint32_t shared = feature_groups_by_key(model_.spec(), to.fields);
  sums_ = SumLayout::of(config, to, shared);
  tape::Partition all;
  all.of = tape::Partition::Of::kEveryone;
  all.shared = shared;
  shares_ = network_.share(parameters, all);
}

void Frame::open(const PartBatch& batch) {
  const std::size_t size = batch.size();
  examples_.clear();
  examples_.label = batch.features.label;
  examples_.importance = batch.features.importance;
  examples_.initial = batch.features.initial;
  examples_.linear_runs_begin.assign(size + 1, 0);
  examples_.runs_begin.assign(size + 1, 0);
  examples_.field_features_begin.assign(size + 1, 0);
  tape_.batch = &examples_;
  tape_.learns = true;
  tape_.wholes = batch.wholes();
  network_.open(model_.parameters(), size, tape_);
}

void Frame::forward(std::span<float> sums) {
  network_.finish(model_.parameters(), tape_, shares_,
                  sums_.in_round(sums, sums_.declared.rounds(), tape_.size));
}

}  // namespace leveret::dist
