#include "stream/text_reader.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "stream/input_file.h"

namespace leveret::stream {
namespace {

std::vector<std::string> or_standard_input(std::vector<std::string> paths) {
  if (paths.empty()) paths.emplace_back("-");
  if (std::count(paths.begin(), paths.end(), "-") > 1) {
    throw std::runtime_error("standard input (-) is given more than once; give it once");
  }
  return paths;
}

}  // namespace

TextReader::TextReader(std::vector<std::string> paths, ReaderOptions options)
    : paths_(or_standard_input(std::move(paths))),
      options_(options),
      queue_(std::max<std::size_t>(1, options.chunks_ahead), options.bytes_ahead()) {
  bytes_total_ = 0;
  for (const std::string& path : paths_) {
    const auto size = check_readable(path);
    bytes_total_ = bytes_total_ && size ? std::optional(*bytes_total_ + *size) : std::nullopt;
    names_.push_back(display_name(path));
  }
  LineCutter check_options({options_.chunk_bytes, options_.max_line});
  thread_ = std::thread([this] { run(); });
}

void TextReader::abandon() noexcept {
  stop_.raise();
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
  if (!queue_.pop(lines)) return false;
  chunk.take_lines(lines);
  return true;
}

std::uint64_t TextReader::bytes_read() const {
  std::lock_guard lock(progress_mutex_);
  return bytes_done_ + (current_ ? current_->bytes_consumed() : 0);
}

void TextReader::run() {
  try {
    LineCutter cutter({options_.chunk_bytes, options_.max_line}, &stop_);
    text::ExampleChunk chunk;
    for (std::uint32_t i = 0; i < paths_.size() && !stop_.raised(); ++i) {
      if (!read_source(i, cutter, chunk)) return;
    }
    queue_.close();
  } catch (...) {
    queue_.fail(std::current_exception());
  }
}

/// False when the consumers are gone.
bool TextReader::read_source(std::uint32_t index, LineCutter& cutter, text::ExampleChunk& chunk) {
  const std::unique_ptr<ByteSource> source = open_source(paths_[index], &stop_);
  {
    std::lock_guard lock(progress_mutex_);
    current_ = source.get();
  }
  const auto end_source = [&] {
    std::lock_guard lock(progress_mutex_);
    bytes_done_ += source->bytes_consumed();
    current_ = nullptr;
  };
  try {
    cutter.start(*source, index);
    bool wanted = true;
    while (wanted && cutter.next(chunk)) wanted = queue_.push(chunk, chunk.size_bytes());
    end_source();
    return wanted;
  } catch (...) {
    end_source();
    throw;
  }
}

void parse_chunk(text::Parser& parser, text::ExampleChunk& chunk) {
  if (chunk.bad.empty()) parser.parse(chunk);
}

}  // namespace leveret::stream
