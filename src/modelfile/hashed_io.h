/// A hashed table (`-b`) to and from sections: the slots that have learned something, by number,
/// and a column for each number of their cells.
#pragma once

#include <vector>

#include "modelfile/section_loader.h"
#include "store/section.h"
#include "table/hashed_cells.h"

namespace leveret::modelfile {

/// The section of the numbers of slots.
inline constexpr const char* kSlotKeys = "cells.keys";

/// Appends cells.keys, u32 [touched], and for each column cells.NAME, f32 [touched]. They read the
/// table when they are written: it must not change or move until then.
void add_hashed(std::vector<store::SectionView>& sections, const table::HashedCells& cells);

/// Fills a table that knows nothing, from those sections.
/// std::runtime_error says what is wrong with the sections.
void load_hashed(table::HashedCells& cells, SectionLoader& sections);

}  // namespace leveret::modelfile
