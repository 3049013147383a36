/// Text in memory, cut into chunks of whole lines, as a reader of files cuts what it reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/example.h"

namespace leveret::api {

/// Lines of the text: a last one may lack its end.
std::size_t count_lines(std::string_view text);

/// `text` outlives it.
class TextPieces {
 public:
  explicit TextPieces(std::string_view text) : text_(text) {}

  /// Whole lines of some 64 KiB, or one that is longer; false at the end. Sets bytes and
  /// first_line, and clears the rest. A line that is too long for a parser is bad, and a chunk of
  /// its own, which is not to be parsed (stream::parse_chunk).
  bool next(text::ExampleChunk& chunk);
  /// So much of the text has been handed out.
  std::size_t bytes() const { return at_; }
  std::size_t lines() const { return lines_; }

 private:
  void take_long_line(std::size_t size, text::ExampleChunk& chunk) const;

  const std::string_view text_;
  std::size_t at_ = 0, lines_ = 0;
};

}  // namespace leveret::api
