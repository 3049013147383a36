#include "block/ffm_block.h"

#include <algorithm>

#include "block/ffm_context.h"
#include "block/ffm_share.h"
#include "block/linear_block.h"

namespace leveret::block {

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

void FfmBlock::declare(const tape::Extent& layout, tape::Declarations& declarations) {
  pairs_ = declarations.add(tape::Tensor{.name = kPairs,
                                         .size = layout.pairs(),
                                         .owner = tape::Owner::Kind::kPair,
                                         .gradient_if_read = true});
  pairs_sum_ = declarations.add(tape::Tensor{.name = kPairsSum, .size = 1});
  scale_ = declarations.add(tape::Tensor{.name = "ffm.scale", .size = 1});
  declarations.contributions.push_back({.name = "ffm", .of = pairs_, .scale = scale_});
  d_pair_ = declarations.add(tape::Tensor{.name = "ffm.d_pair", .size = 1});
  head_ = {declarations.add_residual(kHead, kHeadWeight, true), config_.mixed};
}

void FfmBlock::forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t begin,
                       std::size_t end) const {
  for (std::size_t b = begin; b < end; ++b) {
    const float sum = put_pairs(parameters, tape, b);
    finish(tape, b, sum, instance_sums(tape, b, tape.ffm.in_place && tape.ffm.at.ones));
  }
}

/// All pairs of example b, whole; returns their sum.
float FfmBlock::put_pairs(const tape::Parameters& parameters, tape::Tape& tape,
                          std::size_t b) const {
  gather(parameters, tape, b, true);
  if (tape.ffm.in_place) return pairs_in_place(parameters, tape, b);
  float* const pairs = tape[pairs_].at(b);
  pairs_of(parameters, tape, pairs);
  return kernels_->total(pairs, parameters.layout.pairs());
}

void FfmBlock::declare_sums(const tape::Extent&, std::uint32_t, const tape::Declarations&,
                            tape::SumDecls& sums) {
  score_sum_ = sums.find(LinearBlock::kScoreSum);
  if (!config_.has_one_score()) sum_ = sums.add({kPairsSum, "FFM"});
  instance_.declare(config_, "FFM", sums);
}

std::unique_ptr<Share> FfmBlock::share(const tape::Parameters&,
                                       const tape::Partition& partition) const {
  if (partition.of == tape::Partition::Of::kEveryone) return nullptr;
  if (partition.split != nullptr) {
    return std::make_unique<FfmContext>(*kernels_, config_, *partition.split, *this);
  }
  return std::make_unique<FfmShare>(*kernels_, config_, part_, partition.opposite,
                                    FfmShare::Tensors{pairs_, d_pair_});
}

/// Writes the pairs that the partition has of example b; returns their sum.
float FfmBlock::partial_pairs(const tape::Parameters& parameters, tape::Tape& tape,
                              const tape::Partition& partition, Share& share, std::size_t b) const {
  switch (partition.of) {
    case tape::Partition::Of::kShard:
      return static_cast<FfmShare&>(share).forward(tape, b);
    case tape::Partition::Of::kCandidate:
      return static_cast<FfmContext&>(share).forward(parameters, tape, b, tape[pairs_].at(b));
    case tape::Partition::Of::kContext:
    case tape::Partition::Of::kEveryone:
      break;
  }
  return put_pairs(parameters, tape, b);
}

std::unique_ptr<CachedPart> FfmBlock::cache_context(const tape::Tape& tape, Share* share) const {
  return static_cast<FfmContext&>(*share).cache_context(tape);
}

void FfmBlock::use_context(Share* share, CachedPart* context) const {
  static_cast<FfmContext&>(*share).use_context(static_cast<FfmContext::Context*>(context));
}

void FfmBlock::partial(const tape::Parameters& parameters, tape::Tape& tape,
                       const tape::Partition& partition, Share* share, std::size_t begin,
                       std::size_t end, const tape::BatchSums<float>& sums) const {
  for (std::size_t b = begin; b < end; ++b) {
    const tape::SumsOf<float> of = sums[b];
    const float sum = partial_pairs(parameters, tape, partition, *share, b);
    if (config_.has_one_score()) {
      of[score_sum_] += InstanceSum::as_they_came(tape, b).scale() * sum;
    } else {
      of[sum_] = sum;
    }
    instance_.partial(tape, partition, b, of);
  }
}

