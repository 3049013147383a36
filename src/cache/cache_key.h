/// The input that a cache was made from, in place of which alone it may be read, and what it says
/// of itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cache/cache_format.h"
#include "files/bytes.h"
#include "stream/source_events.h"
#include "text/parser.h"

namespace leveret::cache {

/// One source file. Its first and last kIdentityBytes tell contents apart where size and time of
/// change do not.
struct SourceIdentity {
  static constexpr std::size_t kIdentityBytes = 64 << 10;

  std::string name;         ///< for messages; a file may be reached by another path
  bool is_regular = false;  ///< else a pipe or the like: the rest is 0, and it never is the same
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t head_hash = 0, tail_hash = 0;  ///< XXH3
};

struct CacheKey {
  std::vector<SourceIdentity> sources;
  text::HashMode hash = text::HashMode::kStrings;
  std::uint32_t hash_seed = 0;
  std::uint64_t max_line = 0;  ///< it decides which lines are bad
  // In order of their bytes:
  std::vector<std::string> numbers;  ///< namespaces whose numbers were read
  std::vector<std::string>
      only_numbers;  ///< of these, those that are nothing else, or the line bad
};

/// The facts that stand in a cache besides the examples.
struct CacheInfo {
  CacheKey key;
  CacheTotals totals;
  std::vector<stream::TextSum> sums;  ///< by source; none: not known
  std::uint64_t file_bytes = 0;
};

/// Looks at the files; no path is standard input, as for TextReader. Throws std::runtime_error when
/// one cannot be read.
CacheKey make_cache_key(const std::vector<std::string>& paths, const text::ParserOptions& options,
                        std::size_t max_line);

/// Why a cache made with `cached` may not stand for `wanted`; empty when it may. It may have more
/// numbers: CacheReader leaves them out. But which lines are bad has to be the same.
std::string cache_mismatch(const CacheKey& cached, const CacheKey& wanted);

void put_cache_key(const CacheKey& key, std::string& to);
CacheKey get_cache_key(files::BytesReader& from);

}  // namespace leveret::cache
