/// Raw rows to chunks of VW text: each row becomes a line, a header and a blank row none. A chunk's
/// lines are numbered one by one from its first on, so that it ends where rows are not: behind a
/// row of several lines, and before a bad one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "convert/row_scan.h"
#include "schema/row_reader.h"
#include "stream/cutter.h"
#include "stream/source_buffer.h"

namespace leveret::stream {

/// Memory: the first rows until the schema is decided (kFirstBytes), then a chunk, or twice the
/// longest row where that is more.
class RowCutter final : public Cutter {
 public:
  /// Rows that wait for the schema have no more bytes, unless the first one alone has.
  static constexpr std::size_t kFirstBytes = std::size_t{16} << 20;

  RowCutter(const CutterOptions& options, const StopFlag* stop);

  void start(ByteSource& source, std::uint32_t source_index) override;
  bool next(text::ExampleChunk& chunk) override;

 private:
  /// A whole row of the buffer.
  struct RowPlace {
    std::size_t begin, end;  ///< with its line end
    std::uint64_t line;      ///< number of its first line
  };

  void gather();
  bool has_enough() const;
  void find_rows();
  void add_row(std::size_t end);
  void take_header(std::string_view row);
  void add_last_row();
  void check_length();
  void drop_used();
  void look_at_rows();
  bool convert_some(text::ExampleChunk& chunk);
  void hand_over_bad(const RowPlace& row, const convert::Fault& fault, text::ExampleChunk& chunk);
  void begin_chunk(text::ExampleChunk& chunk) const;
  void end_by(const std::string& what);
  std::string_view text_of(const RowPlace& row) const {
    return std::string_view(in_.bytes).substr(row.begin, row.end - row.begin);
  }
  std::string place(std::uint64_t line, std::string_view what) const;
  std::string open_quote(std::string_view where) const;
  [[noreturn]] void refuse(std::uint64_t line, std::string_view what) const;

  const CutterOptions options_;
  const StopFlag* stop_;
  schema::RowReader rows_;
  std::uint32_t source_index_ = 0;
  SourceBuffer in_;
  std::size_t row_begin_ = 0;     ///< where the unfinished row begins
  convert::RowScan scan_;         ///< of that row
  std::uint64_t line_ = 1;        ///< number of its first line
  std::vector<RowPlace> places_;  ///< whole rows, in order
  std::size_t at_ = 0;            ///< the next of them to convert
  std::uint64_t chunk_rows_ = 0;  ///< rows of the chunk at hand
};

}  // namespace leveret::stream
