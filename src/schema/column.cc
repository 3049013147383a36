#include "schema/column.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

#include "convert/convert_numeric.h"
#include "schema/escape.h"
#include "text/plain_number.h"

namespace leveret::schema {
namespace {

constexpr std::pair<Kind, std::string_view> kKinds[] = {
    {Kind::kOpen, "open"},         {Kind::kLabel, "label"},   {Kind::kWeight, "weight"},
    {Kind::kTag, "tag"},           {Kind::kId, "id"},         {Kind::kIgnore, "ignore"},
    {Kind::kCategory, "category"}, {Kind::kNumber, "number"}, {Kind::kList, "list"},
    {Kind::kText, "text"},         {Kind::kDate, "date"}};
constexpr std::pair<NumberForm, std::string_view> kForms[] = {{NumberForm::kLinear, "linear"},
                                                              {NumberForm::kHard, "hard"},
                                                              {NumberForm::kLog2, "log2"},
                                                              {NumberForm::kSqrt, "sqrt"},
                                                              {NumberForm::kValue, "value"}};

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

std::optional<Kind> find_kind(std::string_view word) {
  for (const auto& [kind, name] : kKinds) {
    if (name == word) return kind;
  }
  return std::nullopt;
}

Kind kind_of(std::string_view word) {
  if (const std::optional<Kind> kind = find_kind(word)) return *kind;
  if (word == "vector") fail("vectors are not known yet; ignore leaves the column out");
  fail(fmt::format(
      "'{}' is no kind: label, weight, tag, id, ignore, category, number, date, list, text", word));
}

std::uint32_t whole(std::string_view key, std::string_view value, std::uint32_t most) {
  const auto number = text::read_whole(value, 1, most);
  if (!number) fail(fmt::format("{}={} is no whole number from 1 to {}", key, value, most));
  return static_cast<std::uint32_t>(*number);
}

/// Calls each(part) for what stands between pluses.
void for_each_part(std::string_view value, const std::function<void(std::string_view)>& each) {
  for (;;) {
    const std::size_t plus = value.find('+');
    each(value.substr(0, plus));
    if (plus == std::string_view::npos) return;
    value.remove_prefix(plus + 1);
  }
}

std::vector<double> edges_of(std::string_view value) {
  std::vector<double> edges;
  for_each_part(value, [&](std::string_view part) {
    const std::optional<double> edge = convert::read_real(part);
    if (!edge) fail(fmt::format("edges={}: '{}' is no number; put + between them", value, part));
    if (!edges.empty() && *edge <= edges.back()) {
      fail(fmt::format("edges={}: they must ascend", value));
    }
    edges.push_back(*edge);
  });
  if (edges.size() > Column::kMostBins + 1) {
    fail(fmt::format("more than {} edges", Column::kMostBins + 1));
  }
  return edges;
}

char separator_of(std::string_view value) {
  const std::string plain = unescaped(value);
  if (plain.size() != 1) fail(fmt::format("separator={} is not one byte", value));
  return plain[0];
}

/// A word behind the kind. False: the kind has no such.
bool take_word(Column& column, std::string_view key, std::string_view value, bool has_value) {
  if (column.kind == Kind::kNumber && !has_value) {
    for (const auto& [form, name] : kForms) {
      if (name != key) continue;
      column.form = form;
      return true;
    }
    return false;
  }
  if (!has_value) return false;
  if (column.is_feature() && key == "missing" && value == "none") {
    column.missing_feature = false;
  } else if (column.kind == Kind::kNumber && key == "bins") {
    column.bins = whole(key, value, Column::kMostBins);
  } else if (column.kind == Kind::kNumber && key == "edges") {
    column.edges = edges_of(value);
  } else if (column.kind == Kind::kLabel && key == "positive") {
    for_each_part(value,
                  [&](std::string_view part) { column.positive.push_back(unescaped(part)); });
  } else if (column.kind == Kind::kList && key == "separator") {
    column.separator = separator_of(value);
  } else if (column.kind == Kind::kDate && key == "age_at" && !value.empty()) {
    column.age_at = unescaped(value);
  } else if (column.kind == Kind::kText && key == "words") {
    column.words = whole(key, value, Column::kMostWords);
  } else {
    return false;
  }
  return true;
}

const char* words_of(Kind kind) {
  switch (kind) {
    case Kind::kNumber:
      return "linear, hard, log2, sqrt, value, bins=N, edges=X+X, missing=none";
    case Kind::kLabel:
      return "positive=VALUE+VALUE";
    case Kind::kList:
      return "separator=BYTE, missing=none";
    case Kind::kText:
      return "words=N, missing=none";
    case Kind::kDate:
      return "age_at=COLUMN, missing=none";
    case Kind::kCategory:
      return "missing=none";
    default:
      return "nothing";
  }
}

void check_number(const Column& column) {
  if (!column.has_edges() && (!column.edges.empty() || column.bins != Column::kUsualBins)) {
    fail("log2, sqrt and value have neither bins nor edges");
  }
}

std::string number_text(const Column& column) {
  std::string text;
  if (column.form != NumberForm::kLinear) {
    for (const auto& [form, name] : kForms) {
      if (form == column.form) text += fmt::format(",{}", name);
    }
  }
  if (column.bins != Column::kUsualBins) text += fmt::format(",bins={}", column.bins);
  for (std::size_t i = 0; i < column.edges.size(); ++i) {
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), column.edges[i]);
    // An exponent's plus would part two edges.
    std::string edge(digits.data(), end.ptr);
    std::erase(edge, '+');
    text += (i == 0 ? ",edges=" : "+") + edge;
  }
  return text;
}

}  // namespace

