#include "publish/publish.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "files/folder_lock.h"
#include "modelfile/export/export_model.h"
#include "publish/follower.h"
#include "publish/line_of_models.h"
#include "serve/served.h"

namespace leveret::publish {
namespace {

namespace fs = std::filesystem;
using What = Published::What;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& item : fs::directory_iterator(folder)) names.push_back(item.path().filename());
  std::ranges::sort(names);
  return names;
}

std::string kinds(const Manifest& manifest) {
  std::string text;
  for (const Entry& entry : manifest.entries) {
    text += std::to_string(entry.step) + (entry.kind == Entry::Kind::kFull ? "f" : "p");
  }
  return text;
}

/// What a place serves after it has followed the folder.
store::Checksum followed(serve::Place& place, Follower& follower) {
  const Way way = follower.next(place.get()->fingerprint());
  CHECK(way.avoided.empty());
  if (!way.full.empty()) {
    place.replace(way.full, way.patches);
  } else if (!way.nothing()) {
    place.patch(way.patches, "");
  }
  CHECK(place.get()->fingerprint() == way.fingerprint);
  CHECK(place.get()->sequence() == way.sequence);
  return way.fingerprint;
}

TEST_CASE("steps are full files and patches, and what is too old goes one manifest later") {
  const LineOfModels models(8);
  const files::TempFolder folder;
  const std::string dir = folder / "published";
  PublishOptions options;
  options.full_every = 3;
  options.keep = 3;
  std::vector<std::string> seen;
  for (int i = 0; i < 8; ++i) {
    const Published published = publish_model(dir, models[i], options);
    REQUIRE(published.what == What::kNew);
    REQUIRE(published.damage.empty());
    const Manifest manifest = *read_manifest(dir);
    seen.push_back(kinds(manifest));
    // All that is named is there, and nothing else.
    std::vector<std::string> named = {Manifest::kName};
    for (const Entry& entry : manifest.entries) {
      named.push_back(entry.file);
      CHECK(fs::file_size(dir + '/' + entry.file) == entry.bytes);
    }
    for (const std::string& file : manifest.retired) named.push_back(file);
    std::ranges::sort(named);
    CHECK(names_in(dir) == named);
    // The published step is what export makes of the model, with the step before as --previous.
    CHECK(manifest.newest().sequence ==
          modelfile::place_of(store::ModelFile::open(models[i])).sequence);
  }
  CHECK(seen == std::vector<std::string>{"1f", "1f2p", "1f2p3p", "1f2p3p4f4p", "1f2p3p4f4p5p",
                                         "4f4p5p6p", "4f4p5p6p7f7p", "4f4p5p6p7f7p8p"});
  CHECK(read_manifest(dir)->retired.empty());
  publish_model(dir, models[0], options);
  CHECK(kinds(*read_manifest(dir)) == "7f7p8p9p");
  CHECK(read_manifest(dir)->retired ==
        std::vector<std::string>{"4.lvt", "4.patch", "5.patch", "6.patch"});
}

TEST_CASE("nobody publishes over, or removes, files of a folder that is not a publisher's") {
  const LineOfModels models(2);
  for (const char* const name : {"1.lvt", "7.patch", ".candidate.lvt", "held.vw", "sub"}) {
    const files::TempFolder folder;
    const std::string dir = folder / "theirs", path = dir + '/' + name;
    fs::create_directory(dir);
    fs::copy(models[0], path);
    const std::string refused = std::string("the folder has other files (") + name + ")";
    CHECK_THROWS_WITH(publish_model(dir, models[1], {}), Catch::Contains(refused));
    CHECK_THROWS_WITH(publish_model(dir, path, {}), Catch::Contains(refused));
    CHECK_THROWS(publish_model(dir, folder / "nowhere", {}));
    CHECK_THROWS_WITH(roll_back(dir, 1, {}), Catch::Contains("nothing is published there"));
    CHECK(files::read_bytes(path) == files::read_bytes(models[0]));
    CHECK(names_in(dir) == std::vector<std::string>{name});
  }
}

TEST_CASE("what cannot be published first leaves nothing, and files of later steps are not ours") {
  const LineOfModels models(3);
  const files::TempFolder folder;
  const std::string dir = folder / "published";
  fs::create_directory(dir);
  CHECK_THROWS(publish_model(dir, folder / "nowhere", {}));
  PublishOptions strict;
  const std::string rows = folder / "rows";
  std::ofstream(rows) << "1 |a b\n-1 |a c\n";
  strict.gates = {parse_gate(rows + ": ne < 0.0001")};
  CHECK(publish_model(dir, models[0], strict).what == What::kRefused);
  CHECK(names_in(dir).empty());
  publish_model(dir, models[0], {});
  fs::copy(models[0], dir + "/2024.lvt");
  fs::copy(models[0], dir + "/007.lvt");
  fs::copy(models[0], dir + "/2.patch");  // as a publisher that was killed leaves one
  publish_model(dir, models[1], {});
  publish_model(dir, models[2], {});
  CHECK(fs::exists(dir + "/2024.lvt"));
  CHECK(fs::exists(dir + "/007.lvt"));
  CHECK(read_manifest(dir)->newest().step == 3);
}

