#include "block/ffm_block.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "block/linear_block.h"
#include "ffm/context_pairs.h"

namespace leveret::block {
namespace {

const Rows& rows_of(const Config& config) { return *config.find_rows(Rows::Kind::kFfm); }

ffm::RowReader reader(const kernels::Kernels& kernels, const Config& config, std::size_t part) {
  const table::RowPart& rows = rows_of(config).part;
  return {kernels, rows.codec, rows.k, part};
}

bool has_all_pairs(const tape::Partition& partition) {
  const std::size_t fields = partition.opposite.size();
  return std::ranges::all_of(partition.opposite,
                             [&](const auto& opposite) { return opposite.size() == fields; });
}

}  // namespace

FfmBlock::FfmBlock(const kernels::Kernels& kernels, const Config& config)
    : kernels_(&kernels), config_(config), engine_(kernels, reader(kernels, config, 0)) {
  const Rows& rows = rows_of(config);
  const kernels::StepRule* const fused = rows.rule->fused();
  const table::RowState& sums = rows.part.states[0];
  const kernels::Codec codec = engine_.rows().codec();
  squeeze_below_ =
      kernels.fill_from(codec, rows.part.k, fused != nullptr ? *fused : kernels::StepRule{});
  steps_pairs_ = fused != nullptr && sums.per == table::RowState::Per::kSlot &&
                 kernels::in_registers(codec, sums.codec);
}

void FfmBlock::declare_rows(std::vector<Rows>& parts) {
  engine_ = {*kernels_, reader(*kernels_, config_, parts.size())};
  parts.push_back(rows_of(config_));
}

void FfmBlock::declare(const tape::Extent& layout, tape::Declarations& declarations) {
  pairs_ = declarations.add(tape::Tensor{.name = kPairs,
                                         .size = layout.pairs(),
                                         .owner = tape::Owner::Kind::kPair,
                                         .gradient_if_read = true});
  pairs_sum_ = declarations.add(tape::Tensor{.name = kPairsSum, .size = 1});
  scale_ = declarations.add(tape::Tensor{.name = "ffm.scale", .size = 1});
  declarations.contributions.push_back({.name = "ffm", .of = pairs_, .scale = scale_});
  d_pair_ = declarations.add(tape::Tensor{.name = "ffm.d_pair", .size = 1});
  memory_ = declarations.add_memory();
  head_ = {declarations.add_residual(kHead, kHeadWeight, true), config_.mixed};
}

ffm::Triangle FfmBlock::triangle(std::size_t fields, const tape::Tape& tape) const {
  return {*kernels_, engine_.rows().k(), fields, tape[pairs_].readers > 0 || tape.keep_parts,
          squeeze_below_};
}

// ---- forward ----

InstanceSums FfmBlock::instance_sums(const tape::Tape& tape, std::size_t b, bool ones) {
  InstanceSums sums;
  if (ones) {
    const std::uint32_t* const begin = &tape.batch->field_features_begin[tape.first + b];
    sums.features = sums.squares = static_cast<float>(begin[1] - begin[0]);
    return sums;
  }
  for (const feature::FieldRun& run : tape.field_runs(b)) {
    sums.features += static_cast<float>(run.end - run.begin);
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      sums.squares += tape.field_values[i] * tape.field_values[i];
    }
  }
  return sums;
}

void FfmBlock::forward(const Run& run) const {
  const ffm::Triangle set = triangle(run.parameters.layout.fields, run.tape);
  ffm::ExampleRows& at = rows(run.tape);
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const float sum = engine_.forward(run.tape, b, set, at, run.tape[pairs_].at(b));
    finish(run.tape, b, sum, instance_sums(run.tape, b, at.ones));
  }
}

void FfmBlock::finish(tape::Tape& tape, std::size_t b, float sum,
                      const InstanceSums& instance) const {
  tape[pairs_sum_].values[b] = sum;
  tape[scale_].values[b] = instance.scale();
  put_score(tape, b);
}

void FfmBlock::put_score(tape::Tape& tape, std::size_t b) const {
  head_.put(tape, b, head_.before(tape, b) + tape[scale_].values[b] * tape[pairs_sum_].values[b]);
}

// ---- partitions ----

/// What a shard has.
class FfmBlock::Part final : public Share, public tape::RowGradients {
 public:
  Part(const FfmBlock& block, std::unique_ptr<ffm::PairSet> set)
      : block_(block), set_(std::move(set)) {}

  bool empty() const { return set_->places().most_slots == 0; }
  float forward(tape::Tape& tape, std::size_t b) {
    return block_.engine_.forward(tape, b, *set_, at_, tape[block_.pairs_].at(b));
  }

  std::size_t floats(const tape::Parameters&) const override { return set_->row_floats(); }
  void add(const tape::Parameters&, tape::Tape& tape, std::size_t b,
           float* const* sums) const override {
    block_.add_of(*set_, tape, b, at_, sums);
  }
  void each(const tape::Parameters&, tape::Tape&, tape::RowVisitor&) const override {
    throw std::logic_error("a partition of a model learns in batches");
  }

 private:
  const FfmBlock& block_;
  std::unique_ptr<ffm::PairSet> set_;
  mutable ffm::ExampleRows at_;  ///< of the example at hand
};

/// One thread's candidates.
class FfmBlock::CandidatePart final : public Share {
 public:
  CandidatePart(const kernels::Kernels& kernels, std::size_t k, const tape::FieldSplit& of)
      : split(of), set(kernels, k, of) {}
  const tape::FieldSplit& split;
  ffm::ContextPairs set;
  ffm::ExampleRows at;
};

