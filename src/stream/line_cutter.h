/// Cuts the bytes of a source into chunks of whole lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

#include "stream/cutter.h"
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
