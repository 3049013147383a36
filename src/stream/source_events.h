/// Events that are told of each source of a stream as it is read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stream/byte_source.h"
#include "stream/stop_flag.h"

namespace leveret::stream {

/// Sums of the text of a source, unpacked, by which whoever made them knows it again
/// (train/chunk_ledger.h). All 0: it gave nothing.
struct TextSum {
  std::uint64_t content = 0, bytes = 0;
  std::uint64_t head = 0;  ///< of its first bytes
  bool operator==(const TextSum&) const = default;
};

/// Called in the thread that reads, which may be ahead of those that work on what was read.
class SourceEvents {
 public:
  virtual ~SourceEvents() = default;
  /// For a cache, which keeps them: the sums of the sources that have ended, by their numbers, when
  /// the last of `count` has. None: nobody makes them. Any thread may ask.
  virtual std::vector<TextSum> sums(std::uint32_t count);
  /// For a folder that fills: whether this file is to be read. False: it is passed over. Asked
  /// before it is opened.
  virtual bool wants(std::uint32_t source, const std::string& path);
  /// For such a folder: a file has come whose name is not behind that of the last one, so that it
  /// is not read.
  virtual void late(const std::string& path, const std::string& last);
  /// The same, at the start, of these files.
  virtual void before(const std::vector<std::string>& paths, const std::string& last);
  /// Some bytes of the source of this number, unpacked, in order.
  virtual void bytes(std::uint32_t source, std::string_view bytes) = 0;
  /// The source has been read to its end: not after an error, nor after a stop.
  virtual void ended(std::uint32_t source) = 0;
};

/// The same source, of which everything that is read is told to `events`. What is given outlives
/// it. `stop`: what may end its reading; null: nothing.
std::unique_ptr<ByteSource> watch_source(std::unique_ptr<ByteSource> source, std::uint32_t number,
                                         SourceEvents& events, const StopFlag* stop);

}  // namespace leveret::stream
