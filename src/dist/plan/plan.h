/// Who holds what of a model that lies in several shards (Distributed Equivalent Substitution:
/// every shard makes partial sums of what it holds, and only these travel).
///
/// A model has V shards, of which each rank has V / N, one after the other. What few examples'
/// worth of numbers it has beside tables (mixers, constants, layers but for the columns of those
/// that are divided) is everywhere. The rest has one owner:
///
///   group g    cells of its features, its counts' weight, its columns of layers. A group
///              that is cut *by key* (kByKey) lies on all shards, each feature on one.
///   pair f<=g  slot g of f's rows and slot f of g's rows, and the pair's columns of layers.
///              So a shard has of a field's rows the slots of those opposite fields whose pair it
///              owns, and for these the field's keys, occurrences and largest values, counted like
///              everywhere else: rows come and go on all shards at the same example.
///
/// The owner of group f + 1, field f's *home*, owns the pair {f, f}, the field's embeddings and
/// their columns of layers, too. What is once placed stays. A field that comes later meets each of
/// the others on a shard that has its rows already, as nothing is ever sent from one shard to
/// another.
///
/// A value; made alike on all ranks, as it depends on its arguments alone, in integers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/model.h"

namespace leveret::dist {

/// How much a field is expected to hold at the end: for balance alone.
struct FieldSize {
  std::uint64_t features = 0;  ///< keys
  std::uint64_t rows = 0;      ///< of these, with rows
};

/// The groups that are cut by key, from group 0 on.
enum class ByKey : std::uint8_t {
  /// None: group 0, of features without a field, has no interactions, of which there may be many,
  /// and its sums are inputs of layers. Shard 0 has the few features of it, and nothing is sent for
  /// them.
  kNothing,
  kFieldless,  ///< group 0
  kAll,  ///< one table has the cells of all: without rows, or with -b, where cells have no field
};
ByKey by_key(const spec::Spec& spec);
/// How many these are where there are so many fields.
inline std::uint32_t feature_groups_by_key(ByKey by_key, std::uint32_t fields) {
  return by_key == ByKey::kAll ? fields + 1 : by_key == ByKey::kFieldless ? 1 : 0;
}
inline std::uint32_t feature_groups_by_key(const spec::Spec& spec, std::uint32_t fields) {
  return feature_groups_by_key(by_key(spec), fields);
}

/// The sizes that a plan needs to know of a kind of model.
struct PlanShape {
  std::uint32_t shards = 1;
  bool has_ffm = false;
  ByKey by_key = ByKey::kFieldless;
  std::uint32_t bits = 0;  ///< -b: cells are cut by their number, else by mixed key
  // Bytes of a feature: of its slot with and without a cell, of a slot of its row, of its vector.
  std::uint64_t cell_bytes = 0, key_bytes = 0, pair_bytes = 0, vector_bytes = 0;

  static PlanShape of(const spec::Spec& spec, const block::Config& config, std::uint32_t shards);
};

class Plan {
 public:
  static constexpr std::uint32_t kByKey = 0xffffffffu;

  explicit Plan(const PlanShape& shape);
  /// One that words() has given; std::runtime_error when these are none.
  Plan(const PlanShape& shape, std::span<const std::uint64_t> words);

  /// Places fields fields(), fields() + 1, …
  void grow(std::span<const FieldSize> sizes);

  const PlanShape& shape() const { return shape_; }
  std::uint32_t shards() const { return shape_.shards; }
  std::uint32_t fields() const { return static_cast<std::uint32_t>(sizes_.size()); }

  /// Group 0: what has no field; f + 1: field f.
  std::uint32_t feature_group_owner(std::uint32_t group) const;
  std::uint32_t home(std::uint32_t field) const { return homes_[field]; }
  std::uint32_t pair_owner(std::uint32_t f, std::uint32_t g) const;
  std::uint32_t feature_groups_by_key(std::uint32_t fields) const {
    return dist::feature_groups_by_key(shape_.by_key, fields);
  }
  /// The shard of a feature of a group that is cut by key.
  std::uint32_t key_owner(std::uint32_t hash) const;

  /// Whether the shard has rows of the field, or its cells.
  bool holds(std::uint32_t shard, std::uint32_t field) const;
  /// Opposite fields of the slots that the shard has of the field's rows, ascending.
  std::vector<std::uint32_t> opposite(std::uint32_t shard, std::uint32_t field) const;
  /// Bytes that the sizes given so far make on each shard.
  std::vector<std::uint64_t> loads() const;

  /// All of it but the shape, to be kept and read again.
  std::vector<std::uint64_t> words() const;

 private:
  PlanShape shape_;
  std::vector<FieldSize> sizes_;      ///< by field
  std::vector<std::uint32_t> homes_;  ///< by field
  std::vector<std::uint32_t> pairs_;  ///< by ffm::pair_index; none without FFM
};

}  // namespace leveret::dist
