/// What a thread that learns beside others has of its own: copies of the rows and cells that nearly
/// every example needs. Written by all threads, their cache lines would pass from core to core for
/// every example; on machines where that takes long, two threads lose a third of their time to it.
///
/// As with the dense part, what a thread has learned into its copies is added to the model's own
/// from time to time, and others' work is taken over (`exchange`).
///
/// Threads: each has its own. `take` and `exchange` one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.h"
#include "model/aligned.h"
#include "model/field_table.h"
#include "model/linear_table.h"
#include "model/spec.h"
#include "text/example.h"

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
  static std::vector<std::uint32_t> count(const std::vector<FieldTable>& tables);

  /// Copies `counts` (see above) rows. Who has no copies yet may be writing those: hogwild's race.
  void take(const std::vector<FieldTable>& tables, std::span<const std::uint32_t> counts);
  /// Adds what has changed in the copies to the rows themselves, of which they are copies again
  /// then. The tables are as they were for `take`, but for what rows hold.
  void exchange(std::vector<FieldTable>& tables, const kernels::Kernels& kernels);

  /// The copy of a row, or nullptr.
  std::byte* find(std::uint32_t field, Row row) {
    return field < counts_.size() && row < counts_[field] ? at(field, row) : nullptr;
  }

 private:
  std::byte* at(std::uint32_t field, Row row) {
    return rows_.data() + field * field_bytes_ + row * stride_;
  }
  void exchange(FieldTable& table, Row row, const kernels::Kernels& kernels);

  std::size_t stride_ = 0, field_bytes_ = 0;
  std::vector<std::uint32_t> counts_;  ///< by field
  AlignedBytes rows_, before_;         ///< as they are, and as they were taken
  std::uint32_t noise_ = 0;            ///< of stochastic rounding
};

/// Linear cells, without what they say of rows, each at the one place that its hash has. Those of
/// the examples that come first after `exchange` claim the places that are free; a cell keeps its
/// place as long as it is used.
class HotCells {
 public:
  static constexpr std::uint32_t kPlaces = 1024;
  static constexpr std::uint32_t kExamplesThatClaim = 2;

  explicit HotCells(const Spec& spec);

  /// Adds what has changed in the copies to the cells themselves, of which they are copies again
  /// then.
  void exchange(LinearTable& table);

  /// cells[i] becomes the copy that features[i] has, where it has one.
  void find(std::span<const text::Feature> features, float** cells);
  /// The same for an example that has been looked up in the table; makes copies while it may.
  void claim(std::span<const text::Feature> features, float** cells);

 private:
  static std::uint32_t place(std::uint32_t hash) { return hash % kPlaces; }
  std::uint32_t* key(std::uint32_t place) { return slots_.data() + place * (floats_ + 1); }
  float* cell(std::uint32_t place) { return reinterpret_cast<float*>(key(place) + 1); }
  float* before(std::uint32_t place) { return before_.data() + place * floats_; }
  void set_key(std::uint32_t place, std::uint32_t hash) { keys_[place] = *key(place) = hash; }
  void put(std::uint32_t place, const float* from);
  bool changed(std::uint32_t place);
  void add_change(std::uint32_t place, float* to);

  std::uint32_t floats_;  ///< of a cell: those that are learned
  std::uint32_t examples_to_claim_ = 0;
  /// The key of each place, 0 where there is none: dense, for they are asked for every feature.
  std::array<std::uint32_t, kPlaces> keys_{};
  /// The same and its cell, as in a growing LinearTable, whose look-up is content with a cell that
  /// has the right key in front of it.
  std::vector<std::uint32_t, LineAllocator<std::uint32_t>> slots_;
  std::vector<float> before_;
  std::vector<text::Feature> features_;  ///< whose cells these are
  std::vector<float*> cells_;            ///< theirs in the table, for exchange
};

struct HotCopies {
  HotRows rows;
  HotCells cells;
};

}  // namespace leveret::model
