/// Sets of pairs of an FFM, and what they make of the rows of an example: pair values
///   p_fg = <S_fg, S_gf> with S_fg = sum over the features i of field f of x_i v_i,g,
/// and of a field with several p_ff = (|S_ff|² - sum |x_i v_i,f|²) / 2 (Juan et al., Field-aware
/// Factorization Machines, RecSys 2016; identity in man/leveret-model.7).
///
/// A set is a triangle, of all pairs of a model; a rectangle beside a triangle, of a candidate with
/// its context (context_pairs.h); or a list, of a part of a model that has not all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ffm/example_rows.h"
#include "kernels/kernels.h"

namespace leveret::ffm {

/// One thread's, or const and any number of threads'; each has its ExampleRows.
class PairSet {
 public:
  virtual ~PairSet() = default;

  const Places& places() const { return places_; }
  /// Weights of the longest row.
  std::size_t row_floats() const { return places_.most_slots * k_; }

  /// Where the pairs of the example are made: `pairs`, or working memory of its own.
  virtual float* room(ExampleRows&, float* pairs) const { return pairs; }
  /// Makes all pairs but those within a field, which become 0; returns their sum.
  virtual float multiply(const ExampleRows& at, float* room) const = 0;
  /// Copies pairs from the room to where others read them.
  virtual void spread(const ExampleRows&, const float* /*room*/, float* /*pairs*/) const {}

  /// The pair of the row of a place with itself.
  struct Own {
    std::size_t slot;  ///< of the row
    std::size_t in_room, in_pairs;
  };
  /// None: the set has no such pair.
  virtual std::optional<Own> own(const ExampleRows& at, std::size_t place) const = 0;

  // The way back; a set of candidates has none.

  /// at.delta of all pairs of different fields: `own`, and with `d` (not null) d[pair] more, times
  /// the values of both rows.
  virtual void put_deltas(ExampleRows&, float /*own*/, const float* /*d*/) const {}
  /// By these, d loss / d row, added to at.gradients.
  virtual void add_gradients(ExampleRows&) const {}

 protected:
  PairSet(const kernels::Kernels& kernels, std::size_t k, Places places)
      : kernels_(&kernels), k_(k), places_(places) {}

  const kernels::Kernels* kernels_;
  std::size_t k_;
  Places places_;
};

/// All pairs of fields, in the order of pair_index.
class Triangle final : public PairSet {
 public:
  /// `whole`: others read the pairs, so that those of working memory are copied. `squeeze_below`:
  /// see Places.
  Triangle(const kernels::Kernels& kernels, std::size_t k, std::size_t fields, bool whole,
           float squeeze_below)
      : PairSet(kernels, k, {.n = fields, .most_slots = fields, .squeeze_below = squeeze_below}),
        whole_(whole) {}

  float* room(ExampleRows& at, float* pairs) const override;
  float multiply(const ExampleRows& at, float* room) const override;
  void spread(const ExampleRows& at, const float* room, float* pairs) const override;
  std::optional<Own> own(const ExampleRows& at, std::size_t place) const override;
  void put_deltas(ExampleRows& at, float own, const float* d) const override;
  void add_gradients(ExampleRows& at) const override;

 private:
  bool whole_;
};

/// Some pairs, numbered as pair_index orders them, without gaps.
class ListedPairs final : public PairSet {
 public:
  /// `opposite`: of each field the fields of its rows' slots, ascending: for each there is the
  /// reverse.
  ListedPairs(const kernels::Kernels& kernels, std::size_t k,
              const std::vector<std::vector<std::uint32_t>>& opposite);
  ListedPairs(const ListedPairs&) = delete;  // its list is in its own stores
  ListedPairs& operator=(const ListedPairs&) = delete;

  /// f <= g.
  struct Pair {
    std::uint32_t f, g;
  };
  std::span<const Pair> pairs() const { return pairs_; }

  float multiply(const ExampleRows& at, float* room) const override;
  std::optional<Own> own(const ExampleRows& at, std::size_t place) const override;
  void put_deltas(ExampleRows& at, float own, const float* d) const override;
  void add_gradients(ExampleRows& at) const override;

 private:
  using Link = kernels::PairList::Other;  ///< its row is that of the opposite field
  float multiply_few(const ExampleRows& at, float* room) const;

  std::vector<Pair> pairs_;
  // The pairs by field and slot.
  kernels::PairList list_;
  std::vector<std::uint32_t> begin_, before_;  ///< of list_
  std::vector<Link> links_;
  std::vector<std::uint32_t> places_of_fields_;
};

/// Multiplies n rows of pairs by the values of both features.
inline void times_values(const float* x, std::size_t n, float* pairs) {
  for (std::size_t i = 0; i < n; ++i) {
    float* const row = pairs + i * (i + 1) / 2;
    for (std::size_t j = 0; j < i; ++j) row[j] *= x[i] * x[j];
  }
}

}  // namespace leveret::ffm
