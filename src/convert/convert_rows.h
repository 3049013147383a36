/// From the rows of some other format to lines of VW text.
///
/// A converter is fed the source's bytes in pieces of any size and hands VW text, whole lines, to a
/// sink; at the end of each piece nothing that could be converted is held back, so that live
/// pipes stay live. It owns its buffers, prints nothing and uses one thread. A row that is wrong
/// goes to the `bad` callback and leaves no text behind; callbacks may throw to end the conversion.
/// A fault that concerns all of a source throws ConvertError; what reads well, but hardly as it was
/// meant, goes to the `remark` callback.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "convert/row_scan.h"

namespace leveret::convert {

struct BadRow {
  std::uint64_t line;    ///< 1-based number of its first line in the source
  std::uint64_t column;  ///< 1-based byte in the row where the fault is
  const char* what;      ///< static text
  std::string_view row;  ///< without line end; valid during the call
};

/// A fault that concerns all of a source: a header that lacks a column, a row without end.
class ConvertError : public std::runtime_error {
 public:
  /// `column`: byte in the line, from 1; 0: all of the line.
  ConvertError(std::uint64_t line, const std::string& what, std::uint64_t column = 0)
      : std::runtime_error(what), line_(line), column_(column) {}
  std::uint64_t line() const { return line_; }
  std::uint64_t column() const { return column_; }

 private:
  std::uint64_t line_, column_;
};

/// A place that a person who made the source should look at.
struct ConvertRemark {
  std::uint64_t line, column;  ///< as of ConvertError; line 0: all of the source
  std::string what;
};

struct ConvertCounts {
  std::uint64_t rows = 0;      ///< that are neither blank nor a header
  std::uint64_t examples = 0;  ///< lines of VW text
  std::uint64_t bad = 0;
  std::uint64_t blank = 0;
  std::uint64_t unlabelled = 0;  ///< good rows that lack the label which other rows have
};

struct ConvertCallbacks {
  std::function<void(std::string_view)> text;  ///< the sink
  std::function<void(const BadRow&)> bad;
  std::function<void(const ConvertRemark&)> remark = {};  ///< may be empty
};

class Converter {
 public:
  static constexpr std::size_t kMaxRow = std::size_t{64} << 20;

  explicit Converter(ConvertCallbacks callbacks, std::size_t max_row = kMaxRow);
  virtual ~Converter() = default;
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  /// The next bytes of the source.
  void feed(std::string_view bytes);
  /// The source is at its end (its last row may lack a line end); another may follow.
  void finish_source();
  /// Makes the remarks that are due at a source's end: for one that an error ended.
  void finish_remarks();
  const ConvertCounts& counts() const { return counts_; }

 protected:
  /// Looks at a source's first row. True: it was a header and is not a row of data.
  virtual bool take_header(std::string_view row) = 0;
  /// Whether a later row is the source's header once more, as where files were joined.
  virtual bool repeats_header(std::string_view /*row*/) const { return false; }
  /// Whether what is a row to us is many lines that end otherwise.
  virtual bool ends_otherwise(std::string_view row) const;
  /// Most bytes that convert_row writes for a row of this size.
  virtual std::size_t room(std::size_t row_bytes) const = 0;
  /// Writes the row's lines and returns their end, or sets the fault and returns nullptr.
  virtual char* convert_row(std::string_view row, char* out, Fault& fault) = 0;
  /// Index of the `\n` that ends the row which begins at bytes[0], or npos when it is not there
  /// yet. By default a row is a line.
  virtual std::size_t find_row_end(std::string_view bytes, RowScan& scan) const;
  /// Lines of text written for the row last converted.
  virtual std::uint64_t lines_written() const { return 1; }
  /// The source is at its end: what there is to say of its rows.
  virtual void remark_on_rows() {}

  /// To be called for a row that is good and lacks its label.
  void count_unlabelled() { ++counts_.unlabelled; }
  void remark(const ConvertRemark& remark) const;

 private:
  std::size_t take_rows(std::string_view bytes);
  void check_length(std::string_view row) const;
  [[noreturn]] void refuse_open_quote(const std::string& where) const;
  void take_row(std::string_view row);
  void count_broken_cells();
  void take_data(std::string_view row);
  char* make_room(std::size_t bytes);
  void flush();

  ConvertCallbacks callbacks_;
  std::size_t max_row_;
  ConvertCounts counts_;
  std::string pending_;  ///< the beginning of a row whose end has not come
  RowScan scan_;
  std::uint64_t line_ = 1;
  // The state of the source at hand:
  bool first_row_ = true;
  bool may_end_otherwise_ = false;  ///< its only row looks like it
  std::uint64_t headers_ = 0;       ///< further ones
  std::uint64_t broken_ = 0;        ///< quoted cells with line ends
  QuotedCell longest_;              ///< of those
  std::unique_ptr<char[]> text_;
  std::size_t text_size_ = 0, text_capacity_ = 0;
};

}  // namespace leveret::convert
