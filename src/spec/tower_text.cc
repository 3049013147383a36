#include "spec/tower_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include "feature/selector.h"
#include "net/tower_kinds.h"
#include "spec/makers.h"
#include "spec/towers.h"
#include "text/plain_number.h"

namespace leveret::spec {
namespace {

using block::TowerKey;
using block::TowerKind;

[[noreturn]] void bad_tower(const std::string& text, const std::string& expected) {
  throw std::runtime_error(fmt::format("--tower {}: expected {}", text::shown(text), expected));
}

std::string words_of_kinds() {
  std::vector<std::string> words;
  for (const TowerKind* kind : net::tower_kinds()) words.emplace_back(kind->word);
  return either_of(words);
}

std::string words_of_inputs() {
  std::vector<std::string> words;
  for (const TowerInput& input : tower_inputs()) words.emplace_back(input.word);
  return either_of(words);
}

std::string words_of(const TowerKey& key) {
  return either_of({key.words.begin(), key.words.end()});
}

std::string keys_of(const TowerKind& kind) {
  std::string keys;
  for (const TowerKey& key : kind.keys) {
    keys += fmt::format("{}={}, ", key.name,
                        !key.words.empty() ? (key.is_list ? "words" : words_of(key))
                        : key.is_list      ? "N+N or none"
                                           : "N");
  }
  if (kind.chooses_fields) keys += "in=NS+NS, ";
  if (kind.over_any) keys += "in=" + words_of_inputs() + " (or several joined by +), ";
  return keys + "loss=joint or own";
}

/// The numbers of words in groups.
std::vector<std::uint32_t> numbers_of_groups(const std::string& all, const TowerKey& key,
                                             const std::string& text) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& group : feature::split(text, '/')) {
    if (!numbers.empty()) numbers.push_back(TowerKey::kNextGroup);
    for (const std::string& word : feature::split(group, '+')) {
      const auto found = std::ranges::find(key.words, std::string_view(word));
      if (found == key.words.end()) {
        bad_tower(all,
                  fmt::format("{}=WORD+WORD, or WORD+WORD/WORD by layer, of {}; in place of {}",
                              key.name, words_of(key), text::shown(word)));
      }
      numbers.push_back(static_cast<std::uint32_t>(found - key.words.begin()));
    }
  }
  return numbers;
}

std::string groups_text(const TowerKey& key, const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (const std::uint32_t number : numbers) {
    if (number == TowerKey::kNextGroup) {
      text += '/';
      continue;
    }
    if (!text.empty() && text.back() != '/') text += '+';
    text += key.words[number];
  }
  return text;
}

/// `all`: the text of the whole tower.
std::vector<std::uint32_t> numbers_of(const std::string& all, const TowerKey& key,
                                      const std::string& text) {
  if (!key.words.empty() && key.is_list) return numbers_of_groups(all, key, text);
  std::vector<std::uint32_t> numbers;
  if (key.is_list && text == "none") return numbers;
  if (!key.words.empty()) {
    const auto word = std::ranges::find(key.words, std::string_view(text));
    if (word == key.words.end()) bad_tower(all, fmt::format("{}={}", key.name, words_of(key)));
    return {static_cast<std::uint32_t>(word - key.words.begin())};
  }
  for (const std::string& part :
       key.is_list ? feature::split(text, '+') : std::vector<std::string>{text}) {
    const auto value = text::read_whole(part, 1, key.most);
    if (!value) {
      bad_tower(all, fmt::format("{} in place of {}", text::whole_from_to(1, key.most),
                                 text::shown(part)));
    }
    numbers.push_back(static_cast<std::uint32_t>(*value));
  }
  if (numbers.size() > TowerKey::kMostNumbers) bad_tower(all, "at most 16 layers");
  return numbers;
}

void set_key(const std::string& all, const std::string& setting, TowerSpec& tower) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos && text::read_whole(setting, 0, text::kAnyWhole)) {
    bad_tower(all, "+ between the numbers of a list, as in hidden=64+32");
  }
  const std::string name = setting.substr(0, equals);
  const std::string value = equals != std::string::npos ? setting.substr(equals + 1) : "";
  if (name == "loss") {
    if (value != "joint" && value != "own") bad_tower(all, "loss=joint or loss=own");
    tower.own_loss = value == "own";
    return;
  }
  if (name == "in" && tower.kind->over_any) {
    const std::vector<std::string> given = feature::split(value, '+');
    tower.in.clear();
    for (const TowerInput& input : tower_inputs()) {
      if (std::ranges::find(given, input.word) != given.end()) tower.in.emplace_back(input.word);
    }
    if (tower.in.size() != given.size()) {
      bad_tower(all, fmt::format("in={}, or several joined by +", words_of_inputs()));
    }
    return;
  }
  if (name == "in" && tower.kind->chooses_fields) {
    tower.namespaces = feature::split(value, '+');
    if (std::ranges::find(tower.namespaces, "") != tower.namespaces.end()) {
      bad_tower(all, "in=NS+NS, namespaces that --field has");
    }
    return;
  }
  const auto key =
      std::ranges::find_if(tower.kind->keys, [&](const TowerKey& of) { return of.name == name; });
  if (key == tower.kind->keys.end()) {
    bad_tower(all, fmt::format("{} behind {}:", keys_of(*tower.kind), tower.kind->word));
  }
  tower.options[static_cast<std::size_t>(key - tower.kind->keys.begin())].numbers =
      numbers_of(all, *key, value);
}