TEST_CASE("the same model is published once, and exports as they are") {
  const LineOfModels models(2);
  const files::TempFolder folder;
  const std::string dir = folder / "published";
  publish_model(dir, models[0], {});
  publish_model(dir, models[1], {});
  const auto before = files::read_bytes(manifest_path(dir));
  const auto names = names_in(dir);
  CHECK(publish_model(dir, models[1], {}).what == What::kSame);
  CHECK(files::read_bytes(manifest_path(dir)) == before);
  CHECK(names_in(dir) == names);

  modelfile::ExportOptions by;
  by.bits = 8;
  modelfile::export_model(models[1], folder / "export", by);
  PublishOptions options;
  options.full_every = 1;
  CHECK(publish_model(dir, folder / "export", options).what == What::kNew);
  CHECK(files::read_bytes(dir + "/3.lvt") == files::read_bytes(folder / "export"));
  // Bits stay until others are asked for.
  const auto has_bits = [&](const std::string& file, const char* bits) {
    return store::ModelFile::open(dir + '/' + file).header_json().find(bits) != std::string::npos;
  };
  CHECK(publish_model(dir, models[0], options).what == What::kNew);
  CHECK(has_bits("4.lvt", "\"bits\":8"));
  options.bits = 32;
  CHECK(publish_model(dir, models[0], options).what == What::kNew);
  CHECK(has_bits("5.lvt", "\"bits\":32"));
}

TEST_CASE("a follower gets to the newest step from wherever it is") {
  const LineOfModels models(7);
  const files::TempFolder folder;
  const std::string dir = folder / "published";
  PublishOptions options;
  options.full_every = 3;
  publish_model(dir, models[0], options);
  std::vector<std::unique_ptr<serve::Place>> places;
  std::vector<std::unique_ptr<Follower>> followers;
  for (int i = 0; i < 7; ++i) {
    // One more follower for each step; they follow every step, every second one, …
    places.push_back(std::make_unique<serve::Place>(models[i]));
    followers.push_back(std::make_unique<Follower>(dir));
    if (i > 0) publish_model(dir, models[i], options);
    for (std::size_t p = 0; p < places.size(); ++p) {
      if (i % (static_cast<int>(p) + 1) == 0) followed(*places[p], *followers[p]);
    }
  }
  SECTION("by patches where that is less") {
    const Manifest manifest = *read_manifest(dir);
    const Way way = Follower(dir).next(manifest.find(3)->fingerprint);
    const Way whole = Follower(dir).next(std::nullopt);
    CHECK(way.full.empty());
    CHECK(way.patches == std::vector<std::string>{dir + "/4.patch", dir + "/5.patch",
                                                  dir + "/6.patch", dir + "/7.patch"});
    CHECK(whole.full == dir + "/7.lvt");
    CHECK(whole.patches.empty());
  }
  SECTION("and so after a step back, whether behind, at, or ahead of it") {
    for (const std::uint64_t step : {4, 2, 6}) {
      const Manifest before = *read_manifest(dir);
      CHECK(roll_back(dir, step, options).what == What::kNew);
      for (std::size_t p = 0; p < places.size(); ++p) {
        CHECK(followed(*places[p], *followers[p]) == before.find(step)->fingerprint);
        CHECK(Follower(dir).next(places[p]->get()->fingerprint()).nothing());
      }
      CHECK(roll_back(dir, step, options).what == What::kSame);
      publish_model(dir, models[0], options);
      for (std::size_t p = 0; p < places.size(); ++p) followed(*places[p], *followers[p]);
    }
    CHECK_THROWS_WITH(roll_back(dir, 400, options), Catch::Contains("has no step 400; it keeps 1"));
  }
}

TEST_CASE("damaged and missing files are told, and gone around where there is a way") {
  const LineOfModels models(5);
  const files::TempFolder folder;
  const std::string dir = folder / "published";
  PublishOptions options;
  options.full_every = 4;
  for (int i = 0; i < 5; ++i) publish_model(dir, models[i], options);
  const Manifest manifest = *read_manifest(dir);
  REQUIRE(kinds(manifest) == "1f2p3p4p5f5p");
  const auto damage = [&](const std::string& name) {
    auto bytes = files::read_bytes(dir + '/' + name);
    bytes[bytes.size() / 2] ^= std::byte{1};
    files::write_bytes(dir + '/' + name, bytes);
  };
  Follower follower(dir);
  const auto fingerprint = manifest.find(3)->fingerprint;
  damage("4.patch");
  Way way = follower.next(fingerprint);
  CHECK(way.full == dir + "/5.lvt");
  REQUIRE(way.avoided.size() == 1);
  CHECK_THAT(way.avoided[0], Catch::Contains("4.patch"));
  fs::remove(dir + "/5.lvt");
  CHECK_THROWS_WITH(follower.next(fingerprint), Catch::Contains("4.patch"));
  CHECK_THROWS_WITH(follower.next(manifest.find(1)->fingerprint), Catch::Contains("4.patch"));
  way = follower.next(manifest.find(4)->fingerprint);
  CHECK(way.patches == std::vector<std::string>{dir + "/5.patch"});
  CHECK(follower.next(manifest.find(5)->fingerprint).nothing());
  // The publisher, too, goes on: with a full file, as it cannot make the newest step again.
  const Published next = publish_model(dir, models[0], options);
  CHECK_THAT(next.damage, Catch::Contains("5.lvt"));
  CHECK(next.patch.file.empty());
  CHECK(follower.next(fingerprint).full == dir + "/6.lvt");
}