void FfmBlock::finish(const tape::Parameters&, tape::Tape& tape, Share*, std::size_t begin,
                      std::size_t end, const tape::BatchSums<const float>& sums) const {
  for (std::size_t b = begin; b < end; ++b) {
    const tape::SumsOf<const float> of = sums[b];
    const float sum = config_.has_one_score() ? 0.0f : of[sum_];  // else it is in the score
    finish(tape, b, sum, instance_.of(tape, b, of));
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

void FfmBlock::gather(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
                      bool in_place) const {
  tape::FfmTape& ffm = tape.ffm;
  ffm.in_place = in_place && gather_in_place(parameters, tape, b);
  if (ffm.in_place) return;
  gather_sums(parameters, tape, b);
  kernels_->transpose(ffm.sums.data(), ffm.fields.data(), ffm.fields.size(),
                      parameters.layout.fields, k_, ffm.contra.data());
}

void FfmBlock::gather_sums(const tape::Parameters& parameters, tape::Tape& tape,
                           std::size_t b) const {
  const std::size_t slots = parameters.layout.fields;
  const std::size_t length = slots * k_;
  const std::size_t row_begin = this->row_begin(tape);
  tape::FfmTape& ffm = tape.ffm;
  ffm.present.clear();
  ffm.fields.clear();
  ffm.sums.clear();
  if (ffm.contra.size() < slots * length) {
    ffm.store.resize(slots * length);
    ffm.contra.resize(slots * length);
    ffm.delta.resize(slots * slots);
    ffm.row.resize(length);
  }
  for (const feature::FieldRun& run : tape.field_runs(b)) {
    std::uint32_t admitted = 0, last = 0;
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      if (tape.rows[i] == nullptr) continue;
      ++admitted;
      last = i;
    }
    if (admitted == 0) continue;
    float* const sum = ffm.store.data() + ffm.present.size() * length;
    if (admitted == 1 && tape.field_values[last] == 1.0f) {
      kernels_->decode(row_.codec, tape.rows[last] + row_begin, length, sum);
    } else {
      std::fill(sum, sum + length, 0.0f);
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        if (tape.rows[i] == nullptr) continue;
        kernels_->decode(row_.codec, tape.rows[i] + row_begin, length, ffm.row.data());
        kernels_->axpy(tape.field_values[i], ffm.row.data(), length, sum);
      }
    }
    ffm.present.push_back({run.field, run.begin, run.end, admitted > 1});
    ffm.fields.push_back(run.field);
    ffm.sums.push_back(sum);
  }
}

void FfmBlock::pairs_of(const tape::Parameters& parameters, tape::Tape& tape, float* pairs) const {
  const std::size_t slots = parameters.layout.fields;
  const std::size_t k = k_;
  std::size_t done = 0;  // fields whose stretch of the triangle is written
  for (std::size_t i = 0; i < tape.ffm.present.size(); ++i) {
    const std::size_t g = tape.ffm.present[i].field;
    std::fill(pairs + pair_index(0, done), pairs + pair_index(0, g), 0.0f);
    kernels_->dots(tape.ffm.sums[i], tape.ffm.contra.data() + i * slots * k, g, k,
                   pairs + pair_index(0, g));
    pairs[pair_index(g, g)] = tape.ffm.present[i].several ? within(tape, i) : 0.0f;
    done = g + 1;
  }
  std::fill(pairs + pair_index(0, done), pairs + pair_index(0, slots), 0.0f);
}

float FfmBlock::within(tape::Tape& tape, std::size_t present) const {
  const tape::PresentField& field = tape.ffm.present[present];
  const std::size_t k = k_;
  const float* sum = tape.ffm.sums[present] + field.field * k;
  float twice = kernels_->dot(sum, sum, k);
  for (std::uint32_t i = field.begin; i < field.end; ++i) {
    if (tape.rows[i] == nullptr) continue;
    float* const v = tape.ffm.row.data();
    decode_slot(tape.rows[i] + row_begin(tape), field.field, v);
    twice -= tape.field_values[i] * tape.field_values[i] * kernels_->dot(v, v, k);
  }
  return 0.5f * twice;
}

void FfmBlock::decode_slot(const std::byte* weights, std::size_t slot, float* to) const {
  for (std::size_t c = 0; c < k_; ++c) {
    to[c] = kernels::decode(row_.codec, weights, slot * k_ + c);
  }
}

}  // namespace leveret::block
