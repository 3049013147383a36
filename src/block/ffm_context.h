/// FFM of a request: the pairs of the context's fields among themselves are made once, and each
/// candidate adds those that it is part of: with the context's rows, and its own.
///
/// A pair needs of the context's rows only the slots for candidates' fields. They are gathered
/// once, so that a candidate's row meets them in one stream (Kernels::ffm_rectangle). Rows are
/// taken as they are stored; where a field has several features in the context or in a candidate,
/// sums of them as floats are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "block/ffm_block.h"
#include "table/aligned.h"
#include "tape/field_split.h"

namespace leveret::block {

/// One thread's: FfmBlock's share of contexts and of their candidates.
class FfmContext final : public Share {
 public:
  /// The data of a context that its candidates need.
  struct Context final : CachedPart {
    bool in_place = false;        ///< every field of it has one row at most
    bool has_sums = false;        ///< `sums` is made
    bool as_kernels_see = false;  ///< every x is 1
    std::vector<float> x;         ///< by place in split.context; 0 where it has no row
    /// For each of the candidates' fields what the context's rows have for it, or their sums.
    table::AlignedBytes rows;
    table::AlignedFloats sums;
    std::vector<const std::byte*> slots_of_rows, slots_of_sums;

    std::size_t bytes() const override;
  };

  /// `split` and `block` must outlive it.
  FfmContext(const kernels::Kernels& kernels, const Config& config, const tape::FieldSplit& split,
             const FfmBlock& block);

  /// The only example of the tape, on which FfmBlock has made its pairs, is the context. It has
  /// features of the context's fields only.
  std::unique_ptr<Context> cache_context(const tape::Tape& tape) const;
  /// Candidates are scored with this one from now on.
  void use_context(Context* context) { context_ = context; }
  /// Example b of the tape is a candidate, with features of candidates' fields only. Writes its
  /// pairs, split.pairs() of them (see FieldSplit); returns their sum.
  float forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b, float* pairs);

 private:
  void gather_rows(const tape::FfmInPlace& at, Context& context) const;
  void gather_sums(const tape::FfmTape& ffm, Context& context) const;
  void make_sums_of_rows(Context& context) const;
  float* room_for_sums(Context& context) const;
  float pairs_in_place(const Context& context, float* pairs);
  float pairs_of_sums(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
                      Context& context, float* pairs);
  std::size_t slots() const { return split_.place.size(); }

  const kernels::Kernels& kernels_;
  const std::size_t k_;
  const kernels::Codec codec_;  ///< of rows in place
  const tape::FieldSplit& split_;
  const FfmBlock& block_;

  Context* context_ = nullptr;  ///< that candidates are scored with

  // The candidate at hand.
  tape::FfmInPlace at_;
  std::vector<const std::byte*> sums_of_fields_;
  table::AlignedFloats no_sum_;  ///< zeros
};

}  // namespace leveret::block
