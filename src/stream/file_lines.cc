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

FileLines::FileLines(std::vector<std::string> paths, const CutterOptions& options,
                     SourceEvents* events, const std::optional<std::string>& follow_after)
    : events_(events), cutter_(make_cutter(options, follow_after ? nullptr : &stop_)) {
  if (follow_after) {
    folder_.emplace(paths.at(0), *follow_after, events, stop_);
    bytes_total_.reset();
    return;
  }
  for (const std::string& path : or_standard_input(std::move(paths))) {
    const auto size = check_readable(path);
    bytes_total_ = bytes_total_ && size ? std::optional(*bytes_total_ + *size) : std::nullopt;
    paths_.push_back(path);
    names_.push_back(display_name(path));
  }
}

/// Waits for it, in a folder; nothing where there is none any more.
std::optional<std::uint32_t> FileLines::next_source(bool& wanted) {
  if (!folder_) {
    if (next_source_ == paths_.size() || stop_.raised()) return std::nullopt;
    return next_source_++;
  }
  const std::optional<std::string> path = folder_->next();
  if (!path) return std::nullopt;
  {
    const std::lock_guard lock(progress_mutex_);
    paths_.push_back(*path);
    names_.push_back(*path);
  }
  wanted = events_ == nullptr || events_->wants(next_source_, *path);
  return next_source_++;
}

void FileLines::open(std::uint32_t source) {
  // A file of a folder is read to its end: what was learned of it would be learned again.
  const StopFlag* const stop = folder_ ? nullptr : &stop_;
  std::unique_ptr<ByteSource> opened = open_source(paths_[source], stop);
  if (events_ != nullptr) opened = watch_source(std::move(opened), source, *events_, stop);
  const std::lock_guard lock(progress_mutex_);
  source_ = std::move(opened);
  cutter_->start(*source_, source);
}

const std::string& FileLines::source_name(std::uint32_t source) const {
  const std::lock_guard lock(progress_mutex_);
  return names_.at(source);
}

void FileLines::end_source(text::ExampleChunk& chunk, std::uint32_t source) {
  chunk.clear();
  chunk.source = source;
  chunk.ends_source = true;
  chunk.place.block = next_block_++;
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
        bool wanted = true;
        const std::optional<std::uint32_t> source = next_source(wanted);
        if (!source) return false;
        if (!wanted) {
          end_source(chunk, *source);
          return true;
        }
        open(*source);
      }
      if (cutter_->next(chunk)) {
        if (is_one_line_by_mistake(chunk)) {
          throw std::runtime_error(source_->name() + ": " + text::kEndsByCarriageReturns);
        }
        chunk.place.block = next_block_++;
        return true;
      }
      close();
      if (folder_) {
        end_source(chunk, next_source_ - 1);
        return true;
      }
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
