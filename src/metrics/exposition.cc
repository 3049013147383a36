#include "metrics/exposition.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace leveret::metrics {

std::string labels(std::initializer_list<std::pair<std::string_view, std::string_view>> all) {
  std::string text;
  for (const auto& [name, value] : all) {
    if (!text.empty()) text += ',';
    text += name;
    text += "=\"";
    for (const char c : value) {
      if (c == '\\' || c == '"') text += '\\';
      c == '\n' ? text += "\\n" : text += c;
    }
    text += '"';
  }
  return text;
}

void Exposition::start(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  fmt::format_to(std::back_inserter(text_), "# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

std::string Exposition::with_labels(std::string_view suffix, std::string_view labels) const {
  const char* const comma = common_.empty() || labels.empty() ? "" : ",";
  const bool has_some = !common_.empty() || !labels.empty();
  return fmt::format("{}{}{}{}{}{}{}", name_, suffix, has_some ? "{" : "", common_, comma, labels,
                     has_some ? "}" : "");
}

void Exposition::value(std::string_view labels, double number, std::string_view suffix) {
  if (std::isnan(number)) return;
  fmt::format_to(std::back_inserter(text_), "{} {}\n", with_labels(suffix, labels), number);
}

void Exposition::value(std::string_view labels, std::uint64_t number, std::string_view suffix) {
  fmt::format_to(std::back_inserter(text_), "{} {}\n", with_labels(suffix, labels), number);
}

}  // namespace leveret::metrics
