#include "cli/help/help.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <stdexcept>

#include "cli/console.h"
#include "cli/help/near_misses.h"
#include "cli/help/pages.h"
#include "cli/help/screens.h"
#include "cli/man_page.h"
#include "cli/verbs.h"
#include "cli/vw/take.h"
#include "cli/vw/words.h"
#include "spec/named_models.h"
#include "spec/tower_text.h"

namespace leveret::cli {
namespace {

std::vector<const CLI::App*> all_verbs(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : all_verbs(app)) names.push_back(verb->get_name());
  return names;
}

/// The verbs that were recognised on the command line: none or one.
const CLI::App& current(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  return verbs.empty() ? app : *verbs[0];
}

/// "m is a model: give it by -i, as in `leveret predict -i m`"
std::string give_model(const CLI::App& app, const std::string& model) {
  return fmt::format("{0} is a model: give it by -i, as in `{1} {2} -i {0}`", model, app.get_name(),
                     current(app).get_name());
}

std::string hint(const std::string& meant) {
  return meant.empty() ? "" : fmt::format("; did you mean {}?", meant);
}

[[noreturn]] void no_such_verb(const CLI::App& app, const std::string& word) {
  throw CLI::ValidationError(
      fmt::format("there is no verb '{}'{}", word, hint(verb_meant(word, verb_names(app)))));
}

/// Words in lines of a screen's width, behind so many blanks. An option stays with its value.
std::string wrapped(std::string_view words, std::size_t indent) {
  constexpr std::size_t kWidth = 100;
  std::string text;
  std::size_t column = indent;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(" --", at + 1), words.size());
    const std::string_view part = words.substr(at, end - at);
    if (at > 0 && column + part.size() > kWidth) {
      text += "\n" + std::string(indent - 1, ' ');
      column = indent - 1;
    }
    text += part;
    column += part.size();
    at = end;
  }
  return text;
}

/// The models of --model: when to take each, and its options.
std::string models_page() {
  std::string text =
      "leveret train --model NAME is short for the options below it; further options change it.\n";
  for (const spec::NamedModel& named : spec::named_models()) {
    text += fmt::format("\n  {:<10} {}\n{:13}{}\n", named.name, named.when, "",
                        wrapped(named.options, 13));
  }
  return text;
}

/// A verb that is spelt nearly so, or the one that a file's name stands for, as in `vw FILE`.
std::string meant_instead(const CLI::App& app, const std::vector<std::string>& words) {
  if (access(words[0].c_str(), F_OK) != 0) return verb_meant(words[0], verb_names(app));
  return fmt::format("{} {} {}", app.get_name(), verb_of(app, "--data", words), words[0]);
}

/// Options among words that nothing took.
std::vector<std::string> extra_options(const CLI::App& app) {
  std::vector<std::string> options;
  for (const std::string& word : app.remaining(true)) {
    if (word.size() > 1 && word.starts_with('-')) options.push_back(word);
  }
  return options;
}

/// The message about words that stand before a verb, or in its place.
std::string about_beginning(const CLI::App& app, const std::vector<std::string>& words) {
  if (!words[0].starts_with('-')) {
    return fmt::format("there is no verb '{}'{}", words[0], hint(meant_instead(app, words)));
  }
  const std::string verb = verb_of(app, words[0], words);
  return fmt::format("{} comes before a verb: put options after the verb{}", words[0],
                     hint(verb.empty() ? "" : app.get_name() + " " + verb));
}

/// The message about words that nothing took, a line for each option; no lines when there are none.
std::vector<std::string> about_extras(const CLI::App& app) {
  const CLI::App& verb = current(app);
  const std::vector<std::string> before = app.remaining(false), words = app.remaining(true);
  if (words.empty()) return {};
  if (&verb == &app) return {about_beginning(app, words)};
  if (!before.empty() && before[0].starts_with('-')) {
    return {fmt::format("{0} comes before {1}: put {0} after {1}", before[0], verb.get_name())};
  }
  std::vector<std::string> lines;
  for (const std::string& option : extra_options(app)) {
    const std::string line = about_option(app, verb, option);
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
  }
  if (!lines.empty()) return lines;
  const CLI::Option* const has_model = verb.get_option_no_throw("--initial_regressor");
  if (has_model != nullptr && has_model->count() == 0) {
    const std::string model = model_among(words);
    if (!model.empty()) return {give_model(app, model)};
  }
  return {fmt::format("unexpected argument '{}' for {}", words[0], verb.get_name())};
}

/// The words behind the options that take the verb's data.
std::vector<std::string> data_words(const CLI::App& verb) {
  const CLI::Option* const data = verb.get_option_no_throw("--data");
  return data != nullptr ? data->results() : std::vector<std::string>();
}

