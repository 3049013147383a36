/// Cuts the bytes of a source into chunks of whole lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "stream/cutter.h"
#include "stream/source_buffer.h"
#include "text/example.h"

namespace leveret::stream {

/// Not thread safe. Memory: one chunk, or twice the longest line where that is more.
class LineCutter final : public Cutter {
 public:
  /// `stop`, when given, must outlive the cutter.
  explicit LineCutter(CutterOptions options, const StopFlag* stop = nullptr);

  void start(ByteSource& source, std::uint32_t source_index) override;
  /// A line above max_line is bad before it is parsed.
  bool next(text::ExampleChunk& chunk) override;

 private:
  bool scan();
  void grow();
  void hand_over(text::ExampleChunk& chunk, std::size_t size);
  bool hand_over_rest(text::ExampleChunk& chunk);
  void skip_long_line(text::ExampleChunk& chunk);
  void begin_chunk(text::ExampleChunk& chunk) const;

  CutterOptions options_;
  const StopFlag* stop_;
  std::uint32_t source_index_ = 0;
  SourceBuffer in_;
  std::size_t scanned_ = 0;     ///< bytes that were searched for line ends
  std::size_t line_begin_ = 0;  ///< where the unfinished line begins, after whole_lines_
  std::uint64_t whole_lines_ = 0;
  std::uint64_t first_line_ = 1;  ///< number of the first line in the buffer
};

}  // namespace leveret::stream
