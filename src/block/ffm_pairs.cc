#include "block/ffm_pairs.h"

#include <algorithm>
#include <bit>

namespace leveret::block {
namespace {

/// Which share of the fields must be there, that rows of zeros may stand for the others: in place a
/// pair takes about a tenth of the time that it takes one by one.
constexpr float kFillFrom = 0.33f;

}  // namespace

void FfmPairs::set(const std::vector<std::vector<std::uint32_t>>& opposite) {
  const auto fields = static_cast<std::uint32_t>(opposite.size());
  pairs_.clear();
  links_.clear();
  begin_.assign(1, 0);
  before_.clear();
  row_floats_ = with_slots_ = 0;
  for (std::uint32_t g = 0; g < fields; ++g) {
    row_floats_ = std::max(row_floats_, opposite[g].size() * k_);
    with_slots_ += opposite[g].empty() ? 0 : 1;
    before_.push_back(0);
    for (const std::uint32_t f : opposite[g]) {
      const auto mine = std::ranges::lower_bound(opposite[f], g);
      const auto slot = static_cast<std::uint32_t>(mine - opposite[f].begin());
      links_.push_back({f, slot, static_cast<std::uint32_t>(pairs_.size())});
      before_.back() += f < g ? 1 : 0;
      if (f <= g) pairs_.push_back({f, g});
    }
    begin_.push_back(static_cast<std::uint32_t>(links_.size()));
  }
  list_ = {fields, begin_.data(), before_.data(), links_.data()};
  for (std::uint32_t f = 0; f < fields; ++f) {
    for (Link& link : std::span(links_).subspan(begin_[f], list_.slots(f))) {
      if (link.row > f) link.pair = links_[begin_[link.row] + link.slot].pair;
    }
  }
}

void FfmPairs::gather(const tape::Tape& tape, std::size_t b, PairsTape& at) const {
  at.in_place = gather_in_place(tape, b, at);
  if (!at.in_place) gather_sums(tape, b, at);
}

/// False when some field has several rows, or few fields have any, or weights are not in registers.
bool FfmPairs::gather_in_place(const tape::Tape& tape, std::size_t b, PairsTape& at) const {
  if (!kernels::in_registers(weights_)) return false;
  const std::size_t bytes = weights_.bytes(row_floats_);
  if (at.nothing.size() < bytes) at.nothing.assign(bytes, std::byte{});
  at.rows.assign(list_.n, at.nothing.data());
  at.x.assign(list_.n, 0.0f);
  std::size_t present = 0;
  bool ones = true;
  for (const feature::FieldRun& run : tape.field_runs(b)) {
    if (list_.slots(run.field) == 0) continue;
    const std::size_t begin = tape.layout_of(run.field).weights(part_).begin;
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      if (tape.rows[i] == nullptr) continue;
      if (at.rows[run.field] != at.nothing.data()) return false;
      at.rows[run.field] = tape.rows[i] + begin;
      at.x[run.field] = tape.field_values[i];
      ones &= tape.field_values[i] == 1.0f;
      ++present;
    }
  }
  at.ones = ones;
  return static_cast<float>(present) >= kFillFrom * static_cast<float>(with_slots_);
}

void FfmPairs::gather_sums(const tape::Tape& tape, std::size_t b, PairsTape& at) const {
  for (const PairsTape::Present& present : at.present) at.sums[present.field] = nullptr;
  at.present.clear();
  at.sums.resize(list_.n, nullptr);
  tape::at_least(at.row, row_floats_);
  std::size_t floats = 0;
  for (const feature::FieldRun& run : tape.field_runs(b)) floats += list_.slots(run.field) * k_;
  tape::at_least(at.store, floats);
  std::size_t next = 0;
  for (const feature::FieldRun& run : tape.field_runs(b)) {
    const std::size_t length = list_.slots(run.field) * k_;
    if (length == 0) continue;
    const std::size_t begin = tape.layout_of(run.field).weights(part_).begin;
    float* const sum = at.store.data() + next;
    std::uint32_t rows = 0;
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      if (tape.rows[i] == nullptr) continue;
      if (rows++ == 0) std::fill_n(sum, length, 0.0f);
      kernels_->decode(weights_, tape.rows[i] + begin, length, at.row.data());
      kernels_->axpy(tape.field_values[i], at.row.data(), length, sum);
    }
    if (rows == 0) continue;
    at.present.push_back({run.field, run.begin, run.end, rows > 1, next});
    at.sums[run.field] = sum;
    next += length;
  }
}

float FfmPairs::forward(const tape::Tape& tape, PairsTape& at, float* pairs) const {
  if (at.in_place) return pairs_in_place(at, pairs);
  std::fill_n(pairs, pairs_.size(), 0.0f);
  for (const PairsTape::Present& present : at.present) {
    const float* const sum = at.store.data() + present.sum;
    std::size_t slot = 0;
    for (const Link& link : links(present.field)) {
      if (link.row > present.field) break;
      if (link.row == present.field) {
        if (present.several) pairs[link.pair] = within(tape, at, present, slot);
      } else if (const float* const other = at.sums[link.row]) {
        pairs[link.pair] = kernels_->dot(sum + slot * k_, other + link.slot * k_, k_);
      }
      ++slot;
    }
  }
  return kernels_->total(pairs, pairs_.size());
}

