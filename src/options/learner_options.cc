#include "options/learner_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "options/numbers.h"
#include "stream/bad_lines.h"

namespace leveret::options {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Takes one word from the front of `text`, which begins with it.
std::string take_word(std::string_view& text) {
  std::string word;
  char quote = '\0';  // that is open
  std::size_t i = 0;
  for (; i < text.size() && (quote != '\0' || !is_blank(text[i])); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = '\0';
    } else {
      word += c;
    }
  }
  if (quote != '\0') {
    throw std::runtime_error(
        fmt::format("the options have a {} without an end: {}", quote, stream::escaped(text)));
  }
  text.remove_prefix(i);
  return word;
}

}  // namespace

void add_threads_options(CLI::App& app, unsigned& threads, bool& pin) {
  app.add_option("--threads", threads,
                 "threads that learn together (hogwild); more than 1 is not reproducible")
      ->type_name("N")
      ->transform(within(1, 1024))
      ->capture_default_str();
  app.add_flag("--pin", pin, "each thread on a processor of its own");
}

void add_max_memory_option(CLI::App& app, std::uint64_t& bytes) {
  app.add_option("--max_memory", bytes,
                 "bytes for all tables (K, M, G); then new features share a row; default: three "
                 "quarters of the machine's, or of the cgroup's, at most half of ulimit -v")
      ->type_name("N")
      ->transform(bytes_within(1, std::uint64_t{1} << 62));
}

void put_underscores(std::vector<std::string>& words) {
  for (std::string& word : words) {
    if (word == "--") break;
    if (!word.starts_with("--")) continue;
    for (std::size_t i = 2; i < word.size() && word[i] != '='; ++i) {
      if (word[i] == '-') word[i] = '_';
    }
  }
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    if (text.empty()) return words;
    words.push_back(take_word(text));
  }
}

LearnerOptions::LearnerOptions(std::string_view text) : app_(std::make_unique<CLI::App>()) {
  app_->set_help_flag();
  app_->allow_extras();
  flags_.add_to(*app_);
  add_threads_options(*app_, threads_, pin_);
  add_max_memory_option(*app_, max_memory_);
  std::vector<std::string> words = split_words(text);
  put_underscores(words);
  std::ranges::reverse(words);  // CLI11 wants them last first
  app_->parse(std::move(words));
  if (const std::vector<std::string> others = app_->remaining(); !others.empty()) {
    throw std::runtime_error(
        fmt::format("{} is no option of a learner: it takes those of leveret train about the model "
                    "and learning, --threads, --pin and --max_memory",
                    stream::escaped(others[0])));
  }
  if (pin_ && threads_ == 1) {
    throw std::runtime_error("--pin does nothing without --threads");
  }
}

LearnerOptions::~LearnerOptions() = default;

}  // namespace leveret::options
