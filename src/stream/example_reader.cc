#include "stream/example_reader.h"

#include <algorithm>

namespace leveret::stream {

ExampleReader::ExampleReader(std::vector<std::string> paths, ReaderOptions options,
                             text::NamespaceNames& names, text::ParserOptions parser_options)
    : lines_(std::move(paths), options),
      parser_(names, parser_options),
      queue_(std::max<std::size_t>(1, options.chunks_ahead), options.bytes_ahead()),
      thread_([this] { run(); }) {}

ExampleReader::~ExampleReader() {
  // The thread may wait for room or for lines: the first ends at once, the second with the reader.
  queue_.cancel();
  lines_.abandon();
  thread_.join();
}

void ExampleReader::run() {
  try {
    text::ExampleChunk chunk;
    while (lines_.next(chunk)) {
      parse_chunk(parser_, chunk);
      if (!queue_.push(chunk, chunk.size_bytes())) return;
    }
    queue_.close();
  } catch (...) {
    queue_.fail(std::current_exception());
  }
}

}  // namespace leveret::stream
