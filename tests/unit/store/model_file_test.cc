#include "store/model_file.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "files/temp_folder.h"
#include "store/sample_model.h"

namespace leveret::store {

using namespace files;

namespace {

void require_same(const ModelFile& file, const SampleModel& model) {
  REQUIRE(file.kind() == Kind::kModel);
  REQUIRE(file.header_json() == SampleModel::kHeader);
  const auto expected = model.sections();
  REQUIRE(file.sections().size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const SectionView& section = file.sections()[i];
    REQUIRE(section.name == expected[i].name);
    REQUIRE(section.dtype == expected[i].dtype);
    REQUIRE(section.shape == expected[i].shape);
    REQUIRE(section.bytes == expected[i].bytes);
    REQUIRE(reinterpret_cast<std::uintptr_t>(section.data) % 64 == 0);
    REQUIRE(file.offset(section) % kPageBytes == 0);
    REQUIRE(std::equal(section.data, section.data + section.bytes, expected[i].data));
  }
}

TEST_CASE("a model file gives back what was saved") {
  const TempFolder folder;
  const SampleModel model;
  model.save(folder / "m.lvt");
  const ModelFile file = ModelFile::open(folder / "m.lvt");
  require_same(file, model);
  REQUIRE(file.find("counts")->bytes == 24);
  REQUIRE(file.find("count") == nullptr);
  REQUIRE(folder.names() == std::vector<std::string>{"m.lvt"});
  require_same(ModelFile::open(folder / "m.lvt", Verify::kFront), model);
}

TEST_CASE("a file without sections or header is a file") {
  const TempFolder folder;
  write_model_file(folder / "m.lvt", Kind::kCache, {}, {});
  const ModelFile file = ModelFile::open(folder / "m.lvt");
  REQUIRE(file.kind() == Kind::kCache);
  REQUIRE(file.header_json().empty());
  REQUIRE(file.sections().empty());
  REQUIRE(file.bytes() == kPageBytes);
}

TEST_CASE("the same content gives the same bytes and fingerprint, other content another one") {
  const TempFolder folder;
  SampleModel(1).save(folder / "a");
  SampleModel(1).save(folder / "b");
  SampleModel(2).save(folder / "c");
  REQUIRE(read_bytes(folder / "a") == read_bytes(folder / "b"));
  const auto a = ModelFile::open(folder / "a");
  REQUIRE(a.fingerprint() == ModelFile::open(folder / "b").fingerprint());
  REQUIRE(a.fingerprint() != ModelFile::open(folder / "c").fingerprint());
  REQUIRE(to_hex(a.fingerprint()).size() == 32);
}

TEST_CASE("an open file stays as it was when it is saved over, and moves") {
  const TempFolder folder;
  const SampleModel model(1);
  model.save(folder / "m.lvt");
  ModelFile file = ModelFile::open(folder / "m.lvt");
  SampleModel(2).save(folder / "m.lvt");
  ModelFile moved = std::move(file);
  require_same(moved, model);
  moved = ModelFile::open(folder / "m.lvt");
  require_same(moved, SampleModel(2));
}

TEST_CASE("sections of a copy-on-write file change in memory only") {
  const TempFolder folder;
  SampleModel(1).save(folder / "m.lvt");
  const auto file = ModelFile::open(folder / "m.lvt", Verify::kAll, Access::kCopyOnWrite);
  const SectionView& weights = *file.find("ffm.0.rows");
  file.writable(weights)[3] ^= std::byte{1};
  require_same(ModelFile::open(folder / "m.lvt"), SampleModel(1));
  REQUIRE(weights.data[3] != SampleModel(1).sections()[1].data[3]);
}

TEST_CASE("sections that no file may hold are refused, and nothing is written") {
  const TempFolder folder;
  const std::vector<float> two = {1, 2};
  const auto section = [&](std::string name, Dtype dtype, std::vector<std::uint64_t> shape) {
    return make_section(std::move(name), dtype, std::move(shape), std::span<const float>(two));
  };
  const std::vector<std::vector<SectionView>> bad = {
      {section("", Dtype::kF32, {2})},
      {section("new\nline", Dtype::kF32, {2})},
      {section(std::string(kMaxNameBytes + 1, 'x'), Dtype::kF32, {2})},
      {section("a", Dtype::kF32, {2}), section("a", Dtype::kF32, {2})},
      {section("a", Dtype::kF32, {3})},
      {section("a", Dtype::kU8, {2})},
      {section("a", static_cast<Dtype>(9), {2})},
      {section("a", Dtype::kF32, {1, 1, 1, 1, 1, 1, 2})},
      {section("a", Dtype::kF32, {std::uint64_t{1} << 63, 4})},
  };
  for (const auto& sections : bad) {
    REQUIRE_THROWS_AS(write_model_file(folder / "m", Kind::kModel, "{}", sections),
                      std::invalid_argument);
  }
  REQUIRE(folder.names().empty());
  const std::vector<SectionView> good = {
      section(std::string(kMaxNameBytes, 'x'), Dtype::kF32, {1, 1, 1, 1, 1, 2})};
  write_model_file(folder / "m", Kind::kModel, "{}", good);
  REQUIRE(ModelFile::open(folder / "m").sections()[0].name == std::string(kMaxNameBytes, 'x'));
}

TEST_CASE("what is no model file is refused with its name") {
  const TempFolder folder;
  const auto refusal = [](const std::string& path) {
    try {
      ModelFile::open(path);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("was accepted");
  };
  using Catch::Contains;
  CHECK_THAT(refusal(folder / "none"), Contains("No such file") && Contains("none"));
  CHECK_THAT(refusal(folder / ""), Contains("no regular file"));
  CHECK_THAT(refusal("/dev/null"), Contains("no regular file"));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THAT(refusal(folder / "pipe"), Contains("no regular file"));
  write_bytes(folder / "empty", {});
  CHECK_THAT(refusal(folder / "empty"), Contains("empty"));
  const std::string text = "1 |a b c\n";
  write_bytes(folder / "text", std::as_bytes(std::span(text)));
  CHECK_THAT(refusal(folder / "text"), Contains("no file of leveret"));
}

}  // namespace
}  // namespace leveret::store
