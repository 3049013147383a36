// The promise of a patch: whatever fails on the way, there is the old or the new file, and no
// litter.
#include <sys/wait.h>

#include <catch2/catch.hpp>

#include "files/faults.h"
#include "files/temp_folder.h"
#include "patch/patch.h"
#include "patch/small_patch.h"
#include "store/random_tables.h"

namespace leveret::patch {

using namespace files;

namespace {

/// Applies two patches in place of the old file.
class Chain {
 public:
  Chain() {
    store::RandomTables tables(4, 12);
    tables.save(folder_ / "m");
    old_ = read_bytes(folder_ / "m");
    for (const char* name : {"p1", "p2"}) {
      const std::string before = folder_ / (std::string("before-") + name);
      std::filesystem::copy_file(last_.empty() ? folder_ / "m" : last_, before);
      tables.change(0.2);
      last_ = folder_ / (std::string("after-") + name);
      tables.save(last_);
      make_patch(store::ModelFile::open(before), store::ModelFile::open(last_), {}, folder_ / name,
                 1);
    }
    new_ = read_bytes(last_);
    names_ = folder_.names();
  }

  void apply() const {
    PatchChain patches({folder_ / "p1", folder_ / "p2"});
    apply_patches(folder_ / "m", patches, folder_ / "m", 1);
  }
  void reset() const { write_bytes(folder_ / "m", old_); }
  bool is_old() const { return read_bytes(folder_ / "m") == old_; }
  bool is_new() const { return read_bytes(folder_ / "m") == new_; }
  bool has_litter() const { return folder_.names() != names_; }

 private:
  TempFolder folder_;
  std::string last_;
  Bytes old_, new_;
  std::vector<std::string> names_;
};

int calls_of(const Chain& chain) {
  const Faults faults(Fault::kNone, -1);
  chain.apply();
  const int calls = Faults::calls();
  chain.reset();
  return calls;
}

TEST_CASE("a patch whose calls fail leaves the old model, or the new one, and nothing else") {
  const Chain chain;
  const int calls = calls_of(chain);
  REQUIRE(calls > 10);
  const Fault fault = GENERATE(Fault::kNoSpace, Fault::kInputOutput);
  for (int at = 0; at < calls; ++at) {
    INFO("call " << at);
    {
      const Faults faults(fault, at);
      REQUIRE_THROWS_AS(chain.apply(), std::runtime_error);
    }
    // After the rename, in the last two calls, the new file is there.
    REQUIRE((at < calls - 2 ? chain.is_old() : chain.is_new()));
    REQUIRE(!chain.has_litter());
    chain.reset();
  }
}

TEST_CASE("short writes and interrupted calls change nothing in a patched model") {
  const Chain chain;
  {
    const Faults faults(GENERATE(Fault::kShortWrites, Fault::kInterrupts), -1);
    chain.apply();
  }
  REQUIRE(chain.is_new());
}

TEST_CASE("a patch that is killed at any call leaves a model, and the next one cleans up") {
  const Chain chain;
  const int calls = calls_of(chain);
  bool litter = false;
  for (int at = 0; at < calls; ++at) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const Faults faults(Fault::kExit, at);
      chain.apply();
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WEXITSTATUS(status) == 9);
    REQUIRE((at < calls - 2 ? chain.is_old() : chain.is_new()));
    litter |= chain.has_litter();
    chain.apply();  // a model that is new already is a success, too; it has nothing to write
    if (at < calls - 2) REQUIRE(!chain.has_litter());
    REQUIRE(chain.is_new());
    chain.reset();
  }
  REQUIRE(litter);
}

TEST_CASE("a patch that cannot be written leaves none") {
  const SmallPatch sample(PatchKind::kSections);
  const auto make = [&] {
    make_patch(store::ModelFile::open(sample.folder / "old"),
               store::ModelFile::open(sample.folder / "new"), {}, sample.folder / "p", 1);
  };
  int calls = 0;
  {
    const Faults faults(Fault::kNone, -1);
    make();
    calls = Faults::calls();
  }
  std::filesystem::remove(sample.folder / "p");
  const std::vector<std::string> names = sample.folder.names();
  for (int at = 0; at < calls - 2; ++at) {
    const Faults faults(Fault::kNoSpace, at);
    REQUIRE_THROWS_AS(make(), std::runtime_error);
    REQUIRE(sample.folder.names() == names);
  }
}

}  // namespace
}  // namespace leveret::patch
