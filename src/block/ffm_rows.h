/// What FfmBlock and FfmContext share about rows in place. Private to src/block.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "block/ffm_block.h"

namespace leveret::block {

/// Puts the rows of example b and their values where place(field) says, of n places, and
/// FfmInPlace::nothing where there are none. Returns their number, or nothing when some field has
/// several. `from` are the tape's, whose part begins `begin` bytes from their start; `rows_at`
/// those of `at`, to be read or learned.
template <class Byte, class Place>
std::optional<std::size_t> put_rows(const tape::Tape& tape, std::size_t b,
                                    const std::vector<Byte*>& from, std::size_t begin,
                                    std::size_t n, const Place& place, tape::FfmInPlace& at,
                                    std::vector<Byte*>& rows_at) {
  rows_at.resize(n);
  std::byte* const nothing = at.nothing.data();
  // Pointers of its own, so that the stores cannot be stores to the vectors'.
  Byte* const* const rows = from.data();
  const float* const values = tape.field_values.data();
  Byte** const to = rows_at.data();
  float* const x = at.x.data();
  std::fill(to, to + n, nothing);
  std::fill(x, x + n, 0.0f);
  bool ones = true;
  std::size_t present = 0;
  for (const feature::FieldRun& run : tape.field_runs(b)) {
    const std::size_t field = place(run.field);
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      ones &= values[i] == 1.0f;  // of features without a row, too: instance_sums counts them
      if (rows[i] == nullptr) continue;
      if (to[field] != nothing) return std::nullopt;
      to[field] = rows[i] + begin;
      x[field] = values[i];
      ++present;
    }
  }
  at.ones = ones;
  return present;
}

/// Multiplies n rows of pairs by the values of both features.
inline void times_values(const float* x, std::size_t n, float* pairs) {
  for (std::size_t i = 0; i < n; ++i) {
    float* const row = pairs + pair_index(0, i);
    for (std::size_t j = 0; j < i; ++j) row[j] *= x[i] * x[j];
  }
}

}  // namespace leveret::block
