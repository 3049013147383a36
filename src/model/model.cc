#include "model/model.h"

#include <cmath>

#include "model/spec_entries.h"

namespace leveret::model {

Model::Model(Spec spec, std::uint64_t memory_limit)
    : Model(std::move(spec), std::vector<feature::NamespacePlan>(), memory_limit) {}

Model::Model(Spec spec, std::vector<feature::NamespacePlan> plans, std::uint64_t memory_limit)
    : spec_(std::move(spec)),
      features_(
          [&] {
            feature::FeatureOptions options = spec_.features;
            options.field_features = spec_.has_ffm();
            return options;
          }(),
          std::move(plans)),
      budget_(std::make_unique<MemoryBudget>(memory_limit)) {
  check_spec(spec_);
  linear_ = std::make_unique<LinearTable>(spec_.bit_precision,
                                          spec_.mixed() ? kMixedCell : kPlainCell, *budget_);
  scalars_.first = Mixer(3).first_state({0.5f, 0.25f, 0.25f});
  const std::size_t stages = spec_.has_mlp() ? 3 : spec_.has_ffm() ? 2 : 1;
  scalars_.second = Mixer(stages).first_state({0.2f, 0.3f, 0.5f});
  fit_fields();
}

RowShape Model::row_shape() const {
  return {features_.field_count(), spec_.ffm_k, spec_.adagrad_slice, spec_.ffm.init_acc};
}

DenseInit Model::dense_init(std::uint32_t layer) const {
  DenseInit init;
  init.seed = spec_.seed;
  init.layer = layer;
  // The output neuron starts at zero: at first the deep part adds nothing.
  init.gain = layer < spec_.hidden.size() ? 2.0f : 0.0f;
  init.moments = spec_.optimizer == OptimizerKind::kAdam;
  init.init_acc = init.moments ? 0.0f : spec_.nn.init_acc;
  return init;
}

void Model::fit_fields() {
  const std::uint32_t fields = features_.field_count();
  if (spec_.mixed() && group_weights_.size() < 2 * std::size_t{fields + 1}) {
    const float first = 1.0f / std::sqrt(static_cast<float>(std::max(fields, 1u)));
    for (std::size_t g = group_weights_.size() / 2; g < fields + 1; ++g) {
      group_weights_.insert(group_weights_.end(), {first, 1.0f});
    }
  }
  if (!spec_.has_ffm() || fields == 0 || fields == fitted_) return;
  for (FieldTable& table : fields_) table.set_slots(fields);
  fields_.reserve(fields);
  while (fields_.size() < fields) {
    FieldTableOptions options;
    options.bits = spec_.ffm_bits;
    options.admit = spec_.admit;
    options.seed = spec_.seed;
    options.init_width = spec_.ffm_init_width * std::sqrt(3.0f / static_cast<float>(spec_.ffm_k));
    fields_.emplace_back(static_cast<std::uint32_t>(fields_.size()), options, row_shape(),
                         *budget_);
  }
  if (spec_.has_mlp()) fit_dense(fields);
  fitted_ = fields;
}

void Model::fit_dense(std::uint32_t fields) {
  const InputLayout from{fitted_}, to{fields};
  const std::uint32_t inputs = to.size(spec_.mixed());
  if (dense_.empty()) {
    std::uint32_t width = inputs;
    for (std::uint32_t layer = 0; layer <= spec_.hidden.size(); ++layer) {
      const std::uint32_t outputs = layer < spec_.hidden.size() ? spec_.hidden[layer] : 1;
      dense_.push_back(make_dense(width, outputs, dense_init(layer)));
      width = outputs;
    }
    return;
  }
  // Segment by segment: what was input i of a segment stays input i of it.
  const auto source = [&](std::uint32_t column) {
    if (column < to.linear()) return column < from.linear() ? column : kNewColumn;
    if (column >= to.first()) return from.first();
    const std::uint32_t segment = (column - to.linear()) / to.groups();
    const std::uint32_t group = (column - to.linear()) % to.groups();
    return group < from.groups() ? from.linear() + segment * from.groups() + group : kNewColumn;
  };
  dense_[0] = with_inputs(dense_[0], inputs, source, dense_init(0));
}

std::uint64_t Model::shared_lookups() const {
  std::uint64_t shared = linear_->shared();
  for (const FieldTable& table : fields_) shared += table.shared();
  return shared;
}

void Model::set_concurrent(bool concurrent) {
  linear_->set_concurrent(concurrent);
  for (FieldTable& table : fields_) table.set_concurrent(concurrent);
}

}  // namespace leveret::model
