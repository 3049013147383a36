#include "block/ffm_pairs.h"

#include <algorithm>

namespace leveret::block {

void FfmPairs::set(std::vector<std::vector<std::uint32_t>> opposite) {
  const auto fields = static_cast<std::uint32_t>(opposite.size());
  links_.assign(fields, {});
  pairs_.clear();
  row_floats_ = 0;
  for (std::uint32_t g = 0; g < fields; ++g) {
    row_floats_ = std::max(row_floats_, opposite[g].size() * k_);
    for (const std::uint32_t f : opposite[g]) {
      const auto mine = std::ranges::lower_bound(opposite[f], g);
      const auto slot = static_cast<std::uint32_t>(mine - opposite[f].begin());
      links_[g].push_back({f, slot, 0});
      if (f > g) continue;
      links_[g].back().pair = static_cast<std::uint32_t>(pairs_.size());
      pairs_.push_back({f, g});
    }
  }
  for (std::uint32_t f = 0; f < fields; ++f) {
    for (Link& link : links_[f]) {
      if (link.opposite > f) link.pair = links_[link.opposite][link.slot].pair;
    }
  }
}

void FfmPairs::gather(const tape::Tape& tape, std::size_t b, PairsTape& at) const {
  for (const PairsTape::Present& present : at.present) at.sums[present.field] = nullptr;
  at.present.clear();
  at.sums.resize(links_.size(), nullptr);
  tape::at_least(at.row, row_floats_);
  std::size_t floats = 0;
  for (const feature::FieldRun& run : tape.field_runs(b)) floats += links_[run.field].size() * k_;
  tape::at_least(at.store, floats);
  std::size_t next = 0;
  for (const feature::FieldRun& run : tape.field_runs(b)) {
    const std::size_t length = links_[run.field].size() * k_;
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
  std::fill_n(pairs, pairs_.size(), 0.0f);
  for (const PairsTape::Present& present : at.present) {
    const float* const sum = at.store.data() + present.sum;
    const std::vector<Link>& links = links_[present.field];
    for (std::size_t slot = 0; slot < links.size(); ++slot) {
      const Link& link = links[slot];
      if (link.opposite > present.field) break;
      if (link.opposite == present.field) {
        if (present.several) pairs[link.pair] = within(tape, at, present, slot);
      } else if (const float* const other = at.sums[link.opposite]) {
        pairs[link.pair] = kernels_->dot(sum + slot * k_, other + link.slot * k_, k_);
      }
    }
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
  const std::uint32_t first = tape.field_begin(b);
  for (const PairsTape::Present& present : at.present) {
    for (std::uint32_t i = present.begin; i < present.end; ++i) {
      if (tape.rows[i] != nullptr) add_gradient(tape, at, present, i, own, d, sums[i - first]);
    }
  }
}

void FfmPairs::add_gradient(const tape::Tape& tape, PairsTape& at,
                            const PairsTape::Present& present, std::uint32_t feature, float own,
                            const float* d, float* to) const {
  const float x = tape.field_values[feature];
  const std::vector<Link>& links = links_[present.field];
  for (std::size_t slot = 0; slot < links.size(); ++slot) {
    const Link& link = links[slot];
    const float delta = x * (d != nullptr ? d[link.pair] + own : own);
    float* const slot_to = to + slot * k_;
    if (link.opposite != present.field) {
      const float* const other = at.sums[link.opposite];
      if (other != nullptr) kernels_->axpy(delta, other + link.slot * k_, k_, slot_to);
    } else if (present.several) {
      float* const v = at.row.data();
      decode_slot(tape, present.field, feature, slot, v);
      const float* const sum = at.store.data() + present.sum + slot * k_;
      for (std::size_t c = 0; c < k_; ++c) slot_to[c] += delta * (sum[c] - x * v[c]);
    }
  }
}

}  // namespace leveret::block
