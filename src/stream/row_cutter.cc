#include "stream/row_cutter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace leveret::stream {

RowCutter::RowCutter(const CutterOptions& options, const StopFlag* stop)
    : options_(options), stop_(stop), rows_(options.rows->options, options.rows->schema) {}

void RowCutter::start(ByteSource& source, std::uint32_t source_index) {
  source_index_ = source_index;
  in_.start(source, options_.chunk_bytes);
  row_begin_ = 0;
  scan_ = {};
  line_ = 1;
  skips_ = false;
  places_.clear();
  at_ = 0;
  rows_.start_source();
}

std::string RowCutter::place(std::uint64_t line, std::string_view what) const {
  return fmt::format("{}:{}: {}", in_.name(), line, what);
}

void RowCutter::refuse(std::uint64_t line, std::string_view what) const {
  throw std::runtime_error(place(line, what));
}

std::string RowCutter::open_quote(std::string_view where) const {
  return place(line_ + scan_.cell.line,
               fmt::format("a quote is opened here, in column {}, and {}; if quotes are ordinary "
                           "characters in this file, give --format csv:quoting=none",
                           scan_.cell.column, where));
}

bool RowCutter::next(text::ExampleChunk& chunk) {
  begin_chunk(chunk);
  for (;;) {
    if (at_ < places_.size()) {
      if (convert_some(chunk)) return true;
      continue;
    }
    if (!chunk.bytes.empty()) return true;
    gather();
    if (!places_.empty()) {
      look_at_rows();
      continue;
    }
    if (in_.error) std::rethrow_exception(in_.error);
    if (!in_.ended) continue;
    rows_.end_source();
    return false;
  }
}

void RowCutter::begin_chunk(text::ExampleChunk& chunk) const {
  chunk.clear();
  chunk.source = source_index_;
}

// --- Rows of the buffer

void RowCutter::drop_used() {
  drop(0, row_begin_);
  row_begin_ = 0;
  places_.clear();
  at_ = 0;
  window_ = 0;
  if (in_.filled <= options_.chunk_bytes && in_.bytes.size() > 4 * options_.chunk_bytes) {
    in_.shrink(options_.chunk_bytes);
  }
}

/// Finds the next rows, all of which have been converted before; places_ is empty at the end.
void RowCutter::gather() {
  rows_.follow();
  drop_used();
  began_ = std::chrono::steady_clock::now();
  find_rows();
  while (!in_.ended && !has_enough()) {
    if (in_.filled == in_.bytes.size()) in_.bytes.resize(2 * in_.filled);
    in_.read_more(patience());
    find_rows();
    if (in_.paused && patience() == kNoPatience) return;
  }
  if (in_.ended && in_.filled > row_begin_ && !window_is_full()) add_last_row();
}

/// A window waits for more rows than a pipe has at hand, but not for ever.
Patience RowCutter::patience() const {
  if (rows_.wants_more(places_.size())) return {};
  if (!rows_.is_open()) return kNoPatience;
  const auto waited = std::chrono::steady_clock::now() - began_;
  const auto left = rows_.patience() - std::chrono::ceil<std::chrono::milliseconds>(waited);
  return std::max(left, *kNoPatience);
}

bool RowCutter::has_enough() const {
  if (places_.empty()) return false;
  return rows_.is_open() ? window_is_full() : row_begin_ * 2 > options_.chunk_bytes;
}

bool RowCutter::window_is_full() const {
  if (!rows_.is_open()) return false;
  return places_.size() >= rows_.options().window_rows || window_ >= kWindowBytes;
}

void RowCutter::find_rows() {
  while (row_begin_ < in_.filled && !window_is_full()) {
    if (skips_ && !skip_long_row()) break;
    const std::string_view bytes(in_.bytes.data() + row_begin_, in_.filled - row_begin_);
    const std::size_t end = rows_.find_row_end(bytes, scan_);
    if (std::min(end, bytes.size()) > options_.max_line) {
      cut_long_row();
    } else if (end == std::string_view::npos) {
      break;
    } else {
      add_row(row_begin_ + end + 1);
    }
  }
}

/// The header is taken at once: it may say how the rows behind it are parted.
void RowCutter::add_row(std::size_t end) {
  const std::uint64_t lines = 1 + scan_.lines_within;
  const std::string_view row = std::string_view(in_.bytes).substr(row_begin_, end - row_begin_);
  if (rows_.wants_header()) {
    take_header(schema::plain_row(row));
  } else {
    places_.push_back({row_begin_, end, line_});
    window_ += end - row_begin_;
  }
  row_begin_ = end;
  line_ += lines;
  scan_ = {};
}

void RowCutter::take_header(std::string_view row) {
  if (row.empty()) return;
  try {
    rows_.take_header(row);
  } catch (const std::runtime_error& error) {
    refuse(line_, error.what());
  }
}

