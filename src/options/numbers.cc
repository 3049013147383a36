#include "options/numbers.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "text/plain_number.h"

namespace leveret::options {
namespace {

/// `read`: from text to a number, or nothing. `expected`: what it takes.
template <class Read>
CLI::Validator reading(Read read, std::string expected, std::string description) {
  const auto transform = [read, expected](std::string& text) {
    const auto value = read(text);
    if (!value) return fmt::format("{} is not {}", text::shown(text), expected);
    text = fmt::format("{}", *value);
    return std::string();
  };
  return CLI::Validator(transform, std::move(description));
}

}  // namespace

CLI::Validator within(std::uint64_t least, std::uint64_t most) {
  return reading([=](const std::string& text) { return text::read_whole(text, least, most); },
                 text::whole_from_to(least, most),
                 most == text::kAnyWhole ? "" : fmt::format("UINT in [{} - {}]", least, most));
}

CLI::Validator bytes_within(std::uint64_t least, std::uint64_t most) {
  return reading([=](const std::string& text) { return text::read_size(text, least, most); },
                 fmt::format("a number of bytes from {} to {} (K, M, G: times 1024)", least, most),
                 fmt::format("SIZE in [{} - {}]", least, most));
}

CLI::Validator real_within(float least, float most) {
  return reading([=](const std::string& text) { return text::read_real(text, least, most); },
                 fmt::format("a number from {} to {}", least, most),
                 fmt::format("FLOAT in [{} - {}]", least, most));
}

CLI::Validator one_of(std::vector<std::uint64_t> numbers) {
  const std::uint64_t last = numbers.back();
  const std::string all = fmt::format("{}", fmt::join(numbers, ","));
  const std::string expected =
      fmt::format("{} or {}", fmt::join(numbers.begin(), numbers.end() - 1, ", "), last);
  return reading(
      [numbers = std::move(numbers)](const std::string& text) {
        std::optional<std::uint64_t> value = text::read_whole(text, 0, text::kAnyWhole);
        if (value && std::ranges::find(numbers, *value) == numbers.end()) value.reset();
        return value;
      },
      expected, "{" + all + "}");
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string expected =
      fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
  std::string all = fmt::format("{{{}}}", fmt::join(words, ","));
  const auto check = [words = std::move(words), expected](std::string& text) {
    const bool is_one = std::ranges::find(words, text) != words.end();
    return is_one ? std::string() : fmt::format("{} is not {}", text::shown(text), expected);
  };
  return CLI::Validator(check, std::move(all));
}

}  // namespace leveret::options
