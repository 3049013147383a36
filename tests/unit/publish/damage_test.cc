// Whatever has become of a folder's files on their way, nobody takes another model for a step's;
// and no gate takes what is no number for a figure.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "publish/follower.h"
#include "publish/line_of_models.h"
#include "publish/publish.h"

namespace leveret::publish {
namespace {

namespace fs = std::filesystem;

/// So many places, all over a file.
constexpr std::size_t kPlaces = 40;

TEST_CASE("a follower takes no file of which a byte is another one, wherever it is") {
  const LineOfModels models(2);
  const files::TempFolder folder;
  const std::string dir = folder / "published";
  for (int i = 0; i < 2; ++i) publish_model(dir, models[i], {});
  const Manifest manifest = *read_manifest(dir);
  const auto served = manifest.entries[0].fingerprint;
  for (const std::string name : {"1.lvt", "2.patch"}) {
    const std::string path = dir + '/' + name;
    const auto whole = files::read_bytes(path);
    for (std::size_t place = 0; place < kPlaces; ++place) {
      auto bytes = whole;
      const std::size_t at = place * (bytes.size() - 1) / (kPlaces - 1);
      bytes[at] ^= std::byte{1};
      files::write_bytes(path, bytes);
      INFO(name << ", byte " << at << " of " << whole.size());
      CHECK_THROWS_WITH(Follower(dir).next(std::nullopt), Catch::Contains(name));
      if (name == "1.lvt") CHECK(Follower(dir).next(served).avoided.empty());
    }
    files::write_bytes(path, whole);
    CHECK(Follower(dir).next(std::nullopt).avoided.empty());
  }
}

TEST_CASE("a step is published again by files of the model that the manifest tells of alone") {
  const LineOfModels models(4);
  const files::TempFolder folder;
  const std::string dir = folder / "published";
  PublishOptions options;
  options.full_every = 1;
  for (int i = 0; i < 3; ++i) publish_model(dir, models[i], options);
  const auto before = files::read_bytes(manifest_path(dir));
  // A whole model, and another one.
  const std::string other = folder / "other";
  publish_model(other, models[3], {});
  fs::copy_file(other + "/1.lvt", dir + "/2.lvt", fs::copy_options::overwrite_existing);
  CHECK_THROWS_WITH(roll_back(dir, 2, options), Catch::Contains("is not the model of step 2"));
  CHECK(files::read_bytes(manifest_path(dir)) == before);
  CHECK(roll_back(dir, 1, options).full.fingerprint == read_manifest(dir)->find(1)->fingerprint);
  fs::copy_file(other + "/1.lvt", dir + "/1.lvt", fs::copy_options::overwrite_existing);
  CHECK_THAT(publish_model(dir, models[3], options).damage,
             Catch::Contains("is not the model of step 4"));
}

TEST_CASE("no limit holds for a model whose predictions are not finite") {
  const files::TempFolder folder;
  const std::string lines = folder / "lines";
  spec::Spec spec;
  spec.heads = spec::Heads::kOne;  // mixed heads keep within bounds
  spec.ffm_k = 2;
  spec.hidden = {};
  train::TrainRun run(spec);
  std::string text;
  for (int i = 0; i < 50; ++i) text += "1 |A f1 |B g1\n-1 |A f2 |B g2\n";
  run.learn(text);
  modelfile::save_model(run.model, folder / "model");
  const auto publish = [&](const std::string& more) {
    std::ofstream(lines) << text << more;
    PublishOptions options;
    options.gates = {parse_gate(lines + ": examples > 0, logloss < 100")};
    return publish_model(folder / "published", folder / "model", options);
  };
  const std::string huge = "1 |A f1:3e38 f2:3e38 |B g1:3e38 g2:3e38\n";
  REQUIRE_FALSE(std::isfinite(run.predict(huge)[0]));
  const Published refused = publish(huge);
  CHECK(refused.what == Published::What::kRefused);
  REQUIRE(refused.measured.size() == 2);
  for (const Measured& measured : refused.measured) CHECK_FALSE(measured.holds);
  CHECK(publish("1 |A f1\n").what == Published::What::kNew);
}

}  // namespace
}  // namespace leveret::publish
