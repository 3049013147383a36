#include "store/notes.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "files/temp_folder.h"
#include "store/model_file.h"
#include "store/sample_model.h"

namespace leveret::store {

using namespace files;

namespace {

const std::vector<std::uint64_t> kNumbers = {1, 2, 3, 4, 5, 6};

std::vector<std::byte> sample_notes() {
  Declaration declared;
  declared.role = Role::kStatistic;
  return make_notes(R"({"a":1})", {make_section<std::uint64_t>("numbers", Dtype::kU64, {2, 3},
                                                               declared, kNumbers)});
}

void save(const std::string& path, std::span<const std::byte> notes, Kind kind = Kind::kModel) {
  const SampleModel model;
  write_model_file(path, kind, SampleModel::kHeader, model.sections(), notes);
}

TEST_CASE("notes come back, and the model is the same with and without them") {
  const TempFolder folder;
  save(folder / "with", sample_notes());
  save(folder / "without", {});
  ModelFile with = ModelFile::open(folder / "with");
  const ModelFile without = ModelFile::open(folder / "without");
  CHECK(without.notes() == nullptr);
  CHECK(with.fingerprint() == without.fingerprint());
  CHECK(with.bytes() == without.bytes());
  const ModelFile moved = std::move(with);
  REQUIRE(moved.notes() != nullptr);
  CHECK(moved.notes()->header_json() == R"({"a":1})");
  const StoredSection* const section = moved.notes()->find("numbers");
  REQUIRE(section != nullptr);
  CHECK(section->shape == std::vector<std::uint64_t>{2, 3});
  CHECK(std::memcmp(moved.notes()->bytes(*section).data(), kNumbers.data(), section->bytes) == 0);
  CHECK(moved.notes()->find("number") == nullptr);
  CHECK_FALSE(moved.changed());
}

TEST_CASE("a model gets other notes, and is what it was") {
  const TempFolder folder;
  save(folder / "with", sample_notes());
  save(folder / "without", {});
  save_with_notes(ModelFile::open(folder / "without"), folder / "other", sample_notes());
  CHECK(read_bytes(folder / "other") == read_bytes(folder / "with"));
  // Over the file itself, too.
  save_with_notes(ModelFile::open(folder / "with"), folder / "with", {});
  CHECK(read_bytes(folder / "with") == read_bytes(folder / "without"));
}

TEST_CASE("a byte of the notes that is another, or is missing, is refused") {
  const TempFolder folder;
  save(folder / "good", sample_notes());
  const std::vector<std::byte> good = read_bytes(folder / "good");
  const std::size_t begin = ModelFile::open(folder / "good").bytes();
  REQUIRE(good.size() == begin + sample_notes().size());
  const auto check_refused = [&](const std::vector<std::byte>& bytes) {
    write_bytes(folder / "bad", bytes);
    CHECK_THROWS_AS(ModelFile::open(folder / "bad"), std::runtime_error);
  };
  for (std::size_t at = begin; at < good.size(); at += at < begin + 512 ? 1 : 37) {
    INFO(at - begin);
    std::vector<std::byte> bytes = good;
    bytes[at] ^= std::byte{4};
    check_refused(bytes);
    bytes = good;
    bytes.resize(at);
    if (at > begin) check_refused(bytes);
  }
  std::vector<std::byte> longer = good;
  longer.resize(good.size() + 64);
  check_refused(longer);
}

TEST_CASE("only models have notes, and a model is no notes") {
  const TempFolder folder;
  save(folder / "export", sample_notes(), Kind::kExport);
  CHECK_THROWS_AS(ModelFile::open(folder / "export"), std::runtime_error);
  save(folder / "model", {});
  save(folder / "two", read_bytes(folder / "model"));
  CHECK_THROWS_AS(ModelFile::open(folder / "two"), std::runtime_error);
}

}  // namespace
}  // namespace leveret::store
