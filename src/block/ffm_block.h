/// Field-aware factorization machine: pair values p_fg = <S_fg, S_gf> with
/// S_fg = sum over the features i of field f of x_i v_i,g, and pairs within a field
/// p_ff = (|S_ff|^2 - sum |x_i v_i,f|^2) / 2 (Juan et al. 2016; identity in man/leveret-model.7).
///
/// Every pair stands once (DiagMask of the FW paper, section 2.1): pair f <= g has the index
/// g(g+1)/2 + f, so that a new field only appends. The score is that of the linear stage plus
/// sum p * sqrt(n) / |x|² over its n features. libffm's instance normalisation, 1 / |x|², makes the
/// score independent of the values' scale but starves examples of many fields.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "block/block.h"
#include "block/config.h"
#include "block/instance_sum.h"
#include "block/residual_score.h"

namespace leveret::block {

/// The place of pair f <= g.
constexpr std::size_t pair_index(std::size_t f, std::size_t g) { return g * (g + 1) / 2 + f; }

class FfmBlock final : public Block, public tape::RowGradients {
 public:
  explicit FfmBlock(const kernels::Kernels& kernels, const Config& config)
      : kernels_(&kernels), config_(config) {
    const Rows& rows = *config.find_rows(Rows::Kind::kFfm);
    row_ = rows.part;
    if (rows.rule->fused() != nullptr) rule_ = *rows.rule->fused();
    fused_ = rows.rule->fused() != nullptr;
    k_ = row_.k;
  }

  static bool is_in(const Config& config) { return config.has_ffm(); }
  /// The tensor of all pairs of an example, by pair_index. Its values are there for who reads it
  /// and with Tape::keep_parts; else they are there in passing. FfmTape::pair_deltas lie at its
  /// begin afterwards.
  static constexpr const char* kPairs = "ffm.pairs";
  void declare(const tape::Extent& layout, tape::Declarations& declarations) override;
  tape::TensorId pairs() const { return pairs_; }
  /// 1: the sum of the pairs.
  static constexpr const char* kPairsSum = "ffm.pairs_sum";
  tape::TensorId pairs_sum() const { return pairs_sum_; }
  tape::TensorId d_pair() const { return d_pair_; }  ///< 1: see `backward`
  /// Its head.
  static constexpr const char* kHead = "ffm";
  static constexpr float kHeadWeight = 0.3f;  ///< HeadDecl::first_weight
  void declare_rows(std::vector<Rows>& parts) override {
    part_ = parts.size();
    parts.push_back(*config_.find_rows(Rows::Kind::kFfm));
  }
  std::size_t part() const { return part_; }  ///< of rows
  /// Bytes from the start of a row to this part's weights.
  std::size_t row_begin(const tape::Tape& tape) const {
    return tape.row_layout->weights(part_).begin;
  }
  /// Writes its tensors and its head; leaves the last example gathered on tape.ffm.
  void forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t begin,
               std::size_t end) const override;

  void declare_sums(const tape::Extent& layout, std::uint32_t shared,
                    const tape::Declarations& declared, tape::SumDecls& sums) override;
  std::string why_not_in_partitions() const override { return {}; }
  std::string why_not_in_contexts() const override { return {}; }
  /// A partition's pairs (ffm_share.h, ffm_context.h).
  std::unique_ptr<Share> share(const tape::Parameters& parameters,
                               const tape::Partition& partition) const override;
  void partial(const tape::Parameters& parameters, tape::Tape& tape,
               const tape::Partition& partition, Share* share, std::size_t begin, std::size_t end,
               const tape::BatchSums<float>& sums) const override;
  void finish(const tape::Parameters& parameters, tape::Tape& tape, Share* share, std::size_t begin,
              std::size_t end, const tape::BatchSums<const float>& sums) const override;
  std::unique_ptr<CachedPart> cache_context(const tape::Tape& tape, Share* share) const override;
  void use_context(Share* share, CachedPart* context) const override;
  void finish_back(const tape::Parameters& parameters, tape::Tape& tape,
                   Share* share) const override;
  void partial_back(const tape::Parameters& parameters, tape::Tape& tape,
                    const tape::Partition& partition, Share* share) const override;

  /// Leaves d loss / d pair: d_pair(), which is that of all pairs of an example by the head's own
  /// score; what comes by who reads the pairs stands in their gradient. With a single example in
  /// place ffm.pair_deltas, too. Hands on its part of rows.
  void backward(const tape::Parameters& parameters, tape::Tape& tape) const override;

