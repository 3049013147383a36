// Whatever a client sends as JSON: a reason, or a line for each candidate, none of them blank.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "daemon/json_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leveret::daemon;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  json_string(body);
  JsonRequest request;
  try {
    request = read_json_request(body);
  } catch (const BadJson&) {
    return 0;
  }
  const auto lines = static_cast<std::size_t>(std::ranges::count(request.candidates, '\n'));
  if (lines != request.count) __builtin_trap();
  if (request.candidates.find("\n\n") != std::string::npos) __builtin_trap();
  if (request.has_context == request.context.empty()) __builtin_trap();
  if (request.context.find('\n') != std::string::npos) __builtin_trap();
  return 0;
}
