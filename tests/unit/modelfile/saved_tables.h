/// Tables that have learned something, in a file and back.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "files/temp_folder.h"
#include "modelfile/tables_io.h"
#include "store/model_file.h"
#include "table/layouts.h"
#include "table/tables.h"

namespace leveret::modelfile {

using table::CellKind;
using table::Key;
using table::Row;
using table::RowLayout;
using table::Shard;
using table::Slot;
using table::Tables;

inline constexpr std::uint32_t kFields = 3;

inline table::ShardOptions options_of(RowLayout rows, CellKind cells = CellKind::kMixed) {
  table::ShardOptions options;
  options.cells = cells;
  options.rows = std::move(rows);
  options.admission.admit = 2;
  options.seed = 42;
  return options;
}

inline std::unique_ptr<Tables> make_tables(const table::ShardOptions& options,
                                           std::uint32_t bits = 0,
                                           std::uint64_t memory = table::kMemory) {
  auto tables = std::make_unique<Tables>(options, bits, memory);
  tables->fit(kFields);
  return tables;
}

inline Key key_number(std::uint32_t i) { return table::key_of(i * 2654435761u); }

inline void write_cell(table::Cell* cell, CellKind kind, std::uint32_t what) {
  for (std::size_t c = 0; c < table::cell_floats(kind); ++c) {
    (&cell->weight)[c] = static_cast<float>(what * 7 % 101) - 0.25f * static_cast<float>(c);
  }
}

/// A feature is seen `sights` times, and all there is of it is written: what depends on (i, what).
inline void learn(Shard& shard, std::uint32_t i, int sights, std::uint32_t what) {
  Row row = table::kNoRow;
  for (int sight = 0; sight < sights; ++sight) {
    row = shard.count_and_find(*shard.find_or_insert(key_number(i)));
  }
  if (row != table::kNoRow) table::learn(shard.rows(), row, i + what);
  Slot* const slot = shard.find_or_insert(key_number(i));
  if (shard.cells() == CellKind::kNone) return;
  if (shard.cells() == CellKind::kMixed) {
    shard.raise_largest_value(*slot, static_cast<float>(i % 4) * 0.5f);  // of every fourth it is 1
  }
  write_cell(cell_of(slot), shard.cells(), i + what);
}

/// Features first to first + count - 1 of all shards, every third of which has no row.
inline void learn(Tables& tables, std::uint32_t first, std::uint32_t count,
                  std::uint32_t what = 0) {
  for (std::uint32_t i = first; i < first + count; ++i) {
    for (Shard& shard : tables) learn(shard, i, i % 3 == 0 ? 1 : 3, what);
    if (tables.hashed() != nullptr) {
      write_cell(tables.hashed()->find(key_number(i)), tables.cells(), i + what);
    }
  }
}

inline void save(const Tables& tables, const std::string& path) {
  std::vector<store::SectionView> sections;
  nlohmann::ordered_json header;
  header["shards"] = add_tables(sections, tables);
  store::write_model_file(path, store::Kind::kModel, header.dump(), sections);
}

inline void load(Tables& tables, const std::string& path, LoadBy by = LoadBy::kReading,
                 model::Use use = model::Use::kLearn) {
  const store::ModelFile file = store::ModelFile::open(path);
  SectionLoader sections(file, use);
  const auto header = nlohmann::ordered_json::parse(file.header_json());
  load_tables(tables, sections, header.at("shards"), by);
  sections.finish();
}

inline std::unique_ptr<Tables> loaded(const std::string& path, const table::ShardOptions& options,
                                      std::uint32_t bits = 0, std::uint64_t memory = table::kMemory,
                                      LoadBy by = LoadBy::kReading,
                                      model::Use use = model::Use::kLearn) {
  auto tables = make_tables(options, bits, memory);
  load(*tables, path, by, use);
  return tables;
}

inline std::vector<const Slot*> slots_in_order(const Shard& shard) {
  std::vector<const Slot*> slots;
  for (const std::uint32_t i : shard.index().in_order()) slots.push_back(shard.slot(i));
  return slots;
}

inline std::vector<std::pair<Key, float>> largest_values(const Shard& shard) {
  std::vector<std::pair<Key, float>> values;
  for (const std::uint32_t i : shard.largest_values().in_order()) {
    const std::byte* const at = shard.largest_values().slot(i);
    table::LargestValue largest;
    std::memcpy(&largest, at, sizeof largest);
    values.emplace_back(largest.key, largest.value);
  }
  return values;
}

inline std::vector<std::byte> cell_bytes_of(const Shard& shard, const Slot* slot) {
  const auto* const at = reinterpret_cast<const std::byte*>(slot) + sizeof(Slot);
  return {at, at + table::cell_bytes(shard.cells())};
}

/// `loaded` knows what `saved` knows, and no more; its rows are numbered in the order of their
/// keys, and then comes the overflow row.
inline void check_same(const Shard& saved, const Shard& loaded) {
  const std::vector<const Slot*> a = slots_in_order(saved), b = slots_in_order(loaded);
  REQUIRE(a.size() == b.size());
  std::vector<std::pair<Row, Row>> rows;
  for (std::size_t i = 0; i < a.size(); ++i) {
    REQUIRE(a[i]->key == b[i]->key);
    REQUIRE(loaded.find(a[i]->key) == b[i]);
    REQUIRE(a[i]->ref.has_row() == b[i]->ref.has_row());
    if (a[i]->ref.has_row()) {
      rows.emplace_back(a[i]->ref.row(), b[i]->ref.row());
      REQUIRE(a[i]->ref.with_row(0) == b[i]->ref.with_row(0));
    } else {
      REQUIRE(a[i]->ref == b[i]->ref);
    }
    REQUIRE(cell_bytes_of(saved, a[i]) == cell_bytes_of(loaded, b[i]));
  }
  REQUIRE((saved.overflow_row() == table::kNoRow) == (loaded.overflow_row() == table::kNoRow));
  if (saved.overflow_row() != table::kNoRow) {
    rows.emplace_back(saved.overflow_row(), loaded.overflow_row());
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    REQUIRE(rows[i].second == i);
    REQUIRE(content(saved.rows(), rows[i].first) == content(loaded.rows(), rows[i].second));
  }
  CHECK(loaded.rows().size() == rows.size());
  CHECK(loaded.rows().size() == saved.rows().size());
  CHECK(largest_values(saved) == largest_values(loaded));
  CHECK(saved.overflow_rows_given() == loaded.overflow_rows_given());
  CHECK(saved.index().overflow_lookups() == loaded.index().overflow_lookups());
  REQUIRE((saved.overflow_slot() == nullptr) == (loaded.overflow_slot() == nullptr));
  if (saved.overflow_slot() == nullptr) return;
  CHECK(loaded.overflow_slot()->ref == saved.overflow_slot()->ref);
  CHECK(cell_bytes_of(saved, saved.overflow_slot()) ==
        cell_bytes_of(loaded, loaded.overflow_slot()));
}

inline void check_same(const Tables& saved, const Tables& loaded) {
  REQUIRE(saved.size() == loaded.size());
  for (std::size_t s = 0; s < saved.size(); ++s) {
    INFO("shard " << s);
    check_same(saved[s], loaded[s]);
  }
  REQUIRE((saved.hashed() == nullptr) == (loaded.hashed() == nullptr));
  if (saved.hashed() == nullptr) return;
  for (std::uint64_t i = 0; i < saved.hashed()->capacity(); ++i) {
    const std::size_t bytes = saved.hashed()->stride();
    REQUIRE(std::memcmp(saved.hashed()->at(i), loaded.hashed()->at(i), bytes) == 0);
  }
}

}  // namespace leveret::modelfile
