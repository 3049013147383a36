#include "dist/learn/part.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "block/dense_products.h"
#include "block/gemm.h"
#include "block/merge_norm.h"
#include "net/make_blocks.h"
#include "optim/steps.h"

namespace leveret::dist {

Part::Part(const Frame& frame, const Plan& plan, std::uint32_t number, std::uint64_t memory_limit,
           const kernels::Kernels& kernels)
    : plan_(&plan),
      number_(number),
      kernels_(kernels),
      model_(frame.model().spec(), frame.features(), make_tables(frame, memory_limit)),
      config_(model_.config()),
      blocks_(net::make_blocks(config_, kernels)),
      linear_(*net::find_block<block::LinearBlock>(blocks_)),
      fm_(net::find_block<block::FmBlock>(blocks_)),
      ffm_(net::find_block<block::FfmBlock>(blocks_)),
      mlp_(net::find_block<block::MlpBlock>(blocks_)),
      pairs_(kernels, config_, ffm_ != nullptr ? ffm_->part() : 0),
      lookup_(model_),
      optimizer_(kernels, config_, model_.spec()) {
  tape_.in_batches = true;
  if (model_.spec().batch_size > 1) tape_.gemm = &block::openblas();
  if (frame.features()->field_count() == 0) fit({0});
}

/// Group 0's cells are in shard 0, or those of all groups.
std::shared_ptr<table::Tables> Part::make_tables(const Frame& frame,
                                                 std::uint64_t memory_limit) const {
  const model::Spec& spec = frame.model().spec();
  const PlanShape& shape = plan_->shape();
  const std::uint32_t owner = plan_->group_owner(0);
  const auto bound = [&](std::uint64_t part) {
    return ((part << shape.bits) + shape.shards - 1) / shape.shards;
  };
  return std::make_shared<table::Tables>(
      model::shard_options(spec, frame.model().config(), model::Use::kLearn), spec.bit_precision,
      memory_limit,
      table::Tables::Part{owner == Plan::kByKey || owner == number_, bound(number_),
                          bound(number_ + 1)});
}

/// The slots of a field's rows here, and its vector where the field is at home here.
table::RowLayout Part::row_layout(std::uint32_t field) const {
  if (!plan_->holds(number_, field)) return {};
  table::RowLayout all = tables().row_layout().with_opposite(plan_->opposite(number_, field));
  std::vector<table::RowPart> parts = all.parts();
  for (table::RowPart& part : parts) {
    if (!part.by_field && plan_->home(field) != number_) part.slots = 0;
  }
  return table::RowLayout(std::move(parts));
}

void Part::fit_tables() {
  table::Tables& all = tables();
  if (!all.has_rows()) return;
  for (std::uint32_t f = 0; f < all.fields(); ++f) {
    if (all.field(f).has_rows()) all.field(f).widen_rows(row_layout(f));
  }
  while (all.fields() < plan_->fields()) {
    const std::uint32_t f = all.fields();
    all.add(plan_->group_owner(f + 1) == number_, row_layout(f));
  }
  if (!config_.has_ffm()) return;
  std::vector<std::vector<std::uint32_t>> opposite;
  for (std::uint32_t f = 0; f < plan_->fields(); ++f) {
    opposite.push_back(plan_->opposite(number_, f));
  }
  pairs_.set(opposite);
}

void Part::fit(tape::Extent to) {
  tape::Parameters& parameters = model_.parameters();
  if (parameters.has_arrays() && parameters.layout.fields == to.fields) return;
  parameters.fit(
      to, std::make_shared<tape::Declarations>(arrays_of(model_.spec(), config_, to, Has::kPart)));
  portion_ = {plan_->groups_by_key(to.fields), {}, {}};
  for (std::uint32_t g = 0; g < to.groups(); ++g) {
    if (owns(g)) portion_.groups.push_back(g);
  }
  for (std::uint32_t f = 0; f < to.fields; ++f) portion_.homes.push_back(plan_->home(f) == number_);
  if (!config_.has_mlp() || to.fields == 0) return;
  const tape::Declarations whole = net::declare_all(config_, to);
  const tape::Join& join = whole[whole.layers[0].input].join;
  std::vector<std::uint32_t> normalised, others;
  join.for_each([&](std::uint32_t column, const tape::Owner& owner, std::size_t part) {
    if (has(owner)) (join.parts()[part].normalised ? normalised : others).push_back(column);
  });
  inputs_of_.normalised = {join, normalised};
  inputs_of_.others = {join, others};
  normalised_.fit(std::move(normalised), to, whole);
  if (config_.mixed) others_.fit(std::move(others), to, whole);
}

/// Whether all that makes the numbers of this owner is here.
bool Part::has(const tape::Owner& owner) const {
  switch (owner.kind) {
    case tape::Owner::Kind::kAll:
      return false;  // the frame has it
    case tape::Owner::Kind::kGroup:
      return owns(owner.a);
    case tape::Owner::Kind::kPair:
      return plan_->pair_owner(owner.a, owner.b) == number_;
  }
  return false;
}

bool Part::has_layers() const { return config_.has_mlp() && model_.parameters().layout.fields > 0; }

void Part::open(const PartBatch& batch, model::Use use) {
  const tape::Parameters& parameters = model_.parameters();
  const std::size_t size = batch.size();
  use == model::Use::kLearn ? lookup_.resolve_all(model_, batch.features, tape_)
                            : lookup_.find_all(model_, batch.features, tape_);
  tape_.open(parameters.declared(), size);
  linear_.open(parameters, size, tape_);
  tape::at_least(tape_.d_pairs, size);
  tape::at_least(pair_values_, pairs_.pairs().size());
  if (!has_layers()) return;
  inputs_.assign(size * normalised_.width(), 0.0f);
  other_inputs_.assign(size * others_.width(), 0.0f);
  tape::at_least(d_inputs_, inputs_.size() + kernels::Kernels::kSpare);
}

void Part::forward(const PartBatch& batch, const tape::Scalars& scalars, const SumLayout& at,
                   std::span<float> sums, model::Use use) {
  model_.parameters().scalars = scalars;
  open(batch, use);
  tape_.wholes = batch.wholes();
  for (std::size_t b = 0; b < tape_.size; ++b) {
    std::ranges::fill(sums.subspan(at.example(b), at.declared.of_example()), 0.0f);
    if (config_.has_ffm()) put_pairs(b);
    partial_of_blocks(at, b, sums);
    if (has_layers()) put_inputs(b);
  }
  if (has_layers()) layers_forward(at, sums);
}

/// Its pairs to the first layer's inputs, if there is one, and their sum to the tape.
void Part::put_pairs(std::size_t b) {
  float* const values =
      has_layers() ? inputs_.data() + b * normalised_.width() : pair_values_.data();
  pairs_.gather(tape_, b, pairs_tape_);
  tape_[ffm_->pairs_sum()].values[b] = pairs_.forward(tape_, pairs_tape_, values);
}

void Part::partial_of_blocks(const SumLayout& at, std::size_t b, std::span<float> sums) {
  const tape::SumsOf<float> of = at.of_example(sums, b);
  for (const auto& block : blocks_) {
    if (block->needs_fields() && model_.parameters().layout.fields == 0) continue;
    block->partial(model_.parameters(), tape_, portion_, b, of);
  }
  const std::span<const tape::SumDecl> declared = at.declared.all();
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (declared[i].tensor == tape::TensorId::kNone) continue;
    const std::span<float> to = of.all(tape::SumId{static_cast<std::uint32_t>(i)});
    std::copy_n(tape_[declared[i].tensor].at(b), to.size(), to.begin());
  }
}

