#include "stream/text_reader.h"

#include <algorithm>

namespace leveret::stream {

TextReader::TextReader(std::vector<std::string> paths, ReaderOptions options)
    : lines_(std::move(paths), options.cutter(), options.events, options.follow_after),
      queue_(std::max<std::size_t>(1, options.chunks_ahead), options.bytes_ahead()),
      thread_([this] { run(); }) {}

void TextReader::abandon() noexcept {
  lines_.stop();
  queue_.cancel();
}

TextReader::~TextReader() {
  abandon();
  thread_.join();
}

bool TextReader::next(text::ExampleChunk& chunk) {
  chunk.free_large();
  // Only text goes round with the reader: what parsing fills is wanted by those who parse, who are
  // fewer than the chunks that wait here.
  text::ExampleChunk lines;
  lines.bytes.swap(chunk.bytes);
  chunk.clear();
  if (!queue_.pop(lines)) return false;
  chunk.take_lines(lines);
  return true;
}

void TextReader::run() {
  try {
    text::ExampleChunk chunk;
    while (lines_.next(chunk)) {
      if (!queue_.push(chunk, chunk.size_bytes())) return;
    }
    queue_.close();
  } catch (...) {
    queue_.fail(std::current_exception());
  }
}

void parse_chunk(text::Parser& parser, text::ExampleChunk& chunk) {
  if (chunk.bad.empty()) parser.parse(chunk);
}

}  // namespace leveret::stream
