/// What a thread that learns beside others has of its own: copies of the rows that nearly every
/// example needs. Written by all threads, their cache lines would pass from core to core for every
/// example; on machines where that takes long, two threads lose a third of their time to it.
///
/// As with Parameters, what a thread has learned into its copies is added to the model's own from
/// time to time, and others' work is taken over (`sync`).
///
/// Threads: each has its own. `take` and `sync` one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.h"
#include "table/aligned.h"
#include "table/tables.h"

namespace leveret::model {

/// The first rows of each field. Rows lie in the order of admission, so these are mostly those of
/// its frequent values.
class HotRows {
 public:
  static constexpr std::uint32_t kRowsOfField = 8;
  /// Fewer where all of them would take more: they have to stay in the second-level cache. 39
  /// fields with k = 8 have eight.
  static constexpr std::size_t kMostBytes = std::size_t{256} << 10;

  /// How many rows of each field are to be copied, while no other thread makes rows.
  static std::vector<std::uint32_t> count(const table::Tables& tables);

  /// Copies `counts` (see above) rows. Who has no copies yet may be writing those: hogwild's race.
  void take(const table::Tables& tables, std::span<const std::uint32_t> counts);
  /// Adds what has changed in the copies to the rows themselves, of which they are copies again
  /// then. The tables are as they were for `take`, but for what rows hold.
  void sync(table::Tables& tables, const kernels::Kernels& kernels);

  /// The copy of a row, or nullptr.
  std::byte* find(std::uint32_t field, table::Row row) {
    return field < counts_.size() && row < counts_[field] ? at(field, row) : nullptr;
  }

 private:
  std::byte* at(std::uint32_t field, table::Row row) {
    return rows_.data() + field * field_bytes_ + row * stride_;
  }
  void sync(table::Rows& rows, table::Row row, std::byte* mine, const kernels::Kernels& kernels);

  std::size_t stride_ = 0, field_bytes_ = 0;
  std::vector<std::uint32_t> counts_;  ///< by field
  table::AlignedBytes rows_, before_;  ///< as they are, and as they were taken
  std::uint32_t noise_ = 0;            ///< of stochastic rounding
};

}  // namespace leveret::model
