#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/help/near_misses.h"
#include "cli/vw/take.h"
#include "cli/vw/words.h"
#include "spec/entries.h"

namespace leveret::cli {
namespace {

/// Long options of `app`, with their dashes.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Without what is attached to it.
std::string name_of(const std::string& typed) {
  return typed.starts_with("--") ? typed.substr(0, typed.find('=')) : typed.substr(0, 2);
}

/// Verbs that have the option.
std::vector<std::string> owners_of(const CLI::App& app, const std::string& option) {
  std::vector<std::string> owners;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (verb->get_option_no_throw(option) != nullptr) owners.push_back(verb->get_name());
  }
  return owners;
}

/// "a, b and c".
std::string listed(const std::vector<std::string>& names) {
  if (names.size() == 1) return names[0];
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

/// Whether it says what a model is, or how it learns.
bool is_of_model(const std::string& option) {
  return std::ranges::any_of(spec::spec_entries(), [&](const spec::SpecEntry& entry) {
    const std::string names = fmt::format(",--{},{},", entry.name, entry.alias);
    return names.find("," + option + ",") != std::string::npos;
  });
}

std::string of_others(const std::vector<std::string>& owners, const CLI::App& verb,
                      const std::string& option) {
  const bool has_model = verb.get_option_no_throw("--initial_regressor") != nullptr;
  const bool is_target = option == "-f" || option == "--final_regressor" || option == "-p";
  if (is_target && verb.get_option_no_throw("--output") != nullptr) {
    return fmt::format("an option of {}; {} writes its result to -o", listed(owners),
                       verb.get_name());
  }
  return fmt::format(
      "an option of {}, not of {}{}", listed(owners), verb.get_name(),
      has_model && is_of_model(option) ? "; the model keeps its options: leave this one out" : "");
}

bool has_answer(const Word& word) {
  return word.verdict == Verdict::kSay || word.verdict == Verdict::kOnly;
}

std::string about_word(const CLI::App& app, const CLI::App& verb, const Word& word,
                       const std::string& option, const std::string& value) {
  const std::string here = words_for(word, value);
  const bool needs_value = *word.value != '\0' && value.empty();
  if (has_answer(word)) return fmt::format("{}: {}", option, here);
  if (word.verdict != Verdict::kTaken) {
    return fmt::format("{} is an option of Vowpal Wabbit or Fwumious Wabbit, not of {}", option,
                       verb.get_name());
  }
  if (needs_value) return fmt::format("{}: its {} is missing", option, word.value);
  const std::string target = here.substr(0, here.find(' '));
  return fmt::format("{} is {} here, {}", option, here,
                     of_others(owners_of(app, target), verb, target));
}

}  // namespace

std::string about_option(const CLI::App& app, const CLI::App& verb, const std::string& typed) {
  const std::size_t at = typed.find('=');
  const std::string option = name_of(typed);
  const std::string value = at == std::string::npos ? "" : typed.substr(at + 1);
  const Word* const word = find_word(option, verb.get_name());
  const auto owners = owners_of(app, option);
  if (!owners.empty()) {
    std::string text = fmt::format("{} is {}", option, of_others(owners, verb, option));
    const bool said = word != nullptr && has_answer(*word);
    return said ? fmt::format("{}; {}", text, words_for(*word, value)) : text;
  }
  if (word != nullptr) return about_word(app, verb, *word, option, value);
  const std::string meant = nearest(option, option_names(verb));
  return fmt::format("unknown option {}{}", option,
                     meant.empty() ? "" : fmt::format("; did you mean {}?", meant));
}

bool is_other_word(const CLI::App& verb, const std::string& typed) {
  const Word* const word = find_word(name_of(typed), verb.get_name());
  return word != nullptr && word->verdict != Verdict::kSame;
}

std::string verb_of(const CLI::App& app, const std::string& first,
                    const std::vector<std::string>& words) {
  const std::string option = name_of(first);
  if (find_word(option, "train") == nullptr && owners_of(app, option).empty()) return "";
  const auto has = [&](std::initializer_list<const char*> names) {
    return std::ranges::any_of(words, [&](const std::string& word) {
      return std::ranges::find(names, word) != names.end();
    });
  };
  if (has({"--daemon"})) return "serve";
  if (has({"-a", "--audit"})) return "audit";
  return has({"-t", "--testonly"}) ? "predict" : "train";
}

}  // namespace leveret::cli
