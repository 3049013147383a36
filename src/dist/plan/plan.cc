#include "dist/plan/plan.h"

#include <algorithm>
#include <stdexcept>

#include "dist/plan/placement.h"
#include "ffm/pair_index.h"
#include "table/mix.h"
#include "table/slot.h"

namespace leveret::dist {

PlanShape PlanShape::of(const spec::Spec& spec, const block::Config& config, std::uint32_t shards) {
  PlanShape shape;
  shape.shards = shards;
  shape.has_ffm = spec.has_ffm();
  shape.by_key = dist::by_key(spec);
  shape.bits = spec.bit_precision;
  const table::ShardOptions shard = model::shard_options(spec, config, model::Use::kLearn);
  shape.cell_bytes = table::slot_bytes(shard.cells);
  shape.key_bytes = table::slot_bytes(table::CellKind::kNone);
  for (const table::RowPart& part : shard.rows.parts()) {
    std::uint64_t bytes = part.codec.bytes(part.k);
    for (const table::RowState& state : part.states) {
      const bool by_weight = state.per == table::RowState::Per::kWeight;
      bytes += state.codec.bytes(by_weight ? part.k : 1);
    }
    (part.by_field ? shape.pair_bytes : shape.vector_bytes) = bytes;
  }
  return shape;
}

ByKey by_key(const spec::Spec& spec) {
  if (!spec.has_rows() || spec.bit_precision != 0) return ByKey::kAll;
  const bool cut = !spec.merges() || !spec.features.interactions.empty();
  return cut ? ByKey::kFieldless : ByKey::kNothing;
}

Plan::Plan(const PlanShape& shape) : shape_(shape) {
  if (shape.shards == 0) throw std::runtime_error("a model lies in at least one shard");
}

std::uint32_t Plan::feature_group_owner(std::uint32_t group) const {
  if (shape_.by_key == ByKey::kAll) return kByKey;
  if (group > 0) return homes_[group - 1];
  return shape_.by_key == ByKey::kNothing ? 0 : kByKey;
}

std::uint32_t Plan::pair_owner(std::uint32_t f, std::uint32_t g) const {
  return pairs_[ffm::pair_index(std::min(f, g), std::max(f, g))];
}

/// Not by the value that homes in an index go by (table::mixed_value): the homes of a shard's keys
/// would be in one part of its index, which is then searched through in long runs.
std::uint32_t Plan::key_owner(std::uint32_t hash) const {
  if (shape_.bits == 0) {
    const std::uint64_t mixed = table::mix(table::key_of(hash)) >> 32;
    return static_cast<std::uint32_t>(mixed * shape_.shards >> 32);
  }
  const std::uint64_t number = hash & ((std::uint64_t{1} << shape_.bits) - 1);
  return static_cast<std::uint32_t>(number * shape_.shards >> shape_.bits);
}

bool Plan::holds(std::uint32_t shard, std::uint32_t field) const {
  if (homes_[field] == shard) return true;
  for (std::uint32_t g = 0; shape_.has_ffm && g < fields(); ++g) {
    if (pair_owner(field, g) == shard) return true;
  }
  return false;
}

std::vector<std::uint32_t> Plan::opposite(std::uint32_t shard, std::uint32_t field) const {
  std::vector<std::uint32_t> all;
  for (std::uint32_t g = 0; shape_.has_ffm && g < fields(); ++g) {
    if (pair_owner(field, g) == shard) all.push_back(g);
  }
  return all;
}

void Plan::grow(std::span<const FieldSize> sizes) {
  const std::uint32_t first = fields();
  sizes_.insert(sizes_.end(), sizes.begin(), sizes.end());
  homes_.resize(sizes_.size());
  if (shape_.has_ffm) pairs_.resize(ffm::pair_index(0, sizes_.size()));
  if (!sizes.empty()) place(shape_, sizes_, first, homes_, pairs_);
}

std::vector<std::uint64_t> Plan::loads() const {
  return shard_loads(shape_, sizes_, homes_, pairs_);
}

std::vector<std::uint64_t> Plan::words() const {
  std::vector<std::uint64_t> words{shape_.shards, sizes_.size()};
  for (const FieldSize& size : sizes_) words.insert(words.end(), {size.features, size.rows});
  words.insert(words.end(), homes_.begin(), homes_.end());
  words.insert(words.end(), pairs_.begin(), pairs_.end());
  return words;
}

Plan::Plan(const PlanShape& shape, std::span<const std::uint64_t> words) : Plan(shape) {
  const auto check = [](bool good) {
    if (!good) throw std::runtime_error("the plan of who holds what is damaged");
  };
  check(words.size() >= 2 && words[0] == shape.shards && words[1] <= words.size() / 3);
  const std::size_t fields = words[1];
  const std::size_t pairs = shape.has_ffm ? ffm::pair_index(0, fields) : 0;
  check(words.size() == 2 + 3 * fields + pairs);
  std::span<const std::uint64_t> rest = words.subspan(2);
  for (std::size_t f = 0; f < fields; ++f) sizes_.push_back({rest[2 * f], rest[2 * f + 1]});
  rest = rest.subspan(2 * fields);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    check(rest[i] < shape.shards);
    (i < fields ? homes_ : pairs_).push_back(static_cast<std::uint32_t>(rest[i]));
  }
  for (std::uint32_t f = 0; shape.has_ffm && f < fields; ++f) {
    check(pair_owner(f, f) == home(f));
  }
}

}  // namespace leveret::dist
