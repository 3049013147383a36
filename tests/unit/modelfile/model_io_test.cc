// Models to and from files: nothing is lost.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "modelfile/saved_model.h"

namespace leveret::modelfile {
namespace {

constexpr std::size_t kPage = store::kPageBytes;

TEST_CASE("every kind of model survives its file, and is saved as the same bytes again") {
  for (const NamedSpec& kind : specs_to_test()) {
    INFO(kind.name);
    SavedModel saved(kind.spec);
    TrainRun again(saved.load());
    CHECK(again.saved() == files::read_bytes(saved.folder / "good"));
    const std::string more = model::random_lines(30, {}, 3);
    saved.run.learn(more);
    again.learn(more);
    CHECK(again.saved() == saved.run.saved());
  }
}

TEST_CASE("to predict, read or mapped, a model says bit for bit what it says when it learns") {
  const std::string fresh = model::random_lines(30, {}, 3) + "1 |A new f1:7 |new f2 |C f3\n";
  for (const NamedSpec& kind : specs_to_test()) {
    SavedModel saved(kind.spec);
    const std::vector<float> expected = saved.run.predict(fresh);
    for (const Way& way : kWays) {
      INFO(kind.name << ", " << way.name);
      TrainRun again(load_model(saved.folder / "good", kTestMemory, way.use, way.by));
      CHECK(again.predict(fresh) == expected);
      for (const table::Shard& shard : again.model.tables()) {
        for (const table::RowPart& part : shard.rows().layout().parts()) {
          CHECK(part.states.empty() == (way.use == Use::kPredict));
        }
      }
    }
  }
}

TEST_CASE("weights are mapped, and only where states are not asked for") {
  // Whoever changes the file then changes what is mapped, and nothing else.
  // Rows are large enough to lie on pages.
  spec::Spec large;
  large.ffm_k = 256;
  large.row_bits = 32;
  large.admit = 1;
  SavedModel saved{large};
  const std::string some = model::random_lines(30, {}, 3);
  const std::vector<float> expected = saved.run.predict(some);
  std::vector<std::unique_ptr<TrainRun>> runs;
  for (const Way& way : kWays) {
    runs.push_back(std::make_unique<TrainRun>(
        load_model(saved.folder / "good", kTestMemory, way.use, way.by)));
  }
  runs.push_back(std::make_unique<TrainRun>(
      load_model(saved.folder / "good", kTestMemory, Use::kLearn, LoadBy::kMapping)));
  const int fd = ::open((saved.folder / "good").c_str(), O_RDWR);
  const auto size = static_cast<std::size_t>(::lseek(fd, 0, SEEK_END));
  void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  REQUIRE(at != MAP_FAILED);
  // Anything at all: look-ups in a mapped model end, whatever its file has become.
  std::memset(static_cast<std::byte*>(at) + kPage, 0x77, size - kPage);
  CHECK(runs[0]->predict(some) == expected);
  CHECK(runs[1]->predict(some) == expected);
  CHECK(runs[2]->predict(some) != expected);
  CHECK(runs[3]->predict(some) == expected);
  ::munmap(at, size);
}

TEST_CASE("a model that has learned nothing survives its file") {
  for (const NamedSpec& kind : specs_to_test()) {
    INFO(kind.name);
    TrainRun empty(kind.spec);
    const files::TempFolder folder;
    save_model(empty.model, folder / "m");
    for (const Way& way : kWays) {
      TrainRun some(load_model(folder / "m", kTestMemory, way.use, way.by));
      CHECK(some.predict("1 |A f1\n|Z z\n1\n").size() == 3);
    }
    TrainRun again(load_model(folder / "m", kTestMemory));
    CHECK(again.saved() == empty.saved());
    again.learn(lines());
    empty.learn(lines());
    CHECK(again.saved() == empty.saved());
  }
}

TEST_CASE("a model for which memory has run out survives its file") {
  spec::Spec spec;
  spec.heads = GENERATE(spec::Heads::kMixed, spec::Heads::kOne);
  spec.admit = 1;
  constexpr std::uint64_t kLittle = 250000;
  TrainRun run(spec, kLittle);
  model::LineShape shape;
  shape.vocabulary = 5000;
  run.learn(model::random_lines(3000, shape, 2));
  for (std::uint32_t f = 0; f < shape.fields; ++f) {
    REQUIRE(run.model.tables().field(f).overflow_slot() != nullptr);
    REQUIRE(run.model.tables().field(f).overflow_row() != table::kNoRow);
  }
  const files::TempFolder folder;
  save_model(run.model, folder / "m");
  const std::string more = model::random_lines(30, shape, 3);
  const std::vector<float> expected = run.predict(more);
  for (const Way& way : kWays) {
    INFO(way.name);
    TrainRun again(load_model(folder / "m", kLittle, way.use, way.by));
    CHECK(again.predict(more) == expected);
    CHECK(again.model.tables().overflow_lookups() == run.model.tables().overflow_lookups());
    if (way.use == Use::kLearn) CHECK(again.saved() == files::read_bytes(folder / "m"));
  }
}

TEST_CASE("features that are forgotten are not saved") {
  SavedModel saved{spec::Spec()};
  table::Shard& shard = saved.run.model.tables().field(0);
  const std::uint64_t rows = shard.rows().size();
  std::vector<table::Key> with_row;
  shard.for_each([&](const table::Slot& slot) {
    if (slot.ref.has_row()) with_row.push_back(slot.key);
  });
  REQUIRE(with_row.size() > 2);
  shard.forget(
      [&](const table::Slot& slot) { return slot.key == with_row[0] || slot.key == with_row[2]; });
  save_model(saved.run.model, saved.folder / "less");
  TrainRun again(load_model(saved.folder / "less", kTestMemory));
  CHECK(again.model.tables().field(0).rows().size() == rows - 2);
  const std::string fresh = model::random_lines(30, {}, 3);
  CHECK(again.predict(fresh) == saved.run.predict(fresh));
  CHECK(again.saved() == files::read_bytes(saved.folder / "less"));
}

TEST_CASE("namespaces beyond --max_fields are still counted after a reload") {
  spec::Spec spec;
  spec.features.max_fields = 2;
  SavedModel saved(spec);
  CHECK(saved.run.model.features().fieldless() == 2);
  CHECK(saved.load().features().fieldless() == 2);
}

TEST_CASE("weights that are not finite are not saved") {
  const float bad =
      GENERATE(std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN());
  spec::Spec spec;
  spec.row_bits = GENERATE(16, 32);
  SavedModel saved{spec};
  model::Model& m = saved.run.model;
  table::Shard& shard = m.tables().field(1);
  const auto spoil = [&](const table::RowLayout::Column& column, std::size_t i) {
    kernels::encode(column.codec, shard.rows().at(0) + column.begin, i, bad);
  };
  table::Slot* some = nullptr;
  shard.for_each([&](const table::Slot& slot) { some = const_cast<table::Slot*>(&slot); });
  SECTION("row") {
    if (spec.row_bits == 16) return;  // all of them are finite
    spoil(shard.rows().layout().weights(0), 2);
  }
  SECTION("row state") { spoil(shard.rows().layout().state(0, 0), 0); }
  SECTION("cell") { table::mixed(*table::cell_of(some)).weight2 = bad; }
  SECTION("largest value") {
    if (bad != bad) return;  // none is larger than another value
    shard.raise_largest_value(*some, bad);
  }
  SECTION("dense") { m.parameters().layer(0).weights[3] = bad; }
  SECTION("bias of a layer") { m.parameters().learned_layer(0).bias_states[0][0] = bad; }
  SECTION("group") { m.parameters()[m.parameters().find("groups.weight")][0] = bad; }
  SECTION("constant") { m.parameters().scalars.bias = bad; }
  SECTION("mixer") { m.parameters().scalars.mixers[1] = bad; }
  SECTION("base rate") { m.parameters().scalars.count = bad; }
  CHECK_THROWS_WITH(save_model(m, saved.bad()), Catch::Contains("not saved, 1 "));
  CHECK(saved.folder.names() == std::vector<std::string>{"good"});
}

TEST_CASE("a section that no spec asks for is verified, too") {
  SavedModel saved{spec::Spec()};
  ModelParts more = saved.parts();
  store::Declaration optional;
  optional.optional = true;
  more.parts.push_back(
      {"later", store::Dtype::kU8, {5000}, optional, std::vector<std::byte>(5000)});
  more.write(saved.bad());
  CHECK(complaint(saved.bad()).empty());
  std::vector<std::byte> bytes = files::read_bytes(saved.bad());
  bytes[store::ModelFile::open(saved.bad()).find("later")->offset + 7] ^= std::byte{1};
  files::write_bytes(saved.bad(), bytes);
  for (const Way& way : kWays) {
    CHECK_THAT(complaint(saved.bad(), way.use, way.by), Catch::Contains("section 'later'"));
  }
}

TEST_CASE("a file of another kind is no model") {
  SavedModel saved{spec::Spec()};
  saved.parts().write(saved.bad(), store::Kind::kPatch);
  CHECK_THAT(complaint(saved.bad()), Catch::Contains("is not a model"));
}

}  // namespace
}  // namespace leveret::modelfile
