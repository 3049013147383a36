/// Numbers of cells, which are columns in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modelfile/section_loader.h"
#include "modelfile/section_names.h"
#include "table/cell_columns.h"

namespace leveret::modelfile {

/// The bytes of a number of a cell.
inline const std::byte* number_of(const table::Cell& cell, float& (*get)(table::Cell&)) {
  return reinterpret_cast<const std::byte*>(&get(const_cast<table::Cell&>(cell)));
}

/// The columns of cells, read side by side.
class CellColumns {
 public:
  /// `count` numbers, with `keys` as in store::Declaration. One that is not wanted is passed over;
  /// std::runtime_error where the section is not as it has to be.
  void add(SectionLoader& sections, const std::string& name, std::uint64_t count,
           const table::CellColumn& column, std::uint32_t keys) {
    const store::Role role = role_of(column.kind);
    if (!sections.wants(role)) return;
    columns_.push_back(
        {column.get, SectionLoader::Numbers(sections, name, {count}, declared(role, keys)), {}});
  }
  void read(std::uint64_t count) {
    for (Column& column : columns_) column.part = column.numbers.next(count);
  }
  /// Number i of what has been read.
  void put(std::uint64_t i, table::Cell* cell) const {
    for (const Column& column : columns_) {
      column.get(*cell) = column.part[i];
    }
  }
  void finish() const {
    for (const Column& column : columns_) column.numbers.finish();
  }

 private:
  struct Column {
    float& (*get)(table::Cell&);
    SectionLoader::Numbers numbers;
    std::span<const float> part;
  };
  std::vector<Column> columns_;
};

}  // namespace leveret::modelfile
