/// Linear weights without keys (`-b`, as in VW): the cell of a hash is number hash & mask, and two
/// features may share one.
///
/// Threads: look-ups are safe beside everything; cells are raced on by design.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "table/arena.h"
#include "table/memory_budget.h"
#include "table/slot.h"

namespace leveret::table {

class HashedCells {
 public:
  /// 2^bits cells, all zero.
  HashedCells(std::uint32_t bits, CellKind kind, MemoryBudget& budget)
      : HashedCells(bits, kind, budget, 0, std::uint64_t{1} << bits) {}
  /// Those from number `begin` to before `end` of 2^bits; the others are never asked for.
  HashedCells(std::uint32_t bits, CellKind kind, MemoryBudget& budget, std::uint64_t begin,
              std::uint64_t end)
      : kind_(kind),
        mask_((std::uint64_t{1} << bits) - 1),
        begin_(begin),
        capacity_(end - begin),
        stride_(stride(kind)),
        arena_(capacity() * stride_) {
    budget.force(capacity() * stride_);
    if (!arena_.resize(capacity() * stride_)) {
      throw std::runtime_error("not enough memory for a linear table of " +
                               std::to_string(capacity() * stride_) + " bytes; use a smaller -b");
    }
  }

  CellKind kind() const { return kind_; }
  std::uint64_t capacity() const { return capacity_; }
  /// The number of the first among all.
  std::uint64_t begin() const { return begin_; }
  /// Bytes of a cell's numbers, a HashedMixedCell's too.
  std::size_t number_bytes() const { return number_bytes(kind_); }
  static constexpr std::size_t number_bytes(CellKind kind) {
    return kind == CellKind::kMixed ? sizeof(HashedMixedCell) : cell_bytes(kind);
  }
  std::size_t stride() const { return stride_; }
  /// A power of two, so that no cell lies across two cache lines.
  static constexpr std::size_t stride(CellKind kind) { return std::bit_ceil(number_bytes(kind)); }

  Cell* find(std::uint32_t hash) { return at((hash & mask_) - begin_); }
  const Cell* find(std::uint32_t hash) const { return at((hash & mask_) - begin_); }
  Cell* at(std::uint64_t i) { return reinterpret_cast<Cell*>(arena_.data() + i * stride_); }
  const Cell* at(std::uint64_t i) const {
    return reinterpret_cast<const Cell*>(arena_.data() + i * stride_);
  }
  /// Cells that are not all zero. It looks at each.
  std::uint64_t used() const {
    std::uint64_t used = 0;
    for (std::uint64_t i = 0; i < capacity(); ++i) used += in_use(i);
    return used;
  }
  bool in_use(std::uint64_t i) const {
    std::uint64_t word, any = 0;
    for (std::size_t at = 0; at < stride_; at += sizeof word) {
      std::memcpy(&word, arena_.data() + i * stride_ + at, sizeof word);
      any |= word;
    }
    return any != 0;
  }

  Arena& arena() { return arena_; }
  const Arena& arena() const { return arena_; }

 private:
  CellKind kind_;
  std::uint64_t mask_, begin_, capacity_;
  std::size_t stride_;  ///< bytes from one cell to the next
  Arena arena_;
};

inline HashedMixedCell& hashed(Cell& cell) { return static_cast<HashedMixedCell&>(cell); }
inline const HashedMixedCell& hashed(const Cell& cell) {
  return static_cast<const HashedMixedCell&>(cell);
}

}  // namespace leveret::table