  void add_score(const tape::Parameters&, tape::Tape& tape, std::size_t b) const override {
    put_score(tape, b);
  }

  // The gradients of rows, by what `backward` has left.

  std::size_t floats(const tape::Parameters& parameters) const override {
    return std::size_t{parameters.layout.fields} * k_;
  }
  void add(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
           float* const* sums) const override;
  void each(const tape::Parameters& parameters, tape::Tape& tape,
            tape::RowVisitor& visitor) const override;
  tape::PairGradients in_place(const tape::Tape& tape) const override;

  /// Puts example b on tape.ffm; in place where it can be and `in_place` allows it.
  void gather(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
              bool in_place) const;

  // For FfmContext.

  /// Sums of the rows of each present field of example b, on tape.ffm.
  void gather_sums(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b) const;
  /// The pair of a field with itself: number `present` of those that gather_sums found.
  float within(tape::Tape& tape, std::size_t present) const;
  /// The codec in which kernels read rows in place.
  kernels::Codec codec_in_place() const { return row_.codec.widened(); }
  /// Whether these are copies.
  bool reads_copies() const { return codec_in_place() != row_.codec; }
  /// Bytes of a row in place.
  std::size_t row_bytes(const tape::Parameters& parameters, const tape::Tape& tape) const;
  /// Makes `rows` of those in to_read, with copies in place of those of few bits: their codes in 16
  /// bits, of which kernels make pairs as of fixed-point numbers. Scales go to the values, by which
  /// pairs are multiplied anyway.
  void widen(const tape::Parameters& parameters, tape::FfmInPlace& at) const;
  /// The sums of example b. `ones`: every value is 1.
  static InstanceSums instance_sums(const tape::Tape& tape, std::size_t b, bool ones);

 private:
  float put_pairs(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b) const;
  float partial_pairs(const tape::Parameters& parameters, tape::Tape& tape,
                      const tape::Partition& partition, Share& share, std::size_t b) const;
  /// Adds the sum of all pairs to the score.
  void finish(tape::Tape& tape, std::size_t b, float sum, const InstanceSums& instance) const;
  void put_score(tape::Tape& tape, std::size_t b) const;
  /// d loss / d pair by those who read them; null: nobody does.
  const float* by_readers(const tape::Tape& tape, std::size_t b) const {
    const tape::TensorPlace& pairs = tape[pairs_];
    return pairs.gradient != nullptr ? pairs.d_at(b) : nullptr;
  }

  /// Calls visit(feature, contra, delta) as RowVisitor is, for example b, which has been gathered.
  template <class Visit>
  void for_each_row(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
                    Visit visit) const;
  void spread(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b) const;
  const float* scale_deltas(tape::Tape& tape, const float* delta, std::size_t slots, float x) const;
  void put_own_slot(tape::Tape& tape, const std::byte* weights, std::uint32_t field, float x,
                    float* to) const;

  // In place (ffm_in_place.cc).
  bool learns_in_place(const tape::Tape& tape) const;
  bool gather_in_place(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b) const;
  float pairs_in_place(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b) const;
  void pairs_of(const tape::Parameters& parameters, tape::Tape& tape, float* pairs) const;
  const float* spread_in_place(tape::Tape& tape, std::size_t b) const;
  void add_in_place(tape::Tape& tape, std::size_t b) const;
  void decode_slot(const std::byte* weights, std::size_t slot, float* to) const;

  const kernels::Kernels* kernels_;
  Config config_;
  table::RowPart row_;
  kernels::StepRule rule_;  ///< if rows learn by one that kernels know: fused_
  bool fused_ = false;
  std::size_t k_ = 0;
  std::size_t part_ = 0;
  tape::TensorId pairs_ = tape::TensorId::kNone, pairs_sum_ = tape::TensorId::kNone;
  tape::TensorId scale_ = tape::TensorId::kNone, d_pair_ = tape::TensorId::kNone;
  ResidualScore head_;
  /// The sum of pairs is sum_; with one score it is scaled and in score_sum_, the linear part's.
  tape::SumId sum_ = tape::SumId::kNone, score_sum_ = tape::SumId::kNone;
  InstanceSum instance_;
};

}  // namespace leveret::block
