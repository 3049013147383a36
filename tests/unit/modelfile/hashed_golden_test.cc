// The hashed model in tests/golden, from before files had touched slots alone, predicts for ever
// what it predicted; and files of both kinds follow each other.
#include <catch2/catch.hpp>
#include <fstream>

#include "golden_path.h"
#include "modelfile/all_slots.h"
#include "modelfile/export_helpers.h"
#include "patch/patch.h"

namespace leveret::modelfile {
namespace {

using files::read_bytes;
using store::ModelFile;

std::string golden() { return golden_path("hashed-v1.lvt"); }
constexpr std::uint32_t kGoldenBits = 9;

struct Expected {
  std::string lines;
  std::vector<float> predictions;
};
Expected expected() {
  Expected all;
  std::ifstream in(golden_path("hashed-v1.txt"));
  for (std::string line; std::getline(in, line);) {
    const std::size_t tab = line.find('\t');
    all.predictions.push_back(std::stof(line.substr(0, tab)));
    all.lines += line.substr(tab + 1) + '\n';
  }
  REQUIRE(all.predictions.size() == 30);
  return all;
}

/// The golden model as `now`, saved by this program, and as `later`, when it has learned on.
struct GoldenModels {
  GoldenModels() : run(load_model(golden(), kTestMemory)) {
    save_model(run.model, now());
    run.learn(cut(expected().lines, 0, 3));
    save_model(run.model, later());
  }
  std::string now() const { return folder / "now"; }
  std::string later() const { return folder / "later"; }

  /// The size of a patch between two files, which makes the second.
  std::uint64_t patched(const std::string& from, const std::string& to) const {
    patch::make_patch(ModelFile::open(from), ModelFile::open(to), {}, folder / "patch", 1);
    patch::PatchChain chain({folder / "patch"});
    REQUIRE(patch::apply_patches(from, chain, folder / "made", 1) == 1);
    CHECK(read_bytes(folder / "made") == read_bytes(to));
    return read_bytes(folder / "patch").size();
  }

  files::TempFolder folder;
  TrainRun run;
};

TEST_CASE("the hashed model of version 1 predicts what it predicted, and is saved smaller") {
  const Expected all = expected();
  for (const Way& way : kWays) {
    TrainRun run(load_model(golden(), kTestMemory, way.use, way.by));
    INFO(way.name);
    CHECK(run.model.parameters().scalars.examples == 200);
    const std::vector<float> predicted = run.predict(all.lines);
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      CHECK(predicted[i] == Approx(all.predictions[i]).epsilon(1e-5));
    }
  }
  const GoldenModels models;
  CHECK(predictions(models.now(), all.lines) == predictions(golden(), all.lines));
  CHECK(read_bytes(models.now()).size() < read_bytes(golden()).size() * 2 / 3);
  // Nothing but the cells is stored otherwise.
  ModelParts old(golden());
  const ModelParts all_slots = with_all_slots(ModelParts(models.now()), kGoldenBits);
  old.header["state"].erase("adam_steps");  // neurons count their steps now
  CHECK(old.header == all_slots.header);
  REQUIRE(old.parts.size() == all_slots.parts.size());
  for (std::size_t i = 0; i < old.parts.size(); ++i) {
    INFO(old.parts[i].name);
    CHECK(old.parts[i].name == all_slots.parts[i].name);
    CHECK(old.parts[i].declared == all_slots.parts[i].declared);
    CHECK(old.parts[i].bytes == all_slots.parts[i].bytes);
  }
}

TEST_CASE("it learns on as if it had been saved by this program") {
  const GoldenModels models;
  TrainRun again(load_model(models.now(), kTestMemory));
  again.learn(cut(expected().lines, 0, 3));
  CHECK(again.saved() == read_bytes(models.later()));
}

TEST_CASE("patches lead from files of all slots to those of touched ones, and back") {
  const GoldenModels models;
  models.patched(golden(), models.now());
  models.patched(golden(), models.later());
  models.patched(models.later(), golden());
  // By slot: three lines have changed a few of them.
  const std::uint64_t size = models.patched(models.now(), models.later());
  CHECK(size < read_bytes(models.later()).size() / 4);
}

TEST_CASE("exports of both kinds predict the same, and follow each other") {
  const GoldenModels models;
  const Expected all = expected();
  for (const int bits : kAllBits) {
    INFO(bits << " bits");
    const std::string old = models.folder / "old", now = models.folder / "export";
    export_model(golden(), old, bits_of(bits));
    export_model(models.now(), now, bits_of(bits));
    CHECK(predictions(old, all.lines) == predictions(now, all.lines));
    CHECK(ModelFile::open(now).bytes() < ModelFile::open(old).bytes());
    // What goes on from an export of the other kind keeps its scales, and is near what it is made
    // of.
    ExportOptions options = bits_of(bits);
    options.rounding.tolerance = 1;
    for (const auto& [model, previous] :
         {std::pair(models.later(), old), std::pair(golden(), now)}) {
      options.previous = previous;
      export_model(model, models.folder / "next", options);
      const std::vector<float> a = predictions(models.folder / "next", all.lines);
      const std::vector<float> b = predictions(model, all.lines);
      for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::fabs(a[i] - b[i]) < 0.01f);
    }
    models.patched(old, now);
    models.patched(now, old);
  }
}

}  // namespace
}  // namespace leveret::modelfile
