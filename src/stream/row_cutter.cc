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
    if (in_.ended) return false;
  }
}

void RowCutter::begin_chunk(text::ExampleChunk& chunk) const {
  chunk.clear();
  chunk.source = source_index_;
}

// --- Rows of the buffer

void RowCutter::drop_used() {
  std::memmove(in_.bytes.data(), in_.bytes.data() + row_begin_, in_.filled - row_begin_);
  in_.filled -= row_begin_;
  row_begin_ = 0;
  places_.clear();
  at_ = 0;
  if (in_.filled <= options_.chunk_bytes && in_.bytes.size() > 4 * options_.chunk_bytes) {
    in_.shrink(options_.chunk_bytes);
  }
}

/// Finds the next rows, all of which have been converted before; places_ is empty at the end.
void RowCutter::gather() {
  drop_used();
  find_rows();
  while (!in_.ended && !has_enough()) {
    if (in_.filled == in_.bytes.size()) in_.bytes.resize(2 * in_.filled);
    const bool rows_wait = rows_.is_first() && rows_.is_open();
    const std::size_t least = rows_wait ? rows_.options().least_rows : 1;
    in_.read_more(places_.size() < least);
    find_rows();
    if (in_.paused && places_.size() >= least) return;
  }
  if (in_.ended && in_.filled > row_begin_) add_last_row();
}

bool RowCutter::has_enough() const {
  if (places_.empty()) return false;
  if (!rows_.is_first() || !rows_.is_open()) return row_begin_ * 2 > options_.chunk_bytes;
  return places_.size() >= rows_.options().first_rows || row_begin_ >= kFirstBytes;
}

void RowCutter::find_rows() {
  const std::string_view bytes(in_.bytes.data(), in_.filled);
  while (row_begin_ < in_.filled) {
    const std::size_t end = rows_.find_row_end(bytes.substr(row_begin_), scan_);
    if (end == std::string_view::npos) break;
    add_row(row_begin_ + end + 1);
  }
  check_length();
}

/// The header is taken at once: it may say how the rows behind it are parted.
void RowCutter::add_row(std::size_t end) {
  const std::uint64_t lines = 1 + scan_.lines_within;
  const std::string_view row = std::string_view(in_.bytes).substr(row_begin_, end - row_begin_);
  if (rows_.wants_header()) {
    take_header(schema::plain_row(row));
  } else {
    places_.push_back({row_begin_, end, line_});
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

/// A row that has not ended by the longest that one may be never may.
void RowCutter::check_length() {
  if (in_.filled - row_begin_ <= options_.max_line) return;
  if (scan_.in_quotes) {
    return end_by(open_quote(fmt::format("not closed within {} bytes", options_.max_line)));
  }
  end_by(place(line_, fmt::format("a row of more than {} bytes (--max_line)", options_.max_line)));
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
  const std::size_t most = rows_.is_first() ? rows_.options().first_rows : places_.size();
  for (std::size_t i = 0; i < std::min(most, places_.size()); ++i)
    rows_.look_at(text_of(places_[i]));
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
    const schema::RowReader::Made made = rows_.convert(text_of(row), chunk.bytes, fault);
    if (made == schema::RowReader::Made::kLine) ++chunk_rows_;
    if (made != schema::RowReader::Made::kBad) continue;
    if (!chunk.bytes.empty()) return true;  // it comes next
    hand_over_bad(row, fault, chunk);
    ++at_;
    return true;
  }
  return false;
}

void RowCutter::hand_over_bad(const RowPlace& row, const convert::Fault& fault,
                              text::ExampleChunk& chunk) {
  chunk.first_line = row.line;
  const std::string_view text = schema::plain_row(text_of(row));
  chunk.bytes = text;
  const auto column = static_cast<std::uint64_t>(fault.at - text.data()) + 1;
  chunk.bad.push_back({row.line, 0, static_cast<std::uint32_t>(chunk.bytes.size()),
                       static_cast<std::uint32_t>(column), fault.what});
}

}  // namespace leveret::stream
