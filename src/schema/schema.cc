#include "schema/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "schema/cell_text.h"
#include "schema/escape.h"

namespace leveret::schema {
namespace {

Column column_of(std::string_view line) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos) throw std::runtime_error("no kind behind the name");
  const std::size_t kind = line.find_first_not_of(' ', blank);
  if (kind == std::string_view::npos) throw std::runtime_error("no kind behind the name");
  return parse_column(unescaped(line.substr(0, blank)), line.substr(kind));
}

void check_new(const Schema& schema, const Column& column) {
  if (schema.columns.size() == kMostColumns) {
    throw std::runtime_error(fmt::format("more than {} columns", kMostColumns));
  }
  if (schema.find(column.name) != Schema::kNone) {
    throw std::runtime_error(fmt::format("column '{}' is there already", column.name));
  }
  check_once(schema, column);
}

}  // namespace

std::size_t Schema::find(std::string_view name) const {
  const auto at = std::ranges::find(columns, name, &Column::name);
  return at == columns.end() ? kNone : static_cast<std::size_t>(at - columns.begin());
}

std::size_t Schema::find(Kind kind) const {
  const auto at = std::ranges::find(columns, kind, &Column::kind);
  return at == columns.end() ? kNone : static_cast<std::size_t>(at - columns.begin());
}

bool Schema::has_open() const { return std::ranges::any_of(columns, &Column::is_open); }

void check_ages(const Schema& schema) {
  for (const Column& column : schema.columns) {
    if (column.age_at.empty() || schema.find(column.age_at) != Schema::kNone) continue;
    throw std::runtime_error(
        fmt::format("column '{}': there is no column '{}', at which to tell "
                    "its age",
                    column.name, column.age_at));
  }
}

void check_once(const Schema& schema, const Column& column) {
  const bool once =
      column.kind == Kind::kLabel || column.kind == Kind::kWeight || column.kind == Kind::kTag;
  const std::size_t other = once ? schema.find(column.kind) : Schema::kNone;
  if (other == Schema::kNone) return;
  throw std::runtime_error(fmt::format("column '{}' is a second {}, beside '{}'", column.name,
                                       kind_name(column.kind), schema.columns[other].name));
}

bool is_continued(const Schema& now, const Schema& later) {
  return std::ranges::equal(now.columns, later.columns, [](const Column& a, const Column& b) {
    return a == b || (a.is_open() && a.name == b.name);
  });
}

std::string to_text(const Schema& schema) {
  std::string text;
  for (const Column& column : schema.columns) {
    fmt::format_to(std::back_inserter(text), "{} {}\n", escaped(column.name), column_text(column));
  }
  return text;
}

Schema from_text(std::string_view text) {
  Schema schema;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    try {
      Column column = column_of(line);
      check_new(schema, column);
      schema.columns.push_back(std::move(column));
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("line {}: {}", number, error.what()));
    }
  }
  check_ages(schema);
  return schema;
}

}  // namespace leveret::schema
