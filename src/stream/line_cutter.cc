#include "stream/line_cutter.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace leveret::stream {

LineCutter::LineCutter(CutterOptions options, const StopFlag* stop)
    : options_(std::move(options)), stop_(stop) {}

void LineCutter::start(ByteSource& source, std::uint32_t source_index) {
  source_ = &source;
  source_index_ = source_index;
  buffer_.resize(options_.chunk_bytes);
  filled_ = scanned_ = line_begin_ = 0;
  whole_lines_ = 0;
  first_line_ = 1;
  paused_ = ended_ = false;
  error_ = nullptr;
}

bool LineCutter::next(text::ExampleChunk& chunk) {
  for (;;) {
    const bool too_long = scan();
    if (whole_lines_ > 0 && (too_long || paused_ || filled_ == buffer_.size())) {
      hand_over(chunk, line_begin_);
      return true;
    }
    if (too_long) {
      skip_long_line(chunk);
      return true;
    }
    if (ended_) return hand_over_rest(chunk);
    if (filled_ == buffer_.size()) grow();
    read_more(whole_lines_ == 0);
  }
}

/// Counts the whole lines; true when the line at line_begin_ is above max_line.
bool LineCutter::scan() {
  while (scanned_ < filled_) {
    const void* found = std::memchr(buffer_.data() + scanned_, '\n', filled_ - scanned_);
    const std::size_t end =
        found ? static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data())
              : filled_;
    if (end - line_begin_ > options_.max_line) {
      scanned_ = line_begin_;  // to be found again when the lines before it are gone
      return true;
    }
    if (!found) {
      scanned_ = filled_;
      break;
    }
    ++whole_lines_;
    line_begin_ = scanned_ = end + 1;
  }
  return false;
}

/// Fills the room of buffer_ once. With `can_wait` false it sets paused_ when nothing is there.
void LineCutter::read_more(bool can_wait) {
  try {
    char* to = buffer_.data() + filled_;
    const std::size_t room = buffer_.size() - filled_;
    auto got = source_->try_read(to, room);
    paused_ = !got;
    if (paused_ && can_wait) {
      got = source_->read(to, room);
      paused_ = false;
    }
    if (!got) return;
    filled_ += *got;
    ended_ = *got == 0;
  } catch (...) {
    error_ = std::current_exception();
    ended_ = true;
  }
}

void LineCutter::grow() {
  // One byte above max_line is enough to know that a line is too long.
  buffer_.resize(std::max(filled_ + 1, std::min(2 * filled_, options_.max_line + 1)));
}

void LineCutter::begin_chunk(text::ExampleChunk& chunk) const {
  chunk.clear();
  chunk.source = source_index_;
  chunk.first_line = first_line_;
}

/// Moves the first `size` bytes of buffer_ into `chunk`.
void LineCutter::hand_over(text::ExampleChunk& chunk, std::size_t size) {
  // The used buffer that comes with the chunk keeps its size, so that room costs no clearing.
  std::string spare = std::move(chunk.bytes);
  begin_chunk(chunk);
  const std::size_t tail = filled_ - size;
  if (size < options_.chunk_bytes / 8 && buffer_.size() == options_.chunk_bytes) {
    spare.assign(buffer_, 0, size);
    std::memmove(buffer_.data(), buffer_.data() + size, tail);
    chunk.bytes = std::move(spare);
  } else {
    if (spare.capacity() > 4 * options_.chunk_bytes) std::string().swap(spare);  // had a long line
    spare.resize(std::max(options_.chunk_bytes, tail));
    std::memcpy(spare.data(), buffer_.data() + size, tail);
    buffer_.resize(size);
    if (size > 4 * options_.chunk_bytes) buffer_.shrink_to_fit();  // room for a long line is double
    chunk.bytes = std::exchange(buffer_, std::move(spare));
  }
  filled_ = tail;
  first_line_ += whole_lines_;
  whole_lines_ = 0;
  scanned_ = scanned_ > size ? scanned_ - size : 0;
  line_begin_ = 0;
}

/// At the end of the source: the last line, which may lack its line end.
bool LineCutter::hand_over_rest(text::ExampleChunk& chunk) {
  const bool cut_short = error_ || (stop_ && stop_->raised());
  const std::size_t size = cut_short ? line_begin_ : filled_;
  if (size > 0) {
    hand_over(chunk, size);
    return true;
  }
  if (error_) std::rethrow_exception(error_);
  return false;
}

/// The line at the front of buffer_ is above max_line: reads on to its end, keeping its beginning.
void LineCutter::skip_long_line(text::ExampleChunk& chunk) {
  begin_chunk(chunk);
  const std::size_t excerpt = std::min({filled_, options_.max_line, kExcerpt});
  chunk.bytes.assign(buffer_, 0, excerpt);
  chunk.bad.push_back({first_line_, 0, static_cast<std::uint32_t>(excerpt),
                       static_cast<std::uint32_t>(options_.max_line + 1),
                       "line is longer than --max_line"});
  std::size_t rest = 0;
  for (;;) {
    const void* found = std::memchr(buffer_.data(), '\n', filled_);
    if (found) {
      rest =
          filled_ - static_cast<std::size_t>(static_cast<const char*>(found) + 1 - buffer_.data());
      std::memmove(buffer_.data(), static_cast<const char*>(found) + 1, rest);
      break;
    }
    filled_ = 0;
    if (ended_) break;
    read_more(true);
  }
  filled_ = rest;
  if (rest <= options_.chunk_bytes && buffer_.size() > options_.chunk_bytes) {
    std::string fresh(options_.chunk_bytes, '\0');
    std::memcpy(fresh.data(), buffer_.data(), rest);
    buffer_ = std::move(fresh);
  }
  scanned_ = line_begin_ = 0;
  ++first_line_;
}

}  // namespace leveret::stream
