#include "serve/watch.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "patch/patch.h"
#include "publish/line_of_models.h"

namespace leveret::serve {
namespace {

namespace fs = std::filesystem;
using What = Seen::What;
using publish::LineOfModels;

void diff(const std::string& before, const std::string& now, const std::string& to) {
  const auto from = store::ModelFile::open(before), at = store::ModelFile::open(now);
  const auto place = modelfile::place_of(at);
  patch::make_patch(from, at, {place.line, modelfile::place_of(from).sequence, place.sequence}, to,
                    1);
}

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
  told("no file");
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
  const LineOfModels models(3);
  const files::TempFolder folder;
  fs::create_directory(folder / "in");
  save(models[0], folder / "m");
  Place place(folder / "m"), other(models[0]);
  Watch file(place, folder / "m"), in_folder(other, folder / "in");
  CHECK(file.poll().what == What::kNothing);
  save(models[1], folder / "m");
  diff(models[0], models[1], folder / "in/1.patch");
  save(models[2], folder / "in/2");
  {
    const FewFiles shortage(0);
    CHECK(file.poll().what == What::kFailed);
    CHECK(file.poll().what == What::kNothing);
    CHECK(in_folder.poll().what == What::kFailed);  // it cannot be listed
  }
  {
    const FewFiles shortage(1);
    for (int i = 0; i < 2; ++i) CHECK(in_folder.poll().what == What::kFailed);  // nor read
    CHECK(in_folder.poll().what == What::kNothing);
  }
  check_swapped(poll_until_swapped(file), place, models[1]);
  check_swapped(poll_until_swapped(in_folder), other, models[2]);
}

TEST_CASE("in a folder patches lead on, in their order, whatever their names") {
  const LineOfModels models(5);
  const files::TempFolder folder;
  fs::create_directory(folder / "in");
  Place place(models[0]);
  Watch watch(place, folder / "in");
  CHECK(watch.poll().what == What::kNothing);
  diff(models[1], models[2], folder / "in/a");
  std::ofstream(folder / "in/notes.txt") << "for people\n";
  CHECK(watch.poll().what == What::kNothing);  // it continues another model
  diff(models[0], models[1], folder / "in/z");
  diff(models[2], models[3], folder / "in/.hidden");
  check_swapped(watch.poll(), place, models[2]);
  CHECK(watch.poll().what == What::kNothing);
  diff(models[2], models[3], folder / "in/m");
  check_swapped(watch.poll(), place, models[3]);
  // Back there is no way, and so no going round.
  diff(models[3], models[2], folder / "in/back");
  CHECK(watch.poll().what == What::kNothing);
  Place behind(models[3]);
  CHECK(Watch(behind, folder / "in").poll().what == What::kNothing);
}

TEST_CASE("in a folder the highest sequence wins, of a model file or of patches") {
  const LineOfModels models(4);
  const files::TempFolder folder;
  fs::create_directory(folder / "in");
  Place place(models[1]);
  Watch watch(place, folder / "in");
  save(models[2], folder / "in/b");
  diff(models[1], models[3], folder / "in/patch");
  check_swapped(watch.poll(), place, models[3]);
  CHECK(watch.poll().what == What::kNothing);
  save(models[0], folder / "in/old");
  CHECK(watch.poll().what == What::kNothing);

  Place other(models[0]);
  fs::remove(folder / "in/patch");
  diff(models[0], models[1], folder / "in/patch");
  Watch second(other, folder / "in");
  check_swapped(second.poll(), other, models[2]);
  CHECK(second.poll().what == What::kNothing);
}

TEST_CASE("in a folder patches that tell no sequence are applied once") {
  const LineOfModels models(2);
  const files::TempFolder folder;
  fs::create_directory(folder / "in");
  const auto from = store::ModelFile::open(models[0]), to = store::ModelFile::open(models[1]);
  patch::make_patch(from, to, {}, folder / "in/there", 1);
  patch::make_patch(to, from, {}, folder / "in/back", 1);
  Place place(models[0]);
  Watch watch(place, folder / "in");
  int swaps = 0;
  while (swaps < 9 && watch.poll().what == What::kSwapped) ++swaps;
  CHECK(swaps == 2);
}

TEST_CASE("in a folder the newest model file says of which line models are") {
  const LineOfModels models(2), others(2, 4);
  const files::TempFolder folder;
  fs::create_directory(folder / "in");
  Place place(models[0]);
  Watch watch(place, folder / "in");
  const auto written = [&](const char* name, int hour) {
    fs::last_write_time(folder / (std::string("in/") + name),
                        fs::file_time_type::clock::now() - std::chrono::hours(100 - hour));
  };
  save(models[1], folder / "in/a");
  written("a", 5);
  save(others[1], folder / "in/b");
  written("b", 1);
  check_swapped(watch.poll(), place, models[1]);
  save(others[0], folder / "in/c");
  written("c", 9);
  check_swapped(watch.poll(), place, others[1]);
  CHECK(watch.poll().what == What::kNothing);
}

TEST_CASE("in a folder what is bad is told once and gone around") {
  const LineOfModels models(4);
  const files::TempFolder folder;
  fs::create_directory(folder / "in");
  Place place(models[0]);
  Watch watch(place, folder / "in");
  save(models[3], folder / "in/3");
  damage(folder / "in/3");
  save(models[1], folder / "in/1");
  diff(models[1], models[2], folder / "in/2.patch");
  diff(models[2], models[3], folder / "in/3.patch");
  damage(folder / "in/3.patch");
  std::vector<What> seen;
  std::vector<std::string> problems;
  for (int i = 0; i < 8; ++i) {
    const Seen one = watch.poll();
    if (one.what != What::kNothing) seen.push_back(one.what);
    if (one.what == What::kFailed) problems.push_back(one.problem);
  }
  REQUIRE(problems.size() == 2);
  CHECK_THAT(problems[0], Catch::Contains("in/3:"));
  CHECK_THAT(problems[1], Catch::Contains("3.patch"));
  CHECK(std::ranges::count(seen, What::kSwapped) == 2);
  CHECK(place.get()->fingerprint() == fingerprint(models[2]));
  save(models[3], folder / "in/3");
  check_swapped(watch.poll(), place, models[3]);

  fs::remove_all(folder / "in");
  CHECK(watch.poll().what == What::kFailed);
  CHECK(watch.poll().what == What::kNothing);
}

TEST_CASE("a file that is being saved is not looked at") {
  const LineOfModels models(2);
  const files::TempFolder folder;
  fs::create_directory(folder / "in");
  Place place(models[0]);
  Watch watch(place, folder / "in");
  const auto bytes = files::read_bytes(models[1]);
  files::AtomicFile file(folder / "in/m");
  file.write(bytes);
  CHECK(watch.poll().what == What::kNothing);
  file.commit();
  check_swapped(watch.poll(), place, models[1]);
}

}  // namespace
}  // namespace leveret::serve
