// Whatever fails on the way, or kills the publisher: the folder has the old steps or the new ones,
// readers go on, and the next publisher does, too, without litter.
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "files/faults.h"
#include "publish/follower.h"
#include "publish/line_of_models.h"
#include "publish/publish.h"
#include "serve/served.h"

namespace leveret::publish {
namespace {

namespace fs = std::filesystem;
using files::Fault;
using files::Faults;

/// A folder with some steps, of which copies are made to be published to.
class Steps {
 public:
  Steps() : models_(5, 2, 2) {  // few sections, and so few calls
    options_.full_every = 3;
    options_.keep = 4;
    for (int i = 0; i < 4; ++i) publish_model(folder_ / "before", models_[i], options_);
    reset();
    old_ = state();
    names_before_ = names();
  }
  void reset() const {
    fs::remove_all(dir());
    fs::copy(folder_ / "before", dir());
  }
  void publish() const {
    PublishOptions options = options_;
    options.keep = 2;  // some go
    publish_model(dir(), models_[4], options);
  }
  void roll_back() const { publish::roll_back(dir(), 2, options_); }
  std::string dir() const { return folder_ / "now"; }
  std::string state() const { return to_text(*read_manifest(dir())); }
  bool is_old() const { return state() == old_; }
  /// A follower gets to the newest step, whichever that is.
  void follow() const {
    serve::Place place(models_[0]);
    Follower follower(dir());
    for (int i = 0; i < 2; ++i) {
      const Way way = follower.next(place.get()->fingerprint());
      REQUIRE(way.avoided.empty());
      if (!way.full.empty()) place.replace(way.full, way.patches);
      REQUIRE(place.get()->fingerprint() == read_manifest(dir())->newest().fingerprint);
    }
  }
  bool has_litter() const {
    std::vector<std::string> named = {Manifest::kName};
    const Manifest manifest = *read_manifest(dir());
    for (const Entry& entry : manifest.entries) named.push_back(entry.file);
    for (const std::string& name : manifest.retired) named.push_back(name);
    std::ranges::sort(named);
    named.erase(std::unique(named.begin(), named.end()), named.end());
    return names() != named;
  }

 private:
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& item : fs::directory_iterator(dir())) all.push_back(item.path().filename());
    std::ranges::sort(all);
    return all;
  }

  LineOfModels models_;
  files::TempFolder folder_;
  PublishOptions options_;
  std::string old_;
  std::vector<std::string> names_before_;
};

int calls_of(const Steps& steps, bool back) {
  const Faults faults(Fault::kNone, -1);
  back ? steps.roll_back() : steps.publish();
  const int calls = Faults::calls();
  steps.reset();
  return calls;
}

TEST_CASE("a publisher whose calls fail leaves the old steps or the new ones") {
  const Steps steps;
  const bool back = GENERATE(false, true);
  const int calls = calls_of(steps, back);
  REQUIRE(calls > 8);
  int old = 0, now = 0;
  for (const Fault fault : {Fault::kNoSpace, Fault::kInputOutput}) {
    for (int at = 0; at < calls; ++at) {
      INFO("call " << at << " of " << calls);
      bool threw = false;
      try {
        const Faults faults(fault, at);
        back ? steps.roll_back() : steps.publish();
      } catch (const std::runtime_error&) {
        threw = true;
      }
      steps.is_old() ? ++old : ++now;
      // What made the newest step again may fail: then the step is published without a patch.
      REQUIRE((threw || !steps.is_old()));
      REQUIRE(!steps.has_litter());
      steps.follow();
      back ? steps.roll_back() : steps.publish();
      REQUIRE(!steps.is_old());
      REQUIRE(!steps.has_litter());
      steps.follow();
      steps.reset();
    }
  }
  CHECK(old > 0);
  CHECK(now > 0);
}

TEST_CASE("a publisher that is killed at any call leaves what others go on with") {
  const Steps steps;
  const bool back = GENERATE(false, true);
  const int calls = calls_of(steps, back);
  bool litter = false;
  int old = 0, now = 0;
  for (int at = 0; at < calls; ++at) {
    INFO("call " << at << " of " << calls);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const Faults faults(Fault::kExit, at);
      back ? steps.roll_back() : steps.publish();
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WEXITSTATUS(status) == 9);
    steps.is_old() ? ++old : ++now;
    litter |= steps.has_litter();
    steps.follow();
    back ? steps.roll_back() : steps.publish();
    REQUIRE(!steps.is_old());
    REQUIRE(!steps.has_litter());
    steps.follow();
    steps.reset();
  }
  CHECK(litter);
  CHECK(old > 0);
  CHECK(now > 0);
}

TEST_CASE(
    "a first publisher that is killed, or fails, at any call leaves the folder to the next one") {
  const LineOfModels models(1, 2, 2);
  const files::TempFolder folder;
  const std::string dir = folder / "now";
  const auto publish = [&] { return publish_model(dir, models[0], {}); };
  const auto reset = [&] {
    fs::remove_all(dir);
    fs::create_directory(dir);
    std::ofstream(dir + "/.notes") << "somebody's";
  };
  int calls = 0;
  reset();
  {
    const Faults faults(Fault::kNone, -1);
    publish();
    calls = Faults::calls();
  }
  REQUIRE(calls > 8);
  for (const Fault fault : {Fault::kNoSpace, Fault::kExit}) {
    for (int at = 0; at < calls; ++at) {
      INFO("call " << at << " of " << calls);
      reset();
      const pid_t child = ::fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        try {
          const Faults faults(fault, at);
          publish();
        } catch (const std::runtime_error&) {
          ::_exit(1);
        }
        ::_exit(0);
      }
      int status = 0;
      REQUIRE(::waitpid(child, &status, 0) == child);
      publish();
      std::vector<std::string> names;
      for (const auto& item : fs::directory_iterator(dir)) names.push_back(item.path().filename());
      std::ranges::sort(names);
      REQUIRE(names == std::vector<std::string>{".notes", "1.lvt", Manifest::kName});
      REQUIRE(read_manifest(dir)->newest().step == 1);
    }
  }
}

}  // namespace
}  // namespace leveret::publish
