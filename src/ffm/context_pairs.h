/// The pairs that a candidate is part of, with its request's context and with itself; those of the
/// context's fields among themselves are made once, with the context.
///
/// A pair needs of the context's rows only the slots for candidates' fields. They are gathered
/// once, so that a candidate's row meets them in one stream (Kernels::ffm_rectangle). They are as
/// the rows are stored, or floats where a field has several features in the context or in a
/// candidate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ffm/pair_set.h"
#include "tape/field_split.h"

namespace leveret::ffm {

/// What the candidates of a context need of its rows. Owned by one thread at a time.
class ContextSlots {
 public:
  /// From the rows of a context that a Triangle has gathered.
  ContextSlots(const kernels::Kernels& kernels, std::size_t k, const tape::FieldSplit& split,
               const ExampleRows& at);

  /// Whether rows are stored ones; else candidates are to be sums, too.
  bool stored() const { return stored_; }
  /// By place in split.context, the values of stored rows; 0 where there is none.
  const std::vector<float>& x() const { return x_; }
  /// Whether pairs with stored rows need no factors beside what kernels make.
  bool as_kernels_see() const { return as_kernels_see_; }

  /// For each of the candidates' fields the slots of all rows of the context.
  struct Slots {
    kernels::Codec codec;
    std::size_t size = 0;
    std::unique_ptr<std::byte[]> bytes;
    std::vector<const std::byte*> of_field;
  };
  /// The slots that stored rows of a candidate meet, or its sums.
  const Slots& slots(bool for_stored);
  std::size_t bytes() const;

 private:
  void make_sums();

  const kernels::Kernels* kernels_;
  std::size_t k_;
  bool stored_, as_kernels_see_;
  std::vector<float> x_;
  Slots of_rows_, of_sums_;  ///< of_sums_: made when they are asked for
};

/// The set of one thread's candidates: pairs [j * context fields + c], then a triangle of its own.
class ContextPairs final : public PairSet {
 public:
  /// `split` must outlive it.
  ContextPairs(const kernels::Kernels& kernels, std::size_t k, const tape::FieldSplit& split);

  /// Candidates meet this one from now on.
  void use(ContextSlots* context) { context_ = context; }
  const ContextSlots& context() const { return *context_; }

  float multiply(const ExampleRows& at, float* room) const override;
  std::optional<Own> own(const ExampleRows& at, std::size_t place) const override;

 private:
  const tape::FieldSplit& split_;
  ContextSlots* context_ = nullptr;
};

}  // namespace leveret::ffm
