/// Raw rows to chunks of VW text: each row becomes a line, a header and a blank row none. A chunk's
/// lines are numbered one by one from its first on, so that it ends where rows are not: behind a
/// row of several lines, and before a bad one.
#pragma once

#include <chrono>
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

/// Memory: a window of rows while the schema is not decided (kWindowBytes), then a chunk, or twice
/// the longest row where that is more.
class RowCutter final : public Cutter {
 public:
  /// A window that has so many bytes takes no further row, wherever reads of the source end.
  static constexpr std::size_t kWindowBytes = std::size_t{16} << 20;

  RowCutter(const CutterOptions& options, const StopFlag* stop);

  void start(ByteSource& source, std::uint32_t source_index) override;
  bool next(text::ExampleChunk& chunk) override;

 private:
  /// A whole row of the buffer.
  struct RowPlace {
    std::size_t begin, end;  ///< with its line end; of a row that is too long, its beginning
    std::uint64_t line;      ///< number of its first line
    bool too_long = false;
  };

  void gather();
  Patience patience() const;
  bool has_enough() const;
  bool window_is_full() const;
  void find_rows();
  void add_row(std::size_t end);
  void take_header(std::string_view row);
  void add_last_row();
  void cut_long_row();
  bool skip_long_row();
  void drop(std::size_t begin, std::size_t end);
  void drop_used();
  void look_at_rows();
  bool convert_some(text::ExampleChunk& chunk);
  schema::RowReader::Made convert(const RowPlace& row, std::string& out, convert::Fault& fault);
  void hand_over_bad(const RowPlace& row, const convert::Fault& fault,
                     text::ExampleChunk& chunk) const;
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
  bool skips_ = false;            ///< the rest of a row that is too long
  std::vector<RowPlace> places_;  ///< whole rows, in order
  std::size_t at_ = 0;            ///< the next of them to convert
  std::chrono::steady_clock::time_point began_;  ///< the window
  std::size_t window_ = 0;        ///< bytes of their rows
  std::uint64_t chunk_rows_ = 0;  ///< rows of the chunk at hand
};

}  // namespace leveret::stream
