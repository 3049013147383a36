#include "convert/convert_criteo.h"

#include <algorithm>

namespace leveret::convert {
namespace {

/// A cell up to a tab or the row's end, with at most 18 digits; p is moved behind it.
bool read_integer(const char*& p, const char* end, std::int64_t& v) {
  bool negative = p != end && *p == '-';
  if (negative) ++p;
  const char* digits = p;
  std::int64_t sum = 0;
  for (; p != end && *p >= '0' && *p <= '9'; ++p) {
    if (p - digits == 18) return false;
    sum = sum * 10 + (*p - '0');
  }
  v = negative ? -sum : sum;
  return p != digits && (p == end || *p == '\t');
}

/// Copies a cell, escaped, up to a tab or the row's end; p is moved to there.
char* put_cell(char* out, const char*& p, const char* end) {
  for (; end - p >= 8 && eight_plain(p); p += 8, out += 8) std::memcpy(out, p, 8);
  for (; p != end; ++p) {
    if (!kMustEscape[static_cast<unsigned char>(*p)]) {
      *out++ = *p;
    } else if (*p == '\t') {
      break;
    } else {
      out = put_escape(out, *p);
    }
  }
  return out;
}

}  // namespace

CriteoConverter::CriteoConverter(NumericForm form, ConvertCallbacks callbacks, std::size_t max_row)
    : Converter(std::move(callbacks), max_row), form_(form) {
  for (int i = 0; i < kColumns; ++i) {
    bool integer = i < kIntegers;
    int number = integer ? i + 1 : i - kIntegers + 1;
    prefixes_.emplace_back((integer ? 'I' : 'C') + std::to_string(number));
  }
}

bool CriteoConverter::take_header(std::string_view row) {
  labelled_ = std::count(row.begin(), row.end(), '\t') != kColumns - 1;
  return false;
}

std::size_t CriteoConverter::room(std::size_t row_bytes) const {
  return kLineRoom + row_bytes * kEscapeGrowth + kColumns * (16 + kNumericRoom);
}

char* CriteoConverter::convert_row(std::string_view row, char* out, Fault& fault) {
  const char *p = row.data(), *end = p + row.size();
  auto bad = [&](const char* what) {
    fault = {p, what};
    return nullptr;
  };
  char *line = out, *label_end = out;
  const bool unlabelled = labelled_ && *p == '\t';
  if (unlabelled) {
    ++p;
  } else if (labelled_) {
    if ((*p != '0' && *p != '1') || p + 1 == end || p[1] != '\t') {
      return bad("the label is not 0 or 1");
    }
    out = label_end = put(out, *p == '1' ? "1" : "-1");
    p += 2;
  }
  for (int i = 0; i < kColumns; ++i) {
    if (i > 0) {
      if (p == end) return bad("too few columns");
      ++p;  // the tab
    }
    if (p == end || *p == '\t') continue;  // missing
    if (i < kIntegers) {
      std::int64_t v = 0;
      if (!read_integer(p, end, v)) return bad("not an integer of at most 18 digits");
      out = put_integer(out, prefixes_[i], v, form_);
    } else {
      out = put_cell(prefixes_[i].write(out), p, end);
    }
  }
  if (p != end) return bad("too many columns");
  if (unlabelled) count_unlabelled();
  return end_line(line, label_end, out);
}

}  // namespace leveret::convert
