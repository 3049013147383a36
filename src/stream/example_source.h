/// Where parsed examples come from: text (ExampleReader, SerialReader) or a cache (CacheReader).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "text/example.h"

namespace leveret::stream {

/// Most work ahead in threads of their own. All functions may be called from any thread, stop()
/// also from a signal handler.
class ExampleSource {
 public:
  virtual ~ExampleSource() = default;

  /// Waits for the next chunk of examples, in stream order where one thread asks. False at the end;
  /// an error is thrown (std::runtime_error), to one thread after the examples before it. Pass used
  /// chunks: their capacity is used again.
  virtual bool next(text::ExampleChunk& chunk) = 0;
  /// No more is read; what was read may still be handed out.
  virtual void stop() noexcept = 0;
  /// By ExampleChunk::source, for messages.
  virtual const std::string& source_name(std::uint32_t source) const = 0;
  /// Bytes of the files read so far, and in all where that is known: for progress.
  virtual std::uint64_t bytes_read() const = 0;
  virtual std::optional<std::uint64_t> bytes_total() const = 0;
  /// The source whose chunks this one hands on, with fewer examples or some made bad; null: it has
  /// chunks of its own.
  virtual const ExampleSource* inner() const { return nullptr; }
};

}  // namespace leveret::stream
