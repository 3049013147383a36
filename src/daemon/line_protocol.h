/// VW's line protocol, of one connection: lines in, a line out for each, in order.
///
/// A line may name its model: "@ads 1 |user a" is for the model "ads", others are for the first
/// one. With context lines it is the context's line that does so, and begins a block wherever it
/// stands.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/line_answers.h"
#include "daemon/worker.h"

namespace leveret::daemon {

/// No sockets. One thread's, the worker's.
class LineProtocol {
 public:
  LineProtocol(Worker& worker, bool context_lines)
      : worker_(worker), context_lines_(context_lines), answers_(worker.work(), context_lines) {}

  /// Whole lines, as many as have come. Appends the answers to them. A line, or a block, is
  /// answered by one version of its model: by the newest when it begins.
  void answer(std::string_view lines, std::string& to);
  /// Takes from the front of `lines` what `answer` is to be given next, so that a call is short.
  std::string_view take_piece(std::string_view& lines) const { return answers_.take_piece(lines); }
  /// The client sends no more.
  void end(std::string& to) { answers_.end(to); }
  /// Whether a block is open, which keeps its version of the model.
  bool in_request() const { return answers_.in_request(); }

 private:
  struct Named {
    std::optional<std::size_t> model;  ///< that the line names
    std::string_view rest;             ///< without the name
  };
  Named read_name(std::string_view line) const;
  void answer_named(std::string_view lines, std::string& to);
  void answer_by(std::size_t model, std::string_view lines, std::string& to);
  std::string_view finish_block(std::string_view lines, std::string& to);

  Worker& worker_;
  const bool context_lines_;
  LineAnswers answers_;
  std::size_t model_ = 0;           ///< of the block that is open
  std::shared_ptr<Scorer> scorer_;  ///< the same
  std::string unnamed_;             ///< working memory
};

}  // namespace leveret::daemon
