#include "store/model_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>

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
    const StoredSection& section = file.sections()[i];
    REQUIRE(section.name == expected[i].name);
    REQUIRE(section.dtype == expected[i].dtype);
    REQUIRE(section.shape == expected[i].shape);
    REQUIRE(section.bytes == expected[i].bytes);
    REQUIRE(section.declared == expected[i].declared);
    REQUIRE(section.offset % (section.bytes < kLargeFrom ? kLineBytes : kPageBytes) == 0);
    const std::span wanted(expected[i].data, expected[i].bytes);
    const std::vector<std::byte> bytes = file.read(section);
    REQUIRE(std::ranges::equal(bytes, wanted));
    std::vector<std::byte> scanned;
    file.scan(section, [&](std::span<const std::byte> part) {
      scanned.insert(scanned.end(), part.begin(), part.end());
    });
    REQUIRE(scanned == bytes);
    REQUIRE_NOTHROW(file.verify_mapped(section, bytes.data()));
    ModelFile::Stream stream(file, section);
    std::vector<std::byte> streamed;
    while (streamed.size() < section.bytes) {
      const auto some = stream.next(std::min<std::uint64_t>(1000, section.bytes - streamed.size()));
      streamed.insert(streamed.end(), some.begin(), some.end());
    }
    REQUIRE_NOTHROW(stream.finish());
    REQUIRE(streamed == bytes);
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

TEST_CASE("a section of many blocks is what was saved, and is not when a byte is another one") {
  const TempFolder folder;
  std::vector<std::uint32_t> numbers(300001);
  std::iota(numbers.begin(), numbers.end(), 1u);
  const std::vector<SectionView> sections = {make_section("n", Dtype::kU32, {numbers.size()}, {},
                                                          std::span<const std::uint32_t>(numbers))};
  write_model_file(folder / "m", Kind::kModel, "{}", sections);
  const auto wanted = std::as_bytes(std::span(numbers));
  const ModelFile file = ModelFile::open(folder / "m");
  std::vector<std::byte> bytes = file.read(file.sections()[0]);
  REQUIRE(std::ranges::equal(bytes, wanted));
  bytes[1000000] ^= std::byte{1};
  REQUIRE_THROWS_WITH(file.verify_mapped(file.sections()[0], bytes.data()),
                      Catch::Contains("checksum"));
}

/// Writes into the file as it is, like `cp`. A second later than all before, as clocks of files
/// tick slowly.
void change_in_place(const std::string& path, std::uint64_t at) {
  const int fd = ::open(path.c_str(), O_WRONLY);
  REQUIRE(::pwrite(fd, "x", 1, static_cast<off_t>(at)) == 1);
  const timespec times[2] = {{0, UTIME_NOW}, {::time(nullptr) + 1, 0}};
  REQUIRE(::futimens(fd, times) == 0);
  ::close(fd);
}

TEST_CASE("a file that is changed or cut after it was opened is an error that says what to do") {
  const TempFolder folder;
  SampleModel(1).save(folder / "m");
  const ModelFile file = ModelFile::open(folder / "m");
  const StoredSection& section = *file.find("f\xc3\xbcnf");
  REQUIRE_FALSE(file.changed());
  SECTION("another byte") { change_in_place(folder / "m", section.offset + 4000); }
  SECTION("cut in the section") {
    REQUIRE(::truncate((folder / "m").c_str(), static_cast<off_t>(section.offset + 5)) == 0);
  }
  SECTION("emptied") { REQUIRE(::truncate((folder / "m").c_str(), 0) == 0); }
  REQUIRE(file.changed());
  const std::string message = file.change_message();
  REQUIRE_THAT(message, Catch::StartsWith((folder / "m") + ": ") && Catch::Contains("by renaming"));
  REQUIRE_THROWS_WITH(file.read(section), message);
  REQUIRE_THROWS_WITH(file.verify(section), message);
  REQUIRE_THROWS_WITH(file.check_unchanged(), message);
}

TEST_CASE("a file that is replaced by renaming, linked or given other rights is as it was") {
  const TempFolder folder;
  const SampleModel model(1);
  model.save(folder / "m");
  SampleModel(2).save(folder / "new");
  const ModelFile file = ModelFile::open(folder / "m");
  REQUIRE(::link((folder / "m").c_str(), (folder / "link").c_str()) == 0);
  REQUIRE(::chmod((folder / "m").c_str(), 0400) == 0);
  REQUIRE(::unlink((folder / "link").c_str()) == 0);
  REQUIRE(::rename((folder / "new").c_str(), (folder / "m").c_str()) == 0);
  REQUIRE_NOTHROW(file.check_unchanged());
  require_same(file, model);
}

TEST_CASE("sections that no file may hold are refused, and nothing is written") {
  const TempFolder folder;
  const std::vector<float> two = {1, 2};
  const auto section = [&](std::string name, Dtype dtype, std::vector<std::uint64_t> shape) {
    return make_section(std::move(name), dtype, std::move(shape), {}, std::span<const float>(two));
  };
  const auto with = [](SectionView view, Declaration declared) {
    view.declared = declared;
    return view;
  };
  const std::vector<std::vector<SectionView>> bad = {
      {section("", Dtype::kF32, {2})},
      {section("new\nline", Dtype::kF32, {2})},
      {section(std::string(kMaxNameBytes + 1, 'x'), Dtype::kF32, {2})},
      {section("a", Dtype::kF32, {2}), section("a", Dtype::kF32, {2})},
      {section("a", Dtype::kF32, {3})},
      {section("a", Dtype::kU8, {2})},
      {section("a", static_cast<Dtype>(11), {2})},
      {section("a", Dtype::kI4, {16, 1})},
      {with(section("a", Dtype::kF32, {2}), {.role = Role()})},
      {with(section("a", Dtype::kF32, {2}), {.keys = 1})},
      {with(section("a", Dtype::kF32, {2}), {.keys = 2})},
      {with(section("a", Dtype::kF32, {2}), {.last_keys = true})},
      {with(section("a", Dtype::kF32, {2}), {.scale = 2})},
      {with(section("a", Dtype::kI16, {4}), {.coding = Coding::kFixed, .scale = 0})},
      {with(section("a", Dtype::kI16, {4}), {.coding = Coding::kFixedByRow})},
      {with(section("a", Dtype::kF32, {2}), {.coding = Coding::kLog})},
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
  CHECK_THAT(refusal(folder / ""), Contains("it is a folder"));
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
