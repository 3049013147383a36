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

namespace leveret::block {

/// The sums by which an FFM score is scaled, over the features of an example or a portion of it.
struct InstanceSums {
  float features = 0, squares = 0;
  float scale() const { return std::sqrt(features) / std::max(squares, 1e-6f); }
};

/// The place of pair f <= g.
constexpr std::size_t pair_index(std::size_t f, std::size_t g) { return g * (g + 1) / 2 + f; }

class FfmBlock final : public Block {
 public:
  explicit FfmBlock(const kernels::Kernels& kernels, Config config)
      : kernels_(&kernels), config_(std::move(config)) {}

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
  /// Its head, to which FmBlock adds, too.
  static constexpr const char* kHead = "ffm";
  static constexpr float kHeadWeight = 0.3f;  ///< HeadDecl::first_weight
  /// Its part of a row is the first.
  void declare_rows(std::vector<table::RowPart>& parts) override {
    parts.push_back(config_.ffm_row);
  }
  void open(const tape::Parameters& parameters, std::size_t size, tape::Tape& tape) const override;

  /// Writes pairs, ffm_scale and its head; leaves the last example gathered on tape.ffm.
  void forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t begin,
               std::size_t end) const override;

  /// Leaves d loss / d pair: d_pairs, which is that of all pairs of an example by the head's own
  /// score; what comes by who reads the pairs stands in their gradient. With a single example in
  /// place ffm.pair_deltas, too. Gradients of rows are never kept: see add_gradients.
  void backward(const tape::Parameters& parameters, tape::Tape& tape) const override;

  void add_score(const tape::Parameters&, tape::Tape& tape, std::size_t b) const override {
    put_score(tape, b);
  }

  // What `backward` has left, row by row. Rows must be as they were when pairs were made of them.

  /// Calls visit(feature, contra, delta) for every feature of example b with a row: d loss / d
  /// weight of slot g is delta[g] * contra[g], k numbers. Visit may move that row, and no other.
  template <class Visit>
  void for_each_row(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
                    Visit visit) const;
  /// Calls sum_of(feature) -> float* for every feature of example b with a row, and adds to these
  /// floats, one for each weight of the row, d loss / d weight.
  template <class SumOf>
  void add_gradients(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
                     SumOf sum_of) const;

  /// Puts example b on tape.ffm; in place where it can be and `in_place` allows it.
  void gather(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
              bool in_place) const;

  // The parts of `forward`, for an example whose features come in two portions (FfmContext).

  /// Sums of the rows of each present field of example b, on tape.ffm.
  void gather_sums(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b) const;
  /// The pair of a field with itself: number `present` of those that gather_sums found.
  float within(tape::Tape& tape, std::size_t present) const;
  /// The codec in which kernels read rows in place.
  kernels::Codec codec_in_place() const {
    return config_.weights.is_scaled() ? kernels::Codec::fixed(16, 0) : config_.weights;
  }
  /// Bytes of a row in place.
  std::size_t row_bytes(const tape::Parameters& parameters, const tape::Tape& tape) const;
  /// Makes `rows` of those to read, with copies in place of kScaled ones: their codes in 16 bits,
  /// of which kernels make pairs as of fixed-point numbers. The scales go to the values, by which
  /// pairs are multiplied anyway.
  void widen(const tape::Parameters& parameters, tape::FfmInPlace& at) const;
  /// The sums of example b. `ones`: every value is 1.
  static InstanceSums instance_sums(const tape::Tape& tape, std::size_t b, bool ones);
  /// Adds the sum of all pairs to the score.
  void finish(tape::Tape& tape, std::size_t b, float sum, const InstanceSums& instance) const;

 private:
  void put_score(tape::Tape& tape, std::size_t b) const;
  /// d loss / d pair by those who read them; null: nobody does.
  const float* by_readers(const tape::Tape& tape, std::size_t b) const {
    const tape::TensorPlace& pairs = tape[pairs_];
    return pairs.gradient != nullptr ? pairs.d_at(b) : nullptr;
  }

  void spread(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b) const;
  const float* scale_deltas(tape::Tape& tape, const float* delta, std::size_t slots, float x) const;
  void put_own_slot(tape::Tape& tape, const std::byte* row, std::uint32_t field, float x,
                    float* to) const;

  // In place (ffm_in_place.cc).
  bool gather_in_place(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b) const;
  float pairs_in_place(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b) const;
  void pairs_of(const tape::Parameters& parameters, tape::Tape& tape, float* pairs) const;
  const float* spread_in_place(tape::Tape& tape, std::size_t b) const;
  void add_in_place(tape::Tape& tape, std::size_t b) const;
  void decode_slot(const std::byte* row, std::size_t slot, float* to) const;

  const kernels::Kernels* kernels_;
  Config config_;
  tape::TensorId pairs_ = tape::TensorId::kNone, pairs_sum_ = tape::TensorId::kNone;
  tape::JointHead head_;
};

template <class Visit>
void FfmBlock::for_each_row(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
                            Visit visit) const {
  const std::size_t slots = parameters.layout.fields;
  const std::size_t k = config_.k;
  tape::FfmTape& ffm = tape.ffm;
  spread(parameters, tape, b);
  for (std::size_t i = 0; i < ffm.present.size(); ++i) {
    const tape::PresentField& present = ffm.present[i];
    float* const contra = ffm.contra.data() + i * slots * k;
    float* const own_slot = contra + present.field * k;
    ffm.own_slot.assign(own_slot, own_slot + k);
    for (std::uint32_t f = present.begin; f < present.end; ++f) {
      if (tape.rows[f] == nullptr) continue;
      const float x = tape.field_values[f];
      if (present.several) put_own_slot(tape, tape.rows[f], present.field, x, own_slot);
      visit(f, contra, scale_deltas(tape, ffm.delta.data() + i * slots, slots, x));
    }
    std::copy_n(ffm.own_slot.data(), k, own_slot);
  }
}

template <class SumOf>
void FfmBlock::add_gradients(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
                             SumOf sum_of) const {
  gather(parameters, tape, b, true);
  const tape::FfmInPlace& at = tape.ffm.at;
  if (tape.ffm.in_place) {
    tape.ffm.row_sums.assign(at.rows.size(), nullptr);
    std::size_t place = 0;
    for (const feature::FieldRun& run : tape.field_runs(b)) {
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        if (tape.rows[i] == nullptr) continue;
        tape.ffm.row_sums[at.filled ? run.field : place++] = sum_of(i);
      }
    }
    return add_in_place(tape, b);
  }
  const std::size_t slots = parameters.layout.fields, k = config_.k;
  for_each_row(parameters, tape, b, [&](std::uint32_t f, const float* contra, const float* delta) {
    float* const sum = sum_of(f);
    for (std::size_t g = 0; g < slots; ++g) {
      for (std::size_t c = g * k; c < (g + 1) * k; ++c) sum[c] += delta[g] * contra[c];
    }
  });
}

}  // namespace leveret::block
