/// Answers as they come in, in pieces.
#pragma once

#include <cstddef>
#include <string_view>

#include "requests.h"

namespace leveret::load {

/// Of one connection.
class AnswerReader {
 public:
  explicit AnswerReader(Protocol protocol) : protocol_(protocol) {}

  struct Answer {
    bool is_whole = false;
    bool is_good = false;          ///< HTTP: of status 200; lines: always
    std::size_t size = 0;          ///< bytes that it takes
    std::string_view body;         ///< of those bytes
    std::string_view fingerprint;  ///< that it names; empty: none
  };
  /// Looks for the answer to `request` in front of `bytes`. Where it is not whole, the next call
  /// is to have the same bytes and more.
  Answer read(std::string_view bytes, const Request& request);

 private:
  Answer read_lines(std::string_view bytes, std::size_t lines);
  static Answer read_http(std::string_view bytes);

  const Protocol protocol_;
  std::size_t seen_ = 0, lines_ = 0;  ///< bytes that were looked at, and ends of lines in them
};

}  // namespace leveret::load
