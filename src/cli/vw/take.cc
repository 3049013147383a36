#include "cli/vw/take.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <utility>

#include "cli/vw/words.h"

namespace leveret::cli {
namespace {

/// Verbs that are what `vw` does; others have options of their own.
constexpr const char* kVerbs = "train predict evaluate audit serve";

/// An option as it stands on the command line.
struct Typed {
  std::string name;   ///< --name or -x
  std::string value;  ///< what is attached to it
  bool has_value = false;
};

Typed typed_of(const std::string& argument) {
  if (!argument.starts_with("--")) {
    return {argument.substr(0, 2), argument.substr(2), argument.size() > 2};
  }
  const std::size_t at = argument.find('=');
  if (at == std::string::npos) return {argument, "", false};
  return {argument.substr(0, at), argument.substr(at + 1), true};
}

const CLI::Option* option_of(const CLI::App& verb, const std::string& name) {
  return verb.get_option_no_throw(name);
}

bool is_option(const std::string& argument) {
  return argument.size() > 1 && argument.starts_with('-') && argument != "--";
}

/// One command line, read from its front to its end.
class Reading {
 public:
  Reading(const CLI::App& verb, const std::vector<std::string>& arguments, std::size_t at,
          const std::function<void(const std::string&)>& note)
      : verb_(verb), name_(verb.get_name()), arguments_(arguments), at_(at), note_(note) {}

  /// The verb's name stands at `at`; what comes behind it goes to `words`, whose last is the verb.
  void run(std::vector<std::string>& words) {
    const std::size_t verb_at = words.size() - 1;
    while (++at_ < arguments_.size()) {
      const std::string& argument = arguments_[at_];
      if (argument == "--") {
        words.insert(words.end(), arguments_.begin() + static_cast<long>(at_), arguments_.end());
        return;
      }
      if (!is_option(argument)) {
        words.push_back(argument);
      } else if (!take_own(argument, words)) {
        take_other(argument, words, words[verb_at]);
      }
    }
  }

 private:
  /// An option of the verb, with the value that it needs, which may look like an option.
  bool take_own(const std::string& argument, std::vector<std::string>& words) {
    const Typed typed = typed_of(argument);
    const CLI::Option* const own = option_of(verb_, typed.name);
    if (own == nullptr) return false;
    words.push_back(argument);
    if (!typed.has_value && own->get_items_expected_min() > 0 && own->get_type_size() != 0 &&
        at_ + 1 < arguments_.size()) {
      words.push_back(arguments_[++at_]);
    }
    return true;
  }

  void take_other(const std::string& argument, std::vector<std::string>& words, std::string& verb) {
    Typed typed = typed_of(argument);
    const Word* const word = find_word(typed.name, name_);
    if (word == nullptr) return words.push_back(argument);
    if (*word->value != '\0' && !typed.has_value && at_ + 1 < arguments_.size()) {
      typed.value = arguments_[++at_];
      typed.has_value = true;
    }
    if (!follow(*word, typed, words, verb)) {
      // One word, so that the value is no file of data; about_option tells of it.
      const std::string value = typed.has_value ? "=" + typed.value : "";
      words.push_back(typed.name + value);
    }
  }

  /// False: it is misuse.
  bool follow(const Word& word, const Typed& typed, std::vector<std::string>& words,
              std::string& verb) {
    switch (word.verdict) {
      case Verdict::kTaken:
        return take(word, typed, words);
      case Verdict::kHolds:
        return true;
      case Verdict::kOnly:
        return typed.value == word.value;
      case Verdict::kIgnored:
        tell(fmt::format("{} has no effect: {}", typed.name, words_for(word, typed.value)));
        return true;
      case Verdict::kVerb:
        verb = word.here;
        tell(fmt::format("{}: runs `leveret {}`", typed.name, verb));
        return true;
      case Verdict::kSame:
      case Verdict::kSay:
        return false;
    }
    return false;
  }

  bool take(const Word& word, const Typed& typed, std::vector<std::string>& words) {
    if (*word.value != '\0' && typed.value.empty()) return false;
    const std::string ours = words_for(word, "");
    const std::string target = ours.substr(0, ours.find(' '));
    if (option_of(verb_, target) == nullptr) return false;
    words.push_back(target);
    if (*word.value != '\0') {
      words.push_back(typed.value);
    } else if (target.size() < ours.size()) {
      words.push_back(ours.substr(target.size() + 1));
    }
    return true;
  }

  void tell(const std::string& text) {
    if (told_.insert(text).second) note_(text);
  }

  const CLI::App& verb_;
  const std::string name_;
  const std::vector<std::string>& arguments_;
  std::size_t at_;
  const std::function<void(const std::string&)>& note_;
  std::set<std::string> told_;
};

bool is_asked(const std::vector<std::string>& arguments,
              std::initializer_list<const char*> options) {
  return std::ranges::any_of(options, [&](const char* option) {
    return std::ranges::find(arguments, option) != arguments.end();
  });
}

}  // namespace

std::vector<std::string> in_our_words(const CLI::App& app,
                                      const std::vector<std::string>& arguments,
                                      const std::function<void(const std::string&)>& note) {
  const auto first = std::ranges::find_if(
      arguments, [](const std::string& argument) { return !argument.starts_with('-'); });
  if (first == arguments.end() || !has_word(kVerbs, *first)) return arguments;
  const auto found =
      app.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == *first; });
  if (found.empty()) return arguments;
  const bool quiet =
      is_asked(arguments, {"--quiet", "--driver_output_off", "--help", "--help_all", "-h"});
  std::vector<std::string> words(arguments.begin(), first + 1);
  Reading(*found[0], arguments, static_cast<std::size_t>(first - arguments.begin()),
          [&](const std::string& text) {
            if (!quiet) note(text);
          })
      .run(words);
  return words;
}

}  // namespace leveret::cli
