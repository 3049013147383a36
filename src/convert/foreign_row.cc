#include "convert/foreign_row.h"

#include <algorithm>
#include <cstddef>

namespace leveret::convert {
namespace {

constexpr std::ptrdiff_t kCriteoTabs = 1 + 13 + 26 - 1;
constexpr std::ptrdiff_t kAvazuCommas = 24 - 1;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A label, then index:value or field:index:value only.
bool is_libffm(std::string_view line) {
  std::size_t words = 0;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    if (word.empty()) continue;
    if (words++ == 0) continue;
    const std::size_t colon = word.find(':');
    if (colon == 0 || colon == std::string_view::npos ||
        !std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(colon), is_digit)) {
      return false;
    }
  }
  return words > 1;
}

}  // namespace

const char* foreign_row(std::string_view line) {
  if (line.find('|') != std::string_view::npos) return nullptr;
  if (std::count(line.begin(), line.end(), '\t') == kCriteoTabs) return "criteo";
  const std::ptrdiff_t commas = std::count(line.begin(), line.end(), ',');
  if (line.starts_with("id,click,hour,C1") || commas == kAvazuCommas) return "avazu";
  if (commas > 0) return "csv";
  return is_libffm(line) ? "libffm" : nullptr;
}

}  // namespace leveret::convert
