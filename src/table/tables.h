/// All that a model has learned about features: a shard for each field and one for features without
/// a field, or, for a model without rows, one shard for all; and with -b an array of cells without
/// keys.
///
/// Threads: as Shard.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "table/hashed_cells.h"
#include "table/memory_budget.h"
#include "table/shard.h"

namespace leveret::table {

class Tables {
 public:
  /// `shard` is how all shards are made; with `bits` other than 0 cells have no keys.
  Tables(ShardOptions shard, std::uint32_t bits, std::uint64_t memory_limit);
  /// The part of such tables that is here where others have the rest.
  struct Part {
    bool fieldless;            ///< cells of features without a field
    std::uint64_t begin, end;  ///< with `bits`: cells from number `begin` to before `end`
  };
  /// Fields are given their shards by `add`.
  Tables(ShardOptions shard, std::uint32_t bits, std::uint64_t memory_limit, const Part& part);

  MemoryBudget& budget() { return budget_; }
  const MemoryBudget& budget() const { return budget_; }
  CellKind cells() const { return cells_; }
  bool has_rows() const { return !shard_.rows.empty(); }
  /// That of every field.
  const RowLayout& row_layout() const { return shard_.rows; }

  /// nullptr without -b.
  HashedCells* hashed() { return hashed_ ? &*hashed_ : nullptr; }
  const HashedCells* hashed() const { return hashed_ ? &*hashed_ : nullptr; }

  /// Shard 0 is that of features without a field, shard f + 1 that of field f.
  std::size_t size() const { return shards_.size(); }
  Shard& operator[](std::size_t shard) { return *shards_[shard]; }
  const Shard& operator[](std::size_t shard) const { return *shards_[shard]; }
  auto begin() { return Iterator{shards_.data()}; }
  auto end() { return Iterator{shards_.data() + shards_.size()}; }
  auto begin() const { return ConstIterator{shards_.data()}; }
  auto end() const { return ConstIterator{shards_.data() + shards_.size()}; }

  Shard& field(std::uint32_t f) { return *shards_[f + 1]; }
  const Shard& field(std::uint32_t f) const { return *shards_[f + 1]; }
  /// Fields with shards of their own.
  std::uint32_t fields() const { return static_cast<std::uint32_t>(shards_.size() - 1); }
  /// The shard of a group of linear features: 0 for those without a field, f + 1 for field f.
  Shard& of_feature_group(std::uint32_t group) { return *shards_[has_rows() ? group : 0]; }
  const Shard& of_feature_group(std::uint32_t group) const {
    return *shards_[has_rows() ? group : 0];
  }

  /// The cell of a linear feature, or nullptr.
  const Cell* find_cell(std::uint32_t group, std::uint32_t hash) const;
  /// The largest |value| of the feature of a MixedCell that find_cell has found.
  float largest_value(std::uint32_t group, std::uint32_t hash) const;

  /// Makes shards for `fields` fields, and gives all rows as many slots: one for each field.
  void fit(std::uint32_t fields);

  /// Whether it is a part: each field then has a layout of rows of its own (Shard::options).
  bool is_part() const { return is_part_; }
  /// The shard of the next field of a part. `cells`: whether it has those of the field's features.
  void add(bool cells, RowLayout rows);

  /// Whether it is noted when a feature was last in an example (RowRef::used_at), by clock().
  bool notes_use() const { return notes_use_; }
  void note_use(bool notes) { notes_use_ = notes; }
  unsigned clock() const { return clock_; }
  void set_clock(unsigned clock) { clock_ = clock % RowRef::kAges; }
  /// Whether memory has run out for one of the shards.
  bool out_of_memory() const;
  /// Features that have been forgotten since the tables were made or loaded.
  std::uint64_t forgotten() const { return forgotten_; }
  void count_forgotten(std::uint64_t features) { forgotten_ += features; }

  /// Look-ups answered by an overflow slot or row because memory had run out.
  std::uint64_t overflow_lookups() const;
  void set_concurrent(bool concurrent);

 private:
  template <class S, class P>
  struct Iterating {
    P* at;
    S& operator*() const { return **at; }
    Iterating& operator++() {
      ++at;
      return *this;
    }
    bool operator==(const Iterating&) const = default;
  };
  using Iterator = Iterating<Shard, std::unique_ptr<Shard>>;
  using ConstIterator = Iterating<const Shard, const std::unique_ptr<Shard>>;
  void add_shard(ShardOptions options);

  MemoryBudget budget_;
  unsigned clock_ = 0;
  std::uint64_t forgotten_ = 0;
  bool notes_use_ = false;
  CellKind cells_;
  ShardOptions shard_;
  std::optional<HashedCells> hashed_;
  std::vector<std::unique_ptr<Shard>> shards_;
  bool is_part_ = false;
  bool concurrent_ = false;  ///< told to shards that come later, too
};

}  // namespace leveret::table
