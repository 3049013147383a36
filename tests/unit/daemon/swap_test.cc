// Contexts are kept from request to request, and a model is not: whatever way the next one comes,
// answers are those of a server that was started with it.
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "daemon/house.h"
#include "files/temp_folder.h"
#include "patch/patch.h"
#include "publish/follower.h"
#include "publish/publish.h"
#include "train/train_run.h"

namespace leveret::daemon {
namespace {

constexpr int kContexts = 12;

/// Contexts of A and B, each with three candidates; `name` of a model is before each.
std::string blocks(const std::string& name) {
  std::string text;
  for (int i = 0; i < kContexts; ++i) {
    text += name + "|A f" + std::to_string(i) + " |B f" + std::to_string(29 - i) + "\n";
    for (int c = 0; c < 3; ++c) text += "|C f" + std::to_string(i + c) + " |D f3:0.5\n";
    text += "\n";
  }
  return text;
}

std::vector<std::string> requests_in_json() {
  std::vector<std::string> all;
  for (int i = 0; i < kContexts; ++i) {
    const std::string n = std::to_string(i);
    all.push_back(R"({"context":{"A":["f)" + n + R"("]},"candidates":[{"C":["f)" + n +
                  R"("]},{"D":{"f3":-2}}]})");
  }
  return all;
}

/// The predictions, without the model's name and fingerprint.
std::string predictions_of(const std::string& answer) {
  return answer.substr(std::min(answer.find("\"predictions\""), answer.size()));
}

/// By every way that a context comes, twice, so that the second time they are found.
std::string all_answers(House& house, const std::string& model = "") {
  const std::string name = model.empty() ? "" : "@" + model + " ";
  std::string all;
  for (int i = 0; i < 2; ++i) {
    all += house.answers(blocks(name), true);
    for (const std::string& body : requests_in_json()) {
      all += predictions_of(house.posted("application/json", body, model));
    }
    all += house.answers(name + "|A f1 |B f2 |C f1 |D f2\n", false);
  }
  return all;
}

using Names = std::vector<std::string>;

/// Of a server that is started with this file, for contexts that have these namespaces.
std::string fresh(const std::string& file, const Names& context) {
  House house({.context = context}, 1 << 20, {"one=" + file});
  return all_answers(house);
}

/// Three models: the second has learned more than the first, the third is of another kind.
struct SwappedFiles {
  explicit SwappedFiles(const spec::Spec& spec) {
    learn(spec, {"first", "second"}, 8, 1);
    spec::Spec other;
    other.ffm_k = 3;
    other.hidden = {};
    learn(other, {"other"}, 6, 9);
    const auto open = [&](const char* name) { return store::ModelFile::open(folder / name); };
    patch::make_patch(open("first"), open("second"), {}, folder / "there", 1);
    patch::make_patch(open("second"), open("first"), {}, folder / "back", 1);
  }
  void learn(const spec::Spec& spec, const std::vector<std::string>& names, std::uint32_t fields,
             std::uint32_t seed) const {
    train::TrainRun run(spec);
    model::LineShape shape = train::usual_shape();
    shape.fields = fields;
    for (const std::string& name : names) {
      run.learn(model::random_lines(300, shape, seed++));
      modelfile::save_model(run.model, folder / name);
    }
  }
  std::string operator/(const std::string& name) const { return folder / name; }

  files::TempFolder folder;
};

spec::Spec with_towers() {
  spec::Spec spec;
  spec.embedding_dim = 9;
  spec::set_towers(spec, "fm fwfm mlp:hidden=6");
  return spec;
}

using HowSwapped = std::function<void(serve::Place&, const SwappedFiles&)>;
struct NamedSwap {
  const char* name;
  const char* to;  ///< the file of the model that is served behind it
  HowSwapped swap;
};

/// From the first one, each a way by which leveret serve gets another version.
std::vector<NamedSwap> swaps() {
  return {
      {"a file in its place", "second",
       [](auto& place, auto& files) { place.replace(files / "second"); }},
      {"a model of another kind", "other",
       [](auto& place, auto& files) { place.replace(files / "other"); }},
      {"the same file again", "first",
       [](auto& place, auto& files) { place.replace(files / "first"); }},
      {"a file and a patch", "second",
       [](auto& place, auto& files) { place.replace(files / "first", {files / "there"}); }},
      {"a patch", "second", [](auto& place, auto& files) { place.patch({files / "there"}, ""); }},
      {"a patch, saved", "second",
       [](auto& place, auto& files) { place.patch({files / "there"}, files / "saved"); }},
      {"there and back by patches", "first",
       [](auto& place, auto& files) {
         place.patch({files / "there", files / "back"}, "");
       }},
      {"there and back by files, unseen", "first", [](auto& place, auto& files) {
         place.replace(files / "other");
         place.replace(files / "first");
       }}};
}

