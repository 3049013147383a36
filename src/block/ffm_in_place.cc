// FfmBlock: examples whose present fields have one row each.
#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "block/ffm_block.h"
#include "block/ffm_rows.h"

namespace leveret::block {
namespace {

/// Leaves the n rows that are there.
template <class Byte>
void squeeze(tape::FfmInPlace& at, std::vector<Byte*>& rows) {
  std::size_t n = 0;
  for (std::size_t f = 0; f < rows.size(); ++f) {
    if (rows[f] == at.nothing.data()) continue;
    rows[n] = rows[f];
    at.x[n] = at.x[f];
    at.fields[n++] = static_cast<std::uint32_t>(f);
  }
  at.resize(n, 0);
  rows.resize(n);
}

}  // namespace

/// One example steps its pairs; of several the gradients are summed first.
bool FfmBlock::learns_in_place(const tape::Tape& tape) const {
  if (!tape.is_single()) return true;
  const table::RowState& sums = row_.states[0];
  return fused_ && sums.per == table::RowState::Per::kSlot &&
         kernels::in_registers(codec_in_place(), sums.codec);
}

/// False when some field has several rows, or rows learn by way of floats.
bool FfmBlock::gather_in_place(const tape::Parameters& parameters, tape::Tape& tape,
                               std::size_t b) const {
  if (tape.learns && !learns_in_place(tape)) return false;
  tape::FfmInPlace& at = tape.ffm.at;
  const std::size_t slots = parameters.layout.fields;
  at.resize(slots, row_bytes(parameters, tape));
  const auto place = [](std::uint32_t field) { return field; };
  const std::size_t begin = row_begin(tape);
  const std::optional<std::size_t> present =
      tape.learns ? put_rows(tape, b, tape.to_learn.rows, begin, slots, place, at, at.to_learn)
                  : put_rows(tape, b, tape.to_read.rows, begin, slots, place, at, at.to_read);
  if (!present) return false;
  at.filled = static_cast<float>(*present) >=
              static_cast<float>(slots) * kernels_->fill_from(codec_in_place(), k_, rule_);
  if (at.filled) {
    std::iota(at.fields.begin(), at.fields.end(), 0u);
  } else {
    tape.learns ? squeeze(at, at.to_learn) : squeeze(at, at.to_read);
  }
  if (tape.learns && !reads_copies()) {
    at.rows = at.to_learn;
    at.scaled = false;
    return true;
  }
  if (tape.learns) at.to_read.assign(at.to_learn.begin(), at.to_learn.end());
  widen(parameters, at);
  return true;
}

std::size_t FfmBlock::row_bytes(const tape::Parameters& parameters, const tape::Tape& tape) const {
  return std::max(tape.row_layout->stride(),
                  codec_in_place().bytes(std::size_t{parameters.layout.fields} * k_));
}

void FfmBlock::widen(const tape::Parameters& parameters, tape::FfmInPlace& at) const {
  at.rows = at.to_read;
  at.scaled = row_.codec.is_scaled();
  if (!reads_copies()) return;
  const std::size_t length = std::size_t{parameters.layout.fields} * k_;
  const std::size_t stride = table::odd_lines(codec_in_place().bytes(length));
  if (at.wide.size() < at.to_read.size() * stride) at.wide.resize(at.to_read.size() * stride);
  for (std::size_t i = 0; i < at.to_read.size(); ++i) {
    if (at.to_read[i] == at.nothing.data()) continue;
    std::byte* const to = at.wide.data() + i * stride;
    at.x[i] *=
        kernels_->widen(row_.codec, at.to_read[i], length, reinterpret_cast<kernels::Fixed16*>(to));
    at.to_read[i] = to;
  }
}

/// Writes the pairs to their places in the tensor where somebody reads them there; returns their
/// sum.
float FfmBlock::pairs_in_place(const tape::Parameters& parameters, tape::Tape& tape,
                               std::size_t b) const {
  tape::FfmInPlace& at = tape.ffm.at;
  const std::size_t n = at.rows.size();
  const std::size_t all = parameters.layout.pairs();
  float* const pairs = tape[pairs_].at(b);
  const std::size_t count = pair_index(0, n);
  if (!at.filled && at.compact.size() < count + kernels::Kernels::kSpare) {
    at.compact.resize(2 * count + kernels::Kernels::kSpare);
  }
  float* const to = at.filled ? pairs : at.compact.data();
  const float sum_of_pairs =
      kernels_->ffm_pairs(codec_in_place(), at.rows.data(), at.fields.data(), n, k_, to);
  if (!at.as_kernels_see()) times_values(at.x.data(), n, to);
  if (!at.filled && (tape[pairs_].readers > 0 || tape.keep_parts)) {
    std::fill(pairs, pairs + all, 0.0f);
    for (std::size_t i = 0; i < n; ++i) {
      const float* from = at.compact.data() + pair_index(0, i);
      for (std::size_t j = 0; j < i; ++j) pairs[pair_index(at.fields[j], at.fields[i])] = from[j];
    }
  }
  return at.as_kernels_see() ? sum_of_pairs : kernels_->total(to, count);
}

/// `spread` of example b, which was gathered last. The tape's pairs are not kept.
const float* FfmBlock::spread_in_place(tape::Tape& tape, std::size_t b) const {
  tape::FfmInPlace& at = tape.ffm.at;
  const std::size_t n = at.rows.size();
  const float* d = by_readers(tape, b);
  if (d != nullptr && !at.filled) {
    float* const to = at.compact.data();
    for (std::size_t i = 0; i < n; ++i) {
      float* const row = to + pair_index(0, i);
      for (std::size_t j = 0; j < i; ++j) row[j] = d[pair_index(at.fields[j], at.fields[i])];
    }
    d = to;
  }
  // Nobody needs the pairs any more, those of other examples included: one place for all of them
  // stays in the first-level cache.
  float* const delta = tape[pairs_].values;
  kernels_->ffm_deltas(d, tape[d_pair_].values[b], at.x.data(), n, delta);
  return delta;
}

/// Adds the gradients of the rows to ffm.row_sums.
void FfmBlock::add_in_place(tape::Tape& tape, std::size_t b) const {
  const tape::FfmInPlace& at = tape.ffm.at;
  const float* const delta = spread_in_place(tape, b);
  kernels_->ffm_gradients(codec_in_place(), at.rows.data(), at.fields.data(), at.rows.size(), k_,
                          delta, tape.ffm.row_sums.data());
}

}  // namespace leveret::block
