#include "model/spec_towers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "text/plain_number.h"

namespace leveret::model {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kOwn = "dense";  ///< the tower of --hidden

Json inputs_of(const Spec& spec, const TowerSpec& tower) {
  if (tower.inputs == TowerSpec::Inputs::kPairs) return Json::array({"ffm"});
  return Json::array({"linear", spec.has_ffm() ? "ffm" : "fm"});
}

void check(const Spec& spec, const TowerSpec& tower) {
  const bool known = tower.inputs == TowerSpec::Inputs::kPairs ? spec.has_ffm() : spec.has_rows();
  const bool sized = tower.hidden.size() <= 16 && std::ranges::all_of(tower.hidden, [](auto width) {
                       return width > 0 && width <= 8192;
                     });
  const bool named =
      !tower.name.empty() &&
      tower.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos &&
      std::ranges::count(spec.towers(), tower.name, &TowerSpec::name) == 1;
  if (known && sized && named) return;
  throw std::runtime_error("the tower " + text::shown(tower.name) +
                           " reads what the model lacks, or has layers or a name that cannot be");
}

}  // namespace

void check_towers(const Spec& spec) {
  for (const TowerSpec& tower : spec.more_towers) check(spec, tower);
}

Json towers_to_json(const Spec& spec) {
  Json list = Json::array();
  if (spec.more_towers.empty() && (spec.has_ffm() || !spec.has_own_tower())) return list;
  for (const TowerSpec& tower : spec.towers()) {
    list.push_back({{"kind", "mlp"},
                    {"name", tower.name},
                    {"inputs", inputs_of(spec, tower)},
                    {"options", {{"hidden", tower.hidden}}}});
  }
  return list;
}

void set_towers(Spec& spec, const Json& towers) {
  try {
    for (const Json& item : towers) {
      const auto name = item.at("name").get<std::string>();
      const bool pairs = item.at("inputs") == Json::array({"ffm"});
      if (name == kOwn) {
        spec.fm_feeds_mlp = true;
        continue;
      }
      spec.more_towers.push_back(
          {name, pairs ? TowerSpec::Inputs::kPairs : TowerSpec::Inputs::kMerged,
           item.at("options").at("hidden").get<std::vector<std::uint32_t>>()});
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
