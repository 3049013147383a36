/// Chunks of whole lines from files, pipes and standard input, read and unpacked ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "stream/example_source.h"
#include "stream/file_lines.h"
#include "stream/queue.h"
#include "text/example.h"
#include "text/parser.h"

namespace leveret::stream {

struct ReaderOptions {
  /// So that a chunk, its features and the next stay in the second-level cache.
  std::size_t chunk_bytes = 64 << 10;
  std::size_t max_line = 64 << 20;  ///< --max_line; 1 byte to 2 GiB
  /// Chunks held ahead; memory is about chunk_bytes times this, plus one in the hands of each
  /// consumer. Hogwild wants at least two for each thread.
  std::size_t chunks_ahead = 4;

  /// Told of what is read of each source; outlives the reader.
  SourceEvents* events = nullptr;
  /// As that of FileLines.
  std::optional<std::string> follow_after = {};

  /// As that of CutterOptions.
  std::shared_ptr<const schema::RowInput> rows = nullptr;

  CutterOptions cutter() const { return {chunk_bytes, max_line, rows}; }

  /// Bytes held ahead, which bound what long lines take; chunks of usual lines stay far below.
  std::size_t bytes_ahead() const { return 16 * chunk_bytes * chunks_ahead; }
};

/// FileLines read in a thread of its own. While the input pauses, lines that are whole are handed
/// on at once. Its chunks are not parsed, for threads that parse for themselves (parse_chunk). All
/// public functions may be called from any thread; stop() also from a signal handler.
class TextReader final : public ExampleSource {
 public:
  /// Throws as FileLines does.
  TextReader(std::vector<std::string> paths, ReaderOptions options);
  /// Ends the reading, wherever it is.
  ~TextReader() override;
  TextReader(const TextReader&) = delete;
  TextReader& operator=(const TextReader&) = delete;

  /// Waits for the next chunk, in the order of the sources; several threads share the chunks out.
  /// Sets bytes, source, first_line and place, and clears the rest; give it to parse_chunk. False
  /// at the end. Throws the error of a source after the lines before it. Pass used chunks: the room
  /// of their text goes back to the reader, that of the rest is used again by who parses.
  bool next(text::ExampleChunk& chunk) override;

  /// No more is read; the whole lines that were read are still handed out, then next is false.
  void stop() noexcept override { lines_.stop(); }
  /// Like stop, and what was read is not handed out any more: next is false at once.
  void abandon() noexcept;

  // As those of FileLines.
  const std::string& source_name(std::uint32_t source) const override {
    return lines_.source_name(source);
  }
  std::uint64_t bytes_read() const override { return lines_.bytes_read(); }
  std::optional<std::uint64_t> bytes_total() const override { return lines_.bytes_total(); }

 private:
  void run();

  FileLines lines_;
  BoundedQueue<text::ExampleChunk> queue_;
  std::thread thread_;  // last: it uses all of the above
};

/// Parses a chunk of a TextReader, except one that holds a line above max_line, which is reported
/// in `bad` already.
void parse_chunk(text::Parser& parser, text::ExampleChunk& chunk);

}  // namespace leveret::stream
