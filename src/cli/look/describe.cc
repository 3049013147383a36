#include "cli/look/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>

#include "cache/cache_reader.h"
#include "cli/look/describe_patch.h"
#include "cli/look/describe_shards.h"
#include "cli/look/experts_load.h"
#include "cli/look/section_stats.h"
#include "dist/folder/shard_files.h"
#include "kernels/dispatch.h"
#include "modelfile/model_io.h"
#include "net/network.h"
#include "patch/patch_stream.h"
#include "spec/entries.h"
#include "store/layout_bytes.h"
#include "store/model_file.h"
#include "table/cell_columns.h"
#include "train/notes.h"
#include "train/position_json.h"

namespace leveret::cli {
namespace {

using Json = nlohmann::ordered_json;
using store::ModelFile;

Json stats_to_json(const SectionStats& stats) {
  Json json = {{"min", stats.min},
               {"max", stats.max},
               {"mean", stats.mean()},
               {"zeros", stats.zero_share()}};
  if (stats.not_finite > 0) json["not_finite"] = stats.not_finite;
  return json;
}

/// The declaration of a section.
Json declaration_to_json(const ModelFile& file, const store::StoredSection& section) {
  const store::Declaration& declared = section.declared;
  Json json = {{"name", section.name},
               {"role", store::role_name(declared.role)},
               {"dtype", store::dtype_name(section.dtype)},
               {"shape", section.shape},
               {"bytes", section.bytes},
               {"coding", store::coding_name(declared.coding)},
               {"scale", declared.scale}};
  if (declared.keys > 0) {
    json["keys"] = file.sections()[declared.keys - 1].name;
    json["last_keys"] = declared.last_keys;
  }
  if (declared.optional) json["optional"] = true;
  return json;
}

Json sections_to_json(const ModelFile& file) {
  Json list = Json::array();
  for (const store::StoredSection& section : file.sections()) {
    Json json = declaration_to_json(file, section);
    SectionStats stats;
    std::vector<std::byte> cut;  // begins with the codes that the last part held a piece of
    file.scan(section, [&](std::span<const std::byte> part) {
      if (section.dtype != store::Dtype::kI12) {
        return add_numbers(stats, section.dtype, part, section.declared);
      }
      cut.insert(cut.end(), part.begin(), part.end());
      const std::size_t whole = cut.size() / 3 * 3;
      add_numbers(stats, section.dtype, std::span(cut).first(whole), section.declared);
      cut.erase(cut.begin(), cut.begin() + static_cast<std::ptrdiff_t>(whole));
    });
    // Figures over keys mean nothing.
    if (section.declared.role == store::Role::kIndex) {
      json["zeros"] = stats.zero_share();
    } else {
      json.update(stats_to_json(stats));
    }
    json["checksum"] = store::to_hex(section.checksum);
    list.push_back(std::move(json));
  }
  return list;
}

/// Each number of cells apart, over all of them that have learned something.
class CellStats {
 public:
  explicit CellStats(table::CellKind cells)
      : mixed_(cells == table::CellKind::kMixed), columns_(table::cell_columns(cells, true)) {}

  /// `largest`: of the |value|s, with mixed heads.
  void add(const table::Cell& cell, float largest) {
    const std::size_t in_cell = columns_.size() - (mixed_ ? 1 : 0);
    const std::span numbers(&cell.weight, in_cell);
    if (std::ranges::all_of(numbers, [](float number) { return number == 0; })) return;
    ++cells_;
    stats_.resize(columns_.size());
    for (std::size_t i = 0; i < in_cell; ++i) {
      const float number = columns_[i].get(const_cast<table::Cell&>(cell));
      const bool weight = columns_[i].kind == table::Learned::kParameter;
      stats_[i].add(weight ? table::as_read(number) : number);
    }
    if (mixed_) stats_[in_cell].add(largest);
  }
  std::uint64_t cells() const { return cells_; }
  Json json(bool states) const {
    Json columns = Json::object();
    for (std::size_t i = 0; i < stats_.size(); ++i) {
      if (!states && columns_[i].kind == table::Learned::kState) continue;
      columns[columns_[i].name] = stats_to_json(stats_[i]);
    }
    return columns;
  }

