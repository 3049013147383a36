/// Field-aware factorization machine: pair values p_fg = <S_fg, S_gf> with
/// S_fg = sum over the features i of field f of x_i v_i,g, and pairs within a field
/// p_ff = (|S_ff|^2 - sum |x_i v_i,f|^2) / 2 (Juan et al. 2016; identity in man/leveret-model.7).
///
/// Every pair stands once (DiagMask of the FW paper, section 2.1): pair f <= g has the index
/// g(g+1)/2 + f, so that a new field only appends. The score is that of the linear stage plus
/// sum p * sqrt(n) / |x|² over its n features. libffm's instance normalisation, 1 / |x|², makes the
/// score independent of the values' scale but starves examples of many fields.
#pragma once

#include <utility>

#include "block/block.h"
#include "block/config.h"

namespace leveret::block {

/// The place of pair f <= g.
constexpr std::size_t pair_index(std::size_t f, std::size_t g) { return g * (g + 1) / 2 + f; }

class FfmBlock final : public Block {
 public:
  explicit FfmBlock(const kernels::Kernels& kernels, Config config)
      : kernels_(&kernels), config_(std::move(config)) {}

  /// Writes pairs (see Tape), ffm_scale and scores.ffm; leaves the last example gathered on
  /// tape.ffm.
  void forward(const Parameters& parameters, Tape& tape, std::size_t begin,
               std::size_t end) const override;

  /// Nothing: the gradients of pairs are made where they are used, by spread or spread_in_place.
  /// They are the head's own error, and what came back through the MLP, if there is one.
  void backward(const Parameters&, Tape&) const override {}

  /// Puts example b on tape.ffm; in place where it can be and `in_place` allows it.
  void gather(const Parameters& parameters, Tape& tape, std::size_t b, bool in_place) const;

  /// From the gradients of example b's pairs to tape.ffm.delta: slot g of a feature with value x in
  /// the i-th present field has the gradient x * delta[i][g] * contra[i][g], but for the field's
  /// own slot, where it is x * delta[i][f] * (contra[i][f] - x * v_f).
  void spread(const Parameters& parameters, Tape& tape, std::size_t b) const;

  /// Where a row's slot begins; not of kScaled weights.
  const std::byte* slot_at(const std::byte* row, std::size_t slot) const {
    return row + config_.weights.bytes(slot * config_.k);
  }

  /// The same as `spread` for the tape's last example, which is in place: the gradients of its
  /// pairs in the order of Kernels::ffm_update_pairs, times the values of both features. Its pairs
  /// are not kept.
  float* spread_in_place(const Parameters& parameters, Tape& tape) const;

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
  void widen(Tape& tape, std::size_t length) const;
  float within(Tape& tape, std::size_t present) const;
  void decode_slot(const std::byte* row, std::size_t slot, float* to) const;
  /// What kernels take from rows in place.
  kernels::Codec codec_in_place() const {
    return config_.weights.is_scaled() ? kernels::Codec::fixed(16, 0) : config_.weights;
  }

  const kernels::Kernels* kernels_;
  Config config_;
};

}  // namespace leveret::block