/// A row that is longer than one may be ends with its line; where a quote is open there, nobody
/// knows.
void RowCutter::cut_long_row() {
  scan_ = {};
  rows_.find_row_end(std::string_view(in_.bytes).substr(row_begin_, options_.max_line), scan_);
  if (scan_.in_quotes) {
    return end_by(open_quote(fmt::format("not closed within {} bytes", options_.max_line)));
  }
  if (rows_.wants_header()) {
    return end_by(place(
        line_, fmt::format("a header of more than {} bytes (--max_line)", options_.max_line)));
  }
  const std::size_t excerpt = std::min(options_.max_line, kExcerpt);
  places_.push_back({row_begin_, row_begin_ + excerpt, line_, true});
  window_ += options_.max_line;
  drop(row_begin_ + excerpt, row_begin_ + options_.max_line);
  row_begin_ += excerpt;
  line_ += scan_.lines_within;
  skips_ = true;
}

/// False: the row's end is not there yet.
bool RowCutter::skip_long_row() {
  const std::string_view bytes(in_.bytes.data() + row_begin_, in_.filled - row_begin_);
  const std::size_t end = bytes.find('\n');
  skips_ = end == std::string_view::npos;
  drop(row_begin_, skips_ ? in_.filled : row_begin_ + end + 1);
  if (skips_) return false;
  ++line_;
  scan_ = {};
  return row_begin_ < in_.filled;
}

/// Takes these bytes out of the buffer.
void RowCutter::drop(std::size_t begin, std::size_t end) {
  std::memmove(in_.bytes.data() + begin, in_.bytes.data() + end, in_.filled - end);
  in_.filled -= end - begin;
}

/// The end of a source needs no line end; a row that an error or a stop has cut short is none.
void RowCutter::add_last_row() {
  if (in_.error || (stop_ != nullptr && stop_->raised())) {
    in_.filled = row_begin_;
    return;
  }
  if (scan_.in_quotes) return end_by(open_quote("never closed"));
  add_row(in_.filled);
}

/// An error behind the rows that have been found, which are good.
void RowCutter::end_by(const std::string& what) {
  in_.error = std::make_exception_ptr(std::runtime_error(what));
  in_.ended = true;
  in_.filled = row_begin_;
}

/// Lets the schema be decided before the first row is converted.
void RowCutter::look_at_rows() {
  if (!rows_.is_open()) return;
  for (const RowPlace& row : places_) {
    if (!row.too_long) rows_.look_at(text_of(row));
  }
  try {
    rows_.decide();
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("{}: {}", in_.name(), error.what()));
  }
}

// --- Lines

/// Converts rows that follow each other line by line. True: the chunk is to be handed out.
bool RowCutter::convert_some(text::ExampleChunk& chunk) {
  for (; at_ < places_.size(); ++at_) {
    const RowPlace& row = places_[at_];
    const bool follows = row.line == chunk.first_line + chunk_rows_;
    if (!chunk.bytes.empty() && (!follows || chunk.bytes.size() >= options_.chunk_bytes)) {
      return true;
    }
    if (chunk.bytes.empty()) {
      chunk.first_line = row.line;
      chunk_rows_ = 0;
    }
    convert::Fault fault;
    const schema::RowReader::Made made = convert(row, chunk.bytes, fault);
    if (made == schema::RowReader::Made::kLine) ++chunk_rows_;
    if (made != schema::RowReader::Made::kBad) continue;
    if (!chunk.bytes.empty()) return true;  // it comes next
    hand_over_bad(row, fault, chunk);
    ++at_;
    return true;
  }
  return false;
}

schema::RowReader::Made RowCutter::convert(const RowPlace& row, std::string& out,
                                           convert::Fault& fault) {
  const std::string_view text = text_of(row);
  if (row.too_long) {
    fault = {text.data() + text.size(), "row is longer than --max_line"};
    return schema::RowReader::Made::kBad;
  }
  const std::size_t before = out.size();
  const schema::RowReader::Made made = rows_.convert(text, out, fault);
  if (out.size() - before <= kMaxMaxLine) return made;
  out.resize(before);
  fault = {text.data(), "row makes a line of more than 2 GiB"};
  return schema::RowReader::Made::kBad;
}

void RowCutter::hand_over_bad(const RowPlace& row, const convert::Fault& fault,
                              text::ExampleChunk& chunk) const {
  chunk.first_line = row.line;
  const std::string_view text = schema::plain_row(text_of(row));
  chunk.bytes = text;
  const auto column = static_cast<std::uint64_t>(fault.at - text.data()) + 1;
  chunk.bad.push_back({row.line, 0, static_cast<std::uint32_t>(chunk.bytes.size()),
                       static_cast<std::uint32_t>(column), fault.what});
}

}  // namespace leveret::stream
