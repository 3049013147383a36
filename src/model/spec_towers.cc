#include "model/spec_towers.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "block/ffm_block.h"
#include "model/tower_text.h"

namespace leveret::model {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kOwn = "dense";  ///< the tower of --hidden

constexpr TowerInput kInputs[] = {
    {TowerSpec::kEmbeddings, block::kEmbeddings,
     [](const Spec& spec) { return spec.embedding_dim > 0; },
     "the embeddings of all fields (--embedding_dim)",
     "stands over embeddings, and there are none: give --embedding_dim 8, say"},
    {TowerSpec::kMerged, block::kMergedInputs,
     [](const Spec& spec) { return spec.has_ffm() || spec.has_fm(); },
     "linear sums and pairs, normalised together, as --hidden has them",
     "stands over linear sums and pairs, and there are none: give --ffm_k 4, say"},
    {"pairs", block::FfmBlock::kPairs, [](const Spec& spec) { return spec.has_ffm(); },
     "the FFM's pairs as they are (--ffm_k)",
     "stands over the FFM's pairs, and there are none: give --ffm_k 4, say"},
};

Json options_of(const TowerSpec& tower) {
  Json options = Json::object();
  for (std::size_t k = 0; k < tower.options.size(); ++k) {
    const auto& [key, numbers] = tower.options[k];
    options[key] = tower.kind->keys[k].is_list ? Json(numbers) : Json(numbers[0]);
  }
  if (tower.own_loss) options["loss"] = "own";
  return options;
}

/// As --tower would have it. A list that cannot be is found by who compares the list with the one
/// that would be written.
std::string text_of(const Json& item) {
  std::string text = item.at("kind").get<std::string>();
  char before = ':';
  const auto set = [&](const std::string& key, const std::string& value) {
    text += fmt::format("{}{}={}", before, key, value);
    before = ',';
  };
  const auto input = item.at("inputs").at(0).get<std::string>();
  if (input != TowerSpec::kEmbeddings) set("in", input);
  for (const auto& [key, value] : item.at("options").items()) {
    if (value.is_array()) {
      const auto numbers = value.get<std::vector<std::uint32_t>>();
      set(key, numbers.empty() ? "none" : fmt::format("{}", fmt::join(numbers, "+")));
    } else {
      set(key, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return text;
}

void check(const Spec& spec, const TowerSpec& tower) {
  const auto refuse = [&](const std::string& why) {
    throw std::runtime_error(fmt::format("--tower {}{}", tower.kind->word, why));
  };
  const TowerInput& input = *find_input(tower.in);
  if (!input.is_there(spec)) refuse(std::string(" ") + input.missing);
  if (tower.own_loss && tower.in != TowerSpec::kEmbeddings) {
    refuse(":loss=own is for towers over embeddings");
  }
  if (tower.own_loss && !spec.mixed()) {
    refuse(":loss=own is for --heads mixed: one sum has one loss");
  }
  if (tower.kind->has_layers && !tower.kind->in_groups && spec.nn_batch_size > 1) {
    throw std::runtime_error(fmt::format(
        "--nn_batch_size is not for --tower {}: give --nn_batch_size 1, or --batch_size",
        tower.kind->word));
  }
}

}  // namespace

std::span<const TowerInput> tower_inputs() { return kInputs; }

const TowerInput* find_input(std::string_view word) {
  const auto* const found =
      std::ranges::find_if(kInputs, [&](const TowerInput& of) { return of.word == word; });
  return found != std::end(kInputs) ? found : nullptr;
}

void check_towers(const Spec& spec) {
  for (const TowerSpec& tower : spec.more_towers) check(spec, tower);
}

Json towers_to_json(const Spec& spec) {
  Json list = Json::array();
  if (spec.more_towers.empty() && (spec.has_ffm() || !spec.has_own_tower())) return list;
  for (const TowerSpec& tower : spec.towers()) {
    list.push_back({{"kind", tower.kind->word},
                    {"name", tower.name},
                    {"inputs", Json::array({tower.in})},
                    {"options", options_of(tower)}});
  }
  return list;
}

void towers_from_json(Spec& spec, const Json& towers) {
  try {
    std::string text;
    for (const Json& item : towers) {
      if (item.at("name") == kOwn) {
        spec.fm_feeds_mlp = true;
      } else {
        text += text_of(item) + " ";
      }
    }
    set_towers(spec, text);
  } catch (const std::exception&) {
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
