/// The values of a row, as its format has them, by the columns of a schema.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leveret::schema {

struct Cell {
  enum class Type : unsigned char {
    kMissing,  ///< it is not there, or null, or empty
    kText,
    kList,  ///< of a format that has lists
  };
  Type type = Type::kMissing;
  std::string_view text{};                     ///< kText
  std::size_t items_begin = 0, items_end = 0;  ///< kList: in Row::items
};

/// Views into the row's bytes or into `room`; used again without allocating.
struct Row {
  std::vector<Cell> cells;  ///< by the index of the column
  std::vector<std::string_view> items;
  std::string room;  ///< text that is not in the row as it is meant

  std::span<const std::string_view> list(const Cell& cell) const {
    return std::span(items).subspan(cell.items_begin, cell.items_end - cell.items_begin);
  }
};

}  // namespace leveret::schema
