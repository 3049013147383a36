// Any body as a request in JSON, of namespaces and of raw rows: nothing crashes, a candidate has
// one line or a reason, and what is read does not depend on the pieces that it is read in.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/read_request.h"

using namespace leveret;
using namespace leveret::daemon;

namespace {

void require(bool ok) {
  if (!ok) __builtin_trap();
}

/// The request, read in pieces of so many bytes.
ReadRequest checked(std::string_view body, schema::RequestRows* rows, std::size_t bytes) {
  const ReadRequest all = read_request(body, rows, bytes);
  require(all.is_request == all.error.empty());
  require(all.has_context == !all.context.empty());
  require(std::ranges::count(all.lines, '\n') == std::ranges::count(all.why, std::string()));
  require(all.lines.find("\n\n") == std::string::npos && !all.lines.starts_with('\n'));
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto schema = std::make_shared<const schema::Schema>(schema::from_text(
      "label label\nt tag\na number:edges=0+1\nb category\nc list\nd date\ne text\nn.m number\n"));
  static schema::RequestRows rows(schema);
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (schema::RequestRows* const of : {static_cast<schema::RequestRows*>(nullptr), &rows}) {
    require(checked(body, of, 1 << 20) == checked(body, of, 1 + size % 50));
  }
  return 0;
}