 private:
  bool mixed_;
  std::span<const table::CellColumn> columns_;
  std::uint64_t cells_ = 0;
  std::vector<SectionStats> stats_;
};

Json linear_to_json(const model::Model& model, bool learns) {
  const table::Tables& tables = model.tables();
  const bool mixed = model.spec().mixed();
  CellStats cells(tables.cells());
  std::uint64_t slots = 0, overflow = 0;
  if (const table::HashedCells* const hashed = tables.hashed()) {
    slots = hashed->capacity();
    for (std::uint64_t i = 0; i < slots; ++i) {
      const table::Cell& cell = *hashed->at(i);
      cells.add(cell, mixed ? table::hashed(cell).largest_value : 0);
    }
  } else {
    for (const table::Shard& shard : tables) {
      slots += shard.index().capacity();
      overflow += shard.index().overflow_lookups();
      shard.for_each([&](const table::Slot& slot) {
        cells.add(*table::cell_of(&slot), mixed ? shard.largest_value(slot) : 0);
      });
    }
  }
  return {{"features", cells.cells()},
          {"slots", slots},
          {"hashed", tables.hashed() != nullptr},
          {"overflow_lookups", overflow},
          {"columns", cells.json(learns)}};
}

/// The same for a part of the rows of all fields.
Json rows_to_json(const model::Model& model, std::size_t part, bool learns) {
  const rules::RulePtr by = model.config().rows[part].rule;
  const rules::Rule& rule = *by;
  SectionStats weights;
  std::vector<SectionStats> states(learns ? rule.states().size() : 0);
  std::uint64_t count = 0, bytes = 0, saturated = 0;
  std::vector<float> numbers;
  const auto add = [&](SectionStats& stats, const std::byte* row,
                       const table::RowLayout::Column& column) {
    numbers.resize(column.count);
    kernels::active().decode(column.codec, row + column.begin, column.count, numbers.data());
    for (const float number : numbers) stats.add(number);
  };
  for (std::uint32_t f = 0; f < model.tables().fields(); ++f) {
    const table::Rows& rows = model.tables().field(f).rows();
    const table::RowLayout& layout = rows.layout();
    for (std::uint64_t row = 0; row < rows.size(); ++row) {
      const std::byte* const at = rows.at(static_cast<table::Row>(row));
      add(weights, at, layout.weights(part));
      const kernels::Codec codec = layout.weights(part).codec;
      if (codec.kind == kernels::Codec::Kind::kFixed) {
        saturated += static_cast<std::uint64_t>(std::ranges::count_if(numbers, [&](float weight) {
          return weight == codec.smallest() || weight == codec.largest();
        }));
      }
      for (std::size_t s = 0; s < states.size(); ++s) add(states[s], at, layout.state(part, s));
    }
    count += rows.size();
    // Bytes that rows have beside their parts count as the first one's.
    const auto bytes_of = [&](std::size_t p) {
      std::size_t of_part = layout.weights(p).bytes();
      for (std::size_t s = 0; s < layout.parts()[p].states.size(); ++s) {
        of_part += layout.state(p, s).bytes();
      }
      return of_part;
    };
    std::size_t others = 0;
    for (std::size_t p = 1; p < layout.parts().size(); ++p) others += bytes_of(p);
    bytes += rows.size() * (part == 0 ? layout.stride() - others : bytes_of(part));
  }
  Json columns = {{"weight", stats_to_json(weights)}};
  for (std::size_t s = 0; s < states.size(); ++s) {
    columns[rule.fused() != nullptr ? "sum" : rule.states()[s].name] = stats_to_json(states[s]);
  }
  Json json = {{"rows", count}, {"bytes", bytes}, {"columns", std::move(columns)}};
  if (saturated > 0) json["saturated"] = saturated;
  return json;
}

Json fields_to_json(const model::Model& model) {
  Json list = Json::array();
  const std::vector<std::string> names = model.features().field_names();
  for (std::uint32_t f = 0; f < names.size(); ++f) {
    Json json = {{"field", f}, {"namespaces", names[f]}};
    if (f < model.tables().fields()) {
      const table::Shard& shard = model.tables().field(f);
      json["keys"] = shard.index().size();
      json["rows"] = shard.rows().size();
      json["overflow_rows_given"] = shard.overflow_rows_given();
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json namespaces_to_json(const model::Model& model) {
  Json list = Json::array();
  for (const feature::NamespacePlan& plan : model.features().plans()) {
    list.push_back({{"name", plan.name},
                    {"keep", plan.keep},
                    {"linear", plan.linear},
                    {"fields", plan.fields}});
  }
  return list;
}

/// The bytes that a process needs to hold: all of it to learn, what predictions read to predict.
/// `hashed`: those of a hashed table, if there is one: all of it is there for both, whatever the
/// file has of it.
Json memory_to_json(const ModelFile& file, std::uint64_t hashed) {
  std::uint64_t all = hashed, optimizer = 0;
  for (const store::StoredSection& section : file.sections()) {
    if (hashed > 0 && section.name.starts_with("cells.")) continue;
    all += section.bytes;
    if (section.declared.role == store::Role::kState) optimizer += section.bytes;
  }
  return {{"train", all}, {"predict", all - optimizer}};
}

const char* name_of(block::Rows::Kind kind) {
  switch (kind) {
    case block::Rows::Kind::kFfm:
      return "ffm";
    case block::Rows::Kind::kEmbedding:
      return "embeddings";
    default:
      return "rows";
  }
}

/// `learns`: it has what only learning needs. Returns the bytes of its hashed table (-b).
std::uint64_t describe_model(const model::Model& model, bool learns, Json& json) {
  const tape::Scalars& scalars = model.parameters().scalars;
  json["examples"] = scalars.examples;
  json["base_rate"] = scalars.clicks / scalars.count;
  json["dropped_gradients"] = scalars.dropped_gradients;
  json["spec"] = spec_to_json(model.spec());
  json["namespaces"] = namespaces_to_json(model);
  json["fields"] = fields_to_json(model);
  json["linear"] = linear_to_json(model, learns);
  const std::vector<spec::RowsSpec> rows = model.spec().row_parts();
  for (std::size_t part = 0; part < rows.size(); ++part) {
    json[name_of(rows[part].kind)] = rows_to_json(model, part, learns);
  }
  const Json experts = experts_json(model.parameters());
  if (!experts.is_null()) json["experts"] = experts;
  const block::Config config = model.config();
  const net::Network network(config, kernels::active());
  const std::string why = network.why_not_in_contexts();
  if (!why.empty()) json["candidates_as_wholes"] = "the model has " + why;
  std::vector<std::string> wholes;
  for (const block::Tower& tower : config.towers) {
    if (tower.kind->whole_for_candidates) wholes.push_back(tower.name);
  }
  if (why.empty() && !wholes.empty()) json["whole_for_candidates"] = wholes;
  const table::HashedCells* const hashed = model.tables().hashed();
  return hashed != nullptr ? hashed->capacity() * hashed->stride() : 0;
}

/// The notes beside the content, where there are some.
void describe_notes(const train::Notes& notes, Json& json) {
  if (!notes.chunks.empty()) json["learned_chunks"] = notes.chunks.entries().size();
  if (!notes.followed.empty()) json["followed"] = printable(notes.followed);
  if (!notes.input) return;
  train::InputPosition input = *notes.input;
  for (std::string& name : input.data) name = printable(name);
  json["input"] = train::to_json(input);
  if (notes.best_pass) json["held_out"] = train::to_json(*notes.best_pass);
}

/// The header of a file that holds something else than a model.
Json header_to_json(const ModelFile& file) {
  try {
    return Json::parse(file.header_json());
  } catch (const Json::exception&) {
    throw std::runtime_error(file.path() + ": its header is no JSON; the file is damaged");
  }
}

Json describe_cache(const std::string& path) {
  const cache::CacheInfo info = cache::inspect_cache(path, true);
  Json sources = Json::array();
  for (const cache::SourceIdentity& source : info.key.sources) {
    sources.push_back({{"name", source.name}, {"bytes", source.size}});
  }
  return {{"file", path},
          {"kind", "cache"},
          {"format", cache::kCacheVersion},
          {"bytes", info.file_bytes},
          {"examples", info.totals.examples},
          {"features", info.totals.features},
          {"bad_lines", info.totals.bad_lines},
          {"blank_lines", info.totals.blank_lines},
          {"blocks", info.totals.blocks},
          {"hash", info.key.hash == text::HashMode::kAll ? "all" : "strings"},
          {"hash_seed", info.key.hash_seed},
          {"max_line", info.key.max_line},
          {"numbers", info.key.numbers},
          {"numeric", info.key.only_numbers},
          {"sources", std::move(sources)}};
}

}  // namespace

Json spec_to_json(const spec::Spec& spec) {
  Json json = Json::object();
  for (const spec::SpecEntry& entry : spec::spec_entries()) {
    if (!spec::is_stored(entry, spec)) continue;
    const std::string text = entry.get(spec);
    json[entry.name] = entry.number ? Json::parse(text) : Json(text);
  }
  return json;
}

Json describe_file(const std::string& path) {
  if (dist::ShardFolder::is_folder(path)) return describe_shards(path);
  if (cache::is_cache(path)) return describe_cache(path);
  if (patch::is_patch(path)) return describe_patch(path);
  const ModelFile file = ModelFile::open(path);
  Json json = {{"file", path},
               {"kind", store::kind_name(file.kind())},
               {"format", store::kVersion},
               {"bytes", file.bytes()},
               {"fingerprint", store::to_hex(file.fingerprint())}};
  const std::uint64_t memory = modelfile::default_memory_limit();
  std::uint64_t hashed = 0;
  if (file.kind() == store::Kind::kModel) {
    describe_notes(train::notes_of(file), json);
    hashed = describe_model(modelfile::load_model(file, memory), true, json);
  } else if (file.kind() == store::Kind::kExport) {
    json["export"] = header_to_json(file).value("export", Json::object());
    hashed = describe_model(modelfile::load_model(file, memory, model::Use::kPredict), false, json);
  } else {
    json["header"] = header_to_json(file);
  }
  json["memory"] = memory_to_json(file, hashed);
  json["sections"] = sections_to_json(file);
  return json;
}

}  // namespace leveret::cli
