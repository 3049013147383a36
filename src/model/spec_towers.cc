#include "model/spec_towers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "model/tower_text.h"
#include "text/plain_number.h"

namespace leveret::model {

using Json = nlohmann::ordered_json;
using block::TowerKind;

namespace {

constexpr const char* kOwn = "dense";  ///< the tower of --hidden

Json inputs_of(const Spec& spec, const TowerSpec& tower) {
  if (tower.inputs == TowerSpec::Inputs::kPairs) return Json::array({"ffm"});
  if (tower.inputs == TowerSpec::Inputs::kEmbeddings) return Json::array({"embeddings"});
  return Json::array({"linear", spec.has_ffm() ? "ffm" : "fm"});
}

bool is_cross(const TowerSpec& tower) {
  return tower.kind == TowerKind::kCross || tower.kind == TowerKind::kCrossMatrix;
}

Json options_of(const TowerSpec& tower) {
  Json options = Json::object();
  if (is_cross(tower)) options["layers"] = tower.layers;
  if (tower.kind == TowerKind::kCrossMatrix) options["rank"] = tower.rank;
  if (tower.kind == TowerKind::kMlp || is_cross(tower)) options["hidden"] = tower.hidden;
  if (tower.own_loss) options["loss"] = "own";
  return options;
}

void check_embeddings(const Spec& spec, const TowerSpec& tower) {
  const char* const word = word_of(tower.kind);
  if (spec.embedding_dim == 0) {
    throw std::runtime_error(
        std::string("--tower ") + word +
        " stands over embeddings, and there are none: give --embedding_dim 8, say");
  }
  if (tower.own_loss && !spec.mixed()) {
    throw std::runtime_error(std::string("--tower ") + word +
                             ":loss=own is for --heads mixed: one sum has one loss");
  }
  if (is_cross(tower) && spec.nn_batch_size > 1) {
    throw std::runtime_error(std::string("--nn_batch_size is not for --tower ") + word +
                             ": give --nn_batch_size 1, or --batch_size");
  }
}

bool has_what_it_reads(const Spec& spec, TowerSpec::Inputs inputs) {
  switch (inputs) {
    case TowerSpec::Inputs::kPairs:
      return spec.has_ffm();
    case TowerSpec::Inputs::kEmbeddings:
      return spec.embedding_dim > 0;
    default:
      return spec.has_ffm() || spec.has_fm();
  }
}

void check(const Spec& spec, const TowerSpec& tower) {
  if (tower.inputs == TowerSpec::Inputs::kEmbeddings) check_embeddings(spec, tower);
  const bool known =
      has_what_it_reads(spec, tower.inputs) &&
      (tower.kind == TowerKind::kMlp || tower.inputs == TowerSpec::Inputs::kEmbeddings);
  const bool crosses = tower.layers <= 16 && tower.rank <= 1024 &&
                       (!tower.own_loss || tower.inputs == TowerSpec::Inputs::kEmbeddings) &&
                       (tower.layers > 0) == is_cross(tower) &&
                       (tower.rank > 0) == (tower.kind == TowerKind::kCrossMatrix);
  const bool sized =
      crosses && tower.hidden.size() <= 16 &&
      std::ranges::all_of(tower.hidden, [](auto width) { return width > 0 && width <= 8192; });
  const bool named =
      !tower.name.empty() &&
      tower.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos &&
      std::ranges::count(spec.towers(), tower.name, &TowerSpec::name) == 1;
  if (known && sized && named) return;
  throw std::runtime_error("the tower " + text::shown(tower.name) +
                           " reads what the model lacks, or has layers or a name that cannot be");
}

/// A list that cannot be is found by who compares the list with the one that would be written.
TowerSpec tower_from(const Json& item) {
  TowerSpec tower;
  item.at("name").get_to(tower.name);
  const Json& inputs = item.at("inputs");
  if (inputs == Json::array({"ffm"})) tower.inputs = TowerSpec::Inputs::kPairs;
  if (inputs == Json::array({"embeddings"})) tower.inputs = TowerSpec::Inputs::kEmbeddings;
  for (const TowerKind kind :
       {TowerKind::kFm, TowerKind::kFwfm, TowerKind::kCross, TowerKind::kCrossMatrix}) {
    if (item.at("kind") == word_of(kind)) tower.kind = kind;
  }
  const Json& options = item.at("options");
  if (options.contains("hidden")) options["hidden"].get_to(tower.hidden);
  if (options.contains("layers")) options["layers"].get_to(tower.layers);
  tower.own_loss = options.contains("loss");
  if (options.contains("rank")) options["rank"].get_to(tower.rank);
  return tower;
}

}  // namespace

void check_towers(const Spec& spec) {
  constexpr std::size_t kMostTowers = 16;
  if (spec.more_towers.size() > kMostTowers) {
    throw std::runtime_error("a model has at most 16 towers, and this one has " +
                             std::to_string(spec.more_towers.size()));
  }
  for (const TowerSpec& tower : spec.more_towers) check(spec, tower);
}

Json towers_to_json(const Spec& spec) {
  Json list = Json::array();
  if (spec.more_towers.empty() && (spec.has_ffm() || !spec.has_own_tower())) return list;
  for (const TowerSpec& tower : spec.towers()) {
    list.push_back({{"kind", word_of(tower.kind)},
                    {"name", tower.name},
                    {"inputs", inputs_of(spec, tower)},
                    {"options", options_of(tower)}});
  }
  return list;
}

void set_towers(Spec& spec, const Json& towers) {
  try {
    for (const Json& item : towers) {
      const auto name = item.at("name").get<std::string>();
      if (name == kOwn) {
        spec.fm_feeds_mlp = true;
        continue;
      }
      spec.more_towers.push_back(tower_from(item));
    }
  } catch (const Json::exception&) {
    spec.more_towers.clear();
    spec.fm_feeds_mlp = false;
  }
  if (towers != towers_to_json(spec)) {
    throw std::runtime_error(
        "the model's header has towers that this program does not know; the file is damaged or of "
        "a newer version");
  }
}

}  // namespace leveret::model