class FfmBlock::CachedSlots final : public CachedPart {
 public:
  explicit CachedSlots(ffm::ContextSlots of) : slots(std::move(of)) {}
  std::size_t bytes() const override { return slots.bytes(); }
  ffm::ContextSlots slots;
};

std::unique_ptr<Share> FfmBlock::share(const tape::Parameters&,
                                       const tape::Partition& partition) const {
  const std::size_t k = engine_.rows().k();
  if (partition.of == tape::Partition::Of::kEveryone) return nullptr;
  if (partition.split != nullptr) {
    return std::make_unique<CandidatePart>(*kernels_, k, *partition.split);
  }
  std::unique_ptr<ffm::PairSet> set;
  if (has_all_pairs(partition)) {
    set = std::make_unique<ffm::Triangle>(*kernels_, k, partition.opposite.size(), true,
                                          squeeze_below_);
  } else {
    set = std::make_unique<ffm::ListedPairs>(*kernels_, k, partition.opposite);
  }
  return std::make_unique<Part>(*this, std::move(set));
}

void FfmBlock::declare_sums(const tape::Extent&, std::uint32_t, const tape::Declarations&,
                            tape::SumDecls& sums) {
  score_sum_ = sums.find(LinearBlock::kScoreSum);
  if (!config_.has_one_score()) sum_ = sums.add({kPairsSum, "FFM"});
  instance_.declare(config_, "FFM", sums);
}

/// Writes the pairs that the partition has of example b; returns their sum.
float FfmBlock::partial_pairs(const Run& run, std::size_t b) const {
  tape::Tape& tape = run.tape;
  switch (run.partition->of) {
    case tape::Partition::Of::kShard:
      return static_cast<Part&>(*run.share).forward(tape, b);
    case tape::Partition::Of::kCandidate: {
      auto& part = static_cast<CandidatePart&>(*run.share);
      return engine_.forward(tape, b, part.set, part.at, tape[pairs_].at(b),
                             !part.set.context().stored());
    }
    case tape::Partition::Of::kContext:
    case tape::Partition::Of::kEveryone:
      break;
  }
  return engine_.forward(tape, b, triangle(run.parameters.layout.fields, tape), rows(tape),
                         tape[pairs_].at(b));
}

std::unique_ptr<CachedPart> FfmBlock::cache_context(const tape::Tape& tape, Share* share) const {
  return std::make_unique<CachedSlots>(ffm::ContextSlots(*kernels_, engine_.rows().k(),
                                                         static_cast<CandidatePart&>(*share).split,
                                                         tape.memory<ffm::ExampleRows>(memory_)));
}

void FfmBlock::use_context(Share* share, CachedPart* context) const {
  static_cast<CandidatePart&>(*share).set.use(&static_cast<CachedSlots*>(context)->slots);
}

void FfmBlock::partial(const Run& run) const {
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const tape::SumsOf of = run.sums_of(b);
    const float sum = partial_pairs(run, b);
    if (config_.has_one_score()) {
      of[score_sum_] += InstanceSum::as_they_came(run.tape, b).scale() * sum;
    } else {
      of[sum_] = sum;
    }
    instance_.partial(run.tape, *run.partition, b, of);
  }
}

void FfmBlock::finish(const Run& run) const {
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const tape::SumsOf of = run.sums_of(b);
    const float sum = config_.has_one_score() ? 0.0f : of[sum_];  // else it is in the score
    finish(run.tape, b, sum, instance_.of(run.tape, b, of));
  }
}

// ---- the way back ----

void FfmBlock::finish_back(const Run& run) const {
  for (std::size_t b = 0; b < run.tape.size; ++b) {
    run.tape[d_pair_].values[b] = head_.errors(run.tape)[b] * run.tape[scale_].values[b];
  }
}

void FfmBlock::partial_back(const Run& run) const {
  const auto& part = static_cast<const Part&>(*run.share);
  if (run.tape.sink != nullptr && !part.empty()) run.tape.sink->rows(engine_.rows().part(), part);
}

void FfmBlock::backward(const Run& run) const {
  finish_back(run);
  if (run.tape.sink != nullptr) run.tape.sink->rows(engine_.rows().part(), *this);
}

void FfmBlock::add(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
                   float* const* sums) const {
  add_of(triangle(parameters.layout.fields, tape), tape, b, rows(tape), sums);
}

void FfmBlock::add_of(const ffm::PairSet& set, tape::Tape& tape, std::size_t b,
                      ffm::ExampleRows& at, float* const* sums) const {
  engine_.rows().gather(tape, b, set.places(), at);
  engine_.add_gradients(tape, b, set, at, tape[d_pair_].values[b], by_readers(tape, b), sums);
}

void FfmBlock::each(const tape::Parameters& parameters, tape::Tape& tape,
                    tape::RowVisitor& visitor) const {
  engine_.each_gradient(tape, triangle(parameters.layout.fields, tape), rows(tape),
                        tape[d_pair_].values[0], by_readers(tape, 0), visitor);
}

tape::PairGradients FfmBlock::in_place(const tape::Parameters& parameters, tape::Tape& tape) const {
  ffm::ExampleRows& at = rows(tape);
  if (!at.stored || !steps_pairs_) return {};
  triangle(parameters.layout.fields, tape)
      .put_deltas(at, tape[d_pair_].values[0], by_readers(tape, 0));
  return {at.to_learn, at.fields.data(), at.delta.data(), at.nothing.data()};
}

}  // namespace leveret::block
