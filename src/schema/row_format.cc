#include "schema/row_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "schema/cell_text.h"
#include "schema/delimited_rows.h"
#include "schema/json_rows.h"

namespace leveret::schema {
namespace {

constexpr std::pair<std::string_view, FormatWord> kFormats[] = {
    {"vw", {}},
    {"csv", {FormatWord::Kind::kDelimited}},
    {"tsv", {FormatWord::Kind::kDelimited, '\t'}},
    {"json", {FormatWord::Kind::kJson}}};
constexpr std::pair<std::string_view, std::string_view> kSuffixes[] = {
    {".csv", "csv"},    {".tsv", "tsv"},     {".tab", "tsv"},
    {".jsonl", "json"}, {".ndjson", "json"}, {".json", "json"}};

[[noreturn]] void refuse_word(const std::string& what) { throw std::runtime_error(what); }

char delimiter_named(std::string_view value) {
  const std::optional<char> delimiter = read_delimiter(value);
  if (!delimiter) {
    refuse_word("delimiter= is one byte or the word tab, neither a quote nor a line end");
  }
  return *delimiter;
}

void take_option(FormatWord& format, std::string_view option) {
  const std::size_t equal = std::min(option.find('='), option.size());
  const std::string_view key = option.substr(0, equal);
  const std::string_view value = option.substr(std::min(equal + 1, option.size()));
  if (key == "delimiter") {
    format.delimiter = delimiter_named(value);
  } else if (key == "quoting" && (value == "none" || value == "rfc4180")) {
    format.quoted = value != "none";
  } else {
    refuse_word(fmt::format("'{}' is neither delimiter=BYTE nor quoting=none", option));
  }
}

}  // namespace

std::optional<char> read_delimiter(std::string_view word) {
  if (word == "tab" || word == "\\t") return '\t';
  const bool is_byte = word.size() == 1 && word != "\"" && word != "\n" && word != "\r";
  return is_byte ? std::optional(word[0]) : std::nullopt;
}

FormatWord parse_format(std::string_view word) {
  const std::size_t colon = std::min(word.find(':'), word.size());
  const std::string_view name = word.substr(0, colon);
  const auto found = std::ranges::find(kFormats, name, [](const auto& of) { return of.first; });
  if (found == std::end(kFormats)) {
    refuse_word(fmt::format("'{}' is no format: csv, tsv, json, or vw for VW text", name));
  }
  FormatWord format = found->second;
  std::string_view rest = word.substr(std::min(colon + 1, word.size()));
  if (!rest.empty() && format.kind != FormatWord::Kind::kDelimited) {
    refuse_word(fmt::format("{} has no options", name));
  }
  while (!rest.empty()) {
    // The delimiter may be a comma.
    const std::size_t begin = rest.starts_with("delimiter=,") ? 11 : 0;
    const std::size_t comma = std::min(rest.find(',', begin), rest.size());
    take_option(format, rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return format;
}

std::optional<FormatWord> format_of_file(std::string_view path) {
  std::string small(path);
  std::ranges::transform(small, small.begin(), lower);
  std::string_view name = small;
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  }
  for (const auto& [suffix, word] : kSuffixes) {
    if (name.ends_with(suffix)) return parse_format(word);
  }
  return std::nullopt;
}

std::unique_ptr<RowFormat> make_format(const FormatWord& word) {
  if (word.kind == FormatWord::Kind::kJson) return std::make_unique<JsonRows>();
  return std::make_unique<DelimitedRows>(word.delimiter, word.quoted);
}

}  // namespace leveret::schema
