#include "dist/folder/manifest.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace leveret::dist {
namespace {

using Json = nlohmann::ordered_json;

Manifest some_manifest() {
  return {7,
          train::InputPosition{{"day 1.vw", "-"}, 2, 12345678901, "0123456789abcdef", true},
          {{"7.frame.lvt", "00112233445566778899aabbccddeeff"},
           {"7.shard-0.lvt", "ffeeddccbbaa99887766554433221100"},
           {"7.shard-1.lvt", "0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"}}};
}

/// What is said of it; empty: nothing is wrong. Anything but words for people fails.
std::string said_of(const std::string& text) {
  try {
    manifest_from_text(text);
  } catch (const std::runtime_error& error) {
    const std::string what = error.what();
    INFO(what);
    CHECK(what.find("json") == std::string::npos);
    CHECK(what.find("exception") == std::string::npos);
    CHECK(what.find("; ") != std::string::npos);  // what to do
    return what;
  }
  return {};
}

TEST_CASE("a manifest is read as it was written") {
  const Manifest manifest = some_manifest();
  const Manifest again = manifest_from_text(to_text(manifest));
  CHECK(again.generation == 7);
  REQUIRE(again.position);
  CHECK(again.position->data == manifest.position->data);
  CHECK(again.position->pass == 2);
  CHECK(again.position->examples == 12345678901);
  CHECK(again.position->checksum == manifest.position->checksum);
  CHECK(again.position->ended);
  REQUIRE(again.files.size() == 3);
  CHECK(again.files[2].name == "7.shard-1.lvt");
  CHECK(again.files[2].fingerprint == manifest.files[2].fingerprint);
  CHECK(to_text(again) == to_text(manifest));
}

TEST_CASE("a manifest that is cut anywhere is told in words") {
  const std::string text = to_text(some_manifest());
  const std::size_t whole = text.rfind('}') + 1;
  for (std::size_t size = 0; size < whole; ++size) {
    INFO(size);
    CHECK(said_of(text.substr(0, size)).find("damaged") != std::string::npos);
  }
  CHECK(said_of(text.substr(0, whole)).empty());
}

/// All places of a value in it, as pointers.
void add_places(const Json& json, const Json::json_pointer& at,
                std::vector<Json::json_pointer>& places) {
  for (const auto& [key, value] : json.items()) {
    const Json::json_pointer place = json.is_array() ? at / std::stoul(key) : at / key;
    places.push_back(place);
    if (value.is_structured()) add_places(value, place, places);
  }
}

TEST_CASE("a manifest that lacks a key, or has it in a wrong form, is told in words") {
  const Json good = Json::parse(to_text(some_manifest()));
  std::vector<Json::json_pointer> places;
  add_places(good, Json::json_pointer(), places);
  CHECK(places.size() == 21);
  const Json wrong = {nullptr,
                      true,
                      -1,
                      1.5,
                      1e300,
                      "",
                      "x",
                      "a/b",
                      "..",
                      Json::array(),
                      {1},
                      Json::object(),
                      std::string("a\0b", 3)};
  for (const Json::json_pointer& place : places) {
    const Json& was = good.at(place);
    for (const Json& value : wrong) {
      // A text for a text, or a list without names, may be what it says.
      const bool same_form = value.type() == was.type() && !was.is_number();
      Json changed = good;
      changed[place] = value;
      INFO(place.to_string() << " is " << value.dump());
      const std::string said = said_of(changed.dump());
      if (!same_form) CHECK(!said.empty());
    }
    // Lists may be shorter, and a run need not say where it was.
    if (place.parent_pointer().empty() && place.back() == "input") continue;
    if (good.at(place.parent_pointer()).is_array()) continue;
    Json changed = good;
    changed.at(place.parent_pointer()).erase(place.back());
    INFO(place.to_string() << " is missing");
    CHECK(!said_of(changed.dump()).empty());
  }
}

TEST_CASE("a manifest of something else, or of another version, is told as that") {
  for (const char* foreign :
       {"{}", "[]", "1", "null", "\"leveret shards\"", R"({"name": "my app", "version": 3})",
        R"([{"Config": "abc.json", "Layers": []}])", R"({"format": "leveret cache"})"}) {
    INFO(foreign);
    CHECK(said_of(foreign).find("is not a manifest that leveret-mpi has written") == 0);
  }
  Json newer = Json::parse(to_text(some_manifest()));
  newer["version"] = 2;
  CHECK(said_of(newer.dump()).find("is of version 2") == 0);
  for (const char* name : {"", "a/b", "/etc/passwd"}) {
    Manifest outside = some_manifest();
    outside.files[1].name = name;
    CHECK(said_of(to_text(outside)).find("not in the folder") != std::string::npos);
  }
  CHECK(!said_of(std::string(100000, '[')).empty());
}

TEST_CASE("whatever bytes of a manifest change, it is read or told in words") {
  const std::string text = to_text(some_manifest());
  std::mt19937 random(3);
  std::size_t told = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string changed = text;
    for (unsigned times = 1 + random() % 3; times > 0; --times) {
      const std::size_t at = random() % changed.size();
      switch (random() % 3) {
        case 0:
          changed[at] = static_cast<char>(random());
          break;
        case 1:
          changed.erase(at, 1 + random() % 20);
          break;
        default:
          changed.insert(at, text.substr(random() % text.size(), random() % 20));
      }
    }
    INFO(changed);
    told += !said_of(changed).empty();
  }
  CHECK(told > 2000);
}

}  // namespace
}  // namespace leveret::dist
