#include "convert/convert_rows.h"

#include <algorithm>

#include "text/carriage_returns.h"

namespace leveret::convert {
namespace {

constexpr std::size_t kTextPiece = std::size_t{256} << 10;  // stays in the L2 cache

}  // namespace

Converter::Converter(ConvertCallbacks callbacks, std::size_t max_row)
    : callbacks_(std::move(callbacks)), max_row_(max_row) {}

void Converter::feed(std::string_view bytes) {
  if (!pending_.empty()) {
    // Complete the row that has begun; only this one is copied.
    std::size_t had = pending_.size();
    pending_.append(bytes);
    std::size_t end = find_row_end(pending_, scan_);
    check_length(std::string_view(pending_).substr(0, end));
    if (end == std::string_view::npos) return;
    take_row(std::string_view(pending_).substr(0, end));
    pending_.clear();
    bytes.remove_prefix(end + 1 - had);
  }
  bytes.remove_prefix(take_rows(bytes));
  pending_.assign(bytes);
  flush();
}

/// Converts the whole rows in `bytes` and returns how many bytes they have; scan_ then belongs to
/// the rest.
std::size_t Converter::take_rows(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    std::string_view rest = bytes.substr(taken);
    std::size_t end = find_row_end(rest, scan_);
    check_length(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    take_row(rest.substr(0, end));
    taken += end + 1;
  }
  return taken;
}

void Converter::check_length(std::string_view row) const {
  if (row.size() <= max_row_) return;
  if (first_row_ && ends_otherwise(row)) throw ConvertError(line_, text::kEndsByCarriageReturns);
  const std::string size = std::to_string(max_row_) + " bytes";
  if (scan_.in_quotes) refuse_open_quote("not closed within " + size);
  throw ConvertError(line_, "a row of more than " + size);
}

void Converter::refuse_open_quote(const std::string& where) const {
  throw ConvertError(line_ + scan_.cell.line,
                     "a quote is opened here and " + where +
                         "; if quotes are ordinary characters in this file, add --quoting none",
                     scan_.cell.column);
}

void Converter::finish_source() {
  if (!pending_.empty()) {
    if (first_row_ && ends_otherwise(pending_))
      throw ConvertError(line_, text::kEndsByCarriageReturns);
    if (scan_.in_quotes) refuse_open_quote("never closed");
    take_row(pending_);
  }
  if (may_end_otherwise_) throw ConvertError(1, text::kEndsByCarriageReturns);
  finish_remarks();
  pending_.clear();
  line_ = 1;
  first_row_ = true;
  flush();
}

void Converter::finish_remarks() {
  if (broken_ > 0) {
    const std::string lines = std::to_string(longest_.breaks + 1) + " lines";
    remark(
        {longest_.line, longest_.column,
         (broken_ == 1 ? "a quoted cell spans " + lines
                       : std::to_string(broken_) + " quoted cells span lines, this one " + lines) +
             "; if quotes are ordinary characters in this file, add --quoting none"});
  }
  if (headers_ > 0) {
    remark({0, 0,
            (headers_ == 1 ? "a row repeats" : std::to_string(headers_) + " rows repeat") +
                std::string(headers_ == 1 ? " the header and is left out"
                                          : " the header and are left out")});
  }
  remark_on_rows();
  broken_ = headers_ = 0;
  longest_ = {};
}

void Converter::remark(const ConvertRemark& remark) const {
  if (callbacks_.remark) callbacks_.remark(remark);
}

bool Converter::ends_otherwise(std::string_view row) const {
  return text::ends_by_carriage_returns(row);
}

void Converter::take_row(std::string_view row) {
  // Files that are joined bring theirs along.
  if (row.starts_with(kByteOrderMark)) row.remove_prefix(kByteOrderMark.size());
  std::string_view content = row;
  if (content.ends_with('\r')) content.remove_suffix(1);
  count_broken_cells();
  if (content.empty()) {
    ++counts_.blank;
  } else {
    may_end_otherwise_ = first_row_ && ends_otherwise(content);
    const bool header = first_row_ ? take_header(content) : repeats_header(content);
    if (header && !first_row_) ++headers_;
    first_row_ = false;
    if (!header) take_data(content);
  }
  line_ += 1 + scan_.lines_within;
  scan_ = RowScan{};
}

void Converter::count_broken_cells() {
  broken_ += scan_.broken;
  if (scan_.longest.breaks <= longest_.breaks) return;
  longest_ = scan_.longest;
  longest_.line += line_;
}

void Converter::take_data(std::string_view row) {
  ++counts_.rows;
  Fault fault;
  char* begin = make_room(room(row.size()));
  char* end = convert_row(row, begin, fault);
  if (end == nullptr) {
    ++counts_.bad;
    auto column = static_cast<std::uint64_t>(fault.at - row.data()) + 1;
    callbacks_.bad({line_, column, fault.what, row});
    return;
  }
  text_size_ += static_cast<std::size_t>(end - begin);
  counts_.examples += lines_written();
}

/// Room for so many bytes after the text; flushes or grows the buffer for it.
char* Converter::make_room(std::size_t bytes) {
  if (text_size_ + bytes > text_capacity_ || text_size_ > kTextPiece) {
    flush();
    if (bytes > text_capacity_) {
      text_capacity_ = std::max(bytes, 2 * kTextPiece);
      text_ = std::make_unique_for_overwrite<char[]>(text_capacity_);
    }
  }
  return text_.get() + text_size_;
}

void Converter::flush() {
  if (text_size_ > 0) callbacks_.text(std::string_view(text_.get(), text_size_));
  text_size_ = 0;
}

std::size_t Converter::find_row_end(std::string_view bytes, RowScan& scan) const {
  return find_line_end(bytes, scan);
}

}  // namespace leveret::convert
