#include "cli/help.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <stdexcept>

#include "cli/console.h"
#include "cli/verbs.h"

namespace leveret::cli {
namespace {

/// Damerau–Levenshtein distance (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::vector<const CLI::App*> all_verbs(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : all_verbs(app)) names.push_back(verb->get_name());
  return names;
}

/// Long options of `app`, with their dashes.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string hint(const std::string& meant) {
  return meant.empty() ? "" : fmt::format("; did you mean {}?", meant);
}

[[noreturn]] void no_such_verb(const CLI::App& app, const std::string& word) {
  throw CLI::ValidationError(
      fmt::format("there is no verb '{}'{}", word, hint(nearest(word, verb_names(app)))));
}

/// The verbs that were recognised on the command line: none or one.
const CLI::App& current(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  return verbs.empty() ? app : *verbs[0];
}

/// Each version of CLI11 writes otherwise what stands behind an option's name; people and man pages
/// know one form.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string words;
    if (option->get_type_size() != 0) {
      if (!option->get_type_name().empty()) words += " " + option->get_type_name();
      if (!option->get_default_str().empty()) words += "=" + option->get_default_str();
      if (option->get_expected_max() == CLI::detail::expected_max_vector_size) words += " ...";
      if (option->get_required()) words += " REQUIRED";
    }
    if (!option->get_needs().empty()) words += " Needs:";
    for (const CLI::Option* other : option->get_needs()) words += " " + other->get_name();
    return words;
  }
};

/// As `PROGRAM VERB --help`, whatever stands on the command line. It ends with one end of line.
std::string help_text(const CLI::App& app, const CLI::App& verb) {
  const std::string name = &verb == &app ? app.get_name() : app.get_name() + " " + verb.get_name();
  std::string text = HelpFormatter().make_help(&verb, name, CLI::AppFormatMode::Normal);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

std::string about_option(const CLI::App& app, const CLI::App& verb, const std::string& name) {
  const std::string meant = nearest(name, option_names(verb));
  if (!meant.empty()) return fmt::format("unknown option {}{}", name, hint(meant));
  // Perhaps it is another verb's.
  for (const CLI::App* other : all_verbs(app)) {
    const auto names = option_names(*other);
    if (std::ranges::find(names, name) == names.end()) continue;
    return fmt::format("{} is an option of {}, not of {}", name, other->get_name(),
                       verb.get_name());
  }
  return fmt::format("unknown option {}", name);
}

/// What to say about words that nothing took; empty when there are none.
std::string about_extras(const CLI::App& app) {
  const CLI::App& verb = current(app);
  const std::vector<std::string> before = app.remaining(false), words = app.remaining(true);
  if (words.empty()) return "";
  const auto option =
      std::ranges::find_if(words, [](const std::string& w) { return w.starts_with("-"); });
  if (&verb == &app) {
    const std::string meant = nearest(words[0], verb_names(app));
    if (option == words.begin()) {
      return fmt::format("{} stands before a verb; options follow their verb", words[0]);
    }
    return fmt::format("there is no verb '{}'{}", words[0], hint(meant));
  }
  if (!before.empty() && before[0].starts_with("-")) {
    return fmt::format("{} stands before {}; options follow their verb", before[0],
                       verb.get_name());
  }
  if (option == words.end()) {
    return fmt::format("unexpected argument '{}' for {}", words[0], verb.get_name());
  }
  return about_option(app, verb, option->substr(0, option->find('=')));
}

/// "-i MODEL is missing", in the words of the synopsis; CLI11 knows the long name only.
std::string about_missing(const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    const auto& letters = option->get_snames();
    const std::string type = option->get_type_name();  // of a word also "FORMAT:{csv,...}"
    return fmt::format("{}{} is missing", letters.empty() ? "" : "-" + letters[0] + " ",
                       type.substr(0, type.find(':')));
  }
  return "something that is required is missing";
}

void print(const std::string& text) {
  Output output("");
  output.write(text);
  output.close();
}

}  // namespace

std::string nearest(std::string_view typed, const std::vector<std::string>& known) {
  std::string best;
  // A third of the letters wrong is no slip of the finger any more.
  std::size_t least = std::max<std::size_t>(typed.size() / 3, 1) + 1;
  for (const std::string& name : known) {
    // A beginning that was left unfinished counts as one edit.
    const bool unfinished = typed.size() >= 3 && name.starts_with(typed) && typed != "--";
    const std::size_t distance = unfinished ? 1 : edit_distance(typed, name);
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

int end_parse(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    const bool version = dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr;
    print(version ? std::string(error.what()) + "\n" : help_text(app, current(app)));
    return 0;
  }
  const CLI::App& verb = current(app);
  // An unknown option is often why something else is missing, so it comes first.
  std::string what = about_extras(app);
  const bool missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (what.empty())
    what = &verb == &app ? "no verb is given" : missing ? about_missing(verb) : error.what();
  say("error: " + what);
  const bool verbs = &verb == &app || verb.get_name() == "help";
  say_raw(verbs ? fmt::format("`{} help` lists the verbs.\n", app.get_name())
                : fmt::format("`{} help {}` lists its options.\n", app.get_name(), verb.get_name()));
  return 2;
}

void setup_help(CLI::App& app, int& exit_code) {
  auto word = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("help", "the options of a verb");
  verb->add_option("verb", *word, "which; none: lists the verbs")->type_name("VERB");
  verb->callback([word, &app, &exit_code] {
    if (word->empty()) {
      print(help_text(app, app));
    } else {
      const auto names = verb_names(app);
      if (std::ranges::find(names, *word) == names.end()) no_such_verb(app, *word);
      print(help_text(app, *app.get_subcommand(*word)));
    }
    exit_code = 0;
  });
}

}  // namespace leveret::cli
