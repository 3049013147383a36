/// FFM of a request: the pairs of the context's fields among themselves are made once, and each
/// candidate adds those that it is part of: with the context's rows, and its own.
///
/// A pair needs of the context's rows only the slots for candidates' fields. They are gathered
/// once, so that a candidate's row meets them in one stream (Kernels::ffm_rectangle). Rows are
/// taken as they are stored; where a field has several features in the context or in a candidate,
/// sums of them as floats are.
#pragma once

#include <cstdint>
#include <vector>

#include "block/ffm_block.h"
#include "block/field_split.h"
#include "table/aligned.h"

namespace leveret::block {

/// One thread's.
class FfmContext {
 public:
  /// The data of a context that its candidates need. Moved, not copied: places are in its own
  /// stores.
  struct Kept {
    Kept() = default;
    Kept(Kept&&) = default;
    Kept& operator=(Kept&&) = default;

    InstanceSums instance;
    float pairs_sum = 0;
    bool in_place = false;        ///< every field of it has one row at most
    bool has_sums = false;        ///< `sums` is made
    bool as_kernels_see = false;  ///< every x is 1
    std::vector<float> x;         ///< by place in split.context; 0 where it has no row
    /// For each of the candidates' fields what the context's rows have for it, or their sums.
    table::AlignedBytes rows;
    table::AlignedFloats sums;
    std::vector<const std::byte*> slots_of_rows, slots_of_sums;
  };

  /// `split` and `block` must outlive it.
  FfmContext(const kernels::Kernels& kernels, const Config& config, const FieldSplit& split,
             const FfmBlock& block);

  /// Example b of the tape, the last one that FfmBlock::forward has run on, is the context. It has
  /// features of the context's fields only.
  void keep(const tape::Tape& tape, std::size_t b, Kept& kept) const;

  /// Example b of the tape is a candidate, with features of candidates' fields only. Writes its
  /// pairs, split.pairs() of them (see FieldSplit), and the score of the whole, context included.
  void forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b, Kept& kept,
               float* pairs);

 private:
  void gather_rows(const tape::FfmInPlace& at, Kept& kept) const;
  void gather_sums(const tape::FfmTape& ffm, Kept& kept) const;
  void make_sums_of_rows(Kept& kept) const;
  float* room_for_sums(Kept& kept) const;
  float pairs_in_place(const Kept& kept, float* pairs);
  float pairs_of_sums(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
                      Kept& kept, float* pairs);
  std::size_t slots() const { return split_.place.size(); }

  const kernels::Kernels& kernels_;
  const std::size_t k_;
  const kernels::Codec codec_;  ///< of rows in place
  const FieldSplit& split_;
  const FfmBlock& block_;

  // The candidate at hand.
  tape::FfmInPlace at_;
  std::vector<const std::byte*> sums_of_fields_;
  table::AlignedFloats no_sum_;  ///< zeros
};

}  // namespace leveret::block
