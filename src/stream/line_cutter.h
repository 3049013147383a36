/// Cuts the bytes of a source into chunks of whole lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

#include "stream/byte_source.h"
#include "text/example.h"

namespace leveret::stream {

struct CutterOptions {
  std::size_t chunk_bytes = 64 << 10;  ///< a chunk is handed on when this full, or sooner
  std::size_t max_line = 64 << 20;      ///< bytes without the line end; at most kMaxMaxLine
};

/// Offsets in a chunk have 32 bits, and a chunk may hold a long line and others.
inline constexpr std::size_t kMaxMaxLine = std::size_t{2} << 30;

/// Not thread safe. Memory: one chunk, or twice the longest line where that is more.
class LineCutter {
 public:
  /// `stop`, when given, must outlive the cutter.
  explicit LineCutter(CutterOptions options, const StopFlag* stop = nullptr);

  /// Begins a new source; no line goes over from the one before.
  void start(ByteSource& source, std::uint32_t source_index);

  /// Fills `chunk` with the next lines: as many as fit, or those that are there when the source
  /// pauses. False at the end. The last line needs no line end, but a line that an error or the
  /// stop flag cut short is none, and is dropped; an error of the source is thrown once the lines
  /// before it are handed out.
  ///
  /// A line above max_line comes as a chunk of its own with one BadLine, which holds the line's
  /// first kLongLineExcerpt bytes; such a chunk must not be parsed (parse_chunk in text_reader.h).
  bool next(text::ExampleChunk& chunk);

  static constexpr std::size_t kLongLineExcerpt = 1024;

 private:
  bool scan();
  void read_more(bool can_wait);
  void grow();
  void hand_over(text::ExampleChunk& chunk, std::size_t size);
  bool hand_over_rest(text::ExampleChunk& chunk);
  void skip_long_line(text::ExampleChunk& chunk);
  void begin_chunk(text::ExampleChunk& chunk) const;

  CutterOptions options_;
  const StopFlag* stop_;
  ByteSource* source_ = nullptr;
  std::uint32_t source_index_ = 0;
  std::string buffer_;          ///< its size is its room; bytes [0, filled_) are input
  std::size_t filled_ = 0;      ///< bytes of input in buffer_
  std::size_t scanned_ = 0;     ///< bytes that were searched for line ends
  std::size_t line_begin_ = 0;  ///< where the unfinished line begins, after whole_lines_
  std::uint64_t whole_lines_ = 0;
  std::uint64_t first_line_ = 1;  ///< number of the first line in buffer_
  bool paused_ = false;           ///< the last read found nothing
  bool ended_ = false;
  std::exception_ptr error_;  ///< why it ended, to be thrown after the good lines
};

}  // namespace leveret::stream
