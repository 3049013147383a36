#include "cli/help/pages.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "cli/help/screens.h"
#include "spec/settings.h"

namespace leveret::cli {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kHelpColumn = 30;

/// Characters of UTF-8.
std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Behind `indent` columns, broken between words. Its first line begins at column `at`, where the
/// caller is, and each line has an end.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t at) {
  std::string lines;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    const std::size_t width = columns_of(word);
    const bool first = lines.empty();
    if (!first && at + 1 + width > kColumns) {
      lines += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (!first) {
      lines += ' ';
      ++at;
    }
    lines += word;
    at += width;
  }
  return lines + "\n";
}

/// The name in one column and the text in another, or below where the name is long.
std::string row(const std::string& name, const std::string& text) {
  const std::size_t end = columns_of(name) + 1;
  if (end < kHelpColumn) {
    return name + std::string(kHelpColumn - end + 1, ' ') + wrapped(text, kHelpColumn, kHelpColumn);
  }
  return name + "\n" + std::string(kHelpColumn, ' ') + wrapped(text, kHelpColumn, kHelpColumn);
}

/// What an option takes: "N". Behind a colon the library notes bounds and words, "N:UINT in [1 -
/// 9]".
std::string value_name(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  for (std::size_t at = 0; (at = type.find(':', at)) != std::string::npos; ++at) {
    if (at > 0 && type[at - 1] != '[') return type.substr(0, at);
  }
  return type;
}

/// "-d,--data FILE ..."
std::string option_name(const CLI::Option& option) {
  std::string name = option.get_name(false, true);
  if (option.get_type_size() == 0) return name;
  name += " " + value_name(option);
  if (option.get_expected_max() == CLI::detail::expected_max_vector_size) name += " ...";
  return name;
}

/// Its text, with the default and what it needs.
std::string option_text(const CLI::Option& option) {
  std::string text = option.get_description();
  std::vector<std::string> more;
  if (option.get_required()) more.emplace_back("required");
  for (const CLI::Option* other : option.get_needs()) {
    const auto& letters = other->get_snames();
    more.push_back("needs " + (letters.empty() ? other->get_name() : "-" + letters[0]));
  }
  if (option.get_type_size() != 0 && !option.get_default_str().empty()) {
    more.push_back("default: " + option.get_default_str());
  }
  return more.empty() ? text : fmt::format("{} ({})", text, fmt::join(more, "; "));
}

/// A row for each key that stands behind the option's value.
std::string key_rows(const CLI::Option& option) {
  std::string rows;
  for (const std::string& name : option.get_lnames()) {
    const auto entry = std::ranges::find(spec::spec_entries(), name, &spec::SpecEntry::name);
    if (entry == spec::spec_entries().end()) continue;
    for (const spec::SpecEntry* key : spec::keys_of(*entry)) {
      const std::string part = *key->key.part == '\0' ? "" : fmt::format("{}=RULE", key->key.part);
      rows += row(fmt::format("      {}:{}={}", part, key->key.name, key->value),
                  fmt::format("{} (default: {})", key->help, key->get(spec::Spec())));
    }
  }
  return rows;
}

/// "Usage: leveret train [OPTIONS] [FILE ...]"
std::string usage(const CLI::App& app, const CLI::App& verb) {
  std::string text = fmt::format("Usage: {} {} [OPTIONS]", app.get_name(), verb.get_name());
  for (const CLI::Option* option : verb.get_options()) {
    if (!option->get_positional()) continue;
    const bool several = option->get_expected_max() == CLI::detail::expected_max_vector_size;
    const std::string word = value_name(*option) + (several ? " ..." : "");
    text += option->get_required() ? " " + word : fmt::format(" [{}]", word);
  }
  return text + "\n";
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

}  // namespace

std::string help_page(const CLI::App& app, const CLI::App& verb) {
  if (&verb == &app) return verbs_page(app);
  const std::string_view screen = first_screen(app.get_name(), verb.get_name());
  return screen.empty() ? options_page(app, verb) : std::string(screen);
}

std::string options_page(const CLI::App& app, const CLI::App& verb) {
  if (&verb == &app) return verbs_page(app);
  std::string text = usage(app, verb) + wrapped(capital(verb.get_description()) + ".", 0, 0);
  for (const std::string& group : verb.get_groups()) {
    if (group.empty()) continue;  // not for help
    std::string rows;
    for (const CLI::Option* option : verb.get_options()) {
      if (option->get_group() != group) continue;
      if (option->get_lnames().empty() && option->get_snames().empty()) {
        rows += row("  " + value_name(*option), option_text(*option));
        continue;
      }
      rows += row("  " + option_name(*option), option_text(*option)) + key_rows(*option);
    }
    text += fmt::format("\n{}:\n{}", group, rows);
  }
  return text;
}

std::string verbs_page(const CLI::App& app) {
  std::string text = fmt::format("{}\nUsage: {} VERB [OPTIONS]\n\nVerbs:\n", app.get_description(),
                                 app.get_name());
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    constexpr std::size_t kColumn = 12;
    text += fmt::format("  {:<{}}{}", verb->get_name(), kColumn - 2,
                        wrapped(verb->get_description(), kColumn, kColumn));
  }
  text += fmt::format(
      "\nOptions:\n"
      "  -h,--help   this page; behind a verb: its most used options\n"
      "  --help_all  behind a verb: all of its options\n"
      "  --version   the version\n");
  return text;
}

}  // namespace leveret::cli
