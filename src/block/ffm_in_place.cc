// FfmBlock: examples whose present fields have one row each.
#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "block/ffm_block.h"

namespace leveret::block {
namespace {

/// Multiplies n rows of pairs by the values of both features.
void times_values(const float* x, std::size_t n, float* pairs) {
  for (std::size_t i = 0; i < n; ++i) {
    float* const row = pairs + pair_index(0, i);
    for (std::size_t j = 0; j < i; ++j) row[j] *= x[i] * x[j];
  }
}

/// Makes room for n rows, of `stride` bytes as kernels see them.
void resize(FfmInPlace& at, std::size_t n, std::size_t stride) {
  at.fields.resize(n);
  at.x.resize(n + kernels::Kernels::kSpare);
  if (at.nothing.size() < stride) at.nothing.assign(stride, std::byte{});
}

/// Leaves the n rows that are there.
template <class Byte>
void squeeze(FfmInPlace& at, std::vector<Byte*>& rows) {
  std::size_t n = 0;
  for (std::size_t f = 0; f < rows.size(); ++f) {
    if (rows[f] == at.nothing.data()) continue;
    rows[n] = rows[f];
    at.x[n] = at.x[f];
    at.fields[n++] = static_cast<std::uint32_t>(f);
  }
  resize(at, n, 0);
  rows.resize(n);
}

/// Puts the rows of example b, and their values, to the places of their fields. Returns how many,
/// or nothing when some field has several rows.
template <class Byte>
std::optional<std::size_t> place(const Tape& tape, std::size_t b, std::size_t fields,
                                 const std::vector<Byte*>& from, FfmInPlace& at,
                                 std::vector<Byte*>& rows_at) {
  rows_at.resize(fields);
  std::byte* const nothing = at.nothing.data();
  // Pointers of its own, so that the stores cannot be stores to the vectors'.
  Byte* const* const rows = from.data();
  const float* const values = tape.field_values.data();
  Byte** const to = rows_at.data();
  float* const x = at.x.data();
  std::fill(to, to + fields, nothing);
  std::fill(x, x + fields, 0.0f);
  bool ones = true;
  std::size_t present = 0;
  for (const feature::FieldRun& run : tape.field_runs(b)) {
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      ones &= values[i] == 1.0f;  // of features without a row, too: instance_scale counts them
      if (rows[i] == nullptr) continue;
      if (to[run.field] != nothing) return std::nullopt;
      to[run.field] = rows[i];
      x[run.field] = values[i];
      ++present;
    }
  }
  at.ones = ones;
  return present;
}

}  // namespace

/// False when some field has several rows.
bool FfmBlock::gather_in_place(const Parameters& parameters, Tape& tape, std::size_t b) const {
  FfmInPlace& at = tape.ffm.at;
  const std::size_t slots = parameters.layout.fields;
  const std::size_t length = slots * config_.k;
  resize(at, slots, std::max(tape.row_layout->stride(), codec_in_place().bytes(length)));
  const std::optional<std::size_t> present =
      tape.learns ? place(tape, b, slots, tape.to_learn.rows, at, at.to_learn)
                  : place(tape, b, slots, tape.to_read.rows, at, at.to_read);
  if (!present) return false;
  at.filled = static_cast<float>(*present) >=
              static_cast<float>(slots) *
                  kernels_->fill_from(codec_in_place(), config_.k, config_.ffm_rule);
  if (at.filled) {
    std::iota(at.fields.begin(), at.fields.end(), 0u);
  } else {
    tape.learns ? squeeze(at, at.to_learn) : squeeze(at, at.to_read);
  }
  if (tape.learns) {
    at.rows = at.to_learn;
  } else {
    at.rows = at.to_read;
  }
  at.widened = config_.weights.is_scaled() && !tape.learns;
  if (at.widened) widen(tape, length);
  return true;
}

/// Puts copies in place of kScaled rows, which nobody learns: their codes in 16 bits, of which
/// kernels make pairs as of fixed-point numbers. The scales go to the values, by which pairs are
/// multiplied anyway.
void FfmBlock::widen(Tape& tape, std::size_t length) const {
  FfmInPlace& at = tape.ffm.at;
  const std::size_t stride = table::odd_lines(codec_in_place().bytes(length));
  if (at.wide.size() < at.to_read.size() * stride) at.wide.resize(at.to_read.size() * stride);
  for (std::size_t i = 0; i < at.to_read.size(); ++i) {
    if (at.to_read[i] == at.nothing.data()) continue;
    std::byte* const to = at.wide.data() + i * stride;
    at.x[i] *= kernels_->widen(config_.weights, at.to_read[i], length,
                               reinterpret_cast<kernels::Fixed16*>(to));
    at.to_read[i] = to;
  }
}

/// Writes the pairs to their places in tape.pairs where somebody reads them there; returns their
/// sum.
float FfmBlock::pairs_in_place(const Parameters& parameters, Tape& tape, std::size_t b) const {
  FfmInPlace& at = tape.ffm.at;
  const std::size_t n = at.rows.size();
  const std::size_t all = parameters.layout.pairs();
  float* const pairs = tape.pairs.data() + b * all;
  const std::size_t count = pair_index(0, n);
  if (!at.filled && at.compact.size() < count + kernels::Kernels::kSpare) {
    at.compact.resize(2 * count + kernels::Kernels::kSpare);
  }
  float* const to = at.filled ? pairs : at.compact.data();
  const float sum_of_pairs =
      kernels_->ffm_pairs(codec_in_place(), at.rows.data(), at.fields.data(), n, config_.k, to);
  const bool as_they_are = at.ones && !at.widened;
  if (!as_they_are) times_values(at.x.data(), n, to);
  if (!at.filled && (config_.has_mlp() || tape.keep_parts)) {
    std::fill(pairs, pairs + all, 0.0f);
    for (std::size_t i = 0; i < n; ++i) {
      const float* from = at.compact.data() + pair_index(0, i);
      for (std::size_t j = 0; j < i; ++j) pairs[pair_index(at.fields[j], at.fields[i])] = from[j];
    }
  }
  return as_they_are ? sum_of_pairs : kernels_->total(to, count);
}

float* FfmBlock::spread_in_place(const Parameters& parameters, Tape& tape) const {
  FfmInPlace& at = tape.ffm.at;
  const std::size_t b = tape.size - 1;
  const std::size_t n = at.rows.size();
  const float* d = d_pairs(parameters, tape, b);
  if (d != nullptr && !at.filled) {
    float* const to = at.compact.data();
    for (std::size_t i = 0; i < n; ++i) {
      float* const row = to + pair_index(0, i);
      for (std::size_t j = 0; j < i; ++j) row[j] = d[pair_index(at.fields[j], at.fields[i])];
    }
    d = to;
  }
  // Nobody needs the pairs any more.
  float* const delta = tape.pairs.data() + b * parameters.layout.pairs();
  kernels_->ffm_deltas(d, own_error(tape, b), at.x.data(), n, delta);
  return delta;
}

}  // namespace leveret::block
