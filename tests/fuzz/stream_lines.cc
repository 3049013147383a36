// The line cutter: whatever the chunk size, max_line and the pace of the input, the lines are those
// of the input.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "stream/line_cutter.h"
#include "stream/pieces.h"

using namespace leveret;
using namespace leveret::stream;

namespace {

void require(bool ok) {
  if (!ok) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data + 3), size - 3);
  const std::size_t max_line = 1 + data[1];
  testing::Pieces source(rest, data[2]);
  LineCutter cutter({.chunk_bytes = std::size_t{16} + data[0], .max_line = max_line});
  cutter.start(source, 7);
  text::ExampleChunk chunk;
  std::uint64_t line = 1;
  while (cutter.next(chunk)) {
    require(chunk.source == 7 && chunk.first_line == line);
    if (!chunk.bad.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      require(end > max_line && rest.starts_with(chunk.bytes) && chunk.bytes.size() <= max_line);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      ++line;
      continue;
    }
    require(!chunk.bytes.empty() && rest.starts_with(chunk.bytes));
    require(chunk.bytes.back() == '\n' || chunk.bytes.size() == rest.size());
    rest.remove_prefix(chunk.bytes.size());
    line += static_cast<std::uint64_t>(std::count(chunk.bytes.begin(), chunk.bytes.end(), '\n'));
  }
  require(rest.empty());
  return 0;
}