float FfmPairs::pairs_in_place(const PairsTape& at, float* pairs) const {
  const float sum = kernels_->ffm_listed_pairs(weights_, at.rows.data(), list_, k_, pairs);
  if (at.ones) return sum;
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    pairs[p] *= at.x[pairs_[p].f] * at.x[pairs_[p].g];
  }
  return kernels_->total(pairs, pairs_.size());
}

float FfmPairs::within(const tape::Tape& tape, PairsTape& at, const PairsTape::Present& present,
                       std::size_t slot) const {
  const float* const sum = at.store.data() + present.sum + slot * k_;
  float* const v = at.row.data();
  float twice = kernels_->dot(sum, sum, k_);
  for (std::uint32_t i = present.begin; i < present.end; ++i) {
    if (tape.rows[i] == nullptr) continue;
    decode_slot(tape, present.field, i, slot, v);
    twice -= tape.field_values[i] * tape.field_values[i] * kernels_->dot(v, v, k_);
  }
  return 0.5f * twice;
}

void FfmPairs::decode_slot(const tape::Tape& tape, std::uint32_t field, std::uint32_t feature,
                           std::size_t slot, float* to) const {
  const std::byte* const weights = tape.rows[feature] + tape.layout_of(field).weights(part_).begin;
  for (std::size_t c = 0; c < k_; ++c) {
    to[c] = kernels::decode(weights_, weights, slot * k_ + c);
  }
}

void FfmPairs::add_gradients(const tape::Tape& tape, std::size_t b, PairsTape& at, float own,
                             const float* d, float* const* sums) const {
  if (at.in_place) return add_in_place(tape, b, at, own, d, sums);
  const std::uint32_t first = tape.field_begin(b);
  for (const PairsTape::Present& present : at.present) {
    for (std::uint32_t i = present.begin; i < present.end; ++i) {
      if (tape.rows[i] != nullptr) add_gradient(tape, at, present, i, own, d, sums[i - first]);
    }
  }
}

void FfmPairs::add_in_place(const tape::Tape& tape, std::size_t b, PairsTape& at, float own,
                            const float* d, float* const* sums) const {
  at.row_sums.assign(list_.n, nullptr);
  at.delta.resize(links_.size() + kernels::Kernels::kSpare);
  const std::uint32_t first = tape.field_begin(b);
  for (const feature::FieldRun& run : tape.field_runs(b)) {
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      if (tape.rows[i] == nullptr) continue;
      at.row_sums[run.field] = sums[i - first];
      put_deltas(run.field, own, d, at);
    }
  }
  kernels_->ffm_listed_gradients(weights_, at.rows.data(), list_, k_, at.delta.data(),
                                 at.row_sums.data());
}

/// Those of the slots of a field's row. Without branches: which fields are there is hard to
/// foretell.
void FfmPairs::put_deltas(std::uint32_t field, float own, const float* d, PairsTape& at) const {
  const float* const x = at.x.data();
  const auto put = [&](const auto& of_pair) {
    float* delta = at.delta.data() + begin_[field];
    for (const Link& link : links(field)) {
      const float values = link.row != field ? x[field] * x[link.row] : 0.0f;
      // A field that is absent gives 0, even where the gradient is not finite.
      const std::uint32_t mask = values != 0.0f ? ~0u : 0u;
      const auto product = std::bit_cast<std::uint32_t>(of_pair(link.pair) * values);
      *delta++ = std::bit_cast<float>(product & mask);
    }
  };
  if (d != nullptr) return put([&](std::uint32_t pair) { return d[pair] + own; });
  put([&](std::uint32_t) { return own; });
}

void FfmPairs::add_gradient(const tape::Tape& tape, PairsTape& at,
                            const PairsTape::Present& present, std::uint32_t feature, float own,
                            const float* d, float* to) const {
  const float x = tape.field_values[feature];
  std::size_t slot = 0;
  for (const Link& link : links(present.field)) {
    const float delta = x * (d != nullptr ? d[link.pair] + own : own);
    float* const slot_to = to + slot * k_;
    if (link.row != present.field) {
      const float* const other = at.sums[link.row];
      if (other != nullptr) kernels_->axpy(delta, other + link.slot * k_, k_, slot_to);
    } else if (present.several) {
      float* const v = at.row.data();
      decode_slot(tape, present.field, feature, slot, v);
      const float* const sum = at.store.data() + present.sum + slot * k_;
      for (std::size_t c = 0; c < k_; ++c) slot_to[c] += delta * (sum[c] - x * v[c]);
    }
    ++slot;
  }
}

}  // namespace leveret::block
