/// Where a run in several threads is in its input: InputWalk for text that is not parsed yet, as
/// each thread parses for itself and in no order.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "store/checksum.h"
#include "stream/example_source.h"
#include "train/input_position.h"

namespace leveret::train {

/// Counts the lines of a pass, adds up their text as it is handed out, and passes over what has
/// been learned. One thread at a time.
class TextWalk {
 public:
  /// Hands out nothing of lines before `start`. std::runtime_error where that is a position of one
  /// thread, other than the front.
  explicit TextWalk(InputPosition start);

  /// The source's next chunk, without the lines that have been learned; false at the end.
  /// std::runtime_error when these are not the lines that were.
  bool next(stream::ExampleSource& source, text::ExampleChunk& chunk);
  bool is_at_start() const { return lines_ >= start_.examples; }
  /// At the end of the input: std::runtime_error when that was before the start.
  void check_end() const;
  /// Behind what was handed out; data and pass are left open.
  InputPosition position() const;

 private:
  bool pass_over(text::ExampleChunk& chunk);
  void add(std::string_view text, std::uint64_t lines);

  const InputPosition start_;
  std::uint64_t lines_ = 0;
  store::Checksummer sum_;
};

}  // namespace leveret::train
