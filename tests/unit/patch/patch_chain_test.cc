// Chains longer than a process may have files open; and chains that are none, refused before
// anything is written.
#include "patch/patch_chain.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <random>
#include <thread>

#include "files/faults.h"
#include "files/temp_folder.h"
#include "patch/patch.h"
#include "store/random_tables.h"

namespace leveret::patch {

using namespace files;
using Catch::Contains;

namespace {

/// No more files than these may be open while it lives.
class FewFiles {
 public:
  explicit FewFiles(rlim_t count) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few = {count, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

 private:
  rlimit before_ = {};
};

constexpr std::size_t kSteps = 5;

/// Small models 0 to 5, each made of the one before by N.patch, and N.bytes of any kind.
class Models {
 public:
  Models() {
    store::RandomTables tables(7, 4);
    tables.save(model(0));
    for (std::size_t i = 1; i <= kSteps; ++i) {
      tables.change(0.3);
      tables.save(model(i));
      make_patch(store::ModelFile::open(model(i - 1)), store::ModelFile::open(model(i)), {},
                 patch(i), 1);
      make_byte_patch(model(i - 1), model(i), bytes(i), 1);
    }
    make_patch(store::ModelFile::open(model(1)), store::ModelFile::open(model(0)), {},
               folder / "back.patch", 1);
    make_byte_patch(model(1), model(0), folder / "back.bytes", 1);
  }
  std::string model(std::size_t i) const { return folder / std::to_string(i); }
  std::string patch(std::size_t i) const { return model(i) + ".patch"; }
  std::string bytes(std::size_t i) const { return model(i) + ".bytes"; }

  TempFolder folder;
};

/// From model 0 to 1 and back and to 1, in as many patches as four days have of five minutes.
std::vector<std::string> long_chain(const Models& models, bool of_bytes) {
  std::vector<std::string> chain;
  for (int i = 0; i < 576; ++i) {
    chain.push_back(of_bytes ? models.bytes(1) : models.patch(1));
    chain.push_back(models.folder / (of_bytes ? "back.bytes" : "back.patch"));
  }
  chain.push_back(chain.front());
  return chain;
}

TEST_CASE("a chain of more patches than files that may be open is applied") {
  const Models models;
  const bool of_bytes = GENERATE(false, true);
  const std::vector<std::string> paths = long_chain(models, of_bytes);
  const std::vector<std::string> names = models.folder.names();
  {
    const FewFiles few(32);
    PatchChain chain(paths);
    REQUIRE(apply_patches(models.model(0), chain, models.folder / "made", 2) == paths.size());
    if (!of_bytes) {
      PatchChain again(paths);
      const store::ModelFile before = store::ModelFile::open(models.model(0));
      apply_patches(before, again, models.folder / "also", 1)->commit();
      PatchChain third(paths);
      const store::ModelFile unnamed = store::ModelFile::open(
          apply_patches(before, third, {models.folder / "", "here", "-"}, 1), "it");
      REQUIRE(unnamed.fingerprint() == store::ModelFile::open(models.model(1)).fingerprint());
    }
  }
  REQUIRE(read_bytes(models.folder / "made") == read_bytes(models.model(1)));
  std::filesystem::remove(models.folder / "made");
  if (!of_bytes) {
    REQUIRE(read_bytes(models.folder / "also") == read_bytes(models.model(1)));
    std::filesystem::remove(models.folder / "also");
  }
  REQUIRE(models.folder.names() == names);
}

TEST_CASE("chains that are none are refused before anything is written") {
  const Models models;
  const std::vector<std::string> names = models.folder.names();
  const auto seed = GENERATE(range(1u, 201u));
  std::mt19937 random(seed);
  std::vector<std::string> paths;
  for (std::size_t i = 1; i <= kSteps; ++i) paths.push_back(models.patch(i));
  const std::size_t at = 1 + random() % (kSteps - 1);
  switch (random() % 5) {
    case 0:  // a gap
      paths.erase(paths.begin() + static_cast<std::ptrdiff_t>(random() % (kSteps - 2)) + 1);
      break;
    case 1:
      std::swap(paths[at - 1], paths[at]);
      break;
    case 2:
      paths[at] = models.bytes(at + 1);
      break;  // another kind
    case 3:
      paths[at] = models.model(at);
      break;  // no patch
    default:
      paths[at] = models.folder / "missing";
      break;
  }
  const bool unnamed = random() % 2 == 0;
  const Faults counts(Fault::kNone, -1);
  REQUIRE_THROWS_AS(
      [&] {
        PatchChain chain(paths);
        if (unnamed) {
          const store::ModelFile before = store::ModelFile::open(models.model(0));
          apply_patches(before, chain, {models.folder / "", "here", "-"}, 1);
        } else {
          apply_patches(models.model(0), chain, models.folder / "made", 1);
        }
      }(),
      std::runtime_error);
  REQUIRE(Faults::calls() == 0);  // not even a temporary file was opened
  REQUIRE(models.folder.names() == names);
}

TEST_CASE("patches may come from pipes, which are opened once") {
  const Models models;
  const std::string pipe = models.folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::thread writer([&] { write_bytes(pipe, read_bytes(models.patch(2))); });
  PatchChain chain({models.patch(1), pipe, models.patch(3)});
  CHECK(apply_patches(models.model(0), chain, models.folder / "made", 1) == 3);
  writer.join();
  CHECK(read_bytes(models.folder / "made") == read_bytes(models.model(3)));
}

TEST_CASE("a patch that has become another one since the chain was looked at is refused") {
  const Models models;
  PatchChain chain({models.patch(1), models.patch(2)});
  std::filesystem::rename(models.patch(3), models.patch(2));
  CHECK_THROWS_WITH(apply_patches(models.model(0), chain, models.folder / "made", 1),
                    Contains("2.patch: has changed since it was checked"));
  CHECK_FALSE(std::filesystem::exists(models.folder / "made"));
}

TEST_CASE("what a chain cannot be written to is left as it is") {
  const Models models;
  const std::string kept = models.folder / "kept";
  write_bytes(kept, read_bytes(models.model(4)));
  std::FILE* const opened = std::fopen(kept.c_str(), "ab");
  const std::string name = "/proc/self/fd/" + std::to_string(::fileno(opened));
  PatchChain chain({models.patch(1), models.patch(2)});
  CHECK_THROWS_WITH(apply_patches(models.model(0), chain, name, 1),
                    Contains("needs a regular file to write to"));
  PatchChain one({models.patch(1)});
  CHECK_THROWS_WITH(apply_patches(store::ModelFile::open(models.model(0)), one, name, 1),
                    Contains("is no regular file"));
  std::fclose(opened);
  CHECK(read_bytes(kept) == read_bytes(models.model(4)));
}

}  // namespace
}  // namespace leveret::patch