/// The pairs are there.
void Part::put_inputs(std::size_t b) {
  inputs_of_.normalised.gather(tape_.tensors, b, false, inputs_.data() + b * normalised_.width());
  if (!config_.mixed) return;
  inputs_of_.others.gather(tape_.tensors, b, false, other_inputs_.data() + b * others_.width());
}

void Part::layers_forward(const SumLayout& at, std::span<float> sums) {
  const block::DenseProducts products{&kernels_, tape_.gemm};
  const block::MlpBlock::LayerSums& ids = mlp_->sums();
  const std::span<float> columns = at.of_batch(sums, ids.columns);
  const std::size_t h = columns.size(), width = normalised_.width();
  const tape::ConstDense layer = std::as_const(normalised_).layer();
  for (std::size_t o = 0; o < h; ++o) {
    columns[o] = kernels_.total(layer.weights.data() + o * width, normalised_.size());
  }
  outputs_.resize(tape_.size * h);
  const auto add = [&](const Columns& some, const table::AlignedFloats& in, tape::SumId id) {
    if (some.size() == 0) return;
    products.forward(some.layer(), some.width(), in.data(), tape_.size, outputs_.data());
    for (std::size_t b = 0; b < tape_.size; ++b) {
      std::copy_n(outputs_.data() + b * h, h, at.of_example(sums, b).all(id).begin());
    }
  };
  add(normalised_, inputs_, ids.normalised);
  if (config_.mixed) add(others_, other_inputs_, ids.others);
  const tape::SumId squares = at.declared.find(block::NormBlock::kSquaresSum);
  for (std::size_t b = 0; b < tape_.size; ++b) {
    const float* const x = inputs_.data() + b * width;
    at.of_example(sums, b)[squares] = kernels_.dot(x, x, normalised_.size());
  }
}

