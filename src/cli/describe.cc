#include "cli/describe.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/section_stats.h"
#include "model/spec_entries.h"
#include "store/layout_bytes.h"
#include "store/model_file.h"
#include "stream/cache_reader.h"
#include "train/model_io.h"

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

/// Words of an index are keys and row numbers, and rows are weights and accumulators side by side:
/// figures over all of them mean nothing.
bool is_mixture(const store::StoredSection& section) {
  return section.dtype == store::Dtype::kU64 || section.dtype == store::Dtype::kU32 ||
         (section.name.starts_with("ffm.") && section.name.ends_with(".rows"));
}

Json sections_to_json(const ModelFile& file) {
  Json list = Json::array();
  for (const store::StoredSection& section : file.sections()) {
    Json json = {{"name", section.name},
                 {"dtype", store::dtype_name(section.dtype)},
                 {"shape", section.shape},
                 {"bytes", section.bytes}};
    SectionStats stats;
    file.scan(section,
              [&](std::span<const std::byte> part) { add_numbers(stats, section.dtype, part); });
    if (is_mixture(section)) {
      json["zeros"] = stats.zero_share();
    } else {
      json.update(stats_to_json(stats));
    }
    json["checksum"] = store::to_hex(section.checksum);
    list.push_back(std::move(json));
  }
  return list;
}

/// A linear slot holds its key and floats of several meanings: each is told apart.
Json linear_to_json(const model::Model& model) {
  static constexpr const char* kPlain[] = {"weight", "sum", "z"};
  static constexpr const char* kMixed[] = {"weight", "sum",   "weight2",  "sum2",
                                           "clicks", "count", "max_value"};
  const model::LinearTable& table = model.linear();
  const bool mixed = model.spec().mixed();
  // A cell's last float may be a RowWord.
  const bool numbers = mixed || !model.rows_in_cells();
  std::vector<SectionStats> stats(numbers ? table.cell_floats() : model::kStepCell);
  table.for_each([&](std::uint32_t, const float* cell) {
    for (std::size_t i = 0; i < stats.size(); ++i) {
      stats[i].add(mixed && i == model::kMaxValue ? model::largest_value(cell) : cell[i]);
    }
  });
  Json columns = Json::object();
  for (std::size_t i = 0; i < stats.size(); ++i) {
    columns[mixed ? kMixed[i] : kPlain[i]] = stats_to_json(stats[i]);
  }
  return {{"features", table.size()},
          {"slots", table.capacity()},
          {"hashed", table.hashed()},
          {"shared_lookups", table.shared()},
          {"columns", std::move(columns)}};
}

/// The same for the rows of all fields.
Json ffm_to_json(const model::Model& model) {
  SectionStats weights, sums;
  std::uint64_t rows = 0, bytes = 0;
  for (const model::FieldTable& table : model.fields()) {
    for (model::Row row = 0; row < table.rows(); ++row) {
      for (std::size_t i = 0; i < table.shape().weights(); ++i) weights.add(table.weight(row, i));
      for (std::size_t i = 0; i < table.shape().state(); ++i) sums.add(table.state(row, i));
    }
    rows += table.rows();
    bytes += table.rows() * table.shape().stride();
  }
  return {{"rows", rows},
          {"bytes", bytes},
          {"columns", {{"weight", stats_to_json(weights)}, {"sum", stats_to_json(sums)}}}};
}

Json fields_to_json(const model::Model& model) {
  Json list = Json::array();
  const std::vector<std::string> names = model.features().field_names();
  std::vector<std::uint64_t> keys_in_cells(names.size());
  model.for_each_row_word(
      [&](std::uint32_t, std::uint32_t word) { ++keys_in_cells[model::RowWord::field(word)]; });
  for (std::size_t f = 0; f < names.size(); ++f) {
    Json json = {{"field", f}, {"namespaces", names[f]}};
    if (f < model.fields().size()) {
      const model::FieldTable& table = model.fields()[f];
      json["keys"] = table.keys() + keys_in_cells[f];
      json["rows"] = table.rows();
      json["shared_lookups"] = table.shared();
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json spec_to_json(const model::Spec& spec) {
  Json json = Json::object();
  for (const model::SpecEntry& entry : model::spec_entries()) {
    const std::string text = entry.get(spec);
    json[entry.name] = entry.number ? Json::parse(text) : Json(text);
  }
  return json;
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

/// Bytes of FFM rows that predictions do not read.
std::uint64_t row_state_bytes(const model::Model& model) {
  std::uint64_t bytes = 0;
  for (const model::FieldTable& table : model.fields()) {
    bytes += table.rows() * (table.shape().stride() - table.shape().weight_bytes());
  }
  return bytes;
}

/// What a process needs to hold: all of it to learn, what predictions read to predict.
Json memory_to_json(const ModelFile& file, std::uint64_t optimizer) {
  std::uint64_t all = 0;
  for (const store::StoredSection& section : file.sections()) {
    all += section.bytes;
    const bool state = section.name.ends_with("state") || section.name.ends_with("moment");
    if (state) optimizer += section.bytes;
  }
  return {{"train", all}, {"predict", all - optimizer}};
}

void describe_model(const model::Model& model, Json& json) {
  const model::Scalars& scalars = model.scalars();
  json["examples"] = scalars.examples;
  json["base_rate"] = scalars.clicks / scalars.count;
  json["dropped_gradients"] = scalars.dropped_gradients;
  json["spec"] = spec_to_json(model.spec());
  json["namespaces"] = namespaces_to_json(model);
  json["fields"] = fields_to_json(model);
  json["linear"] = linear_to_json(model);
  if (model.spec().has_ffm()) json["ffm"] = ffm_to_json(model);
}

/// The header of a file that holds something else than a model.
Json header_to_json(const ModelFile& file) {
  try {
    return Json::parse(file.header_json());
  } catch (const Json::exception& error) {
    throw std::runtime_error(
        fmt::format("{}: its header is no JSON: {}", file.path(), error.what()));
  }
}

Json describe_cache(const std::string& path) {
  const stream::CacheInfo info = stream::inspect_cache(path, true);
  Json sources = Json::array();
  for (const stream::SourceIdentity& source : info.key.sources) {
    sources.push_back({{"name", source.name}, {"bytes", source.size}});
  }
  return {{"file", path},
          {"kind", "cache"},
          {"format", stream::kCacheVersion},
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
          {"sources", std::move(sources)}};
}

}  // namespace

Json describe_file(const std::string& path) {
  if (stream::is_cache(path)) return describe_cache(path);
  const ModelFile file = ModelFile::open(path);
  Json json = {{"file", path},
               {"kind", store::kind_name(file.kind())},
               {"format", store::kVersion},
               {"bytes", file.bytes()},
               {"fingerprint", store::to_hex(file.fingerprint())}};
  std::uint64_t row_state = 0;
  if (file.kind() == store::Kind::kModel) {
    const model::Model model = train::load_model(file, train::default_memory_limit());
    describe_model(model, json);
    row_state = row_state_bytes(model);
  } else {
    json["header"] = header_to_json(file);
  }
  json["memory"] = memory_to_json(file, row_state);
  json["sections"] = sections_to_json(file);
  return json;
}

}  // namespace leveret::cli
