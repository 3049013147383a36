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
constexpr std::uint64_t kRareShare = 20;  ///< one row of so many has a value, or fewer

Column without_edges(Column column) {
  column.edges.clear();
  return column;
}

/// Whether a known column is as it is wanted. Where no edges are wanted, those that it has are
/// quantiles of what it has learned; where these had too few numbers, it is kLog2 in their place.
bool is_wanted(const Column& known, const Column& wanted) {
  Column as_wanted = wanted;
  as_wanted.missing_feature = known.missing_feature;
  if (as_wanted.edges.empty()) as_wanted.edges = known.edges;
  if (wanted.form == NumberForm::kLinear && known.form == NumberForm::kLog2) {
    as_wanted.form = known.form;
    as_wanted.bins = known.bins;
  }
  return as_wanted == known;
}

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
    take_given();
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
void RowReader::take_given() {
  for (const Column& given : options_.given) {
    const std::size_t at = schema_.find(given.name);
    if (at == Schema::kNone) {
      throw std::runtime_error(fmt::format(
          "the model's schema has no column '{}'; its columns are: {}", given.name, names()));
    }
    Column& column = schema_.columns[at];
    if (column.kind == Kind::kOpen) {
      check_once(schema_, given);
      column = given;
      column.missing_feature = !column.is_feature();
      continue;
    }
    if (is_wanted(column, given)) continue;
    throw std::runtime_error(fmt::format(
        "column '{}' is {} in the model's schema and cannot become {}: learn a new model",
        given.name, column_text(without_edges(column)), column_text(given)));
  }
  check_ages(schema_);
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
  const auto found = index_.find(name);
  std::size_t at = found != index_.end() ? found->second : Schema::kNone;
  if (at == Schema::kNone) {
    const std::string key(name);
    if (!grows_ || schema_.columns.size() == kMostColumns) {
      if (unknown_.size() < kMostColumns && unknown_.insert(key).second) {
        remark(fmt::format("column '{}' is left out: the schema has no such column", key));
      }
      return Schema::kNone;
    }
    at = schema_.columns.size();
    add_column(new_column(key));
  }
  if (at >= named_.size()) named_.resize(schema_.columns.size());
  named_[at] = true;
  return at;
}

// --- A source

void RowReader::start_source() {
  first_ = true;
  format_->begin_source();
  wants_header_ = format_->has_header();
  named_.assign(schema_.columns.size(), false);
  rows_ = 0;
}

void RowReader::take_header(std::string_view row) {
  wants_header_ = false;
  format_->read_header(row, find_);
  check_source();
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
  check_ages(schema_);
}

/// Two columns that are named as labels are: one of them would become a feature that knows it.
void RowReader::check_label_names() const {
  if (has_kind(options_.given, Kind::kLabel)) return;
  const Column* label = nullptr;
  for (const Column& column : schema_.columns) {
    if (!is_label_name(column.name) || find_given(column.name) != nullptr) continue;
    if (label != nullptr) {
      throw std::runtime_error(
          fmt::format("columns '{}' and '{}' are both named as a label: --label NAME says which "
                      "one it is, --column NAME=ignore leaves the other one out",
                      label->name, column.name));
    }
    label = &column;
  }
}

void RowReader::tell_missing() const {
  for (std::size_t i = 0; i < schema_.columns.size(); ++i) {
    const Column& column = schema_.columns[i];
    if ((i < named_.size() && named_[i]) || !column.is_feature()) continue;
    remark(fmt::format("column '{}' is missing: these rows are as if it were empty", column.name));
  }
}

/// Whether the header has what is needed; says what it lacks.
void RowReader::check_source() const {
  check_wanted();
  if (grows_) check_label_names();
  tell_missing();
  if (!options_.needs_label) return;
  const std::size_t label = schema_.find(Kind::kLabel);
  if (label == Schema::kNone) refuse_without_label();
  if (named_[label]) return;
  throw std::runtime_error(
      fmt::format("the column of the label, '{}', is missing", schema_.columns[label].name));
}

void RowReader::end_source() {
  if (format_->has_header() || rows_ < options_.least_rows) return;
  tell_missing();
  const std::size_t label = schema_.find(Kind::kLabel);
  if (!options_.needs_label || label == Schema::kNone || named_[label]) return;
  remark(
      fmt::format("the column of the label, '{}', is in none of these rows: nothing can be "
                  "learned from them",
                  schema_.columns[label].name));
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
  ++looked_at_;
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
    column.missing_feature = grows_ || !column.is_feature();
    why = std::move(found.why);
  }
  if (column.has_edges() && column.edges.empty()) {
    choose_edges(column, sample);
    if (column.is_open() && !grows_) return std::nullopt;
  }
  // Hardly a row has it: that it is missing is no news, and would lengthen all others.
  const bool is_rare = sample.present() * kRareShare < looked_at_;
  if (grows_ && is_rare && column.kind == Kind::kNumber && !column.is_open()) {
    column.missing_feature = false;
  }
  return ColumnFacts{column,
                     std::move(why),
                     sample.examples(),
                     looked_at_,
                     looked_at_ - sample.present(),
                     sample.different()};
}

void RowReader::choose_edges(Column& column, const Sample& sample) const {
  const std::size_t numbers = sample.numbers().size();
  if (numbers > 0 && numbers < options_.least_numbers && column.form == NumberForm::kLinear) {
    column.form = NumberForm::kLog2;
    column.bins = Column::kUsualBins;
    return;
  }
  column.edges = quantiles(sample.numbers(), column.form, column.bins);
}

void RowReader::decide() {
  if (grows_) {
    check_wanted();
    check_label_names();
  }
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
  looked_at_ = 0;
  if (all.empty() && line_) return;
  publish();
  if (options_.decided && !all.empty()) options_.decided(all);
}

void RowReader::publish() {
  use(std::make_shared<const Schema>(schema_));
  shared_->set(known_);
}

void RowReader::use(std::shared_ptr<const Schema> known) {
  known_ = std::move(known);
  line_.emplace(known_);
  waits_ = options_.decides && known_->has_open();
}

void RowReader::follow() {
  std::shared_ptr<const Schema> now = shared_->get();
  if (options_.decides || now == known_) return;
  schema_ = *now;
  use(std::move(now));
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
  ++rows_;
  return Made::kLine;
}

}  // namespace leveret::schema
