/// A key in a shard: as learning meets it, and as prediction finds it.
#pragma once

#include "table/shard.h"

namespace leveret::table {

inline Row meet(Shard& shard, Key key) { return shard.count_and_find(*shard.find_or_insert(key)); }
inline Row known(const Shard& shard, Key key) {
  const Slot* const slot = shard.find(key);
  return slot != nullptr ? shard.row_of(*slot) : shard.row_of_unknown();
}

}  // namespace leveret::table