TEST_CASE("Behind each kind of swap a server answers as one that is started anew", "[daemon]") {
  for (const spec::Spec& spec : {spec::Spec{}, with_towers()}) {
    const SwappedFiles files(spec);
    for (const Names& context : {Names{}, Names{"A", "B"}}) {
      const std::string of_first = fresh(files / "first", context);
      CHECK(of_first != fresh(files / "second", context));
      CHECK(of_first != fresh(files / "other", context));
      for (const NamedSwap& swap : swaps()) {
        for (const bool drops : {false, true}) {
          INFO(swap.name << (drops ? ", old versions dropped" : "") << ", contexts of "
                         << context.size() << " namespaces, towers: " << spec.embedding_dim);
          House house({.context = context}, 1 << 20, {"one=" + files / "first"});
          REQUIRE(all_answers(house) == of_first);
          // Or there is nothing to be left over.
          REQUIRE(house.worker.counts(0).contexts_found.get() >= kContexts);
          swap.swap(*house.models[0].place, files);
          if (drops) house.worker.drop_old();
          CHECK(all_answers(house) == fresh(files / swap.to, context));
          house.models[0].place->replace(files / "first");
          CHECK(all_answers(house) == of_first);
        }
      }
    }
  }
}

TEST_CASE("A block that is open keeps its version, and no other request does", "[daemon]") {
  const SwappedFiles files(with_towers());
  {  // Namespaces have other numbers there.
    train::TrainRun run{spec::Spec{}};
    for (int i = 0; i < 50; ++i) run.learn("1 |D f3 |C f1 f2\n-1 |C f3 |B f2 |A f1\n");
    modelfile::save_model(run.model, files / "turned");
  }
  const Names context = {"A", "B"};
  const std::string begin = "|A f1 |B f2\n|C f1\n", rest = "|C f2\n|C f3 |D f3\n\n";
  const auto whole = [&](const std::string& file) {
    return House({.context = context}, 1 << 20, {"one=" + files / file})
        .answers(begin + rest, true);
  };
  for (const std::string next : {"second", "other", "turned"}) {
    INFO(next);
    REQUIRE(whole("first") != whole(next));
    House house({.context = context}, 1 << 20, {"one=" + files / "first"});
    all_answers(house);
    LineProtocol open(house.worker, true);
    std::string got;
    open.answer(begin, got);
    house.models[0].place->replace(files / next);
    CHECK(house.answers(begin + rest, true) == whole(next));
    open.answer(rest, got);
    CHECK(got == whole("first"));
    open.answer(begin + rest, got);
    CHECK(got == whole("first") + whole(next));
    CHECK(all_answers(house) == fresh(files / next, context));
  }
}

TEST_CASE("A swap of one model leaves the contexts of others", "[daemon]") {
  const SwappedFiles files({});
  const Names context = {"A", "B"};
  House house({.context = context}, 1 << 20, {"one=" + files / "first", "two=" + files / "first"});
  const std::string before = all_answers(house, "two");
  CHECK(all_answers(house, "one") == before);
  house.models[0].place->replace(files / "other");
  CHECK(all_answers(house, "one") == fresh(files / "other", context));
  const ModelCounts& counts = house.worker.counts(1);
  const std::uint64_t made = counts.contexts_made.get();
  CHECK(all_answers(house, "two") == before);
  CHECK(counts.contexts_made.get() == made);
}

/// As `leveret serve --follow` does.
TEST_CASE("Along the steps of a folder answers are those of each step's model", "[daemon]") {
  const SwappedFiles files(with_towers());
  const std::string dir = files / "published";
  publish::publish_model(dir, files / "first", {});
  const Names context = {"A", "B"};
  House house({.context = context}, 1 << 20, {"one=" + dir + "/1.lvt"});
  const auto follow = [&] {
    publish::Follower follower(dir);
    serve::Place& place = *house.models[0].place;
    const publish::Way way = follower.next(place.get()->fingerprint());
    if (!way.full.empty()) {
      place.replace(way.full, way.patches);
    } else if (!way.nothing()) {
      place.patch(way.patches, "");
    }
    return way.step;
  };
  const std::string first = all_answers(house);
  publish::publish_model(dir, files / "second", {});
  REQUIRE(follow() == 2);
  const std::string second = all_answers(house);
  CHECK(second != first);
  publish::roll_back(dir, 1, {});
  REQUIRE(follow() == 3);
  CHECK(all_answers(house) == first);
  publish::roll_back(dir, 2, {});
  REQUIRE(follow() == 4);
  CHECK(all_answers(house) == second);
  CHECK(second == fresh(dir + "/4.lvt", context));
}

}  // namespace
}  // namespace leveret::daemon
