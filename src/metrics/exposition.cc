#include "metrics/exposition.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace leveret::metrics {

std::string labels(std::initializer_list<std::pair<std::string_view, std::string_view>> all) {
  std::string text;
  for (const auto& [name, value] : all) {
    text += text.empty() ? '{' : ',';
    text += name;
    text += "=\"";
    for (const char c : value) {
      if (c == '\\' || c == '"') text += '\\';
      c == '\n' ? text += "\\n" : text += c;
    }
    text += '"';
  }
  if (!text.empty()) text += '}';
  return text;
}

void Exposition::start(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  fmt::format_to(std::back_inserter(text_), "# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

void Exposition::value(std::string_view labels, double number, std::string_view suffix) {
  if (std::isnan(number)) return;
  fmt::format_to(std::back_inserter(text_), "{}{}{} {}\n", name_, suffix, labels, number);
}

void Exposition::value(std::string_view labels, std::uint64_t number, std::string_view suffix) {
  fmt::format_to(std::back_inserter(text_), "{}{}{} {}\n", name_, suffix, labels, number);
}

}  // namespace leveret::metrics
