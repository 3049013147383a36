#include "convert/convert_kdd2012.h"

#include <algorithm>
#include <charconv>

namespace leveret::convert {
namespace {

constexpr std::string_view kNames[] = {"DisplayURL",    "AdID",    "AdvertiserID", "Depth",
                                       "Position",      "QueryID", "KeywordID",    "TitleID",
                                       "DescriptionID", "UserID"};
constexpr int kUser = 9;

/// The cell at p up to a tab or the end; p moves behind the tab, or to the end.
std::string_view take_cell(const char*& p, const char* end) {
  const char* tab = std::find(p, end, '\t');
  std::string_view cell(p, static_cast<std::size_t>(tab - p));
  p = tab == end ? end : tab + 1;
  return cell;
}

/// A count below 2^24, so that it is exact as an importance (a float).
bool read_count(std::string_view cell, std::uint64_t& count) {
  auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), count);
  return error == std::errc() && stop == cell.data() + cell.size() && count < (1u << 24);
}

}  // namespace

Kdd2012Converter::Kdd2012Converter(ConvertCallbacks callbacks, std::size_t max_row)
    : Converter(std::move(callbacks), max_row) {
  for (std::string_view name : kNames) prefixes_.emplace_back(name);
}

bool Kdd2012Converter::take_header(std::string_view row) {
  labelled_ = std::count(row.begin(), row.end(), '\t') != kColumns - 1;
  return false;
}

std::size_t Kdd2012Converter::room(std::size_t row_bytes) const {
  return 2 * (kLineRoom + row_bytes * kEscapeGrowth + kColumns * 20);
}

char* Kdd2012Converter::convert_row(std::string_view row, char* out, Fault& fault) {
  const char *p = row.data(), *end = p + row.size();
  auto bad = [&](const char* at, const char* what) {
    fault = {at, what};
    return nullptr;
  };
  auto columns = std::count(p, end, '\t') + 1;
  int expected = labelled_ ? kColumns + 2 : kColumns;
  if (columns < expected) return bad(end, "too few columns");
  if (columns > expected) return bad(end, "too many columns");

  std::uint64_t clicks = 0, impressions = 1;
  const bool lacks_label = labelled_ && row.starts_with("\t\t");
  const bool labelled = labelled_ && !lacks_label;
  if (lacks_label) {
    p += 2;
    count_unlabelled();
  } else if (labelled) {
    std::string_view cell = take_cell(p, end);
    if (!read_count(cell, clicks)) return bad(cell.data(), "click is not a count");
    cell = take_cell(p, end);
    if (!read_count(cell, impressions) || impressions == 0) {
      return bad(cell.data(), "impression is not a count above 0");
    }
    if (clicks > impressions) return bad(row.data(), "more clicks than impressions");
  }
  Cells cells;
  for (std::string_view& cell : cells) cell = take_cell(p, end);
  if (cells[kUser] == "0") cells[kUser] = {};

  lines_ = 0;
  if (clicks > 0) {
    out = put_line(out, true, true, clicks, cells);
    ++lines_;
  }
  if (impressions > clicks) {
    out = put_line(out, labelled, false, impressions - clicks, cells);
    ++lines_;
  }
  return out;
}

char* Kdd2012Converter::put_line(char* out, bool labelled, bool clicked, std::uint64_t importance,
                                 const Cells& cells) const {
  char* line = out;
  if (labelled) out = put(out, clicked ? "1" : "-1");
  if (labelled && importance != 1) {
    *out++ = ' ';
    out = std::to_chars(out, out + 20, importance).ptr;
  }
  char* label_end = out;
  for (int i = 0; i < kColumns; ++i) {
    if (!cells[i].empty()) out = put_escaped(prefixes_[i].write(out), cells[i]);
  }
  return end_line(line, label_end, out);
}

}  // namespace leveret::convert
