#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/look/describe.h"
#include "cli/look/describe_patch.h"
#include "cli/look/describe_shards.h"
#include "cli/look/experts_load.h"
#include "cli/look/summary_text.h"

namespace leveret::cli {
namespace {

using Json = nlohmann::ordered_json;

void add_line(const char* name, const std::string& value, std::string& to) {
  to += fmt::format("{:<12} {}\n", name, value);
}

std::string held_out_text(const Json& held_out) {
  std::string text = fmt::format("one example of {}", plain(held_out["period"]));
  if (held_out["best_pass"] == 0u) return text;
  return text + fmt::format(", best after pass {} with a loss of {}", plain(held_out["best_pass"]),
                            plain(held_out["loss"]));
}

void add_front(const Json& d, std::string& to) {
  add_line("file", plain(d["file"]), to);
  add_line("kind", fmt::format("{}, format {}", plain(d["kind"]), plain(d["format"])), to);
  add_line("bytes", plain(d["bytes"]), to);
  if (d.contains("generation")) {
    add_line("generation", plain(d["generation"]), to);
    add_line("shards", plain(d["shards"]), to);
  }
  if (d.contains("input")) add_line("input", input_text(d["input"]), to);
  if (d.contains("held_out")) add_line("held out", held_out_text(d["held_out"]), to);
  if (d.contains("learned_chunks")) {
    add_line("chunks", plain(d["learned_chunks"]) + " known as learned", to);
  }
  if (d.contains("followed")) add_line("followed", "up to " + plain(d["followed"]), to);
  if (d.contains("fingerprint")) add_line("fingerprint", plain(d["fingerprint"]), to);
  if (d.contains("base_rate")) {
    add_line("examples", plain(d["examples"]) + " learned from", to);
    add_line("base rate", plain(d["base_rate"]), to);
  }
  if (d.value("dropped_gradients", 0u) > 0) {
    add_line("dropped", plain(d["dropped_gradients"]) + " gradients that were not finite", to);
  }
  if (d.contains("export")) {
    std::string text;
    for (const auto& [name, value] : d["export"].items()) {
      text += fmt::format("{}--{} {}", text.empty() ? "" : " ", name, plain(value));
    }
    add_line("export", text, to);
  }
  if (d.contains("memory")) {
    const std::string to_predict = plain(d["memory"]["predict"]) + " bytes to predict";
    add_line("memory",
             d.contains("export")
                 ? to_predict
                 : fmt::format("{}, {} to learn", to_predict, plain(d["memory"]["train"])),
             to);
  }
}

void add_spec(const Json& spec, std::string& to) {
  to += "\nSpec\n";
  for (const auto& [name, value] : spec.items()) {
    const std::string text = plain(value);
    to += fmt::format("  {:<24} {}\n", name, text.empty() ? "-" : text);
  }
}

void add_not_finite(const Json& stats, std::string& to) {
  if (stats.contains("not_finite")) {
    to += fmt::format("  NOT FINITE: {}", plain(stats["not_finite"]));
  }
}

void add_columns(const Json& columns, std::string& to) {
  for (const auto& [name, stats] : columns.items()) {
    to += fmt::format("  {:<13} min {:<11.5g} max {:<11.5g} mean {:<11.5g} zeros {:.1f} %", name,
                      stats["min"].get<double>(), stats["max"].get<double>(),
                      stats["mean"].get<double>(), 100 * stats["zeros"].get<double>());
    add_not_finite(stats, to);
    to += '\n';
  }
}

/// Weights alone, in a summary: sums and counts are for who looks for something.
Json shown_columns(const Json& columns, Detail detail) {
  if (detail == Detail::kAll) return columns;
  Json shown = Json::object();
  for (const char* name : {"weight", "weight2", "fast"}) {
    if (columns.contains(name)) shown[name] = columns[name];
  }
  return shown;
}

void add_linear(const Json& linear, Detail detail, std::string& to) {
  to += fmt::format("\nLinear: {} features in {} {} slots\n", plain(linear["features"]),
                    plain(linear["slots"]), linear["hashed"].get<bool>() ? "hashed" : "growing");
  if (linear["overflow_lookups"] > 0) {
    to += fmt::format("  {} look-ups shared a slot, as memory had run out\n",
                      plain(linear["overflow_lookups"]));
  }
  add_columns(shown_columns(linear["columns"], detail), to);
}

void add_rows(const char* what, const Json& rows, Detail detail, std::string& to) {
  to += fmt::format("\n{}: {} rows, {} bytes\n", what, plain(rows["rows"]), plain(rows["bytes"]));
  if (rows.contains("saturated")) {
    to += fmt::format("  {} of their weights at a limit of the range (--row_bits BITS:range=W)\n",
                      plain(rows["saturated"]));
  }
  add_columns(shown_columns(rows["columns"], detail), to);
}

void add_experts(const Json& modules, std::string& to) {
  for (const auto& [module, shares] : modules.items()) {
    const auto numbers = shares.get<std::vector<double>>();
    to += fmt::format("experts of {}:{}\n", module, shares_text(numbers));
  }
}

void add_fields(const Json& fields, std::string& to) {
  if (fields.empty()) return;
  to += fmt::format("\nFields\n  {:>5} {:>12} {:>12}  {}\n", "field", "features", "rows",
                    "namespaces");
  for (const Json& field : fields) {
    const std::string names = plain(field["namespaces"]);
    to += fmt::format("  {:>5} {:>12} {:>12}  {}", plain(field["field"]),
                      field.contains("keys") ? plain(field["keys"]) : "-",
                      field.contains("rows") ? plain(field["rows"]) : "-",
                      names.empty() ? "(declared; no line had one of it)" : names);
    if (field.value("overflow_rows_given", 0u) > 0) {
      to += fmt::format("  ({} look-ups shared a row)", plain(field["overflow_rows_given"]));
    }
    to += '\n';
  }
}

void add_odd_namespaces(const Json& namespaces, std::string& to) {
  for (const Json& space : namespaces) {
    const std::string name = plain(space["name"]);
    if (!space["keep"].get<bool>()) {
      to += fmt::format("  namespace '{}' is left out\n", name);
    } else if (space["fields"].empty()) {
      to += fmt::format("  namespace '{}' has no field\n", name);
    } else if (!space["linear"].get<bool>()) {
      to += fmt::format("  namespace '{}' has no linear weights\n", name);
    }
  }
}

std::string shape_text(const Json& shape) {
  std::string text;
  for (const Json& dimension : shape) text += (text.empty() ? "" : " x ") + dimension.dump();
  return text.empty() ? "1" : text;
}

/// The factor of each number, where there is one.
std::string coding_text(const Json& section) {
  const auto coding = section["coding"].get<std::string>();
  if (coding == "plain") return "-";
  if (coding == "fixed_by_row") return "by row";
  return fmt::format("{}{:.5g}", coding == "log" ? "log " : "x ", section["scale"].get<double>());
}

void add_model_sections(const Json& sections, std::string& to) {
  to += fmt::format(
      "\nSections\n  {:<24} {:<9} {:<5} {:<16} {:>12} {:<12} {:>11} {:>11} {:>11} {:>8}\n", "name",
      "role", "dtype", "shape", "bytes", "coding", "min", "max", "mean", "zeros");
  for (const Json& section : sections) {
    to += fmt::format("  {:<24} {:<9} {:<5} {:<16} {:>12} {:<12}", plain(section["name"]),
                      plain(section["role"]), plain(section["dtype"]), shape_text(section["shape"]),
                      plain(section["bytes"]), coding_text(section));
    for (const char* figure : {"min", "max", "mean"}) {
      to += section.contains(figure) ? fmt::format(" {:>11.5g}", section[figure].get<double>())
                                     : fmt::format(" {:>11}", "-");
    }
    to += fmt::format(" {:>6.1f} %", 100 * section["zeros"].get<double>());
    add_not_finite(section, to);
    to += '\n';
  }
  to += fmt::format("\nAll checksums are right ({} sections).\n", sections.size());
}

void add_cache(const Json& d, std::string& to) {
  add_line("examples",
           fmt::format("{} with {} features, in {} blocks", plain(d["examples"]),
                       plain(d["features"]), plain(d["blocks"])),
           to);
  add_line("left out",
           fmt::format("{} bad and {} blank lines", plain(d["bad_lines"]), plain(d["blank_lines"])),
           to);
  add_line("made with",
           fmt::format("--hash {} --hash_seed {} --max_line {}", plain(d["hash"]),
                       plain(d["hash_seed"]), plain(d["max_line"])),
           to);
  const auto list = [&](const char* what, const char* key) {
    std::string names;
    for (const Json& space : d[key]) names += (names.empty() ? "" : ", ") + plain(space);
    if (!names.empty()) add_line(what, names, to);
  };
  list("numbers of", "numbers");
  list("--numeric", "numeric");
  for (const Json& source : d["sources"]) {
    add_line("of", fmt::format("{}, {} bytes", plain(source["name"]), plain(source["bytes"])), to);
  }
  to += "\nAll checksums are right.\n";
}

}  // namespace

std::string plain(const Json& value) {
  if (value.is_string()) return printable(value.get<std::string>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return value.dump();
}

std::string printable(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result;
}

std::string description_text(const Json& d, Detail detail) {
  const bool all = detail == Detail::kAll;
  if (d.contains("base")) return patch_text(d, detail);
  std::string text;
  add_front(d, text);
  if (d.contains("sources")) add_cache(d, text);
  if (d.contains("header")) text += "\nHeader\n  " + plain(Json(d["header"].dump())) + "\n";
  if (d.contains("spec")) {
    all ? add_spec(d["spec"], text) : void(text += options_summary(d["spec"]));
  }
  if (d.contains("linear")) add_linear(d["linear"], detail, text);
  if (d.contains("ffm")) add_rows("FFM", d["ffm"], detail, text);
  if (d.contains("embeddings")) add_rows("Embeddings", d["embeddings"], detail, text);
  if (d.contains("experts")) add_experts(d["experts"], text);
  if (d.contains("candidates_as_wholes")) {
    text += fmt::format("with a context, candidates are scored as whole lines: {}\n",
                        d["candidates_as_wholes"].get<std::string>());
  }
  if (d.contains("whole_for_candidates")) {
    text += fmt::format("with a context, computed whole for each candidate: {}\n",
                        fmt::join(d["whole_for_candidates"].get<std::vector<std::string>>(), ", "));
  }
  if (d.contains("fields")) {
    all ? add_fields(d["fields"], text)
        : void(text += fields_summary(d["fields"], d.contains("ffm")));
    if (all) add_odd_namespaces(d["namespaces"], text);
  }
  if (d.contains("sections")) {
    all ? add_model_sections(d["sections"], text) : void(text += sections_summary(d["sections"]));
  }
  if (d.contains("files")) text += shard_files_text(d["files"]);
  return text;
}

}  // namespace leveret::cli