std::string_view kind_name(Kind kind) {
  for (const auto& [of, name] : kKinds) {
    if (of == kind) return name;
  }
  return "unknown";
}

Column parse_column(std::string name, std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  Column column;
  column.name = std::move(name);
  column.kind = kind_of(text.substr(0, colon));
  std::string_view rest = text.substr(std::min(colon + 1, text.size()));
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view word = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const std::size_t equal = word.find('=');
    const bool has_value = equal != std::string_view::npos;
    const std::string_view value = has_value ? word.substr(equal + 1) : std::string_view();
    if (!take_word(column, word.substr(0, equal), value, has_value)) {
      fail(fmt::format("'{}' means nothing to {}, which takes {}", word, kind_name(column.kind),
                       words_of(column.kind)));
    }
  }
  if (column.kind == Kind::kNumber) check_number(column);
  return column;
}

Column parse_named_column(std::string_view text) {
  std::size_t name = text.find('=');
  if (name == std::string_view::npos) fail(fmt::format("'{}' has no kind: NAME=KIND", text));
  for (std::size_t at = name; at != std::string_view::npos; at = text.find('=', at + 1)) {
    const std::string_view rest = text.substr(at + 1);
    if (!find_kind(rest.substr(0, rest.find(':')))) continue;
    name = at;
    break;
  }
  return parse_column(std::string(text.substr(0, name)), text.substr(name + 1));
}

std::string column_text(const Column& column) {
  std::string words;
  if (!column.missing_feature) words += ",missing=none";
  if (column.kind == Kind::kNumber) words += number_text(column);
  for (std::size_t i = 0; i < column.positive.size(); ++i) {
    words += (i == 0 ? ",positive=" : "+") + escaped(column.positive[i]);
  }
  if (column.kind == Kind::kList && column.separator != '|') {
    words += ",separator=" + escaped(std::string(1, column.separator));
  }
  if (column.kind == Kind::kText && column.words != Column::kUsualWords) {
    words += fmt::format(",words={}", column.words);
  }
  if (!column.age_at.empty()) words += ",age_at=" + escaped(column.age_at);
  std::string text(kind_name(column.kind));
  if (!words.empty()) text += ':' + words.substr(1);
  return text;
}

}  // namespace leveret::schema
