/// What is told of each source of a stream as it is read.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "stream/byte_source.h"
#include "stream/stop_flag.h"

namespace leveret::stream {

/// Called in the thread that reads, which may be ahead of those that work on what was read.
class SourceEvents {
 public:
  virtual ~SourceEvents() = default;
  /// Some bytes of the source of this number, unpacked, in order.
  virtual void bytes(std::uint32_t source, std::string_view bytes) = 0;
  /// The source has been read to its end: not after an error, nor after a stop.
  virtual void ended(std::uint32_t source) = 0;
};

/// The same source, of which everything that is read is told to `events`. What is given outlives
/// it.
std::unique_ptr<ByteSource> watch_source(std::unique_ptr<ByteSource> source, std::uint32_t number,
                                         SourceEvents& events, const StopFlag& stop);

}  // namespace leveret::stream
