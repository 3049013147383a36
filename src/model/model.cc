#include "model/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "model/spec_entries.h"

namespace leveret::model {
namespace {

table::CellKind cell_kind(const Spec& spec) {
  if (spec.mixed()) return table::CellKind::kMixed;
  return spec.optimizer == OptimizerKind::kFtrl ? table::CellKind::kFtrl
                                                : table::CellKind::kAdagrad;
}

/// FFM slots of the next power of two. Their accumulators count what the added weights of 0 have as
/// well: as if there were as many more gradients of 0, which the first sum and the rate (ffm_rule)
/// make up for.
table::RowPart ffm_part(const Spec& spec, Use use, std::optional<kernels::Codec> rows) {
  table::RowPart part;
  part.k = spec.stored_k();
  part.used_k = spec.ffm_k;
  part.codec = rows.value_or(spec.weight_codec());
  part.init_width = spec.ffm_init_width * std::sqrt(3.0f / static_cast<float>(spec.ffm_k));
  if (use == Use::kPredict) return part;
  table::RowState sums;
  if (spec.adagrad_slice) {
    const float used = static_cast<float>(spec.ffm_k) / static_cast<float>(part.k);
    const bool short_sums = part.codec.kind == kernels::Codec::Kind::kFixed;
    sums.codec = short_sums ? kernels::Codec::bf16() : kernels::Codec::f32();
    sums.first = used * spec.ffm.init_acc;
  } else {
    sums.codec = kernels::Codec::f32();
    sums.per = table::RowState::Per::kWeight;
    sums.first = spec.ffm.init_acc;
  }
  part.states.push_back(sums);
  return part;
}

table::ShardOptions shard_options(const Spec& spec, Use use, std::optional<kernels::Codec> rows) {
  table::ShardOptions options;
  options.cells = cell_kind(spec);
  if (spec.has_ffm()) options.rows = table::RowLayout({ffm_part(spec, use, rows)});
  options.admission.admit = spec.admit;
  options.seed = spec.seed;
  return options;
}

/// See ffm_part.
kernels::StepRule ffm_rule(const Spec& spec) {
  kernels::StepRule rule = optim::step_rule(spec, spec.ffm);
  if (spec.has_ffm() && spec.adagrad_slice) {
    const float used = static_cast<float>(spec.ffm_k) / static_cast<float>(spec.stored_k());
    rule.rate *= std::pow(used, rule.power);
  }
  return rule;
}

}  // namespace

Model::Model(Spec spec, std::uint64_t memory_limit)
    : Model(std::move(spec), std::vector<feature::NamespacePlan>(), memory_limit) {}

Model::Model(Spec spec, std::vector<feature::NamespacePlan> plans, std::uint64_t memory_limit,
             Use use, std::optional<kernels::Codec> rows)
    : spec_(std::move(spec)) {
  check_spec(spec_);
  shared_ = std::make_shared<Shared>(spec_, std::move(plans), memory_limit, use, rows);
  const block::Config blocks = config();
  parameters_.scalars.first = block::Mixer(blocks.first_heads()).first_state({2.0f, 1.0f});
  std::array<float, block::MixerState::kInputs> second{0.2f, 0.3f};
  if (blocks.has_mlp()) second[2] = 0.5f;
  parameters_.scalars.second = block::Mixer(blocks.second_heads()).first_state(second);
  fit_fields();
}

Model::Shared::Shared(const Spec& spec, std::vector<feature::NamespacePlan> plans,
                      std::uint64_t memory_limit, Use use, std::optional<kernels::Codec> rows)
    : features(spec.map_options(), std::move(plans)),
      tables(shard_options(spec, use, rows), spec.bit_precision, memory_limit) {}

block::Config Model::config() const {
  block::Config config;
  config.mixed = spec_.mixed();
  config.fast_head = spec_.mixed() && spec_.fast_head;
  config.constant = spec_.constant;
  config.k = spec_.stored_k();
  if (spec_.has_ffm()) config.weights = tables().row_layout().parts()[0].codec;
  config.ffm_rule = ffm_rule(spec_);
  config.hidden = spec_.has_mlp() ? spec_.hidden : std::vector<std::uint32_t>();
  return config;
}

block::DenseInit Model::dense_init(std::uint32_t layer) const {
  block::DenseInit init;
  init.seed = spec_.seed;
  init.layer = layer;
  // The output neuron starts at zero: at first the deep part adds nothing.
  init.gain = layer < spec_.hidden.size() ? 2.0f : 0.0f;
  init.moments = spec_.optimizer == OptimizerKind::kAdam;
  init.init_acc = init.moments ? 0.0f : spec_.nn.init_acc;
  return init;
}

void Model::fit_fields() {
  const block::InputLayout from = parameters_.layout, to{features().field_count()};
  std::vector<float>& groups = parameters_.group_weights;
  if (spec_.mixed()) {
    const float first = 1.0f / std::sqrt(static_cast<float>(std::max(to.fields, 1u)));
    while (groups.size() < 2 * std::size_t{to.groups()}) {
      groups.insert(groups.end(), {first, 1.0f});
    }
  }
  if (to.fields == from.fields) return;
  tables().fit(to.fields);
  if (spec_.has_mlp()) fit_layers(from, to);
  parameters_.layout = to;
}

void Model::fit_layers(block::InputLayout from, block::InputLayout to) {
  const std::uint32_t inputs = to.size(spec_.mixed());
  std::vector<block::Dense>& layers = parameters_.layers;
  if (layers.empty()) {
    std::uint32_t width = inputs;
    for (std::uint32_t layer = 0; layer <= spec_.hidden.size(); ++layer) {
      const std::uint32_t outputs = layer < spec_.hidden.size() ? spec_.hidden[layer] : 1;
      layers.push_back(block::make_dense(width, outputs, dense_init(layer)));
      width = outputs;
    }
    return;
  }
  // Segment by segment: what was input i of a segment stays input i of it.
  const auto source = [&](std::uint32_t column) {
    if (column < to.linear()) return column < from.linear() ? column : block::kNewColumn;
    if (column >= to.first()) return from.first();
    const std::uint32_t segment = (column - to.linear()) / to.groups();
    const std::uint32_t group = (column - to.linear()) % to.groups();
    return group < from.groups() ? from.linear() + segment * from.groups() + group
                                 : block::kNewColumn;
  };
  layers[0] = block::with_inputs(layers[0], inputs, source, dense_init(0));
}

}  // namespace leveret::model
