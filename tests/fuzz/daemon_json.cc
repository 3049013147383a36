// Any body as a request in JSON, of namespaces and of raw rows: nothing crashes, a candidate has
// one line or a reason, and what is read does not depend on the pieces that it is read in.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/json_lines.h"

using namespace leveret;
using namespace leveret::daemon;

namespace {

struct Read {
  std::string context, lines, error;
  std::vector<std::string> why;

  bool operator==(const Read&) const = default;
};

void require(bool ok) {
  if (!ok) __builtin_trap();
}

Read read_request(std::string_view body, schema::RequestRows* rows, std::size_t bytes) {
  Read all;
  try {
    JsonRequest request(body);
    while (request.read(bytes)) {
    }
    JsonLineMaker maker(request, rows, 4096);
    all.context = maker.context();
    JsonLines lines;
    while (maker.next(bytes, 0, lines)) {
      const auto made = std::ranges::count(lines.why, std::string());
      require(std::ranges::count(lines.text, '\n') == made);
      all.lines += lines.text;
      all.why.insert(all.why.end(), lines.why.begin(), lines.why.end());
    }
    require(request.context().has_value() == !all.context.empty());
  } catch (const BadJson& error) {
    all = {};
    all.error = error.what();
    require(!all.error.empty());
  }
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
    require(read_request(body, of, 1 << 20) == read_request(body, of, 1 + size % 50));
  }
  return 0;
}
