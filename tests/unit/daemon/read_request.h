/// A request in JSON, read to its end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/json_lines.h"

namespace leveret::daemon {

struct ReadRequest {
  bool is_request = true, has_context = false;
  std::string context, lines;
  std::vector<std::string> why;  ///< of each candidate, as JsonLines has it
  std::string error;             ///< where it is no request; then all else is empty

  bool operator==(const ReadRequest&) const = default;
};

/// Looks at about `bytes` at a time.
inline ReadRequest read_request(std::string_view body, schema::RequestRows* rows = nullptr,
                                std::size_t bytes = 1 << 20) {
  constexpr std::size_t kMaxObject = 1000;
  ReadRequest all;
  try {
    JsonRequest request(body);
    while (request.read(bytes)) {
    }
    JsonLineMaker maker(request, rows, kMaxObject);
    all.has_context = request.context().has_value();
    all.context = maker.context();
    JsonLines lines;
    while (maker.next(bytes, 0, lines)) {
      all.lines += lines.text;
      all.why.insert(all.why.end(), lines.why.begin(), lines.why.end());
    }
  } catch (const BadJson& error) {
    all = {};
    all.is_request = false;
    all.error = error.what();
  }
  return all;
}

}  // namespace leveret::daemon
