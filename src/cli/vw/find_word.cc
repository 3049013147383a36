#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/vw/words.h"

namespace leveret::cli {
namespace {

bool is_called(const Word& word, std::string_view option) {
  if (option.starts_with("--")) return option.substr(2) == word.name;
  return option.size() == 2 && option[0] == '-' && option[1] == word.letter;
}

/// find_word of families.
std::map<std::string, Word, std::less<>> words_of_families() {
  std::map<std::string, Word, std::less<>> words;
  for (const WordFamily& family : word_families()) {
    std::string_view rest = family.names;
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
      words[std::string(name)] = {"", 0, "", "", Verdict::kSay, family.here};
    }
  }
  for (auto& [name, word] : words) word.name = name.c_str();  // keys of a map stay where they are
  return words;
}

/// "-t, --testonly", "--nn N", with the verbs that a row is for.
std::string shown_name(const Word& word) {
  std::string name = word.letter != 0 ? fmt::format("-{}, ", word.letter) : "";
  name += fmt::format("--{}", word.name);
  if (*word.value != '\0') name += fmt::format(" {}", word.value);
  if (*word.verbs != '\0') name += fmt::format(" ({})", word.verbs);
  return name;
}

std::string shown_verdict(const Word& word) {
  const std::string here = words_for(word, "");
  switch (word.verdict) {
    case Verdict::kSame:
      return here.empty() ? "the same" : "the same; " + here;
    case Verdict::kTaken:
      return "taken as " + here;
    case Verdict::kHolds:
      return "always so: " + here;
    case Verdict::kOnly:
      return fmt::format("only {}: {}", word.value, here);
    case Verdict::kIgnored:
      return "ignored, with a note: " + here;
    case Verdict::kVerb:
      return "taken as the verb " + here;
    case Verdict::kSay:
      return "refused: " + here;
  }
  return "";
}

/// A name in one column and its text in another.
void append_row(std::string& page, const std::string& name, const std::string& text) {
  constexpr std::size_t kColumn = 30;
  if (name.size() < kColumn - 2) {
    page += fmt::format("  {:<{}}{}\n", name, kColumn - 2, text);
  } else {
    page += fmt::format("  {}\n{:{}}{}\n", name, "", kColumn, text);
  }
}

}  // namespace

bool has_word(std::string_view list, std::string_view word) {
  return fmt::format(" {} ", list).find(fmt::format(" {} ", word)) != std::string::npos;
}

const Word* find_word(std::string_view option, std::string_view verb) {
  for (const WordGroup& group : word_groups()) {
    for (const Word& word : group.words) {
      if (!is_called(word, option)) continue;
      if (*word.verbs == '\0' || has_word(word.verbs, verb)) return &word;
    }
  }
  static const auto families = words_of_families();
  if (!option.starts_with("--")) return nullptr;
  const auto found = families.find(option.substr(2));
  return found != families.end() ? &found->second : nullptr;
}

std::string words_for(const Word& word, std::string_view value) {
  std::string text = word.here;
  // Fwumious Wabbit's --nn 0:width:20 is no number of units.
  const bool plain = word.verdict == Verdict::kTaken || value.find(':') == std::string_view::npos;
  const std::size_t at = text.find("{}");
  if (at != std::string::npos) text.replace(at, 2, value.empty() || !plain ? word.value : value);
  return text;
}

std::string words_page() {
  std::string page =
      "Vowpal Wabbit's and Fwumious Wabbit's options in Leveret. A refused option ends the run "
      "before\n"
      "anything is read, and the text names the replacement. man leveret-vw has command lines.\n";
  for (const WordGroup& group : word_groups()) {
    page += fmt::format("\n{}:\n", group.title);
    for (const Word& word : group.words) append_row(page, shown_name(word), shown_verdict(word));
  }
  page += "\nNot supported:\n";
  for (const WordFamily& family : word_families()) {
    page += fmt::format("  refused: {}\n", family.here);
    std::string_view rest = family.names;
    while (!rest.empty()) {
      // Lines of 90 columns, cut at a space.
      std::size_t end = rest.size() <= 80 ? rest.size() : rest.rfind(' ', 80);
      page += fmt::format("      {}\n", rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return page;
}

}  // namespace leveret::cli
