/// Lines in, answers out, in order: what `leveret predict` says of them, for one connection.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/scorer.h"
#include "predict/request_lines.h"

namespace leveret::daemon {

/// Without context lines each line is answered by one: "0.123456[ tag]", an empty line for a blank
/// one, "nan" for a bad one. With them, blocks as predict::RequestLines says are answered.
class LineAnswers {
 public:
  explicit LineAnswers(bool context_lines) : context_lines_(context_lines) {}

  /// Whole lines; the last one of all may lack its end. Appends the answers. While in_request(),
  /// `scorer` is the one of the call before.
  void answer(Scorer& scorer, std::string_view lines, std::string& to);
  /// No line follows: ends a request that is open.
  void end(std::string& to);
  /// Whether a block is open, whose candidates may follow.
  bool in_request() const { return requests_.is_open(); }

  std::uint64_t lines() const { return chunk_.first_line - 1; }  ///< so far
  std::uint64_t bad() const { return bad_; }                     ///< of these
  /// What is wrong with the first bad line; empty: none was.
  const std::string& first_bad() const { return first_bad_; }

 private:
  void score_blocks(Scorer& scorer);
  void append_answers(const Scorer& scorer, std::string& to);

  const bool context_lines_;
  predict::RequestLines requests_;
  std::shared_ptr<Scorer::Context> context_;  ///< of the request that is open
  std::uint64_t bad_ = 0;
  std::string first_bad_;

  // Working memory.
  text::ExampleChunk chunk_;
  predict::RequestChunk parts_;
  predict::Outcomes outcomes_;
};

}  // namespace leveret::daemon
