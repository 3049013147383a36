// Specs to JSON and back.
#include "spec/spec.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "spec/entries.h"
#include "spec/json.h"
#include "spec/optimizer.h"

namespace leveret::spec {
namespace {

using Json = nlohmann::ordered_json;

/// Texts that are not the default, for every entry.
std::vector<std::string> values_of(const std::string& name) {
  if (name == "hash") return {"all", "strings"};
  if (name == "linear") return {"none", "a", "user,ad"};
  if (name == "interactions") return {"a*b", "user*ad,a*b*c,:*:"};
  if (name == "field") return {"a", "user,ad site a,b,c"};
  if (name == "ignore" || name == "keep") return {"a", "user,ad"};
  if (name == "transform") return {"", "x=BinnerLog(a)(0,0.1) y=Combine(x,b,\xff\x01)()"};
  if (name == "heads") return {"one"};
  if (name == "fast_head") return {"off", "on"};
  if (name == "noconstant") return {"true", "false"};
  if (name == "adagrad") return {"weight", "slice"};
  if (name == "row_bits") return {"32", "16", "12", "8", "4"};
  if (name == "weight_range") return {"8", "0.25", "1024", "0.0009765625"};
  if (name == "state_bits") return {"32", "16", "0"};
  if (name == "rounding") return {"nearest", "stochastic"};
  if (name == "tower" || name == "embedding_dim") return {};  // tower_text_test.cc
  if (name == "model") return {"", "lr", "fwfm", "dcnv2", "deepffm"};
  if (name == "expire") return {"0", "1", "1000000000000", "77"};
  if (name == "when_full") return {"evict", "overflow"};
  if (name == "pool") return {"sum", "mean"};
  if (name == "hidden") return {"none", "7", "8192,1,3"};
  if (name == "optimizer") return {"sgd", "adagrad"};
  if (name == "max_fields" || name == "admit") return {"1", "77"};
  if (name == "seed" || name == "hash_seed") return {"0", "4294967295"};
  if (name == "batch_size") return {"1", "64"};
  if (name == "batch_warmup" || name == "nn_warmup") return {"0", "1000"};
  if (name == "per_example_updates") return {"off", "on"};
  if (name == "nn_batch_size") return {"1", "16"};
  if (name.find("bit") != std::string::npos) return {"0", "5", "31"};
  if (name == "ffm_k") return {"0", "1", "256"};
  if (name.find("power_t") != std::string::npos) return {"0", "1", "0.3"};
  if (name == "ffm_init_width") return {"0", "100", "0.00123"};
  return {"0", "0.1", "1e-07", "1e+20", "1e+30", "16777216", "0.333333343"};
}

TEST_CASE("every entry's values survive JSON, alone and beside all others' defaults") {
  for (const SpecEntry& entry : spec_entries()) {
    for (const std::string& value : values_of(entry.name)) {
      INFO(entry.name << " " << value);
      Spec spec;
      entry.set(spec, value);
      const Spec again = spec_from_json(Json::parse(to_json(spec).dump()));
      for (const SpecEntry& each : spec_entries()) {
        CHECK(each.get(again) == each.get(spec));
      }
      // `set` takes the canonical text back.
      Spec from_text;
      entry.set(from_text, entry.get(spec));
      CHECK(entry.get(from_text) == entry.get(spec));
    }
  }
}

TEST_CASE("names of any bytes survive JSON") {
  Spec spec;
  spec.features.ignore = {"f\xc3\xbcnf", "\xff", std::string("a\x01z")};
  spec.features.fields = {{"\xfe\xff", "x"}, {"\xc3"}};
  spec.features.interactions = {{"\x80", "b"}};
  const Spec again = spec_from_json(Json::parse(to_json(spec).dump()));
  CHECK(again.features.ignore == spec.features.ignore);
  CHECK(again.features.fields == spec.features.fields);
  CHECK(again.features.interactions == spec.features.interactions);
}

TEST_CASE("plans survive JSON, names of any bytes too") {
  std::vector<feature::NamespacePlan> plans(3);
  plans[0] = {"user", true, false, {0, 7}, {1, 2}};
  plans[1] = {"\xff\xc3\xbc\x7f\x80", false, true, {}, {}};
  plans[2].name = "";
  const auto again = plans_from_json(Json::parse(to_json(plans).dump()));
  REQUIRE(again.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(again[i].name == plans[i].name);
    CHECK(again[i].keep == plans[i].keep);
    CHECK(again[i].linear == plans[i].linear);
    CHECK(again[i].fields == plans[i].fields);
    CHECK(again[i].selectors == plans[i].selectors);
  }
}

TEST_CASE("a key that is missing is named") {
  for (const SpecEntry& entry : spec_entries()) {
    Json json = to_json(Spec());
    const std::string key(entry.name);
    json.erase(key);
    if (entry.absent != nullptr || entry.stored != SpecEntry::Stored::kAlways) continue;
    CHECK_THROWS_WITH(spec_from_json(json), Catch::Contains(key));
  }
}

TEST_CASE("a key that nobody knows is refused") {
  Json json = to_json(Spec());
  json["bagging"] = 3;
  CHECK_THROWS_WITH(spec_from_json(json),
                    Catch::Contains("\"bagging\"") && Catch::Contains("newer version"));
  CHECK_THROWS_WITH(spec_from_json(Json::array()), Catch::Contains("no spec"));
}

TEST_CASE("a spec with a key missing, of another type or out of range is refused by its name") {
  const Json good = to_json(Spec());
  for (const SpecEntry& entry : spec_entries()) {
    const std::string key(entry.name);
    for (const Json& value :
         {Json(), Json::array(), Json::object(), Json(true), entry.number ? Json("1") : Json(1)}) {
      Json bad = good;
      bad[key] = value;
      try {
        spec_from_json(bad);
        FAIL(entry.name << " was accepted as " << value.dump());
      } catch (const std::runtime_error& error) {
        CHECK(std::string(error.what()).find(key) != std::string::npos);
      }
    }
    if (!entry.number) continue;
    Json bad = good;
    bad[key] = -1;
    CHECK_THROWS_AS(spec_from_json(bad), std::runtime_error);
    bad[key] = 1e300;
    CHECK_THROWS_AS(spec_from_json(bad), std::runtime_error);
  }
}

TEST_CASE("a slot is stored with the next power of two of weights") {
  const auto stored = [](std::uint32_t k) {
    Spec spec;
    spec.ffm_k = k;
    return stored_k(spec.ffm_k);
  };
  CHECK(stored(0) == 0);
  for (const std::uint32_t k : {1u, 2u, 4u, 8u, 256u}) CHECK(stored(k) == k);
  CHECK(stored(3) == 4);
  CHECK(stored(5) == 8);
  CHECK(stored(129) == 256);
}

TEST_CASE("combinations that cannot work name their options") {
  const auto message = [](const Spec& spec) {
    try {
      check_spec(spec);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Spec spec;
  CHECK(message(spec).empty());
  spec::set_optimizer(spec, "ftrl");
  CHECK(message(spec).empty());
  spec.linear.rate = 0;
  CHECK(message(spec).find("linear=ftrl") != std::string::npos);
  spec = Spec();
  spec::set_optimizer(spec, "adam");
  CHECK(message(spec).empty());
  spec.nn_batch_size = 2;
  CHECK(message(spec).empty());
  spec = Spec();
  spec.batch_size = 2;
  CHECK(message(spec).empty());
  spec.nn_batch_size = 2;
  CHECK(message(spec).find("--nn_batch_size") != std::string::npos);
  spec = Spec();
  spec.ffm_init_width = 1e-4f;
  CHECK(message(spec).find("--row_bits 32") != std::string::npos);
  spec.row_bits = 32;
  CHECK(message(spec).empty());
  spec = Spec();
  spec.row_bits = 8;
  spec.weight_range = 1024;
  CHECK(message(spec).find("range=W") != std::string::npos);
}

}  // namespace
}  // namespace leveret::spec
