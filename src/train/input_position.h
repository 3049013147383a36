/// Where a run is in its input: what a checkpoint says, and how the next run comes there again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/checksum.h"
#include "text/example.h"

namespace leveret::train {

/// All before it is learned.
struct InputPosition {
  std::vector<std::string> data;  ///< as it was named; none: standard input
  std::uint32_t pass = 0;
  std::uint64_t examples = 0;  ///< of this pass; where `is_lines`, all of its lines
  std::string checksum;        ///< of these, by InputWalk or TextWalk; 32 hexadecimal digits
  bool ended = false;          ///< there was no more, in this or a later pass
  bool is_lines = false;       ///< of a run in several threads, which parse for themselves
};

/// Counts the examples of a pass, adds up their bytes as parsed (labels, importance, features;
/// no tags), and passes over those that have been learned. One thread.
class InputWalk {
 public:
  /// Nothing is to be learned of examples before `start`.
  explicit InputWalk(InputPosition start) : start_(std::move(start)) {}

  /// How many of the chunk's examples have been learned already. To be called with each chunk, in
  /// order. std::runtime_error when these are not the examples that were.
  std::size_t pass_over(const text::ExampleChunk& chunk);
  /// The number of the chunk's last line before the start, where so many of its examples are before
  /// it: all are, as long as there is one to come.
  std::uint64_t line_behind(const text::ExampleChunk& chunk, std::size_t passed) const {
    if (!is_at_start()) return chunk.first_line + chunk.lines();
    return passed > 0 ? chunk.examples[passed - 1].line : 0;
  }
  /// Whether the next example is one to learn.
  bool is_at_start() const { return examples_ >= start_.examples; }
  /// The next ones, which are learned: examples [first, first + count) of the chunk.
  void add(const text::ExampleChunk& chunk, std::size_t first, std::size_t count);
  /// At the end of the input: std::runtime_error when that was before the start.
  void check_end() const;

  std::uint64_t examples() const { return examples_; }
  std::string checksum() const { return store::to_hex(sum_.get()); }

 private:
  const InputPosition start_;
  std::uint64_t examples_ = 0;
  store::Checksummer sum_;
  std::string bytes_;  ///< of one example
};

}  // namespace leveret::train
