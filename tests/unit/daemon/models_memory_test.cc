// --max_memory is for all models of a server together, whichever of them gets a next version.
#include <catch2/catch.hpp>
#include <string>

#include "daemon/models.h"
#include "files/temp_folder.h"
#include "train/train_run.h"

namespace leveret::daemon {
namespace {

TEST_CASE("A next version comes where all models with it have room, and else not", "[daemon]") {
  const files::TempFolder folder;
  train::TrainRun run{spec::Spec{}};
  model::LineShape shape = train::usual_shape();
  for (const char* const name : {"small", "large"}) {
    run.learn(model::random_lines(2000, shape, 5));
    modelfile::save_model(run.model, folder / name);
    shape.vocabulary = 3000;
  }
  const std::string small = folder / "small", large = folder / "large";
  const auto memory = [](const std::string& file) {
    return serve::Served(store::ModelFile::open(file)).memory();
  };
  const std::uint64_t need = memory(small), more = memory(large) - memory(small);
  REQUIRE(more > 1000);
  const std::vector<std::string> given = {"a=" + small, "b=" + small, "c=" + small};
  CHECK_THROWS_WITH(Models(given, {}, 3 * need - 1), Catch::Contains("--max_memory"));
  for (std::size_t i = 0; i < given.size(); ++i) {
    INFO("model " << i);
    Models tight(given, {}, 3 * need + more - 1), roomy(given, {}, 3 * need + more);
    serve::Place& place = *tight[i].place;
    const auto before = place.get();
    CHECK_THROWS_WITH(place.replace(large), Catch::Contains("--max_memory"));
    CHECK(place.get() == before);
    place.replace(small);  // it takes the room of the one that goes
    roomy[i].place->replace(large);
    CHECK(roomy[i].place->get()->memory() == need + more);
    const std::size_t other = (i + 1) % given.size();
    CHECK_THROWS_WITH(roomy[other].place->replace(large), Catch::Contains("--max_memory"));
  }
}

}  // namespace
}  // namespace leveret::daemon
