// --model: names that stand for options.
#include "spec/named_models.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "model/model.h"
#include "random_model.h"
#include "spec/entries.h"
#include "spec/json.h"

namespace leveret::model {
namespace {

TEST_CASE("each named model can be made, is stored with its name, and is another one") {
  std::vector<std::string> seen;
  for (const spec::NamedModel& named : spec::named_models()) {
    INFO(named.name);
    Spec spec;
    spec::set_named_model(spec, std::string(named.name));
    CHECK_NOTHROW(spec::check_spec(spec));
    CHECK_NOTHROW(Model(spec, kTestMemory));
    const std::string json = to_json(spec).dump();
    const Spec again = spec::spec_from_json(nlohmann::ordered_json::parse(json));
    CHECK(again.named == named.name);
    CHECK(to_json(again).dump() == json);
    CHECK(again.more_towers == spec.more_towers);
    CHECK_FALSE(named.when.empty());
    spec.named.clear();
    seen.push_back(to_json(spec).dump());
  }
  std::ranges::sort(seen);
  CHECK(std::ranges::adjacent_find(seen) == seen.end());
}

TEST_CASE("the default model is the one called deepffm, whose name nobody need say") {
  Spec spec;
  spec::set_named_model(spec, "deepffm");
  spec.named.clear();
  CHECK(to_json(spec).dump() == to_json(Spec{}).dump());
  CHECK_FALSE(to_json(Spec{}).contains("model"));
}

TEST_CASE("a name that no model has is refused, and all that there are are named") {
  Spec spec;
  CHECK_THROWS_WITH(spec::set_named_model(spec, "din"),
                    Catch::Contains("--model din") && Catch::Contains("wide_deep"));
}

}  // namespace
}  // namespace leveret::model
