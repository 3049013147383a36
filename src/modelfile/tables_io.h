/// Tables to and from the sections of a file: keys in the order of Index::in_order, what is known
/// of their rows, cells, rows column by column.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "modelfile/model_io.h"
#include "modelfile/section_loader.h"
#include "store/section.h"
#include "table/tables.h"

namespace leveret::modelfile {

/// Appends the sections of all shards, which read the tables when they are written: these must not
/// change or move until then. Returns what is not in sections, for the header. Rows that are free
/// are left out.
nlohmann::ordered_json add_tables(std::vector<store::SectionView>& sections,
                                  const table::Tables& tables);

/// Fills tables that have the right number of shards and know nothing. std::runtime_error says what
/// is wrong with the sections or with `states`, which add_tables has returned.
void load_tables(table::Tables& tables, SectionLoader& sections,
                 const nlohmann::ordered_json& states, LoadBy by);

}  // namespace leveret::modelfile
