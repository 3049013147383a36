#include "stream/file_lines.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "stream/input_file.h"
#include "text/carriage_returns.h"

namespace leveret::stream {
namespace {

std::vector<std::string> or_standard_input(std::vector<std::string> paths) {
  if (paths.empty()) paths.emplace_back("-");
  if (std::count(paths.begin(), paths.end(), "-") > 1) {
    throw std::runtime_error("standard input (-) is given more than once; give it once");
  }
  return paths;
}

/// A first chunk without a newline is all of its source.
bool is_one_line_by_mistake(const text::ExampleChunk& chunk) {
  return chunk.first_line == 1 && chunk.bytes.find('\n') == std::string::npos &&
         text::ends_by_carriage_returns(chunk.bytes);
}

}  // namespace

FileLines::FileLines(std::vector<std::string> paths, CutterOptions options, SourceEvents* events)
    : paths_(or_standard_input(std::move(paths))), events_(events), cutter_(options, &stop_) {
  for (const std::string& path : paths_) {
    const auto size = check_readable(path);
    bytes_total_ = bytes_total_ && size ? std::optional(*bytes_total_ + *size) : std::nullopt;
    names_.push_back(display_name(path));
  }
}

void FileLines::open(std::uint32_t source) {
  std::unique_ptr<ByteSource> opened = open_source(paths_[source], &stop_);
  if (events_ != nullptr) opened = watch_source(std::move(opened), source, *events_, stop_);
  const std::lock_guard lock(progress_mutex_);
  source_ = std::move(opened);
  cutter_.start(*source_, source);
}

void FileLines::close() {
  const std::lock_guard lock(progress_mutex_);
  bytes_done_ += source_->bytes_consumed();
  source_.reset();
}

bool FileLines::next(text::ExampleChunk& chunk) {
  try {
    for (;;) {
      if (source_ == nullptr) {
        if (next_source_ == paths_.size() || stop_.raised()) return false;
        open(next_source_++);
      }
      if (cutter_.next(chunk)) {
        if (is_one_line_by_mistake(chunk)) {
          throw std::runtime_error(source_->name() + ": " + text::kEndsByCarriageReturns);
        }
        chunk.place.block = next_block_++;
        return true;
      }
      close();
    }
  } catch (...) {
    if (source_ != nullptr) close();
    throw;
  }
}

std::uint64_t FileLines::bytes_read() const {
  const std::lock_guard lock(progress_mutex_);
  return bytes_done_ + (source_ != nullptr ? source_->bytes_consumed() : 0);
}

}  // namespace leveret::stream
