/// Writes the parsed stream to a cache (--cache), beside its use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cache_block.h"
#include "cache/cache_format.h"
#include "cache/cache_key.h"
#include "files/atomic_file.h"
#include "stream/source_events.h"
#include "text/example.h"
#include "text/namespace_names.h"

namespace leveret::cache {

/// Not thread safe. The file appears under its name only by finish(), whole; without it nothing is
/// left. Errors are std::runtime_error.
class CacheWriter {
 public:
  /// `paths` and `key` (taken before the first read) are those of the stream; `names` are those of
  /// its chunks and must outlive the writer.
  CacheWriter(const std::string& cache_path, std::vector<std::string> paths, CacheKey key,
              const text::NamespaceNames& names);
  ~CacheWriter();
  CacheWriter(const CacheWriter&) = delete;
  CacheWriter& operator=(const CacheWriter&) = delete;

  /// Appends a parsed chunk, in stream order.
  void add(const text::ExampleChunk& chunk);
  /// Ends the cache, forces it to the disk and gives it its name. Throws when a source was changed
  /// since its key was taken: nobody knows then what the cache holds. `sums` are those of the texts
  /// of all sources, or none where they are not known.
  void finish(const std::vector<stream::TextSum>& sums = {});
  /// How many the stream has.
  std::uint32_t sources() const { return static_cast<std::uint32_t>(key_.sources.size()); }

  const CacheTotals& totals() const { return totals_; }
  std::uint64_t bytes_written() const { return file_.size(); }

 private:
  class Packer;

  void write(std::string_view bytes);
  void write_block();

  std::vector<std::string> paths_;
  CacheKey key_;
  files::AtomicFile file_;
  std::unique_ptr<Packer> packer_;
  BlockEncoder encoder_;
  std::string unpacked_, packed_;
  CacheTotals totals_;
};

}  // namespace leveret::cache
