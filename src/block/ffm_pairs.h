/// Some pairs of an FFM, for whoever holds a part of its rows: of each field's rows the slots of
/// those opposite fields whose pair is among them, and no others (RowPart::opposite).
///
/// Pair values are those of FfmBlock (Juan et al. 2016): p_fg = <S_fg, S_gf>, and within a field
/// (|S_ff|² - sum |x v_f|²) / 2. The sum of an example's pairs over all parts is what
/// FfmBlock::finish takes.
///
/// Nearly all examples have one row in each field, of most fields: kernels then read the rows where
/// they lie, by a list of the pairs (kernels::PairList). Of others the rows are decoded to floats,
/// and pairs are made one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "block/config.h"
#include "kernels/kernels.h"
#include "table/aligned.h"
#include "tape/tape.h"

namespace leveret::block {

/// What FfmPairs makes of one example. Owned by a thread.
struct PairsTape {
  struct Present {
    std::uint32_t field, begin, end;  ///< features, as in feature::FieldRun
    bool several;                     ///< with rows
    std::size_t sum;                  ///< in `store`: the sum of x v, slots * k floats
  };
  std::vector<Present> present;  ///< fields with a row, ascending
  std::vector<float> store;
  std::vector<const float*> sums;  ///< by field; null where it is not present
  std::vector<float> row;          ///< of one feature

  /// Whether rows are read in place. If so, these are all that is used; by field.
  bool in_place = false;
  bool ones = false;                   ///< every x is 1 or 0
  std::vector<const std::byte*> rows;  ///< `nothing` where there is none
  std::vector<float> x;                ///< 0 where there is none
  std::vector<float*> row_sums;        ///< where gradients are added; null: nowhere
  std::vector<float> delta;            ///< by slot of the list
  table::AlignedBytes nothing;         ///< a row of zeros
};

/// Const but for `set`. Any number of threads, each with its tapes.
class FfmPairs {
 public:
  /// `part`: of rows, as FfmBlock has it.
  FfmPairs(const kernels::Kernels& kernels, const Config& config, std::size_t part)
      : kernels_(&kernels), part_(part) {
    const Rows* const rows = config.find_rows(Rows::Kind::kFfm);
    if (rows == nullptr) return;  // and there are no pairs
    weights_ = rows->part.codec;
    k_ = rows->part.k;
  }

  FfmPairs(const FfmPairs&) = delete;  // its list is in its own stores
  FfmPairs& operator=(const FfmPairs&) = delete;

  /// `opposite`: of each field the fields of its rows' slots, ascending: for each there is the
  /// reverse. Pairs are numbered as pair_index orders them, without gaps.
  void set(const std::vector<std::vector<std::uint32_t>>& opposite);
  /// How many pairs there are, and which: f <= g.
  struct Pair {
    std::uint32_t f, g;
  };
  std::span<const Pair> pairs() const { return pairs_; }
  /// Floats of the longest row.
  std::size_t row_floats() const { return row_floats_; }

  /// Puts the rows of example b on `at`, or sums of them.
  void gather(const tape::Tape& tape, std::size_t b, PairsTape& at) const;
  /// The values of all pairs of the example that was gathered; returns their sum.
  float forward(const tape::Tape& tape, PairsTape& at, float* pairs) const;

  /// Adds the gradients of the example that was gathered, the tape's example b, as
  /// tape::RowGradients::add does: d loss / d pair is `own`, and with `d` (not null) d[pair] more.
  void add_gradients(const tape::Tape& tape, std::size_t b, PairsTape& at, float own,
                     const float* d, float* const* sums) const;

 private:
  using Link = kernels::PairList::Other;  ///< its row is that of the opposite field
  std::span<const Link> links(std::uint32_t field) const {
    return {list_.of(field), list_.slots(field)};
  }
  bool gather_in_place(const tape::Tape& tape, std::size_t b, PairsTape& at) const;
  void gather_sums(const tape::Tape& tape, std::size_t b, PairsTape& at) const;
  float pairs_in_place(const PairsTape& at, float* pairs) const;
  void add_in_place(const tape::Tape& tape, std::size_t b, PairsTape& at, float own, const float* d,
                    float* const* sums) const;
  void put_deltas(std::uint32_t field, float own, const float* d, PairsTape& at) const;
  float within(const tape::Tape& tape, PairsTape& at, const PairsTape::Present& present,
               std::size_t slot) const;
  void decode_slot(const tape::Tape& tape, std::uint32_t field, std::uint32_t feature,
                   std::size_t slot, float* to) const;
  void add_gradient(const tape::Tape& tape, PairsTape& at, const PairsTape::Present& present,
                    std::uint32_t feature, float own, const float* d, float* to) const;

  const kernels::Kernels* kernels_;
  kernels::Codec weights_;
  std::size_t k_ = 0, part_;
  std::vector<Pair> pairs_;
  std::size_t row_floats_ = 0;
  std::size_t with_slots_ = 0;  ///< fields whose rows have any
  // The pairs by field and slot.
  kernels::PairList list_;
  std::vector<std::uint32_t> begin_, before_;  ///< of list_
  std::vector<Link> links_;
};

}  // namespace leveret::block