/// What everyone knows by now of each example.
void Part::take_errors(const Frame& frame) {
  const tape::Tape& from = frame.tape();
  std::copy_n(from.learn.begin(), tape_.size, tape_.learn.begin());
  for (const tape::HeadDecl& head : model_.parameters().declared().heads) {
    if (head.error == tape::HeadError::kNone) continue;
    std::copy_n(from[head.score].gradient, tape_.size, tape_[head.score].gradient);
  }
  if (config_.mixed) {
    const tape::TensorId curvature = linear_.curvature();
    std::copy_n(from[curvature].values, tape_.size, tape_[curvature].values);
  }
  if (config_.has_ffm()) std::copy_n(from.d_pairs.begin(), tape_.size, tape_.d_pairs.begin());
  if (!config_.has_fm()) return;
  for (const tape::TensorId id : {fm_->sums(), fm_->scale()}) {
    std::copy_n(from[id].values, tape_.size * from[id].stride, tape_[id].values);
  }
  if (const tape::TensorId id = fm_->pooled(); id != tape::TensorId::kNone) {
    std::copy_n(from[id].gradient, tape_.size * from[id].d_stride, tape_[id].gradient);
  }
}

/// As NormBlock::backward, with the means of all shards' inputs. Inputs become x^, of which the
/// step is made.
void Part::layers_backward(const Frame& frame) {
  const std::size_t width = normalised_.width(), count = normalised_.size();
  const std::uint32_t groups = model_.parameters().layout.groups();
  tape::TensorPlace& d_linear = tape_[linear_.group_linear()];
  for (std::size_t b = 0; b < tape_.size && !config_.mixed; ++b) {
    std::fill_n(d_linear.d_at(b), groups, 0.0f);
    std::ranges::copy(frame.d_by_key(b), d_linear.d_at(b));
  }
  if (count == 0) return;
  for (std::size_t b = 0; b < tape_.size; ++b) {
    float* const x = inputs_.data() + b * width;
    block::normalise(kernels_, frame.norm(b).norm, count, x);
    if (tape_.learn[b]) continue;
    // It must not meet the gradients of others: 0 times what is not finite is not 0.
    std::fill_n(x, width, 0.0f);
    std::fill_n(other_inputs_.begin() + static_cast<std::ptrdiff_t>(b * others_.width()),
                others_.width(), 0.0f);
  }
  const block::DenseProducts products{&kernels_, tape_.gemm};
  products.backward(std::as_const(normalised_).layer(), width, frame.d_first(), tape_.size,
                    d_inputs_.data());
  for (std::size_t b = 0; b < tape_.size; ++b) {
    float* const d = d_inputs_.data() + b * width;
    block::normalise_back(kernels_, frame.norm(b).norm, frame.norm(b).back,
                          inputs_.data() + b * width, count, d);
    if (config_.mixed) continue;
    for (const tape::JoinColumns::Run& run : inputs_of_.normalised.runs()) {
      if (run.per != tape::Owner::Kind::kGroup) continue;
      float* const to = tape_[run.from].d_at(b);
      for (std::size_t i = 0; i < run.index.size(); ++i) to[run.index[i]] = d[run.begin + i];
    }
  }
}

/// Gradients of the slots that this part has.
class Part::SlotGradients final : public tape::RowGradients {
 public:
  explicit SlotGradients(Part& part) : part_(part) {}
  std::size_t floats(const tape::Parameters&) const override { return part_.pairs_.row_floats(); }
  void add(const tape::Parameters&, tape::Tape& tape, std::size_t b,
           float* const* sums) const override {
    const float* const d =
        part_.has_layers() ? part_.d_inputs_.data() + b * part_.normalised_.width() : nullptr;
    part_.pairs_.gather(tape, b, part_.pairs_tape_);
    part_.pairs_.add_gradients(tape, b, part_.pairs_tape_, tape.d_pairs[b], d, sums);
  }
  void each(const tape::Parameters&, tape::Tape&, tape::RowVisitor&) const override {
    throw std::logic_error("a shard learns in batches");
  }

 private:
  Part& part_;
};

void Part::learn(const Frame& frame) {
  tape::Parameters& parameters = model_.parameters();
  optim::Steps steps(optimizer_, tables(), parameters, tape_);
  take_errors(frame);
  if (has_layers()) {
    layers_backward(frame);
    if (normalised_.size() > 0) {
      steps.columns({normalised_.layer(), inputs_.data(), normalised_.width(), frame.d_first()});
    }
    if (others_.size() > 0) {
      steps.columns({others_.layer(), other_inputs_.data(), others_.width(), frame.d_first()});
    }
  }
  linear_.backward(parameters, tape_);
  if (config_.has_fm()) fm_->backward(parameters, tape_);
  const SlotGradients slots(*this);
  if (!pairs_.pairs().empty()) steps.rows(ffm_->part(), slots);
  steps.finish();
}

}  // namespace leveret::dist
