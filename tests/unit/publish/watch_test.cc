#include "publish/watch.h"

#include <catch2/catch.hpp>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "publish/line_of_models.h"
#include "publish/publish.h"

namespace leveret::publish {
namespace {

namespace fs = std::filesystem;
using serve::Place;
using serve::Seen;

TEST_CASE("a folder with a manifest is followed, and one that gets its first is, too") {
  const LineOfModels models(3);
  const files::TempFolder folder;
  const std::string dir = folder / "in";
  fs::create_directory(dir);
  Place place(models[0]);
  Watch watch(place, dir);
  CHECK(watch.poll().what == Seen::What::kFailed);
  CHECK(watch.poll().what == Seen::What::kNothing);
  for (int i = 0; i < 3; ++i) {
    publish_model(dir, models[i], {});
    const Seen seen = watch.poll();
    REQUIRE(seen.what == Seen::What::kSwapped);
    CHECK(seen.fingerprint == read_manifest(dir)->newest().fingerprint);
    CHECK(seen.sequence == read_manifest(dir)->newest().sequence);
    CHECK(seen.problem.empty());
    CHECK(place.get()->fingerprint() == seen.fingerprint);
    CHECK(watch.poll().what == Seen::What::kNothing);
  }
  roll_back(dir, 1, {});
  CHECK(watch.poll().what == Seen::What::kSwapped);
  CHECK(place.get()->fingerprint() == read_manifest(dir)->find(1)->fingerprint);
  // Somebody else has put another model there.
  place.replace(models[2]);
  CHECK(watch.poll().what == Seen::What::kSwapped);
  CHECK(place.get()->fingerprint() == read_manifest(dir)->find(1)->fingerprint);
}

TEST_CASE("who has no model yet opens the newest step") {
  const LineOfModels models(3);
  const files::TempFolder folder;
  const std::string dir = folder / "in";
  CHECK_THROWS_WITH(open_newest(dir), Catch::Contains("manifest.json"));
  for (int i = 0; i < 3; ++i) {
    publish_model(dir, models[i], {});
    CHECK(open_newest(dir).place->get()->fingerprint() == read_manifest(dir)->newest().fingerprint);
  }
}

TEST_CASE("what is damaged is told once, and tried again when the manifest changes") {
  const LineOfModels models(3);
  const files::TempFolder folder;
  const std::string dir = folder / "in";
  publish_model(dir, models[0], {});
  Place place(models[0]);
  Watch watch(place, dir);
  CHECK(watch.poll().what == Seen::What::kSwapped);
  std::ofstream(manifest_path(dir)) << "{";
  const Seen seen = watch.poll();
  REQUIRE(seen.what == Seen::What::kFailed);
  CHECK_THAT(seen.problem, Catch::Contains("manifest.json"));
  CHECK(watch.poll().what == Seen::What::kNothing);
  fs::remove_all(dir);
  publish_model(dir, models[1], {});
  CHECK(watch.poll().what == Seen::What::kSwapped);
  PublishOptions options;
  options.full_every = 1;
  publish_model(dir, models[2], options);
  std::ofstream(dir + "/2.patch", std::ios::app) << "x";
  const Seen around = watch.poll();
  CHECK(around.what == Seen::What::kSwapped);
  CHECK_THAT(around.problem, Catch::Contains("2.patch"));
}

TEST_CASE("a folder that is to be followed has a manifest") {
  const LineOfModels models(1);
  const files::TempFolder folder;
  fs::create_directory(folder / "in");
  Place place(models[0]);
  Watch watch(place, folder / "in", Watch::How::kMustFollow);
  const Seen seen = watch.poll();
  REQUIRE(seen.what == Seen::What::kFailed);
  CHECK_THAT(seen.problem, Catch::Contains("leveret publish"));
  CHECK(watch.poll().what == Seen::What::kNothing);
}

TEST_CASE("a thread looks when it is asked to, and tells what it has seen", "[threads]") {
  const LineOfModels models(2);
  const files::TempFolder folder;
  const std::string path = folder / "m";
  fs::copy_file(models[0], path);
  const auto place = std::make_shared<Place>(path);
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Seen> seen;
  WatchThread thread(place, path, std::chrono::hours(1), [&](const Seen& one) {
    const std::lock_guard lock(mutex);
    seen.push_back(one);
    changed.notify_all();
  });
  const auto wait_for = [&](std::size_t count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(30), [&] { return seen.size() == count; });
  };
  fs::copy_file(models[1], folder / "new");
  fs::rename(folder / "new", path);
  thread.look_now();
  REQUIRE(wait_for(1));
  CHECK(seen[0].what == Seen::What::kSwapped);
  fs::remove(path);
  thread.look_now();
  REQUIRE(wait_for(2));
  CHECK(seen[1].what == Seen::What::kFailed);
}

}  // namespace
}  // namespace leveret::publish