TEST_CASE("a follower reads the manifest again where files have been pruned since") {
  const LineOfModels models(4);
  const files::TempFolder folder;
  const std::string dir = folder / "published";
  PublishOptions options;
  options.full_every = options.keep = 1;
  publish_model(dir, models[0], options);
  Follower follower(dir);
  CHECK(follower.next(std::nullopt).full == dir + "/1.lvt");
  for (int i = 1; i < 4; ++i) publish_model(dir, models[i], options);
  CHECK(!fs::exists(dir + "/1.lvt"));
  CHECK(follower.changed());
  CHECK(follower.next(std::nullopt).full == dir + "/4.lvt");
}

TEST_CASE("one publisher at a time") {
  const LineOfModels models(1);
  const files::TempFolder folder;
  const std::string dir = folder / "published";
  publish_model(dir, models[0], {});
  const files::FolderLock other(dir, "busy");
  CHECK_THROWS_WITH(publish_model(dir, models[0], {}), Catch::Contains("another leveret publish"));
  CHECK_THROWS_WITH(roll_back(dir, 1, {}), Catch::Contains("another leveret publish"));
}

TEST_CASE("a gate refuses, and leaves the folder as it was") {
  const LineOfModels models(2);
  const files::TempFolder folder;
  const std::string dir = folder / "published";
  std::ofstream(folder / "lines") << model::random_lines(200, train::usual_shape(), 9);
  PublishOptions options;
  options.gates = {parse_gate((folder / "lines") + ": ne < 0.0001, examples >= 200")};
  Published published = publish_model(dir, models[0], options);
  CHECK(published.what == What::kRefused);
  REQUIRE(published.measured.size() == 2);
  CHECK(!published.measured[0].holds);
  CHECK(published.measured[0].value > 0.0001);
  CHECK(!fs::exists(dir));
  publish_model(dir, models[0], {});
  const auto names = names_in(dir);
  CHECK(publish_model(dir, models[1], options).what == What::kRefused);
  CHECK(names_in(dir) == names);
  options.gates = {parse_gate((folder / "lines") + ": ne 0.0001 .. 100, calibration > 0")};
  CHECK(publish_model(dir, models[1], options).what == What::kNew);
  options.gates = {parse_gate((folder / "nowhere") + ": ne < 1")};
  CHECK_THROWS_WITH(publish_model(dir, models[0], options), Catch::Contains("nowhere"));
  // Beside the newest step; the first one has nothing beside it.
  options.gates = {parse_gate((folder / "lines") + ": not_worse, examples >= 200")};
  published = publish_model(folder / "other", models[0], options);
  CHECK(published.what == What::kNew);
  published = publish_model(dir, models[0], options);
  REQUIRE(published.measured.size() == 2);
  CHECK(published.measured[0].metric == "examples");
  CHECK(published.measured[1].metric == "logloss_difference");
  CHECK((published.what == What::kNew) == published.measured[1].holds);
}

TEST_CASE("gates are what they say") {
  const Gate gate =
      parse_gate("a: b.vw: ne < 0.8, auc>=.5,calibration 0.9..1.1, rig <=1 , logloss > 0");
  CHECK(gate.file == "a: b.vw");
  REQUIRE(gate.limits.size() == 5);
  const auto holds = [&](int i, double value) {
    return gate.limits[static_cast<std::size_t>(i)].holds(value);
  };
  CHECK((holds(0, 0.79) && !holds(0, 0.8) && !holds(0, std::nan(""))));
  CHECK((holds(1, 0.5) && !holds(1, 0.49)));
  CHECK((holds(2, 0.9) && holds(2, 1.1) && !holds(2, 0.89) && !holds(2, 1.11)));
  CHECK((holds(3, 1) && !holds(3, 1.01)));
  CHECK((holds(4, 0.01) && !holds(4, 0)));
  const Gate relative = parse_gate("f: not_worse,better");
  REQUIRE(relative.limits.size() == 2);
  CHECK(relative.limits[0].kind == Limit::Kind::kNotWorse);
  CHECK(relative.limits[1].kind == Limit::Kind::kBetter);
  for (const char* bad :
       {"", "file: worse", "file: not_worse 1", "file", "file:", ": ne < 1", "file: ", "file: ne",
        "file: ne <", "file: ne < x", "file: ne < 1,", "file: nonsense < 1", "file: ne 2..1",
        "file: ne 1..", "file: ne < inf", "file: ne = 1", "-: ne < 1", "file: ne < 1 2"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_gate(bad), std::runtime_error);
  }
}

}  // namespace
}  // namespace leveret::publish
