// The promise of a save: whatever fails on the way, the old or the new file loads, and nothing is
// left beside it.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>

#include "files/faults.h"
#include "files/temp_folder.h"
#include "store/model_file.h"
#include "store/sample_model.h"

namespace leveret::store {

using namespace files;

namespace {

const std::vector<std::string> kOnlyModel = {"m.lvt"};

/// 1 or 2: the sample that the file holds; every byte of it is verified.
std::uint32_t seed_in(const std::string& path) {
  const ModelFile file = ModelFile::open(path);
  for (const StoredSection& section : file.sections()) file.verify(section);
  return std::to_integer<std::uint32_t>(file.read(*file.find("f\xc3\xbcnf"))[0]);
}

/// Calls that one undisturbed save makes.
int calls_of_a_save() {
  const TempFolder folder;
  const Faults faults(Fault::kNone, -1);
  SampleModel(1).save(folder / "m.lvt");
  return Faults::calls();
}

TEST_CASE("a save whose calls fail leaves the old file, or the new one, and nothing else") {
  const int calls = calls_of_a_save();
  REQUIRE(calls >=
          10);  // an open, a write per section, fsync, rename, open and fsync of the folder
  const Fault fault = GENERATE(Fault::kNoSpace, Fault::kInputOutput);
  for (int at = 0; at < calls; ++at) {
    const TempFolder folder;
    SampleModel(1).save(folder / "m.lvt");
    std::string message;
    try {
      const Faults faults(fault, at);
      SampleModel(2).save(folder / "m.lvt");
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    INFO("call " << at << ": " << message);
    using Catch::Contains;
    REQUIRE_THAT(message, Contains("m.lvt: cannot ") && Contains("; "));
    REQUIRE_THAT(message, Contains(fault == Fault::kNoSpace ? "No space left" : "Input/output"));
    REQUIRE(folder.names() == kOnlyModel);
    // After the rename, in the last two calls, the new file is there, but perhaps not on the disk.
    REQUIRE(seed_in(folder / "m.lvt") == (at < calls - 2 ? 1 : 2));
  }
}

TEST_CASE("a first save that fails leaves nothing") {
  const int calls = calls_of_a_save();
  for (int at = 0; at < calls - 2; ++at) {
    const TempFolder folder;
    const Faults faults(Fault::kNoSpace, at);
    REQUIRE_THROWS_AS(SampleModel(1).save(folder / "m.lvt"), std::runtime_error);
    REQUIRE(folder.names().empty());
  }
}

TEST_CASE("short writes and interrupted calls change nothing") {
  const TempFolder folder;
  SampleModel(1).save(folder / "good");
  const int undisturbed = calls_of_a_save();
  const Fault fault = GENERATE(Fault::kShortWrites, Fault::kInterrupts);
  {
    const Faults faults(fault, -1);
    SampleModel(1).save(folder / "m.lvt");
    REQUIRE(Faults::calls() > undisturbed);
  }
  REQUIRE(read_bytes(folder / "m.lvt") == read_bytes(folder / "good"));
}

TEST_CASE("a device that takes nothing is an error and not a loop") {
  const TempFolder folder;
  const Faults faults(Fault::kNothing, 2);
  REQUIRE_THROWS_AS(SampleModel(1).save(folder / "m.lvt"), std::runtime_error);
  REQUIRE(folder.names().empty());
}

TEST_CASE(
    "a save that is killed at any call leaves a file that loads, and the next one cleans up") {
  const int calls = calls_of_a_save();
  bool litter = false;
  for (int at = 0; at < calls; ++at) {
    const TempFolder folder;
    SampleModel(1).save(folder / "m.lvt");
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const Faults faults(Fault::kExit, at);
      SampleModel(2).save(folder / "m.lvt");
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WEXITSTATUS(status) == 9);
    REQUIRE(seed_in(folder / "m.lvt") == (at < calls - 2 ? 1 : 2));
    litter = litter || folder.names() != kOnlyModel;
    SampleModel(2).save(folder / "m.lvt");
    REQUIRE(folder.names() == kOnlyModel);
    REQUIRE(seed_in(folder / "m.lvt") == 2);
  }
  REQUIRE(litter);
}

TEST_CASE("temporary files of others, of the living and of this process are told apart") {
  const TempFolder folder;
  const std::string dead = folder / ".m.lvt.leveret-tmp.999999999";
  const std::string ours = folder / (".m.lvt.leveret-tmp." + std::to_string(::getpid()));
  const std::string alive = folder / ".m.lvt.leveret-tmp.77";
  const std::string other = folder / ".n.lvt.leveret-tmp.999999999";
  for (const std::string& path : {dead, ours, alive, other}) {
    write_bytes(path, std::as_bytes(std::span("half a model")));
  }
  const int fd = ::open(alive.c_str(), O_RDONLY);
  REQUIRE(::flock(fd, LOCK_EX) == 0);
  SampleModel(1).save(folder / "m.lvt");
  REQUIRE(folder.names() == std::vector<std::string>{".m.lvt.leveret-tmp.77",
                                                     ".n.lvt.leveret-tmp.999999999", "m.lvt"});
  ::close(fd);
  SampleModel(1).save(folder / "m.lvt");
  REQUIRE(folder.names() == std::vector<std::string>{".n.lvt.leveret-tmp.999999999", "m.lvt"});
}

}  // namespace
}  // namespace leveret::store
