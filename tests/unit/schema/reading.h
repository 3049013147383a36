/// Runs a RowReader over rows as a stream would.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "schema/row_reader.h"

namespace leveret::schema::testing {

struct ReadRows {
  std::string text;               ///< lines of VW text
  std::vector<std::string> bad;   ///< "ROW: WHAT", rows from 0
  std::vector<std::string> told;  ///< remarks
  std::vector<ColumnFacts> facts;
  Schema schema;
};

/// All rows are looked at before the first is converted. `schema`: what is known before.
inline ReadRows read_rows(std::string_view source, RowOptions options, Schema schema = {}) {
  ReadRows result;
  const auto shared = std::make_shared<SharedSchema>(std::move(schema));
  options.remark = [&](const std::string& text) { result.told.push_back(text); };
  options.decided = [&](const std::vector<ColumnFacts>& facts) { result.facts = facts; };
  RowReader reader(options, shared);
  std::vector<std::string_view> rows;
  const auto take = [&](std::string_view row) {
    if (reader.wants_header() && !plain_row(row).empty()) return reader.take_header(plain_row(row));
    rows.push_back(row);
  };
  reader.start_source();
  while (!source.empty()) {
    convert::RowScan scan;
    const std::size_t end = std::min(reader.find_row_end(source, scan), source.size() - 1) + 1;
    take(source.substr(0, end));
    source.remove_prefix(end);
  }
  for (const std::string_view row : rows) {
    if (reader.is_open()) reader.look_at(row);
  }
  if (reader.is_open()) reader.decide();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    convert::Fault fault;
    if (reader.convert(rows[i], result.text, fault) == RowReader::Made::kBad) {
      result.bad.push_back(std::to_string(i) + ": " + fault.what);
    }
  }
  result.schema = *shared->get();
  return result;
}

inline RowOptions options_of(std::string_view format,
                             const std::vector<std::string>& columns = {}) {
  RowOptions options;
  options.least_numbers = 1;
  options.format = parse_format(format);
  for (const std::string& column : columns) options.given.push_back(parse_named_column(column));
  return options;
}

}  // namespace leveret::schema::testing
