#include "spec/makers.h"

#include <optional>

#include "text/plain_number.h"

namespace leveret::spec {

void refuse(const char* name, const std::string& text, const std::string& expected) {
  throw BadValue(fmt::format("--{} {}: expected {}", name, text::shown(text), expected), expected);
}

std::uint64_t whole_of(const char* name, const std::string& text, std::uint64_t low,
                       std::uint64_t high) {
  const std::optional<std::uint64_t> value = text::read_whole(text, low, high);
  if (!value) refuse(name, text, text::whole_from_to(low, high));
  return *value;
}

float real_of(const char* name, const std::string& text, float low, float high) {
  const std::optional<float> value = text::read_real(text, low, high);
  if (!value) refuse(name, text, fmt::format("a number from {} to {}", low, high));
  return *value;
}

SpecEntry number_entry(const char* name, const char* alias, const char* value, const char* help,
                       std::uint32_t Spec::*member, std::uint32_t low, std::uint32_t high) {
  return {name,
          alias,
          value,
          help,
          true,
          true,
          false,
          [=](Spec& s, const std::string& t) {
            s.*member = static_cast<std::uint32_t>(whole_of(name, t, low, high));
          },
          [=](const Spec& s) { return fmt::format("{}", s.*member); }};
}

std::string joined(const std::vector<std::string>& parts, const char* by) {
  return fmt::format("{}", fmt::join(parts, by));
}

std::string either_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += i == 0 ? "" : i + 1 < words.size() ? ", " : " or ";
    text += words[i];
  }
  return text;
}

SpecEntry key_of(const char* option, const char* key, SpecEntry entry) {
  entry.key = {option, "", key};
  return entry;
}

SpecEntry stored_unless(const char* absent, SpecEntry entry) {
  entry.absent = absent;
  entry.stored = SpecEntry::Stored::kUnlessAbsent;
  return entry;
}

}  // namespace leveret::spec
