// A machine that loses its power has the steps that its manifest tells of: whatever a publisher
// writes is forced to the disk, its bytes before its name, its name before the manifest's.
#include <catch2/catch.hpp>
#include <filesystem>

#include "files/syncs.h"
#include "modelfile/export/export_model.h"
#include "patch/patch.h"
#include "publish/line_of_models.h"
#include "publish/publish.h"
#include "serve/served.h"

namespace leveret::publish {
namespace {

namespace fs = std::filesystem;
using Written = std::vector<std::string>;

/// The names that were given, each of which is safe by now.
template <class Work>
Written safely(Work&& work, const std::string& last = Manifest::kName) {
  const files::Syncs syncs(last);
  work();
  CHECK(syncs.lost() == Written{});
  return syncs.renamed();
}

TEST_CASE("all that a publisher writes is forced to the disk before a manifest tells of it") {
  const LineOfModels models(5);
  const files::TempFolder folder;
  const std::string dir = folder / "published", manifest = Manifest::kName;
  PublishOptions options;
  options.full_every = 3;
  options.keep = 3;
  const auto publish = [&](int model) {
    return safely([&] { publish_model(dir, models[model], options); });
  };
  {
    const files::Syncs syncs(manifest);
    publish_model(dir, models[0], options);
    CHECK(syncs.lost() == Written{});
    CHECK(syncs.has_forced(fs::path(dir).parent_path()));  // a new folder is a name, too
    CHECK(syncs.has_forced(dir));
    CHECK(syncs.renamed() == Written{manifest, ".candidate.lvt", "1.lvt", manifest});
  }
  const Written with_patch = {".candidate.lvt", "2.patch", manifest};
  CHECK(publish(1) == with_patch);
  CHECK(publish(2).size() == with_patch.size());
  CHECK(publish(3) == Written{".candidate.lvt", "4.patch", "4.lvt", manifest});
  CHECK(publish(4).size() == with_patch.size());
  // The step's own file is there; it is made again.
  CHECK(safely([&] { roll_back(dir, 4, options); }) == Written{manifest});
  CHECK(safely([&] { roll_back(dir, 5, options); }) == Written{"7.lvt", manifest});
  modelfile::ExportOptions by;
  by.bits = 8;
  modelfile::export_model(models[1], folder / "export", by);
  CHECK(safely([&] { publish_model(dir, folder / "export", options); }).back() == manifest);
}

TEST_CASE(
    "models, exports, patches and what they make are forced to the disk before they are named") {
  const LineOfModels models(2);
  const files::TempFolder folder;
  const auto path = [&](const char* name) { return folder / name; };
  const auto open = [&](int i) { return store::ModelFile::open(models[i]); };
  CHECK(safely([&] {
          modelfile::save_model(train::TrainRun{spec::Spec{}}.model, path("model"));
        }) == Written{"model"});
  CHECK(safely([&] { modelfile::export_model(models[0], path("export"), {}); }) ==
        Written{"export"});
  CHECK(safely([&] { patch::make_patch(open(0), open(1), {}, path("patch"), 1); }) ==
        Written{"patch"});
  CHECK(safely([&] { patch::make_byte_patch(models[0], models[1], path("bytes"), 1); }) ==
        Written{"bytes"});
  for (const char* const by : {"patch", "bytes"}) {
    INFO(by);
    CHECK(safely([&] {
            patch::PatchChain chain({path(by)});
            patch::apply_patches(models[0], chain, path("made"), 1);
          }) == Written{"made"});
    CHECK(files::read_bytes(path("made")) == files::read_bytes(models[1]));
  }
  serve::Place place(models[0]);
  CHECK(safely([&] { place.patch({path("patch")}, path("saved")); }) == Written{"saved"});
}

}  // namespace
}  // namespace leveret::publish
