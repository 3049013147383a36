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
  /// Its part of a row is the first.
  void declare_rows(std::vector<table::RowPart>& parts) override {
    parts.push_back(config_.ffm_row);
  }
  void open(const Parameters& parameters, std::size_t size, Tape& tape) const override;

  /// Writes pairs (see Tape), ffm_scale and scores.ffm; leaves the last example gathered on
  /// tape.ffm.
  void forward(const Parameters& parameters, Tape& tape, std::size_t begin,
               std::size_t end) const override;

  /// Nothing: the gradients of pairs are made where they are used, by spread or spread_in_place.
  /// They are the head's own error, and what came back through the MLP, if there is one.
  void backward(const Parameters&, Tape&) const override {}

  /// Puts example b on tape.ffm; in place where it can be and `in_place` allows it.
  void gather(const Parameters& parameters, Tape& tape, std::size_t b, bool in_place) const;

  // The parts of `forward`, for an example whose features come in two portions (FfmContext).

  /// Sums of the rows of each present field of example b, on tape.ffm.
  void gather_sums(const Parameters& parameters, Tape& tape, std::size_t b) const;
  /// The pair of a field with itself: number `present` of those that gather_sums found.
  float within(Tape& tape, std::size_t present) const;
  /// The codec in which kernels read rows in place.
  kernels::Codec codec_in_place() const {
    return config_.weights.is_scaled() ? kernels::Codec::fixed(16, 0) : config_.weights;
  }
  /// Bytes of a row in place.
  std::size_t row_bytes(const Parameters& parameters, const Tape& tape) const;
  /// Makes `rows` of those to read, with copies in place of kScaled ones: their codes in 16 bits,
  /// of which kernels make pairs as of fixed-point numbers. The scales go to the values, by which
  /// pairs are multiplied anyway.
  void widen(const Parameters& parameters, FfmInPlace& at) const;
  /// The sums of example b. `ones`: every value is 1.
  static InstanceSums instance_sums(const Tape& tape, std::size_t b, bool ones);
  /// Adds the sum of all pairs to the score.
  void finish(Tape& tape, std::size_t b, float sum, const InstanceSums& instance) const;

  /// From the gradients of example b's pairs to tape.ffm.delta: slot g of a feature with value x in
  /// the i-th present field has the gradient x * delta[i][g] * contra[i][g], but for the field's
  /// own slot, where it is x * delta[i][f] * (contra[i][f] - x * v_f).
  void spread(const Parameters& parameters, Tape& tape, std::size_t b) const;

  /// The beginning of a row's slot, for weights that are not kScaled.
  const std::byte* slot_at(const std::byte* row, std::size_t slot) const {
    return row + config_.weights.bytes(slot * config_.k);
  }

  /// The same as `spread` for example b, which was gathered last, and in place: the gradients of
  /// its pairs in the order of Kernels::ffm_update_pairs, times the values of both features. The
  /// tape's pairs are not kept.
  float* spread_in_place(const Parameters& parameters, Tape& tape, std::size_t b) const;

 private:
  /// d loss / d pair of example b, by the head's own score alone.
  static float own_error(const Tape& tape, std::size_t b) {
    return tape.scores[b].d_ffm * tape.ffm_scale[b];
  }
  /// What comes back through the MLP, by pair; null without one.
  const float* d_pairs(const Parameters& parameters, const Tape& tape, std::size_t b) const;

  // In place (ffm_in_place.cc).
  bool gather_in_place(const Parameters& parameters, Tape& tape, std::size_t b) const;
  float pairs_in_place(const Parameters& parameters, Tape& tape, std::size_t b) const;
  void pairs_of(const Parameters& parameters, Tape& tape, float* pairs) const;
  void decode_slot(const std::byte* row, std::size_t slot, float* to) const;

  const kernels::Kernels* kernels_;
  Config config_;
};

}  // namespace leveret::block
