#include "serve/watch.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "publish/line_of_models.h"

namespace leveret::serve {
namespace {

namespace fs = std::filesystem;
using What = Seen::What;
using publish::LineOfModels;

/// As a trainer saves: by rename.
void save(const std::string& from, const std::string& to) {
  fs::copy_file(from, to + ".new", fs::copy_options::overwrite_existing);
  fs::rename(to + ".new", to);
}

store::Checksum fingerprint(const std::string& path) {
  return store::ModelFile::open(path).fingerprint();
}

void damage(const std::string& path) {
  auto bytes = files::read_bytes(path);
  bytes[bytes.size() / 2] ^= std::byte{1};
  files::write_bytes(path, bytes);
}

void check_swapped(const Seen& seen, const Place& place, const std::string& model) {
  INFO(seen.problem);
  REQUIRE(seen.what == What::kSwapped);
  CHECK(seen.fingerprint == fingerprint(model));
  CHECK(seen.sequence == modelfile::place_of(store::ModelFile::open(model)).sequence);
  CHECK(seen.seconds > 0);
  CHECK(place.get()->fingerprint() == seen.fingerprint);
  CHECK(place.get()->sequence() == seen.sequence);
}

TEST_CASE("a file that is replaced is taken, once") {
  const LineOfModels models(2);
  const files::TempFolder folder;
  const std::string path = folder / "m";
  save(models[0], path);
  Place place(path);
  Watch watch(place, path);
  CHECK(watch.poll().what == What::kNothing);
  save(models[1], path);
  check_swapped(watch.poll(), place, models[1]);
  CHECK(watch.poll().what == What::kNothing);
  // The same model in another file is no other one.
  save(models[1], path);
  const std::uint64_t time = place.time();
  CHECK(watch.poll().what == What::kNothing);
  CHECK(place.time() == time);
  // Back is a way like any other.
  save(models[0], path);
  check_swapped(watch.poll(), place, models[0]);
}

TEST_CASE("a model that came between opening and watching is not missed") {
  const LineOfModels models(2);
  const files::TempFolder folder;
  save(models[0], folder / "m");
  Place place(folder / "m");
  save(models[1], folder / "m");
  check_swapped(Watch(place, folder / "m").poll(), place, models[1]);
}

TEST_CASE("a bad file is told once, and the model stays until the file changes") {
  const LineOfModels models(2);
  const files::TempFolder folder;
  const std::string path = folder / "m";
  save(models[0], path);
  Place place(path);
  Watch watch(place, path);
  const auto told = [&](const char* words) {
    const Seen seen = watch.poll();
    REQUIRE(seen.what == What::kFailed);
    CHECK_THAT(seen.problem, Catch::Contains(path) && Catch::Contains(words));
    CHECK(watch.poll().what == What::kNothing);
    CHECK(place.get()->fingerprint() == fingerprint(models[0]));
  };
  save(models[1], folder / "bad");
  damage(folder / "bad");
  save(folder / "bad", path);
  told("checksum");
  std::ofstream(path) << "no model\n";
  told("");
  fs::remove(path);
  told("no such file");
  save(models[1], path);
  check_swapped(watch.poll(), place, models[1]);
}

/// While it is there just so many files can be opened.
class FewFiles {
 public:
  explicit FewFiles(int count) {
    const int lowest = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(lowest);
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(lowest + count);
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

 private:
  rlimit before_{};
};

Seen poll_until_swapped(Watch& watch) {
  for (int i = 0; i < 100; ++i) {
    const Seen seen = watch.poll();
    if (seen.what != What::kNothing) return seen;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return {};
}

TEST_CASE("what a shortage has kept from being read is read when that has passed") {
  const LineOfModels models(2);
  const files::TempFolder folder;
  save(models[0], folder / "m");
  Place place(folder / "m");
  Watch watch(place, folder / "m");
  CHECK(watch.poll().what == What::kNothing);
  save(models[1], folder / "m");
  {
    const FewFiles shortage(0);
    CHECK(watch.poll().what == What::kFailed);
    CHECK(watch.poll().what == What::kNothing);
  }
  check_swapped(poll_until_swapped(watch), place, models[1]);
}

TEST_CASE("a folder that nobody publishes to is told once") {
  const LineOfModels models(2);
  const files::TempFolder folder;
  fs::create_directory(folder / "in");
  Place place(models[0]);
  Watch watch(place, folder / "in");
  save(models[1], folder / "in/model");
  const Seen seen = watch.poll();
  REQUIRE(seen.what == What::kFailed);
  CHECK_THAT(seen.problem,
             Catch::Contains("in: is a folder") && Catch::Contains("leveret publish"));
  CHECK(watch.poll().what == What::kNothing);
  fs::remove_all(folder / "in");
  save(models[1], folder / "in");
  check_swapped(watch.poll(), place, models[1]);
}

}  // namespace
}  // namespace leveret::serve
