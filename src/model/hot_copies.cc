#include "model/hot_copies.h"

#include <algorithm>
#include <cstring>

#include "model/model.h"

namespace leveret::model {

std::vector<std::uint32_t> HotRows::count(const std::vector<FieldTable>& tables) {
  std::vector<std::uint32_t> counts;
  if (tables.empty()) return counts;
  const std::uint64_t room = kMostBytes / (tables.size() * tables[0].shape().stride());
  const std::uint64_t most = std::min<std::uint64_t>(room, kRowsOfField);
  for (const FieldTable& table : tables) {
    counts.push_back(static_cast<std::uint32_t>(std::min(table.rows(), most)));
  }
  return counts;
}

void HotRows::take(const std::vector<FieldTable>& tables, std::span<const std::uint32_t> counts) {
  counts_.assign(counts.begin(), counts.end());
  if (tables.empty()) return;
  stride_ = tables[0].shape().stride();
  field_bytes_ = odd_lines(kRowsOfField * stride_);
  rows_.resize(tables.size() * field_bytes_);
  before_.resize(rows_.size());
  for (std::uint32_t f = 0; f < counts_.size(); ++f) {
    for (Row row = 0; row < counts_[f]; ++row) {
      std::copy_n(tables[f].at(row), stride_, at(f, row));
    }
    std::copy_n(at(f, 0), counts_[f] * stride_, before_.data() + f * field_bytes_);
  }
}

void HotRows::exchange(std::vector<FieldTable>& tables, const kernels::Kernels& kernels) {
  for (std::uint32_t f = 0; f < counts_.size(); ++f) {
    for (Row row = 0; row < counts_[f]; ++row) exchange(tables[f], row, kernels);
  }
}

/// Both ways in one pass, while the row is in the first-level cache.
void HotRows::exchange(FieldTable& table, Row row, const kernels::Kernels& kernels) {
  std::byte* const mine = at(table.field(), row);
  std::byte* const taken = before_.data() + (mine - rows_.data());
  std::byte* const to = table.at(row);
  if (std::memcmp(mine, taken, stride_) != 0) {
    const RowShape& shape = table.shape();
    noise_ += 0x9e3779b9u;
    kernels.add_changes(shape.codec, mine, taken, shape.weights(), noise_, to);
    kernels.add_changes(shape.state_codec(), shape.state_at(mine), shape.state_at(taken),
                        shape.state(), noise_, shape.state_at(to));
  }
  std::copy_n(to, stride_, mine);
  std::copy_n(mine, stride_, taken);
}

HotCells::HotCells(const Spec& spec)
    : floats_(spec.mixed() ? kMixedCell : kStepCell),
      slots_(std::size_t{kPlaces} * (floats_ + 1)),
      before_(std::size_t{kPlaces} * floats_) {}

void HotCells::put(std::uint32_t place, const float* from) {
  float* const to = cell(place);
  if (floats_ == kMixedCell) {
    std::copy_n(from, kMaxValue, to);
    to[kMaxValue] = largest_value(from);  // a copy has no RowWord
  } else {
    std::copy_n(from, floats_, to);
  }
  std::copy_n(to, floats_, before(place));
}

bool HotCells::changed(std::uint32_t place) {
  return std::memcmp(cell(place), before(place), floats_ * sizeof(float)) != 0;
}

void HotCells::exchange(LinearTable& table) {
  examples_to_claim_ = kExamplesThatClaim;
  std::size_t kept = 0;
  for (const text::Feature& feature : features_) {
    const std::uint32_t at = place(feature.hash);
    if (changed(at)) {
      features_[kept++] = feature;
    } else {
      set_key(at, 0);
    }
  }
  features_.resize(kept);
  cells_.resize(kept);
  table.prefetch_homes(features_, cells_.data());
  table.find_or_insert_all(features_, cells_.data());
  for (std::size_t i = 0; i < kept; ++i) {
    const std::uint32_t at = place(features_[i].hash);
    add_change(at, cells_[i]);
    put(at, cells_[i]);
  }
}

void HotCells::add_change(std::uint32_t place, float* to) {
  const float* const mine = cell(place);
  const float* const taken = before(place);
  const bool mixed = floats_ == kMixedCell;
  const std::uint32_t sums = mixed ? std::uint32_t{kClicks} : floats_;
  for (std::uint32_t i = 0; i < sums; ++i) to[i] += mine[i] - taken[i];
  if (!mixed) return;
  // Both become smaller only when they are halved, by every thread that meets the limit.
  const bool halved = mine[kCount] < taken[kCount] || mine[kClicks] < taken[kClicks];
  for (const std::uint32_t i : {kClicks, kCount}) {
    to[i] = halved ? mine[i] : to[i] + (mine[i] - taken[i]);
  }
  to[kClicks] = std::clamp(to[kClicks], 0.0f, to[kCount]);
  raise_largest_value(to, largest_value(mine));
}

void HotCells::find(std::span<const text::Feature> features, float** cells) {
  if (features_.empty()) return;
  // Without a branch: which features have copies cannot be foreseen. Nor by way of memory, as from
  // an array of both.
  for (std::size_t i = 0; i < features.size(); ++i) {
    const std::uint32_t hash = features[i].hash;
    const std::uintptr_t is_here = (keys_[place(hash)] == hash) & (hash != 0);
    const auto there = reinterpret_cast<std::uintptr_t>(cells[i]);
    const auto here = reinterpret_cast<std::uintptr_t>(cell(place(hash)));
    cells[i] = reinterpret_cast<float*>(there ^ ((there ^ here) & (0 - is_here)));
  }
}

void HotCells::claim(std::span<const text::Feature> features, float** cells) {
  if (examples_to_claim_ == 0) return;
  --examples_to_claim_;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const std::uint32_t hash = features[i].hash, at = place(hash);
    if (hash == 0) continue;  // no key
    if (keys_[at] == 0) {
      set_key(at, hash);
      put(at, cells[i]);
      features_.push_back(features[i]);
    }
    // Also where the same feature has claimed it a moment ago.
    if (keys_[at] == hash) cells[i] = cell(at);
  }
}

}  // namespace leveret::model
