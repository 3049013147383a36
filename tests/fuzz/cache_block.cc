// The content of a cache block, past its checksum: what decodes can be encoded and decodes to the
// same again; nothing reaches out of its arrays.
#include "cache/cache_block.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace leveret;
using namespace leveret::cache;

namespace {

void require(bool ok) {
  if (!ok) std::abort();
}

void check(const text::ExampleChunk& chunk, const text::NamespaceNames& names) {
  for (const text::Example& e : chunk.examples) {
    require(e.runs_begin <= e.runs_end && e.runs_end <= chunk.runs.size());
    require(std::uint64_t{e.tag_begin} + e.tag_size <= chunk.bytes.size());
    require(e.line >= chunk.first_line && e.line - chunk.first_line < chunk.lines());
    for (std::uint32_t r = e.runs_begin + 1; r < e.runs_end; ++r) {
      require(chunk.runs[r].begin == chunk.runs[r - 1].end);
    }
  }
  for (const text::BadLine& bad : chunk.bad) {
    require(bad.line >= chunk.first_line && bad.line - chunk.first_line < chunk.lines());
    for (const text::Example& e : chunk.examples) require(e.line != bad.line);
  }
  for (const text::NamespaceRun& r : chunk.runs) {
    require(r.begin <= r.end && r.end <= chunk.features.size() && r.name < names.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  text::NamespaceNames names;
  BlockDecoder decoder(names);
  BlockEncoder encoder(names);
  text::ExampleChunk chunk;
  std::size_t examples = 0, lines = 0;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    decoder.start(bytes);
  } catch (const files::BytesReader::BadBytes&) {
    require(!decoder.next(chunk, 64));
    return 0;
  }
  while (decoder.next(chunk, 64)) {
    check(chunk, names);
    examples += chunk.examples.size();
    lines += chunk.lines();
    BlockEncoder::At at;
    if (!encoder.add(chunk, at)) return 0;  // some forged blocks have more than our own
  }
  require(examples == decoder.examples());
  require(lines == examples + decoder.bad_lines() + decoder.blank_lines());
  std::string block, again;
  const std::size_t features = encoder.features();
  encoder.finish(block);
  bytes = block;
  decoder.start(bytes);
  require(decoder.examples() == examples && decoder.features() == features);
  while (decoder.next(chunk, 64)) {
    BlockEncoder::At at;
    require(encoder.add(chunk, at));
  }
  encoder.finish(again);
  require(block == again);
  return 0;
}
