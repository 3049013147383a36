#include "cache/cache_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "files/bytes.h"
#include "text/namespace_number.h"

namespace leveret::cache {
namespace {

/// Features of a chunk: with their runs it stays within a core's own cache.
constexpr std::size_t kChunkFeatures = 1 << 13;

}  // namespace

CacheBlocks::CacheBlocks(const std::string& path, text::NamespaceNames& names,
                         const CacheKey* expected, const std::vector<std::string>& numbers)
    : file_(path) {
  for (const std::string& space : info().key.numbers) {
    if (std::find(numbers.begin(), numbers.end(), space) != numbers.end()) continue;
    if (const auto id = names.intern(text::number_run_name(space))) unwanted_.insert(*id);
  }
  if (!expected) return;
  const std::string reason = cache_mismatch(info().key, *expected);
  if (!reason.empty()) {
    throw std::runtime_error(
        fmt::format("{}: the cache does not belong to this run: {}; delete it, or give -k, and it "
                    "is made anew, or give "
                    "another --cache",
                    path, reason));
  }
}

bool CacheBlocks::next(CacheBlock& block) {
  if (!file_.next(block.bytes)) {
    const CacheTotals& totals = info().totals;
    if (read_.examples != totals.examples || read_.features != totals.features ||
        read_.bad_lines != totals.bad_lines || read_.blank_lines != totals.blank_lines) {
      file_.fail_block("its totals differ from what it holds");
    }
    return false;
  }
  try {
    block.decoder.start(block.bytes);
  } catch (const files::BytesReader::BadBytes& bad) {
    file_.fail_block(bad.what());
  }
  if (block.decoder.source() >= info().key.sources.size()) {
    file_.fail_block("a block is of an unknown source");
  }
  block.offset = file_.offset();
  block.number = read_.blocks++;
  read_.examples += block.decoder.examples();
  read_.features += block.decoder.features();
  read_.bad_lines += block.decoder.bad_lines();
  read_.blank_lines += block.decoder.blank_lines();
  return true;
}

bool CacheBlocks::decode(CacheBlock& block, text::ExampleChunk& chunk) const {
  if (!block.decoder.next(chunk, kChunkFeatures)) return false;
  chunk.place.block = block.number;
  if (!unwanted_.empty()) leave_out_unwanted(chunk);
  return true;
}

void CacheBlocks::leave_out_unwanted(text::ExampleChunk& chunk) const {
  std::uint32_t runs = 0, features = 0;
  for (text::Example& example : chunk.examples) {
    const std::uint32_t first = runs;
    for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
      const text::NamespaceRun run = chunk.runs[r];
      if (unwanted_.contains(run.name)) continue;
      const std::uint32_t begin = features;
      for (std::uint32_t f = run.begin; f < run.end; ++f) {
        chunk.features[features++] = chunk.features[f];
      }
      chunk.runs[runs++] = {run.name, run.hash, begin, features};
    }
    example.runs_begin = first;
    example.runs_end = runs;
  }
  chunk.runs.resize(runs);
  chunk.features.resize(features);
}

}  // namespace leveret::cache
