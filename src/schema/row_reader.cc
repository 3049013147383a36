#include "schema/row_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "schema/guess.h"
#include "schema/number_bins.h"

namespace leveret::schema {
namespace {

constexpr std::size_t kShownNames = 500;  ///< bytes

bool has_kind(const std::vector<Column>& columns, Kind kind) {
  return std::ranges::find(columns, kind, &Column::kind) != columns.end();
}

}  // namespace

std::string_view plain_row(std::string_view row) {
  if (row.starts_with(convert::kByteOrderMark)) row.remove_prefix(convert::kByteOrderMark.size());
  if (row.ends_with('\n')) row.remove_suffix(1);
  if (row.ends_with('\r')) row.remove_suffix(1);
  return row;
}

RowReader::RowReader(RowOptions options, std::shared_ptr<SharedSchema> schema)
    : options_(std::move(options)),
      shared_(std::move(schema)),
      schema_(*shared_->get()),
      grows_(schema_.columns.empty()),
      has_label_(schema_.find(Kind::kLabel) != Schema::kNone ||
                 has_kind(options_.given, Kind::kLabel)),
      format_(make_format(options_.format)),
      find_([this](std::string_view name) { return find_column(name); }) {
  samples_.resize(schema_.columns.size());
  for (std::size_t i = 0; i < schema_.columns.size(); ++i) {
    index_.emplace(schema_.columns[i].name, i);
  }
  if (!grows_) {
    check_given();
    publish();
  }
}

void RowReader::remark(const std::string& text) const {
  if (options_.remark) options_.remark(text);
}

std::string RowReader::names() const {
  std::string all;
  for (const Column& column : schema_.columns) {
    all += (all.empty() ? "" : ", ") + column.name;
    if (all.size() > kShownNames) return all + ", …";
  }
  return all;
}

/// A schema that is there already holds: what is wanted must be what it says, or be open.
void RowReader::check_given() const {
  for (const Column& given : options_.given) {
    const std::size_t at = schema_.find(given.name);
    if (at == Schema::kNone) {
      throw std::runtime_error(fmt::format(
          "the model's schema has no column '{}'; its columns are: {}", given.name, names()));
    }
    const Column& column = schema_.columns[at];
    if (column.kind == given.kind || column.is_open()) continue;
    throw std::runtime_error(fmt::format(
        "column '{}' is {} in the model's schema and cannot become {}: learn a new model",
        given.name, kind_name(column.kind), kind_name(given.kind)));
  }
}

/// Null where nobody wants it otherwise than it is guessed.
const Column* RowReader::find_given(std::string_view name) const {
  const auto given = std::ranges::find(options_.given, name, &Column::name);
  return given != options_.given.end() ? &*given : nullptr;
}

Column RowReader::new_column(const std::string& name) const {
  if (const Column* const given = find_given(name)) return *given;
  Column column;
  column.name = name;
  if (!has_label_ && is_label_name(name)) column.kind = Kind::kLabel;
  return column;
}

void RowReader::add_column(Column column) {
  index_.emplace(column.name, schema_.columns.size());
  if (column.kind == Kind::kLabel) has_label_ = true;
  schema_.columns.push_back(std::move(column));
  samples_.emplace_back();
}

std::size_t RowReader::find_column(std::string_view name) {
  const std::string key(name);
  const auto found = index_.find(key);
  if (found != index_.end()) return found->second;
  if (!grows_ || schema_.columns.size() == kMostColumns) {
    if (unknown_.size() < kMostColumns && unknown_.insert(key).second) {
      remark(fmt::format("column '{}' is left out: the schema has no such column", key));
    }
    return Schema::kNone;
  }
  add_column(new_column(key));
  return schema_.columns.size() - 1;
}

// --- A source

void RowReader::start_source() {
  first_ = true;
  wants_header_ = format_->begin_source();
}

void RowReader::take_header(std::string_view row) {
  wants_header_ = false;
  std::vector<bool> named;
  format_->read_header(row, [&](std::string_view name) {
    const std::size_t column = find_column(name);
    named.resize(schema_.columns.size());
    if (column != Schema::kNone) named[column] = true;
    return column;
  });
  named.resize(schema_.columns.size());
  check_source(named);
}

void RowReader::refuse_without_label() const {
  throw std::runtime_error(
      fmt::format("no column is the label: --label NAME names it; the columns are: {}", names()));
}

void RowReader::check_wanted() const {
  for (const Column& given : options_.given) {
    if (index_.contains(given.name)) continue;
    throw std::runtime_error(
        fmt::format("there is no column '{}'; the columns are: {}", given.name, names()));
  }
}

/// Whether the header has what is needed; says what it lacks. `named`: the columns in it.
void RowReader::check_source(const std::vector<bool>& named) const {
  check_wanted();
  for (std::size_t i = 0; i < schema_.columns.size(); ++i) {
    const Column& column = schema_.columns[i];
    if (named[i] || !column.is_feature()) continue;
    remark(fmt::format("column '{}' is missing: these rows are as if it were empty", column.name));
  }
  if (!options_.needs_label) return;
  const std::size_t label = schema_.find(Kind::kLabel);
  if (label == Schema::kNone) refuse_without_label();
  if (named[label]) return;
  throw std::runtime_error(
      fmt::format("the column of the label, '{}', is missing", schema_.columns[label].name));
}

// --- Rows

bool RowReader::read(std::string_view text, convert::Fault& fault) {
  row_.cells.assign(schema_.columns.size(), {});
  const bool good = format_->read(text, find_, row_, fault);
  // An object may have named further columns.
  row_.cells.resize(schema_.columns.size());
  return good;
}

void RowReader::look_at(std::string_view row) {
  const std::string_view text = plain_row(row);
  convert::Fault fault;
  if (text.empty() || format_->repeats_header(text) || !read(text, fault)) return;
  for (std::size_t i = 0; i < schema_.columns.size(); ++i) {
    if (grows_ || schema_.columns[i].is_open()) samples_[i].add(row_, row_.cells[i]);
  }
}

/// Its kind, and the edges of its numbers, where it has values.
std::optional<ColumnFacts> RowReader::decide(std::size_t number) {
  Column& column = schema_.columns[number];
  const Sample sample = std::exchange(samples_[number], {});
  if (!grows_ && !column.is_open()) return std::nullopt;
  std::string why = column.kind == Kind::kLabel ? "by its name" : "";
  if (find_given(column.name) != nullptr) why = "as wanted";
  if (column.kind == Kind::kOpen) {
    Guess found = guess(column.name, sample);
    if (found.kind == Kind::kOpen && !grows_) return std::nullopt;
    column.kind = found.kind;
    if (column.kind == Kind::kNumber) column.missing_feature = grows_;
    why = std::move(found.why);
  }
  if (column.has_edges() && column.edges.empty()) {
    column.edges = quantiles(sample.numbers(), column.form, column.bins);
    if (column.edges.empty() && !grows_) return std::nullopt;
  }
  return ColumnFacts{column,        std::move(why),   sample.examples(),
                     sample.rows(), sample.missing(), sample.different()};
}

void RowReader::decide() {
  if (grows_) check_wanted();
  first_ = false;
  std::vector<ColumnFacts> all;
  for (std::size_t i = 0; i < schema_.columns.size(); ++i) {
    std::optional<ColumnFacts> facts = decide(i);
    if (facts) all.push_back(std::move(*facts));
  }
  if (grows_ && options_.needs_label && schema_.find(Kind::kLabel) == Schema::kNone) {
    refuse_without_label();
  }
  grows_ = false;
  if (all.empty() && line_) return;
  publish();
  if (options_.decided && !all.empty()) options_.decided(all);
}

void RowReader::publish() {
  const auto known = std::make_shared<const Schema>(schema_);
  shared_->set(known);
  line_.emplace(known);
}

RowReader::Made RowReader::convert(std::string_view row, std::string& out, convert::Fault& fault) {
  const std::string_view text = plain_row(row);
  if (text.empty() || format_->repeats_header(text)) return Made::kBlank;
  if (!read(text, fault) || !line_->append(row_, text.size(), out, fault)) {
    // A value that was written anew is none of the row's bytes.
    const bool within = fault.at >= text.data() && fault.at <= text.data() + text.size();
    if (!within) fault.at = text.data();
    return Made::kBad;
  }
  return Made::kLine;
}

}  // namespace leveret::schema
