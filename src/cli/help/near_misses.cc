#include "cli/help/near_misses.h"

#include <algorithm>
#include <exception>
#include <filesystem>

#include "store/model_file.h"

namespace leveret::cli {
namespace {

/// Verbs of other programs, and ours for what they do.
constexpr std::string_view kVerbs[][2] = {
    {"fit", "train"},       {"learn", "train"},
    {"update", "train -i"}, {"test", "evaluate"},
    {"eval", "evaluate"},   {"validate", "evaluate"},
    {"score", "predict"},   {"infer", "predict"},
    {"tune", "compare"},    {"search", "compare"},
    {"quantize", "export"}, {"info", "inspect"},
    {"show", "inspect"},    {"explain", "audit --explain"},
    {"deploy", "publish"},  {"daemon", "serve"},
    {"server", "serve"},    {"version", "--version"},
};

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

std::string verb_meant(std::string_view typed, const std::vector<std::string>& verbs) {
  for (const auto& [other, ours] : kVerbs) {
    const std::string_view verb = ours.substr(0, ours.find(' '));
    const bool is_there = verb.starts_with("--") || std::ranges::find(verbs, verb) != verbs.end();
    if (typed == other && is_there) return std::string(ours);
  }
  return nearest(typed, verbs);
}

std::string model_among(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(word, unknown)) continue;
    try {
      store::ModelFile::open(word);
      return word;
    } catch (const std::exception&) {  // another file
    }
  }
  return "";
}

}  // namespace leveret::cli
