/// The bytes of a file, pipe or standard input, decompressed when they are gzip or zstd.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "stream/stop_flag.h"

namespace leveret::stream {

/// How long to wait; nothing: until it comes.
using Patience = std::optional<std::chrono::milliseconds>;
inline constexpr Patience kNoPatience{0};

/// One reading thread; the byte counters may be asked from any. Errors are std::runtime_error that
/// name the file, the compressed offset and what to do; all bytes before the fault are delivered
/// first.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Bytes put to `to` (as many as are there, at most `max` > 0), 0 at the end or when stopped,
  /// nullopt when none is there right now.
  virtual std::optional<std::size_t> try_read(char* to, std::size_t max) = 0;
  /// Returns when try_read may have something, or is at the end, or stopped, or patience ends.
  virtual void wait(Patience patience) = 0;
  /// try_read that waits until there is something; 0: the end, or stopped.
  std::size_t read(char* to, std::size_t max);

  virtual const std::string& name() const = 0;
  /// Bytes taken from the underlying file, compressed as it is.
  virtual std::uint64_t bytes_consumed() const = 0;
  /// Size of the underlying file, where it has one.
  virtual std::optional<std::uint64_t> bytes_total() const = 0;
};

/// Opens a file, or standard input for "-". What it holds is known by its first bytes, which are
/// not waited for here: a compressed, a plain and a foreign input differ at the first read.
/// `stop`, when given, must outlive the source.
std::unique_ptr<ByteSource> open_source(const std::string& path, const StopFlag* stop = nullptr);

}  // namespace leveret::stream
