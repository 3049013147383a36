/// Memory of its own for the first rows of all fields: one huge page.
///
/// Rows lie in the order of admission, so these are mostly those of frequent values, which nearly
/// all examples ask for. In one huge page they cost no walk through the page tables, as they do
/// among the pages of as many tables as there are fields.
#pragma once

#include <vector>

#include "model/arena.h"
#include "model/field_table.h"

namespace leveret::model {

/// Not thread safe.
class FirstRows {
 public:
  static constexpr std::size_t kBytes = std::size_t{2} << 20;

  /// Lends memory to all tables, whose rows have one length, as much to each, once they have been
  /// loaded or have got new slots: pointers to their rows become invalid. Rows that do not fit, or
  /// for which the system has no memory, stay where they are. Must outlive the tables' use.
  ///
  /// It is no part of the MemoryBudget, which has counted the rows themselves. The first rows of a
  /// mapped file are copied here, too.
  void lend_to(std::vector<FieldTable>& tables);

 private:
  Arena memory_;
};

}  // namespace leveret::model
