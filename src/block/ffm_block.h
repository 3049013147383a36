/// Field-aware factorization machine: pair values p_fg of all fields (ffm/pair_set.h), and their
/// sum.
///
/// The score is that of the linear stage plus sum p * sqrt(n) / |x|² over its n features. libffm's
/// instance normalisation, 1 / |x|², makes the score independent of the values' scale but starves
/// examples of many fields.
#pragma once

#include <memory>
#include <vector>

#include "block/block.h"
#include "block/config.h"
#include "block/instance_sum.h"
#include "block/residual_score.h"
#include "ffm/pair_engine.h"

namespace leveret::block {

class FfmBlock final : public Block, public tape::RowGradients {
 public:
  FfmBlock(const kernels::Kernels& kernels, const Config& config);

  static bool is_in(const Config& config) { return config.has_ffm(); }
  /// The tensor of all pairs of an example, by ffm::pair_index. Its values are there for who reads
  /// it and with Tape::keep_parts; else they may be elsewhere.
  static constexpr const char* kPairs = "ffm.pairs";
  void declare(const tape::Extent& layout, tape::Declarations& declarations) override;
  /// 1: the sum of the pairs.
  static constexpr const char* kPairsSum = "ffm.pairs_sum";
  tape::TensorId pairs_sum() const { return pairs_sum_; }
  /// Its head.
  static constexpr const char* kHead = "ffm";
  static constexpr float kHeadWeight = 0.3f;  ///< HeadDecl::first_weight
  void declare_rows(std::vector<Rows>& parts) override;

  /// Writes its tensors and its head.
  void forward(const Run& run) const override;

  void declare_sums(const tape::Extent& layout, std::uint32_t shared,
                    const tape::Declarations& declared, tape::SumDecls& sums) override;
  Split split() const override { return Split::kSums; }
  /// A partition's pairs.
  std::unique_ptr<Share> share(const tape::Parameters& parameters,
                               const tape::Partition& partition) const override;
  void partial(const Run& run) const override;
  void finish(const Run& run) const override;
  std::unique_ptr<CachedPart> cache_context(const tape::Tape& tape, Share* share) const override;
  void use_context(Share* share, CachedPart* context) const override;
  void finish_back(const Run& run) const override;
  void partial_back(const Run& run) const override;

  /// Hands on its part of rows.
  void backward(const Run& run) const override;

  void add_score(const tape::Parameters&, tape::Tape& tape, std::size_t b) const override {
    put_score(tape, b);
  }

  // The gradients of rows, by the errors of its head and those of who reads the pairs.

  std::size_t floats(const tape::Parameters& parameters) const override {
    return std::size_t{parameters.layout.fields} * engine_.rows().k();
  }
  void add(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
           float* const* sums) const override;
  void each(const tape::Parameters& parameters, tape::Tape& tape,
            tape::RowVisitor& visitor) const override;
  tape::PairGradients in_place(const tape::Parameters& parameters, tape::Tape& tape) const override;

  /// The sums of example b. `ones`: every value is 1.
  static InstanceSums instance_sums(const tape::Tape& tape, std::size_t b, bool ones);

 private:
  class Part;
  class CandidatePart;
  class CachedSlots;

  ffm::Triangle triangle(std::size_t fields, const tape::Tape& tape) const;
  ffm::ExampleRows& rows(tape::Tape& tape) const { return tape.memory<ffm::ExampleRows>(memory_); }
  float partial_pairs(const Run& run, std::size_t b) const;
  void add_of(const ffm::PairSet& set, tape::Tape& tape, std::size_t b, ffm::ExampleRows& at,
              float* const* sums) const;
  /// Adds the sum of all pairs to the score.
  void finish(tape::Tape& tape, std::size_t b, float sum, const InstanceSums& instance) const;
  void put_score(tape::Tape& tape, std::size_t b) const;
  /// d loss / d pair by those who read them; null: nobody does.
  const float* by_readers(const tape::Tape& tape, std::size_t b) const {
    const tape::TensorPlace& pairs = tape[pairs_];
    return pairs.gradient != nullptr ? pairs.d_at(b) : nullptr;
  }

  const kernels::Kernels* kernels_;
  Config config_;
  ffm::PairEngine engine_;
  float squeeze_below_;
  bool steps_pairs_;  ///< kernels step the rows of an example in place
  tape::MemoryId memory_ = tape::MemoryId::kNone;
  tape::TensorId pairs_ = tape::TensorId::kNone, pairs_sum_ = tape::TensorId::kNone;
  tape::TensorId scale_ = tape::TensorId::kNone;
  tape::TensorId d_pair_ = tape::TensorId::kNone;  ///< 1: d loss / d pair by the head's score
  ResidualScore head_;
  /// The sum of pairs is sum_; with one score it is scaled and in score_sum_, the linear part's.
  tape::SumId sum_ = tape::SumId::kNone, score_sum_ = tape::SumId::kNone;
  InstanceSum instance_;
};

}  // namespace leveret::block
