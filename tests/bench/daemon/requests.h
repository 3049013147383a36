/// What is asked: requests of a file, as bytes for a socket.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace leveret::load {

enum class Protocol {
  kLines,  ///< VW's: a line is answered by a line
  kHttp,   ///< POST /predict, lines as the body
  kJson,   ///< the same, JSON as the body
};

struct Request {
  std::string bytes;             ///< all that is sent
  std::size_t candidates = 0;    ///< that are scored
  std::size_t answer_lines = 0;  ///< of the protocol of lines, and of bodies that are lines
};

struct RequestOptions {
  Protocol protocol = Protocol::kLines;
  bool context_lines = false;  ///< the first line of each request is the context
  std::string target = "/predict";
};

/// The requests of a file stand apart by empty lines. std::runtime_error where it has none.
std::vector<Request> read_requests(const std::string& path, const RequestOptions& options);

/// Pieces of a file between its empty lines, each of whole lines. What read_requests goes by.
std::vector<std::string> read_pieces(const std::string& path);

}  // namespace leveret::load
