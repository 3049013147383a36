/// The numbers of a cell by name: what files keep of it, and what `inspect` shows.
#pragma once

#include <cstddef>
#include <span>

#include "table/learned.h"
#include "table/slot.h"

namespace leveret::table {

struct CellColumn {
  const char* name;
  Learned kind;
  float& (*get)(Cell&);  ///< of a cell that has it
};

template <class C, float C::*member>
float& member_of(Cell& cell) {
  return static_cast<C&>(cell).*member;
}

/// In their order in files.
inline constexpr CellColumn kMixedColumns[] = {
    {"weight", Learned::kParameter, member_of<Cell, &Cell::weight>},
    {"sum", Learned::kState, member_of<Cell, &Cell::sum>},
    {"weight2", Learned::kParameter, member_of<MixedCell, &MixedCell::weight2>},
    {"fast", Learned::kParameter, member_of<MixedCell, &MixedCell::fast>},
    {"clicks", Learned::kStatistic, member_of<MixedCell, &MixedCell::clicks>},
    {"count", Learned::kStatistic, member_of<MixedCell, &MixedCell::count>},
    {"largest_value", Learned::kStatistic,
     member_of<HashedMixedCell, &HashedMixedCell::largest_value>},
};
inline constexpr CellColumn kOneColumns[] = {
    {"weight", Learned::kParameter, member_of<Cell, &Cell::weight>},
    {"sum", Learned::kState, member_of<Cell, &Cell::sum>},
    {"z", Learned::kState, member_of<FtrlCell, &FtrlCell::z>},
};

/// The columns of cells of this kind; `hashed`: a HashedMixedCell has one more.
constexpr std::span<const CellColumn> cell_columns(CellKind kind, bool hashed = false) {
  switch (kind) {
    case CellKind::kNone:
      return {};
    case CellKind::kAdagrad:
      return std::span(kOneColumns).first(2);
    case CellKind::kFtrl:
      return kOneColumns;
    case CellKind::kMixed:
      return std::span(kMixedColumns).first(std::size(kMixedColumns) - (hashed ? 0 : 1));
  }
  return {};
}
static_assert(cell_columns(CellKind::kMixed).size() == cell_floats(CellKind::kMixed));
static_assert(cell_columns(CellKind::kFtrl).size() == cell_floats(CellKind::kFtrl));
static_assert(cell_columns(CellKind::kAdagrad).size() == cell_floats(CellKind::kAdagrad));

}  // namespace leveret::table
