#include "ffm/example_rows.h"

#include <algorithm>
#include <numeric>

namespace leveret::ffm {

namespace {

/// Gives fields their places, where these are those of all fields: with few rows, only to those
/// that are there.
template <class Byte>
void give_places(const Places& places, std::size_t present, ExampleRows& at,
                 std::vector<Byte*>& rows) {
  if (places.of_field != nullptr || places.slots_begin != nullptr) return;
  at.fields.resize(places.n);
  at.squeezed = static_cast<float>(present) < static_cast<float>(places.n) * places.squeeze_below;
  if (!at.squeezed) return std::iota(at.fields.begin(), at.fields.end(), 0u);
  std::size_t n = 0;
  for (std::size_t f = 0; f < places.n; ++f) {
    if (rows[f] == at.nothing.data()) continue;
    rows[n] = rows[f];
    at.x[n] = at.x[f];
    at.fields[n++] = static_cast<std::uint32_t>(f);
  }
  rows.resize(n);
  at.fields.resize(n);
}

}  // namespace

void RowReader::gather(const tape::Tape& tape, std::size_t b, const Places& places, ExampleRows& at,
                       bool as_sums) const {
  at.x.resize(places.n + kernels::Kernels::kSpare);
  at.several.clear();
  at.squeezed = false;
  // Steps in place write what stands behind its weights, too: zeros.
  std::size_t bytes = places.most_slots * k_ * sizeof(float);
  if (tape.row_layout != nullptr) bytes = std::max(bytes, tape.row_layout->stride());
  if (at.nothing.size() < bytes) at.nothing.assign(bytes, std::byte{});
  at.stored = !as_sums && put_stored(tape, b, places, at);
  if (!at.stored) put_sums(tape, b, places, at);
}

bool RowReader::put_stored(const tape::Tape& tape, std::size_t b, const Places& places,
                           ExampleRows& at) const {
  const bool learns = tape.learns;
  if (!(learns ? put_rows(tape, b, tape.to_learn.rows, places, at, at.to_learn)
               : put_rows(tape, b, tape.to_read.rows, places, at, at.to_read))) {
    return false;
  }
  at.codec = codec();
  at.scaled = codec_.is_scaled();
  at.rows = at.to_read;
  if (codec() != codec_) {
    if (learns) at.to_read.assign(at.to_learn.begin(), at.to_learn.end());
    widen(places, at);
    at.rows = at.to_read;
  } else if (learns) {
    at.rows = at.to_learn;
  }
  return true;
}

/// False when some field has several, or few rows are there.
template <class Byte>
bool RowReader::put_rows(const tape::Tape& tape, std::size_t b, const std::vector<Byte*>& from,
                         const Places& places, ExampleRows& at, std::vector<Byte*>& to_rows) const {
  to_rows.resize(places.n);
  std::byte* const nothing = at.nothing.data();
  // Pointers of its own, so that the stores cannot be stores to the vectors'.
  Byte* const* const rows = from.data();
  const float* const values = tape.field_values.data();
  Byte** const to = to_rows.data();
  float* const x = at.x.data();
  std::fill(to, to + places.n, nothing);
  std::fill(x, x + places.n, 0.0f);
  bool ones = true;
  std::size_t present = 0;
  const auto put = [&](const feature::FieldRun& run, std::size_t place, std::size_t begin) {
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      ones &= values[i] == 1.0f;  // of features without a row, too: who scales counts them
      if (rows[i] == nullptr) continue;
      if (to[place] != nothing) return false;
      to[place] = rows[i] + begin;
      x[place] = values[i];
      ++present;
    }
    return true;
  };
  if (places.of_field == nullptr && tape.field_layouts.empty()) {
    const std::size_t begin =
        tape.row_layout != nullptr ? tape.row_layout->weights(part_).begin : 0;
    for (const feature::FieldRun& run : tape.field_runs(b)) {
      if (!put(run, run.field, begin)) return false;
    }
  } else {
    for (const feature::FieldRun& run : tape.field_runs(b)) {
      const std::size_t place = places.of(run.field);
      if (place != Places::kNone && !put(run, place, begin(tape, run.field))) return false;
    }
  }
  if (present < places.sums_below) return false;
  at.ones = ones;
  at.present = present;
  give_places(places, present, at, to_rows);
  return true;
}

/// Sums of x v, whose x is 1.
void RowReader::put_sums(const tape::Tape& tape, std::size_t b, const Places& places,
                         ExampleRows& at) const {
  at.codec = kernels::Codec::f32();
  at.ones = at.scaled = false;
  at.to_read.assign(places.n, at.nothing.data());
  std::fill(at.x.begin(), at.x.end(), 0.0f);
  tape::at_least(at.row, places.most_slots * k_);
  const std::size_t stride =
      table::odd_lines(places.most_slots * k_ * sizeof(float)) / sizeof(float);
  tape::at_least(at.sums, places.n * stride);
  std::size_t present = 0;
  for (const feature::FieldRun& run : tape.field_runs(b)) {
    const std::size_t place = places.of(run.field);
    if (place == Places::kNone) continue;
    const std::size_t begin = this->begin(tape, run.field), length = places.slots(place) * k_;
    float* const sum = at.sums.data() + place * stride;
    std::uint32_t rows = 0;
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      if (tape.rows[i] == nullptr) continue;
      if (rows++ == 0) std::fill_n(sum, length, 0.0f);
      kernels_->decode(codec_, tape.rows[i] + begin, length, at.row.data());
      kernels_->axpy(tape.field_values[i], at.row.data(), length, sum);
    }
    if (rows == 0) continue;
    ++present;
    at.to_read[place] = reinterpret_cast<const std::byte*>(sum);
    at.x[place] = 1.0f;
    if (rows > 1) at.several.push_back({place, run.field, run.begin, run.end});
  }
  at.present = present;
  give_places(places, present, at, at.to_read);
  for (ExampleRows::Several& field : at.several) {
    if (at.squeezed) {
      const auto place = std::ranges::lower_bound(at.fields, field.field);
      field.place = static_cast<std::size_t>(place - at.fields.begin());
    }
  }
  at.rows = at.to_read;
}

/// Copies in place of rows of few bits: their codes in 16 bits, of which kernels make pairs as of
/// fixed-point numbers. Scales go to the values, by which pairs are multiplied anyway.
void RowReader::widen(const Places& places, ExampleRows& at) const {
  const std::size_t stride = table::odd_lines(codec().bytes(places.most_slots * k_));
  if (at.wide.size() < at.to_read.size() * stride) at.wide.resize(at.to_read.size() * stride);
  for (std::size_t i = 0; i < at.to_read.size(); ++i) {
    if (at.to_read[i] == at.nothing.data()) continue;
    std::byte* const to = at.wide.data() + i * stride;
    at.x[i] *= kernels_->widen(codec_, at.to_read[i], places.slots(i) * k_,
                               reinterpret_cast<kernels::Fixed16*>(to));
    at.to_read[i] = to;
  }
}

void RowReader::read_slot(const tape::Tape& tape, std::uint32_t field, std::uint32_t feature,
                          std::size_t slot, float* to) const {
  const std::byte* const weights = tape.rows[feature] + begin(tape, field);
  for (std::size_t c = 0; c < k_; ++c) to[c] = kernels::decode(codec_, weights, slot * k_ + c);
}

}  // namespace leveret::ffm