TowerSpec read_tower(const std::string& text) {
  const std::size_t colon = text.find(':');
  TowerSpec tower;
  tower.kind = net::find_tower_kind(text.substr(0, colon));
  if (tower.kind == nullptr) {
    bad_tower(text, words_of_kinds());
  }
  for (const TowerKey& key : tower.kind->keys) {
    tower.options.push_back({key.name, numbers_of(text, key, key.fallback)});
  }
  if (colon == std::string::npos) return tower;
  for (const std::string& setting : feature::split(text.substr(colon + 1), ',')) {
    set_key(text, setting, tower);
  }
  return tower;
}

std::string tower_text(const TowerSpec& tower) {
  std::vector<std::string> keys;
  if (tower.in != TowerSpec{}.in) keys.push_back(fmt::format("in={}", fmt::join(tower.in, "+")));
  if (!tower.namespaces.empty()) {
    keys.push_back(fmt::format("in={}", fmt::join(tower.namespaces, "+")));
  }
  for (std::size_t k = 0; k < tower.options.size(); ++k) {
    const auto& [name, numbers] = tower.options[k];
    const TowerKey& key = tower.kind->keys[k];
    keys.push_back(fmt::format(
        "{}={}", name,
        !key.words.empty() ? (key.is_list ? groups_text(key, numbers) : key.words[numbers[0]])
        : numbers.empty()  ? "none"
                           : fmt::format("{}", fmt::join(numbers, "+"))));
  }
  if (tower.own_loss) keys.emplace_back("loss=own");
  return fmt::format("{}{}{}", tower.kind->word, keys.empty() ? "" : ":", fmt::join(keys, ","));
}

}  // namespace

void set_towers(Spec& spec, const std::string& text) {
  constexpr std::size_t kMostTowers = 8;
  spec.more_towers.clear();
  std::size_t place = 0;
  for (const std::string& part : feature::split(text, ' ')) {
    if (part.empty() || part == "none") continue;
    TowerSpec tower = read_tower(part);
    tower.name = fmt::format("{}_{}", tower.kind->word, ++place);
    if (place > kMostTowers) bad_tower(text, fmt::format("at most {} towers", kMostTowers));
    spec.more_towers.push_back(std::move(tower));
  }
}

std::string get_towers(const Spec& spec) {
  std::vector<std::string> texts;
  for (const TowerSpec& tower : spec.more_towers) texts.push_back(tower_text(tower));
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, " "));
}

std::string towers_help() {
  return fmt::format("a tower, which adds to the score: {} (leveret help towers)",
                     words_of_kinds());
}

std::string towers_page() {
  std::string text =
      "leveret train --tower KIND[:key=value,...], once for each tower. Add --embedding_dim 8:\n"
      "towers read embeddings, except mlp with in=pairs or in=merged.\n";
  const auto line = [&](const std::string& key, const std::string& help) {
    fmt::format_to(std::back_inserter(text), "    {:<15} {}\n", key, help);
  };
  for (const TowerKind* kind : net::tower_kinds()) {
    fmt::format_to(std::back_inserter(text), "\n  {:<17} {}\n", kind->word, kind->help);
    for (const TowerKey& key : kind->keys) {
      line(fmt::format("{}={}", key.name, key.fallback), key.help);
      if (!key.words.empty()) line("", words_of(key));
    }
    if (kind->chooses_fields) line("in=NS+NS", "the fields of these namespaces alone (--field)");
    if (!kind->over_any) continue;
    for (const TowerInput& input : tower_inputs()) {
      line(fmt::format("in={}", input.word), input.help);
    }
    line("in=...+...", "several of these inputs");
  }
  text += "\n  of each kind\n";
  line("loss=joint", "it learns by the loss of the joint score");
  line("loss=own", "it has a head and a loss of its own (--heads mixed)");
  return text;
}

}  // namespace leveret::spec
