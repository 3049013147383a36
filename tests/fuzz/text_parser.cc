// Any bytes as VW text; the first one chooses the options. No line may get lost, and runs follow each
// other.

#include <algorithm>
#include <cstdint>

#include "text/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leveret::text;
  const unsigned bits = size ? *data : 0;
  NamespaceNames names;
  ExampleChunk chunk;
  chunk.bytes.assign(data + std::min<std::size_t>(size, 1), data + size);
  const std::string& text = chunk.bytes;
  Parser(names, {.hash = HashMode(bits & 1),
                 .hash_seed = bits & 6,
                 .keep_names = (bits & 8) != 0,
                 .shared_label = (bits & 32) != 0,
                 .max_line = bits & 16 ? 40 : 1u << 30})
      .parse(chunk);
  const std::size_t lines = chunk.examples.size() + chunk.bad.size() + chunk.blank_lines;
  const bool open_end = !text.empty() && text.back() != '\n';
  if (lines != std::size_t(std::count(text.begin(), text.end(), '\n')) + open_end) __builtin_trap();
  for (const Example& e : chunk.examples) {
    for (std::uint32_t r = e.runs_begin; r < e.runs_end; ++r) {
      const NamespaceRun& run = chunk.runs[r];
      if (run.begin >= run.end || run.end > chunk.features.size()) __builtin_trap();
      if (r > e.runs_begin && run.begin != chunk.runs[r - 1].end) __builtin_trap();
    }
  }
  return 0;
}
