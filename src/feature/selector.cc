#include "feature/selector.h"

#include <stdexcept>

namespace leveret::feature {

bool selects(std::string_view selector, std::string_view name, bool exact_known) {
  if (selector == name || selector == ":") return true;
  return selector.size() == 1 && !exact_known && !name.empty() && name[0] == selector[0];
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    std::size_t end = text.find(at, begin);
    if (end == std::string_view::npos) end = text.size();
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts = split(text, ',');
  std::erase(parts, "");
  return parts;
}

std::vector<std::string> parse_interaction(std::string_view text) {
  std::vector<std::string> parts;
  if (text.find('*') != std::string_view::npos) {
    parts = split(text, '*');
  } else {
    for (char letter : text) parts.emplace_back(1, letter);
  }
  bool empty = false;
  for (const std::string& part : parts) empty |= part.empty();
  if (empty || parts.size() < 2 || parts.size() > 3) {
    throw std::runtime_error("interaction '" + std::string(text) +
                             "': expected two or three namespaces, as in A*B, A*B*C or ab");
  }
  return parts;
}

}  // namespace leveret::feature
