#include "train/position_json.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "store/json_members.h"

namespace leveret::train {

using Json = nlohmann::ordered_json;

Json to_json(const InputPosition& position) {
  Json json = {{"data", position.data},
               {"pass", position.pass},
               {"examples", position.examples},
               {"checksum", position.checksum},
               {"ended", position.ended}};
  if (position.is_lines) json["lines"] = true;
  return json;
}

InputPosition position_from_json(const Json& json) {
  if (!json.is_object()) store::bad_member("input", "a place in an input");
  InputPosition position;
  for (const Json& name : store::list(json, "data")) {
    if (!name.is_string()) store::bad_member("data", "a list of names");
    position.data.push_back(name.get<std::string>());
  }
  position.pass = static_cast<std::uint32_t>(
      store::whole(json, "pass", std::numeric_limits<std::uint32_t>::max()));
  position.examples = store::whole(json, "examples");
  position.checksum = store::text(json, "checksum");
  position.ended = store::truth(json, "ended");
  if (json.contains("lines")) position.is_lines = store::truth(json, "lines");
  return position;
}

Json to_json(const BestPass& best) {
  return {{"period", best.period}, {"best_pass", best.pass}, {"loss", best.loss}};
}

BestPass best_pass_from_json(const Json& json) {
  if (!json.is_object()) store::bad_member("held_out", "an object");
  BestPass best;
  best.period = store::whole(json, "period");
  best.pass = static_cast<std::uint32_t>(
      store::whole(json, "best_pass", std::numeric_limits<std::uint32_t>::max()));
  const Json* const loss = store::find(json, "loss");
  if (best.period == 0) store::bad_member("period", "a whole number above 0");
  if (loss == nullptr || !loss->is_number()) store::bad_member("loss", "a number");
  best.loss = loss->get<double>();
  return best;
}

}  // namespace leveret::train
