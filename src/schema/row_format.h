/// The rows of a format: where one ends, and the values in it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convert/row_scan.h"
#include "schema/row.h"

namespace leveret::schema {

/// The column of this name, which may be a new one; Schema::kNone: it is left out.
using FindColumn = std::function<std::size_t(std::string_view name)>;

/// One source of one thread at a time.
class RowFormat {
 public:
  virtual ~RowFormat() = default;

  /// Index of the `\n` that ends the row which begins at bytes[0], or npos where it is not there
  /// yet.
  virtual std::size_t find_row_end(std::string_view bytes, convert::RowScan& scan) const = 0;
  /// Whether a source's first row is a header, for read_header().
  virtual bool has_header() const = 0;
  virtual void begin_source() = 0;
  /// Names the source's columns. std::runtime_error says what is wrong with them; it knows neither
  /// the source nor the line.
  virtual void read_header(std::string_view row, const FindColumn& find) = 0;
  /// Whether a later row is the header once more, as where files were joined.
  virtual bool repeats_header(std::string_view row) const = 0;
  /// Fills the row's cells, which are as many as there are columns; new ones may be found on the
  /// way. False: it is no row of this format, as `fault` says.
  virtual bool read(std::string_view text, const FindColumn& find, Row& row,
                    convert::Fault& fault) = 0;
};

/// A format by its word and options: csv, tsv, json (a row is a line, an object by the columns'
/// names), and csv:delimiter=;,quoting=none. std::runtime_error says what is wrong with the words.
struct FormatWord {
  enum class Kind : unsigned char { kVw, kDelimited, kJson };
  Kind kind = Kind::kVw;
  char delimiter = '\0';  ///< '\0': a comma, or what parts a header without one
  bool quoted = true;     ///< false: a quote is a byte as any other, and a row is a line

  bool operator==(const FormatWord&) const = default;
};
FormatWord parse_format(std::string_view word);
/// One byte, neither a quote nor a line end, or the word tab; nothing where it is none of these.
std::optional<char> read_delimiter(std::string_view word);
/// By the suffix of a file's name, also where .gz or .zst follows: .csv, .tsv, .jsonl, .ndjson,
/// .json, in capitals, too. Nothing: the name does not tell.
std::optional<FormatWord> format_of_file(std::string_view path);

/// Not of kVw.
std::unique_ptr<RowFormat> make_format(const FormatWord& word);

}  // namespace leveret::schema
