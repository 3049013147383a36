#include "convert/convert_libffm.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

#include "convert/convert_numeric.h"
#include "convert/convert_vw.h"

namespace leveret::convert {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// The next token from p on; empty at the end. p moves behind it.
std::string_view take_token(const char*& p, const char* end) {
  p = std::find_if_not(p, end, is_blank);
  const char* begin = p;
  p = std::find_if(p, end, is_blank);
  return {begin, static_cast<std::size_t>(p - begin)};
}

}  // namespace

LibffmConverter::LibffmConverter(LibffmFields fields, ConvertCallbacks callbacks,
                                 std::size_t max_row)
    : Converter(std::move(callbacks), max_row), fields_(std::move(fields)) {
  for (auto& [name, start] : fields_.starts) {
    name = Prefix(name).text();
    longest_name_ = std::max(longest_name_, name.size());
  }
}

std::size_t LibffmConverter::room(std::size_t row_bytes) const {
  // The shortest feature, "a:1", and a blank take 4 bytes and bring a namespace of their own.
  return kLineRoom + row_bytes * kEscapeGrowth + (row_bytes / 4 + 1) * (24 + longest_name_);
}

/// Splits `token`; returns what is wrong with it, or nullptr.
const char* LibffmConverter::read_feature(std::string_view token, Feature& feature) {
  std::size_t last = token.rfind(':');
  if (last == std::string_view::npos) return "expected feature:value or field:feature:value";
  feature.value = token.substr(last + 1);
  feature.name = token.substr(0, last);
  feature.field = {};
  std::size_t first = feature.name.find(':');
  if (first != std::string_view::npos) {
    feature.field = feature.name.substr(0, first);
    feature.name.remove_prefix(first + 1);
    if (feature.field.empty()) return "the field has no name";
    if (feature.name.find(':') != std::string_view::npos) return "more than two colons";
  }
  if (feature.name.empty()) return "the feature has no name";
  if (feature.value == "1") return nullptr;
  std::optional<double> value = read_real(feature.value);
  if (!value || std::fabs(*value) > std::numeric_limits<float>::max()) {
    return "the value is not a number that fits a float";
  }
  if (*value == 0) feature.value = {};
  return nullptr;
}

/// The prefix " |name " of the feature's namespace; nullptr: --fields has none for it.
char* LibffmConverter::put_field(char* out, const Feature& feature, std::size_t position) const {
  if (feature.field.empty() && !fields_.starts.empty()) {
    const char *begin = feature.name.data(), *end = begin + feature.name.size();
    std::uint64_t id = 0;
    auto [stop, error] = std::from_chars(begin, end, id);
    if (error != std::errc() || stop != end || id < fields_.starts.front().second) return nullptr;
    auto after =
        std::upper_bound(fields_.starts.begin(), fields_.starts.end(), id,
                         [](std::uint64_t x, const auto& field) { return x < field.second; });
    return put(out, std::prev(after)->first);
  }
  out = put(out, " |f");
  if (!feature.field.empty()) {
    out = put_escaped(out, feature.field);
  } else if (fields_.by_position) {
    out = std::to_chars(out, out + 20, position).ptr;
  }
  *out++ = ' ';
  return out;
}

char* LibffmConverter::convert_row(std::string_view row, char* out, Fault& fault) {
  const char *p = row.data(), *end = std::find(p, p + row.size(), '#');
  std::string_view token = take_token(p, end);
  char* line = out;
  const bool labelled = token.find(':') == std::string_view::npos;
  if (labelled) {
    std::optional<bool> clicked = read_label(token);
    if (!clicked) {
      fault = {token.data(), "the label is not one of 1, 0 and -1"};
      return nullptr;
    }
    out = put(out, *clicked ? "1" : "-1");
  } else {
    p = token.data();  // a feature, as rows without a label begin with
  }
  char* label_end = out;
  Feature feature;
  std::string_view prefix;  // of the namespace that is open
  for (std::size_t position = 1; !(token = take_token(p, end)).empty(); ++position) {
    const char* what = read_feature(token, feature);
    if (what == nullptr && feature.value.empty()) continue;
    char* name = what == nullptr ? put_field(out, feature, position) : nullptr;
    if (name == nullptr) {
      fault = {token.data(), what != nullptr ? what : "no field of --fields has this feature"};
      return nullptr;
    }
    std::string_view written(out, static_cast<std::size_t>(name - out));
    if (written == prefix) {
      name = put(out, " ");
    } else {
      prefix = written;
    }
    out = put_escaped(name, feature.name);
    if (feature.value != "1") {
      *out++ = ':';
      out = put(out, feature.value);
    }
  }
  if (!labelled) count_unlabelled();
  return end_line(line, label_end, out);
}

}  // namespace leveret::convert
