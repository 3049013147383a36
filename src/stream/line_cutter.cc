#include "stream/line_cutter.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace leveret::stream {

LineCutter::LineCutter(CutterOptions options, const StopFlag* stop)
    : options_(std::move(options)), stop_(stop) {}

void LineCutter::start(ByteSource& source, std::uint32_t source_index) {
  source_index_ = source_index;
  in_.start(source, options_.chunk_bytes);
  scanned_ = line_begin_ = 0;
  whole_lines_ = 0;
  first_line_ = 1;
}

bool LineCutter::next(text::ExampleChunk& chunk) {
  for (;;) {
    const bool too_long = scan();
    if (whole_lines_ > 0 && (too_long || in_.paused || in_.filled == in_.bytes.size())) {
      hand_over(chunk, line_begin_);
      return true;
    }
    if (too_long) {
      skip_long_line(chunk);
      return true;
    }
    if (in_.ended) return hand_over_rest(chunk);
    if (in_.filled == in_.bytes.size()) grow();
    in_.read_more(whole_lines_ == 0 ? Patience() : kNoPatience);
  }
}

/// Counts the whole lines; true when the line at line_begin_ is above max_line.
bool LineCutter::scan() {
  while (scanned_ < in_.filled) {
    const void* found = std::memchr(in_.bytes.data() + scanned_, '\n', in_.filled - scanned_);
    const std::size_t end =
        found ? static_cast<std::size_t>(static_cast<const char*>(found) - in_.bytes.data())
              : in_.filled;
    if (end - line_begin_ > options_.max_line) {
      scanned_ = line_begin_;  // to be found again when the lines before it are gone
      return true;
    }
    if (!found) {
      scanned_ = in_.filled;
      break;
    }
    ++whole_lines_;
    line_begin_ = scanned_ = end + 1;
  }
  return false;
}

void LineCutter::grow() {
  // One byte above max_line is enough to know that a line is too long.
  in_.bytes.resize(std::max(in_.filled + 1, std::min(2 * in_.filled, options_.max_line + 1)));
}

void LineCutter::begin_chunk(text::ExampleChunk& chunk) const {
  chunk.clear();
  chunk.source = source_index_;
  chunk.first_line = first_line_;
}

/// Moves the first `size` bytes of the buffer into `chunk`.
void LineCutter::hand_over(text::ExampleChunk& chunk, std::size_t size) {
  // The used buffer that comes with the chunk keeps its size, so that room costs no clearing.
  std::string spare = std::move(chunk.bytes);
  begin_chunk(chunk);
  const std::size_t tail = in_.filled - size;
  if (size < options_.chunk_bytes / 8 && in_.bytes.size() == options_.chunk_bytes) {
    spare.assign(in_.bytes, 0, size);
    std::memmove(in_.bytes.data(), in_.bytes.data() + size, tail);
    chunk.bytes = std::move(spare);
  } else {
    if (spare.capacity() > 4 * options_.chunk_bytes) std::string().swap(spare);  // had a long line
    spare.resize(std::max(options_.chunk_bytes, tail));
    std::memcpy(spare.data(), in_.bytes.data() + size, tail);
    in_.bytes.resize(size);
    if (size > 4 * options_.chunk_bytes)
      in_.bytes.shrink_to_fit();  // room for a long line is double
    chunk.bytes = std::exchange(in_.bytes, std::move(spare));
  }
  in_.filled = tail;
  first_line_ += whole_lines_;
  whole_lines_ = 0;
  scanned_ = scanned_ > size ? scanned_ - size : 0;
  line_begin_ = 0;
}

/// At the end of the source: the last line, which may lack its line end.
bool LineCutter::hand_over_rest(text::ExampleChunk& chunk) {
  const bool cut_short = in_.error || (stop_ && stop_->raised());
  const std::size_t size = cut_short ? line_begin_ : in_.filled;
  if (size > 0) {
    hand_over(chunk, size);
    return true;
  }
  if (in_.error) std::rethrow_exception(in_.error);
  return false;
}

/// The line at the front of the buffer is above max_line: reads on to its end, keeping its
/// beginning.
void LineCutter::skip_long_line(text::ExampleChunk& chunk) {
  begin_chunk(chunk);
  const std::size_t excerpt = std::min({in_.filled, options_.max_line, kExcerpt});
  chunk.bytes.assign(in_.bytes, 0, excerpt);
  chunk.bad.push_back({first_line_, 0, static_cast<std::uint32_t>(excerpt),
                       static_cast<std::uint32_t>(options_.max_line + 1),
                       "line is longer than --max_line"});
  std::size_t rest = 0;
  for (;;) {
    const void* found = std::memchr(in_.bytes.data(), '\n', in_.filled);
    if (found) {
      rest = in_.filled -
             static_cast<std::size_t>(static_cast<const char*>(found) + 1 - in_.bytes.data());
      std::memmove(in_.bytes.data(), static_cast<const char*>(found) + 1, rest);
      break;
    }
    in_.filled = 0;
    if (in_.ended) break;
    in_.read_more({});
  }
  in_.filled = rest;
  if (rest <= options_.chunk_bytes && in_.bytes.size() > options_.chunk_bytes) {
    in_.shrink(options_.chunk_bytes);
  }
  scanned_ = line_begin_ = 0;
  ++first_line_;
}

}  // namespace leveret::stream
