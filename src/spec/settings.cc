#include "spec/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "feature/selector.h"
#include "spec/makers.h"
#include "spec/optimizer.h"
#include "text/plain_number.h"

namespace leveret::spec {
namespace {

/// `VALUE[:key=value,…]`, of which the part is "rows" in "rows=adagrad:rate=.1".
struct FoldedWord {
  const SpecEntry& option;
  const std::string& all;
  std::string value;  ///< before the colon
  std::string part;   ///< empty: the option has none

  std::string of() const {
    return fmt::format("--{}{}{}", option.name, part.empty() ? "" : " ", part);
  }
};

[[noreturn]] void bad_word(const FoldedWord& word, const std::string& expected) {
  throw std::runtime_error(
      fmt::format("--{} {}: expected {}", word.option.name, text::shown(word.all), expected));
}

/// "range=W, rounding=WORD or state=BITS"
std::string keys_that(const FoldedWord& word) {
  std::vector<std::string> keys;
  for (const SpecEntry* entry : keys_of(word.option)) {
    if (entry->key.part == word.part) {
      keys.push_back(fmt::format("{}={}", entry->key.name, entry->value));
    }
  }
  return either_of(keys);
}

Setting read_key(const FoldedWord& word, const std::string& text) {
  const std::size_t equals = text.find('=');
  for (const SpecEntry* entry : keys_of(word.option)) {
    if (equals == std::string::npos || entry->key.part != word.part ||
        text.substr(0, equals) != entry->key.name) {
      continue;
    }
    return {entry, text.substr(equals + 1), fmt::format("{} of {}", text::shown(text), word.of())};
  }
  const std::string another =
      word.part.empty() ? "" : fmt::format("; repeat --{} for another part", word.option.name);
  bad_word(word, fmt::format("{} in place of {}{}", keys_that(word), text::shown(text), another));
}

/// The part that the keys behind a value are for.
std::string part_of(const FoldedWord& word) {
  if (!has_parts(word.option)) return "";
  const std::string part = part_meant(word.value);
  if (part.empty()) {
    bad_word(word,
             "a part before the keys, linear=, rows= (FFM and embeddings) or layers=, as in "
             "rows=adagrad:rate=.1; repeat --optimizer for another part");
  }
  return part;
}

void read_word(const SpecEntry& option, const std::string& all, std::vector<std::string>& values,
               std::vector<Setting>& keys) {
  const std::size_t colon = all.find(':');
  FoldedWord word{option, all, all.substr(0, colon), ""};
  values.push_back(word.value);
  if (colon == std::string::npos) {
    if (!has_parts(option) && all.find('=') != std::string::npos) {
      bad_word(word, fmt::format("a colon before keys: VALUE:{}", keys_that(word)));
    }
    return;
  }
  word.part = part_of(word);
  for (const std::string& text : feature::split(all.substr(colon + 1), ',')) {
    const Setting setting = read_key(word, text);
    const auto same = std::ranges::find(keys, setting.entry, &Setting::entry);
    if (same != keys.end()) bad_word(word, fmt::format("{} once", setting.entry->key.name));
    keys.push_back(setting);
  }
}

}  // namespace

void Setting::set(Spec& spec) const {
  try {
    entry->set(spec, text);
  } catch (const BadValue& error) {
    if (shown.starts_with("--")) throw;
    throw std::runtime_error(fmt::format("{}: expected {}", shown, error.expected));
  }
}

std::vector<const SpecEntry*> keys_of(const SpecEntry& option) {
  std::vector<const SpecEntry*> keys;
  for (const SpecEntry& entry : spec_entries()) {
    if (std::string_view(entry.key.option) == option.name) keys.push_back(&entry);
  }
  return keys;
}

std::vector<Setting> settings_of(const SpecEntry& option, const std::vector<std::string>& words) {
  std::vector<std::string> values = words;
  std::vector<Setting> keys;
  if (!keys_of(option).empty()) {
    values.clear();
    for (const std::string& word : words) read_word(option, word, values, keys);
  }
  const std::string text = joined(values, has_parts(option) ? "," : " ");
  constexpr std::size_t kLong = 200;  // as a file of fields is
  const std::string name = fmt::format("--{}", option.name);
  std::vector<Setting> all{
      {&option, text, text.size() > kLong ? name : name + " " + text::shown(text)}};
  all.insert(all.end(), keys.begin(), keys.end());
  return all;
}

std::string said(const Setting& given, const std::string& text) {
  if (given.shown.starts_with("--")) return fmt::format("--{} {}", given.entry->name, text);
  return fmt::format("{}={}", given.entry->key.name, text);
}

}  // namespace leveret::spec
