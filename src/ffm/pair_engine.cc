#include "ffm/pair_engine.h"

#include <algorithm>
#include <utility>

namespace leveret::ffm {
namespace {

/// Calls visit(feature, place) for each feature of example b with a row.
template <class Visit>
void for_each_row(const tape::Tape& tape, std::size_t b, const PairSet& set, const ExampleRows& at,
                  Visit visit) {
  const std::byte* const* const rows = tape.rows.data();
  std::size_t next = 0;  // fields ascend, and so do squeezed places
  for (const feature::FieldRun& run : tape.field_runs(b)) {
    std::size_t place = set.places().of(run.field);
    if (place == Places::kNone) continue;
    bool is_first = at.squeezed;
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      if (rows[i] == nullptr) continue;
      if (std::exchange(is_first, false)) place = next++;
      visit(i, place);
    }
  }
}

}  // namespace

float PairEngine::forward(const tape::Tape& tape, std::size_t b, const PairSet& set,
                          ExampleRows& at, float* pairs, bool as_sums) const {
  rows_.gather(tape, b, set.places(), at, as_sums);
  float* const room = set.room(at, pairs);
  float sum = set.multiply(at, room);
  for (const ExampleRows::Several& field : at.several) {
    if (const auto own = set.own(at, field.place)) {
      sum += room[own->in_room] = within(tape, at, field, own->slot);
    }
  }
  set.spread(at, room, pairs);
  return sum;
}

/// The pair of a field with itself.
float PairEngine::within(const tape::Tape& tape, ExampleRows& at, const ExampleRows::Several& field,
                         std::size_t slot) const {
  const std::size_t k = rows_.k();
  const float* const sum = reinterpret_cast<const float*>(at.rows[field.place]) + slot * k;
  float* const v = at.row.data();
  float twice = kernels_->dot(sum, sum, k);
  for (std::uint32_t i = field.begin; i < field.end; ++i) {
    if (tape.rows[i] == nullptr) continue;
    rows_.read_slot(tape, field.field, i, slot, v);
    twice -= tape.field_values[i] * tape.field_values[i] * kernels_->dot(v, v, k);
  }
  return 0.5f * twice;
}

void PairEngine::add_gradients(const tape::Tape& tape, std::size_t b, const PairSet& set,
                               ExampleRows& at, float own, const float* d,
                               float* const* sums) const {
  const std::uint32_t first = tape.field_begin(b);
  if (at.stored) {
    set.put_deltas(at, own, d);
    at.gradients.assign(at.rows.size(), nullptr);
    for_each_row(tape, b, set, at, [&](std::uint32_t i, std::size_t place) {
      at.gradients[place] = sums[i - first];
    });
    return set.add_gradients(at);
  }
  each_shared(tape, b, set, at, own, d,
              [&](std::uint32_t i, std::size_t place, const float* gradient) {
                kernels_->axpy(tape.field_values[i], gradient,
                               set.places().slots(place) * rows_.k(), sums[i - first]);
              });
}

void PairEngine::each_gradient(const tape::Tape& tape, const PairSet& set, ExampleRows& at,
                               float own, const float* d, tape::RowVisitor& visitor) const {
  std::vector<float>& factors = at.row;
  const std::size_t most = set.places().most_slots;
  const auto visit = [&](std::uint32_t i, const float* gradient, float x) {
    tape::at_least(factors, most);
    std::fill_n(factors.begin(), most, x);
    visitor.visit(i, gradient, factors.data());
  };
  if (!at.stored) {
    return each_shared(tape, 0, set, at, own, d,
                       [&](std::uint32_t i, std::size_t, const float* gradient) {
                         visit(i, gradient, tape.field_values[i]);
                       });
  }
  set.put_deltas(at, own, d);
  make_row_gradients(set, at);
  for_each_row(tape, 0, set, at,
               [&](std::uint32_t i, std::size_t place) { visit(i, at.gradients[place], 1.0f); });
}

/// By at.delta, to working memory.
void PairEngine::make_row_gradients(const PairSet& set, ExampleRows& at) const {
  const std::size_t stride = table::odd_lines(set.row_floats() * sizeof(float)) / sizeof(float);
  at.row_gradients.assign(at.rows.size() * stride, 0.0f);
  at.gradients.resize(at.rows.size());
  for (std::size_t i = 0; i < at.rows.size(); ++i) {
    at.gradients[i] =
        at.rows[i] != at.nothing.data() ? at.row_gradients.data() + i * stride : nullptr;
  }
  set.add_gradients(at);
}

/// Where rows are sums: calls take(feature, place, gradient); that of the feature's row is its
/// value times `gradient`. All are made before the first is taken, but for the slot in which a
/// feature meets the others of its field: S - x v there, v being its own.
template <class Take>
void PairEngine::each_shared(const tape::Tape& tape, std::size_t b, const PairSet& set,
                             ExampleRows& at, float own, const float* d, Take take) const {
  const std::size_t k = rows_.k();
  set.put_deltas(at, own, d);
  make_row_gradients(set, at);
  for_each_row(tape, b, set, at, [&](std::uint32_t i, std::size_t place) {
    const auto field = std::ranges::find(at.several, place, &ExampleRows::Several::place);
    if (field != at.several.end()) {
      if (const auto pair = set.own(at, place)) {
        const float delta = d != nullptr ? d[pair->in_pairs] + own : own;
        const float x = tape.field_values[i];
        float* const v = at.row.data();
        rows_.read_slot(tape, field->field, i, pair->slot, v);
        const float* const sum = reinterpret_cast<const float*>(at.rows[place]) + pair->slot * k;
        float* const to = at.gradients[place] + pair->slot * k;
        for (std::size_t c = 0; c < k; ++c) to[c] = delta * (sum[c] - x * v[c]);
      }
    }
    take(i, place, at.gradients[place]);
  });
}

}  // namespace leveret::ffm
