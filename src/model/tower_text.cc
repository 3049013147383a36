#include "model/tower_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "feature/selector.h"
#include "text/plain_number.h"

namespace leveret::model {
namespace {

using block::TowerKind;

/// The keys of a kind, and their values where nothing is said; 0 layers or rank: it has none.
struct Kind {
  std::string_view word;
  TowerKind kind;
  bool hidden;
  std::array<std::uint32_t, 2> widths;  ///< of ReLU layers; 0: none
  std::uint32_t layers, rank;
};
constexpr std::array<Kind, 5> kKinds = {{{"mlp", TowerKind::kMlp, true, {64, 32}, 0, 0},
                                         {"fm", TowerKind::kFm, false, {}, 0, 0},
                                         {"fwfm", TowerKind::kFwfm, false, {}, 0, 0},
                                         {"cross", TowerKind::kCross, true, {}, 3, 0},
                                         {"cross2", TowerKind::kCrossMatrix, true, {}, 2, 16}}};

const Kind& kind_of(TowerKind kind) { return *std::ranges::find(kKinds, kind, &Kind::kind); }

[[noreturn]] void bad(const std::string& text, const std::string& expected) {
  throw std::runtime_error(fmt::format("--tower {}: expected {}", text::shown(text), expected));
}

std::string keys_of(const Kind& kind) {
  std::string keys;
  if (kind.layers > 0) keys += "layers=N";
  if (kind.rank > 0) keys += ", rank=N";
  if (kind.hidden) keys += fmt::format("{}hidden=N+N or none", keys.empty() ? "" : ", ");
  return keys + (keys.empty() ? "" : ", ") + "loss=joint or own";
}

std::uint32_t number(const std::string& all, const std::string& text, std::uint32_t most) {
  const auto value = text::read_whole(text, 1, most);
  if (!value)
    bad(all, fmt::format("{} in place of {}", text::whole_from_to(1, most), text::shown(text)));
  return static_cast<std::uint32_t>(*value);
}

/// "key=value" of the tower that `all` describes.
void set_key(const std::string& all, const Kind& kind, const std::string& setting,
             TowerSpec& tower) {
  const std::size_t equals = setting.find('=');
  const std::string key = setting.substr(0, equals);
  const std::string value = equals != std::string::npos ? setting.substr(equals + 1) : "";
  if (key == "loss") {
    if (value != "joint" && value != "own") bad(all, "loss=joint or loss=own");
    tower.own_loss = value == "own";
  } else if (key == "layers" && kind.layers > 0) {
    tower.layers = number(all, value, 16);
  } else if (key == "rank" && kind.rank > 0) {
    tower.rank = number(all, value, 1024);
  } else if (key == "hidden" && kind.hidden) {
    tower.hidden.clear();
    if (value == "none") return;
    for (const std::string& width : feature::split(value, '+')) {
      tower.hidden.push_back(number(all, width, 8192));
    }
    if (tower.hidden.size() > 16) bad(all, "at most 16 layers");
  } else {
    bad(all, fmt::format("{} behind {}:", keys_of(kind), kind.word));
  }
}

TowerSpec read_tower(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto* const kind = std::ranges::find(kKinds, text.substr(0, colon), &Kind::word);
  if (kind == kKinds.end()) bad(text, "mlp, fm, fwfm, cross or cross2");
  TowerSpec tower;
  tower.inputs = TowerSpec::Inputs::kEmbeddings;
  tower.kind = kind->kind;
  tower.layers = kind->layers;
  tower.rank = kind->rank;
  for (const std::uint32_t width : kind->widths) {
    if (width > 0) tower.hidden.push_back(width);
  }
  if (colon == std::string::npos) return tower;
  for (const std::string& setting : feature::split(text.substr(colon + 1), ',')) {
    set_key(text, *kind, setting, tower);
  }
  return tower;
}

bool reads_embeddings(const TowerSpec& tower) {
  return tower.inputs == TowerSpec::Inputs::kEmbeddings;
}

std::string text_of(const TowerSpec& tower) {
  const Kind& kind = kind_of(tower.kind);
  std::vector<std::string> keys;
  if (kind.layers > 0) keys.push_back(fmt::format("layers={}", tower.layers));
  if (kind.rank > 0) keys.push_back(fmt::format("rank={}", tower.rank));
  if (kind.hidden && tower.hidden.empty()) keys.emplace_back("hidden=none");
  if (!tower.hidden.empty()) keys.push_back(fmt::format("hidden={}", fmt::join(tower.hidden, "+")));
  if (tower.own_loss) keys.emplace_back("loss=own");
  return fmt::format("{}{}{}", kind.word, keys.empty() ? "" : ":", fmt::join(keys, ","));
}

}  // namespace

const char* word_of(TowerKind kind) { return kind_of(kind).word.data(); }

void set_embedding_towers(Spec& spec, const std::string& text) {
  constexpr std::size_t kMostTowers = 8;
  std::erase_if(spec.more_towers, reads_embeddings);
  std::size_t place = 0;
  for (const std::string& part : feature::split(text, ' ')) {
    if (part.empty() || part == "none") continue;
    TowerSpec tower = read_tower(part);
    tower.name = fmt::format("{}_{}", word_of(tower.kind), ++place);
    if (place > kMostTowers) bad(text, fmt::format("at most {} towers", kMostTowers));
    spec.more_towers.push_back(std::move(tower));
  }
}

std::string get_embedding_towers(const Spec& spec) {
  std::vector<std::string> texts;
  for (const TowerSpec& tower : spec.more_towers) {
    if (reads_embeddings(tower)) texts.push_back(text_of(tower));
  }
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, " "));
}

}  // namespace leveret::model
