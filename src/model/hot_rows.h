/// What a thread that learns beside others has of its own: copies of the rows that nearly every
/// example needs. Written by all threads, their cache lines would pass from core to core for every
/// example; on machines where that takes long, two threads lose a third of their time to it.
///
/// As with Parameters, what a thread has learned into its copies is added to the model's own from
/// time to time, and others' work is taken over (`sync`).
///
/// Threads: each has its own. `take` and `sync` one thread at a time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/kernels.h"
#include "table/aligned.h"
#include "table/tables.h"

namespace leveret::model {

/// The rows of each field's most frequent features.
class HotRows {
 public:
  static constexpr std::uint32_t kRowsOfField = 8;
  /// Fewer where all of them would take more: they have to stay in the second-level cache. 39
  /// fields with k = 8 have eight.
  static constexpr std::size_t kMostBytes = std::size_t{256} << 10;

  /// Rows of which all threads have copies.
  struct Choice {
    using OfField = std::array<table::Row, kRowsOfField>;
    std::vector<OfField> fields;  ///< kNoRow behind the last
    std::uint64_t among = 0;      ///< rows that there were when it was made
  };
  /// Brings the choice up to date, while no other thread makes rows: looks at all features where
  /// there are new fields, or twice as many rows as when it was made.
  static void choose(const table::Tables& tables, Choice& choice);

  /// Copies the rows. Who has no copies yet may be writing those: hogwild's race.
  void take(const table::Tables& tables, const Choice& choice);
  /// Adds what has changed in the copies to the rows themselves, of which they are copies again
  /// then. The tables are as they were for `take`, but for what rows hold.
  void sync(table::Tables& tables, const kernels::Kernels& kernels);

  /// The copy of a row, or nullptr.
  std::byte* find(std::uint32_t field, table::Row row) {
    if (field >= fields_.size() || row == table::kNoRow) return nullptr;
    unsigned there = 0;  // all are compared: compilers do that at once
    for (std::uint32_t i = 0; i < kRowsOfField; ++i) {
      there |= static_cast<unsigned>(fields_[field][i] == row) << i;
    }
    return there == 0 ? nullptr : at(field, static_cast<std::uint32_t>(std::countr_zero(there)));
  }

 private:
  std::byte* at(std::uint32_t field, std::uint32_t i) {
    return rows_.data() + field * field_bytes_ + i * stride_;
  }
  /// Calls visit(field, row, its copy).
  template <class Visit>
  void for_each(Visit visit) {
    for (std::uint32_t f = 0; f < fields_.size(); ++f) {
      for (std::uint32_t i = 0; i < kRowsOfField && fields_[f][i] != table::kNoRow; ++i) {
        visit(f, fields_[f][i], at(f, i));
      }
    }
  }
  void sync(table::Rows& rows, table::Row row, std::byte* mine, const kernels::Kernels& kernels);

  std::size_t stride_ = 0, field_bytes_ = 0;
  std::vector<Choice::OfField> fields_;
  table::AlignedBytes rows_, before_;  ///< as they are, and as they were taken
  std::uint32_t noise_ = 0;            ///< of stochastic rounding
};

}  // namespace leveret::model
