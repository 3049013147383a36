#include "text/plain_number.h"

#include <algorithm>

namespace leveret::text {
namespace {

bool equal_letters(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((text[i] | 0x20) != lower[i]) return false;
  }
  return true;
}

/// How far a suffix shifts a number; nothing where it is none.
std::optional<unsigned> shift_of(std::string_view suffix) {
  if (suffix.empty() || equal_letters(suffix, "b")) return 0;
  const std::size_t power = std::string_view("kmgtp").find(static_cast<char>(suffix[0] | 0x20));
  const std::string_view rest = suffix.substr(1);
  const bool known = rest.empty() || equal_letters(rest, "b") || equal_letters(rest, "i") ||
                     equal_letters(rest, "ib");
  if (power == std::string_view::npos || !known) return std::nullopt;
  return 10 * (static_cast<unsigned>(power) + 1);
}

}  // namespace

std::optional<std::uint64_t> read_whole(std::string_view text, std::uint64_t low,
                                        std::uint64_t high) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  const bool good = error == std::errc() && at == end && value >= low && value <= high;
  return good ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> read_size(std::string_view text, std::uint64_t low,
                                       std::uint64_t high) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<std::uint64_t> number = read_whole(text.substr(0, digits), 0, kAnyWhole);
  const std::optional<unsigned> shift = shift_of(text.substr(digits));
  if (!number || !shift || *number > kAnyWhole >> *shift) return std::nullopt;
  const std::uint64_t value = *number << *shift;
  return value >= low && value <= high ? std::optional(value) : std::nullopt;
}

std::string whole_from_to(std::uint64_t low, std::uint64_t high) {
  return "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
}

std::string shown(std::string_view text) {
  const bool visible = !text.empty() && text.find_first_of(" \t\r\n") == std::string_view::npos;
  return visible ? std::string(text) : '"' + std::string(text) + '"';
}

}  // namespace leveret::text
