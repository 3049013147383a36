/// Requests in JSON:
///
///     {"context": {"user": ["a", {"b": 2}]}, "candidates": [{"ad": ["x"]}, ...]}
///
/// A namespace is a list of features, each a name, or names with values; or names with values alone
/// ({"user": {"b": 2}}), or one name ({"user": "a"}). Each candidate, and the context, becomes the
/// line of VW text that says the same, so that the same is learned, predicted and asked.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leveret::daemon {

/// what() says what is wrong, and where.
struct BadJson : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct JsonRequest {
  bool has_context = false;
  std::string context;     ///< a line, without its end
  std::string candidates;  ///< a line each
  std::size_t count = 0;   ///< of candidates
};

/// BadJson where it is no such request.
JsonRequest read_json_request(std::string_view body);

/// `text` as a string of JSON, with its quotes.
std::string json_string(std::string_view text);

}  // namespace leveret::daemon