/// The line that says where to read on.
std::string where_it_stands(const CLI::App& app, const CLI::App& verb) {
  const std::vector<std::string> verbs = verb_names(app);
  const bool has_pages = std::ranges::find(verbs, "help") != verbs.end();
  if (&verb == &app || verb.get_name() == "help") {
    return fmt::format("`{} {}` lists the verbs.\n", app.get_name(), has_pages ? "help" : "--help");
  }
  const bool is_of_others = std::ranges::any_of(
      extra_options(app), [&](const std::string& option) { return is_other_word(verb, option); });
  return fmt::format("`{}` lists its options{}.\n",
                     has_pages ? fmt::format("{} help {}", app.get_name(), verb.get_name())
                               : fmt::format("{} {} --help_all", app.get_name(), verb.get_name()),
                     is_of_others ? ", `leveret help vw` those of Vowpal Wabbit" : "");
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

/// The option that was given more often than it may be; null: none was.
const CLI::Option* given_twice(const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options()) {
    const bool takes_one = option->get_expected_max() == 1 &&
                           option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw;
    if (takes_one && option->count() > 1 && option->get_type_size() != 0) return option;
  }
  return nullptr;
}

/// What the parser stopped at, in our words where the library's say nothing to a user.
std::string about_error(const CLI::App& verb, const CLI::ParseError& error) {
  const CLI::Option* const twice = given_twice(verb);
  if (twice == nullptr || dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr) {
    return error.what();
  }
  return fmt::format("{} is given {} times: give it once", twice->get_name(), twice->count());
}

void print(const std::string& text) {
  Output output("");
  output.write(text);
  output.close();
}

/// The page of a subject that has no verb, or where it is. False: there is none.
bool show_topic(const CLI::App& app, const std::string& word) {
  constexpr const char* kTopics[][2] = {
      {"loop", "7"},        {"model", "7"}, {"transforms", "7"}, {"performance", "7"},
      {"distributed", "7"}, {"text", "5"},  {"cache", "5"}};
  for (const auto& [topic, section] : kTopics) {
    if (word != topic) continue;
    const std::string page = app.get_name() + "-" + word;
    if (isatty(STDOUT_FILENO) == 1) become_man_page(section, page);
    print(
        fmt::format("`man {0} {1}` has this page; in a build that is not installed, `man -l "
                    "build/man/{1}.{0}`\n",
                    section, page));
    return true;
  }
  return false;
}

}  // namespace

void set_help_flags(CLI::App& app) {
  app.set_help_flag("-h,--help", "the options that are used most, on one screen");
  app.set_help_all_flag("--help_all", "all options");
}

int end_parse(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    const bool version = dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr;
    const bool all = dynamic_cast<const CLI::CallForAllHelp*>(&error) != nullptr;
    const CLI::App& verb = current(app);
    print(version ? std::string(error.what()) + "\n"
          : all   ? options_page(app, verb)
                  : help_page(app, verb));
    return 0;
  }
  const CLI::App& verb = current(app);
  // An unknown option is often why something else is missing, so it comes first.
  const std::vector<std::string> extras = about_extras(app);
  const bool missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  for (const std::string& what : extras) say("error: " + what);
  if (extras.empty() && &verb == &app) {
    say_raw(app.get_name() == "leveret" ? opening_screen() : verbs_page(app));
    return 2;
  }
  if (extras.empty()) {
    const std::string model = missing ? model_among(data_words(verb)) : "";
    say("error: " + (!model.empty() ? give_model(app, model)
                     : missing      ? about_missing(verb)
                                    : about_error(verb, error)));
  }
  say_raw(where_it_stands(app, verb));
  return 2;
}

void setup_help(CLI::App& app, int& exit_code) {
  auto word = std::make_shared<std::string>();
  CLI::App* verb =
      app.add_subcommand("help", "the page or the options of a verb; also vw, models, towers");
  verb->add_option(
          "verb", *word,
          "which; none: lists the verbs; vw: Vowpal Wabbit's and Fwumious Wabbit's options; "
          "models: those of --model; towers: those of --tower")
      ->type_name("VERB");
  verb->callback([word, &app, &exit_code] {
    exit_code = 0;
    if (word->empty()) {
      print(verbs_page(app));
    } else if (*word == "vw") {
      print(words_page());
    } else if (*word == "models") {
      print(models_page());
    } else if (*word == "towers") {
      print(spec::towers_page());
    } else {
      const auto names = verb_names(app);
      if (std::ranges::find(names, *word) == names.end()) {
        if (show_topic(app, *word)) return;
        no_such_verb(app, *word);
      }
      if (isatty(STDOUT_FILENO) == 1) become_man_page("1", app.get_name() + "-" + *word);
      print(options_page(app, *app.get_subcommand(*word)));
    }
  });
}

}  // namespace leveret::cli
