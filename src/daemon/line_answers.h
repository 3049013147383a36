/// Lines in, answers out, in order: what `leveret predict` says of them, for one connection.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/scorer.h"
#include "predict/request_lines.h"

namespace leveret::daemon {

/// Working memory of a thread: large, and nothing in it outlives a call.
struct LineWork {
  text::ExampleChunk chunk;
  predict::RequestChunk parts;
  predict::Outcomes outcomes;

  /// Parses this text into `chunk`.
  void parse(Scorer& scorer, std::string_view text, std::uint64_t first_line, bool shared_label);
};

/// Without context lines each line is answered by one: "0.123456[ tag]", an empty line for a blank
/// one, "nan" for a bad one. With them, blocks as predict::RequestLines says are answered.
class LineAnswers {
 public:
  /// `work` is the thread's, and outlives it.
  LineAnswers(LineWork& work, bool context_lines) : work_(work), context_lines_(context_lines) {}

  /// Whole lines; the last one of all may lack its end. Appends the answers. While in_request(),
  /// `scorer` is the one of the call before.
  void answer(Scorer& scorer, std::string_view lines, std::string& to);
  /// Takes from the front of `lines` what `answer` is to be given next, so that a call is short.
  std::string_view take_piece(std::string_view& lines) const;
  /// No line follows: ends a request that is open.
  void end(std::string& to);
  /// Whether a block is open, whose candidates may follow.
  bool in_request() const { return requests_.is_open(); }

  std::uint64_t bad() const { return bad_; }  ///< lines so far
  /// The fault of the first bad line; empty: none was.
  const std::string& first_bad() const { return first_bad_; }

 private:
  void score_blocks(Scorer& scorer);
  void append_answers(const Scorer& scorer, std::string& to);

  LineWork& work_;
  const bool context_lines_;
  std::uint64_t lines_ = 0;
  predict::RequestLines requests_;
  std::shared_ptr<Scorer::Context> context_;  ///< of the request that is open
  std::uint64_t bad_ = 0;
  std::string first_bad_;
};

}  // namespace leveret::daemon
