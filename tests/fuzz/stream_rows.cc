// Any bytes as raw rows: nothing crashes, what comes out is VW text that our parser takes without a
// bad line, lines are numbered upwards, and they do not depend on how the bytes came: with a schema
// that is yet to be made, where they did not pause.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "stream/cutter.h"
#include "stream/pieces.h"
#include "text/parser.h"

using namespace leveret;
using namespace leveret::stream;

namespace {

void require(bool ok) {
  if (!ok) std::abort();
}

constexpr const char* kFormats[] = {"csv", "csv:quoting=none", "tsv", "json"};
constexpr const char* kKnown =
    "label label\nw weight\nt tag\nn number:edges=0+1+5\nc category\nl list\nx text\n";

std::string lines_of(const char* format, bool known, std::string_view bytes,
                     std::size_t chunk_bytes, std::uint32_t seed, bool pauses = true) {
  auto rows = std::make_shared<schema::RowInput>();
  rows->options.format = schema::parse_format(format);
  rows->options.least_rows = 1 + seed % 5;
  rows->options.patience = rows->options.later_patience = {};
  rows->options.least_numbers = 3;
  rows->options.window_rows = 4;
  rows->schema =
      std::make_shared<schema::SharedSchema>(known ? schema::from_text(kKnown) : schema::Schema());
  const auto cutter = make_cutter({chunk_bytes, 4096, rows}, nullptr);
  testing::Pieces source(bytes, seed, pauses);
  cutter->start(source, 7);
  std::string lines;
  text::ExampleChunk chunk;
  text::NamespaceNames names;
  text::Parser parser(names, {});
  std::uint64_t line = 0;
  try {
    while (cutter->next(chunk)) {
      require(chunk.source == 7 && chunk.first_line > line);
      line = chunk.first_line;
      if (!chunk.bad.empty()) {
        require(chunk.bad.size() == 1 && chunk.bad[0].line == line && chunk.bad[0].column > 0);
        lines += "bad\n";
        continue;
      }
      lines += chunk.bytes;
      parser.parse(chunk);
      require(chunk.bad.empty() && chunk.blank_lines == 0);
      line += chunk.examples.size() - 1;
    }
  } catch (const std::runtime_error&) {
    lines += "error\n";
  }
  // What is known becomes a schema's text that is read back.
  const schema::Schema made = *rows->schema->get();
  require(schema::from_text(schema::to_text(made)) == made);
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data + 3), size - 3);
  const char* const format = kFormats[data[0] % 4];
  const bool known = data[0] / 4 % 2 == 1;
  const std::string lines = lines_of(format, known, rest, 16 + data[1], data[2]);
  if (known) {
    require(lines == lines_of(format, known, rest, 4000, 0));
  } else {
    const std::string whole = lines_of(format, known, rest, 4000, data[2], false);
    require(whole == lines_of(format, known, rest, 16 + data[1], data[1], false));
  }
  return 0;
}
