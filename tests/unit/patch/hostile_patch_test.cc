// Patches that were damaged, cut, or made to be evil, and what they are applied to. Where a test
// says "with its checksums", these have been made right again, as somebody who wants to break the
// reader would do.
#include <catch2/catch.hpp>
#include <functional>
#include <random>

#include "files/temp_folder.h"
#include "patch/patch.h"
#include "patch/small_patch.h"
#include "store/layout_bytes.h"
#include "store/random_tables.h"

namespace leveret::patch {

using namespace files;
using Catch::Contains;

namespace {

std::string refusal(const SmallPatch& sample, const Bytes& patch) {
  write_bytes(sample.folder / "bad", patch);
  std::string message = "accepted";
  try {
    PatchChain patches({sample.folder / "bad"});
    apply_patches(sample.folder / "old", patches, sample.folder / "made", 1);
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  // Whatever was said, there is the right file or none.
  const bool made = std::filesystem::exists(sample.folder / "made");
  REQUIRE(made == (message == "accepted"));
  if (made) {
    REQUIRE(read_bytes(sample.folder / "made") == sample.result);
    std::filesystem::remove(sample.folder / "made");
  }
  return message;
}

/// describe_patch has no base to compare with, and reads or refuses.
void describe(const SmallPatch& sample, const Bytes& patch) {
  write_bytes(sample.folder / "bad", patch);
  try {
    describe_patch(sample.folder / "bad");
  } catch (const std::runtime_error&) {
  }
}

TEST_CASE("every flipped bit of a patch is found") {
  const SmallPatch sample(GENERATE(PatchKind::kSections, PatchKind::kBytes));
  REQUIRE(refusal(sample, sample.patch) == "accepted");
  Bytes bad = sample.patch;
  for (std::size_t i = 0; i < bad.size(); ++i) {
    bad[i] ^= std::byte{1} << (i % 8);
    if (refusal(sample, bad) == "accepted") FAIL("byte " << i);
    bad[i] = sample.patch[i];
  }
}

TEST_CASE("every length of a patch but the right one is refused") {
  const SmallPatch sample(GENERATE(PatchKind::kSections, PatchKind::kBytes));
  for (std::size_t n = 0; n < sample.patch.size(); ++n) {
    const Bytes cut(sample.patch.begin(), sample.patch.begin() + static_cast<std::ptrdiff_t>(n));
    if (refusal(sample, cut) == "accepted") FAIL("length " << n);
  }
  Bytes longer = sample.patch;
  longer.push_back({});
  REQUIRE_THAT(refusal(sample, longer), Contains("should end here, but bytes follow"));
}

TEST_CASE("random splices of a patch are refused") {
  const SmallPatch sample(PatchKind::kSections);
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    Bytes bad = sample.patch;
    const std::size_t length = 1 + random() % 300;
    const auto from = static_cast<std::ptrdiff_t>(random() % (bad.size() - length));
    const auto to = static_cast<std::ptrdiff_t>(random() % (bad.size() - length));
    const auto piece = sample.patch.begin() + from;
    const auto end = piece + static_cast<std::ptrdiff_t>(length);
    if (round % 3 == 0) bad.insert(bad.begin() + to, piece, end);
    if (round % 3 == 1) std::copy(piece, end, bad.begin() + to);
    if (round % 3 == 2) bad.erase(bad.begin() + to, bad.begin() + to + (end - piece));
    if (bad != sample.patch && refusal(sample, bad) == "accepted") FAIL("round " << round);
  }
}

TEST_CASE("records whose bytes are changed, with their checksums, never make another file") {
  const SmallPatch sample(GENERATE(PatchKind::kSections, PatchKind::kBytes));
  std::mt19937_64 random(11);
  for (std::size_t i = 0; i < sample.patch.size(); ++i) {
    for (const unsigned value : {0x00u, 0x7fu, 0xffu, unsigned(random() & 0xff)}) {
      Bytes bad = sample.patch;
      bad[i] = static_cast<std::byte>(value);
      repair_patch(bad);
      refusal(sample, bad);
      describe(sample, bad);
    }
  }
}

TEST_CASE("records of noise, with their checksums, are refused") {
  const SmallPatch sample(GENERATE(PatchKind::kSections, PatchKind::kBytes));
  std::mt19937_64 random(13);
  for (int round = 0; round < 1500; ++round) {
    Bytes bad = sample.patch;
    const auto records = record_offsets(bad);
    const std::size_t at = records[random() % (records.size() - 1)] + 16;
    const std::size_t end = at - 16 + 16 + store::get<std::uint32_t>(bad, at - 16);
    if (end <= at) continue;
    for (std::size_t i = at + random() % (end - at); i < end; ++i) bad[i] = std::byte(random());
    repair_patch(bad);
    refusal(sample, bad);
    describe(sample, bad);
  }
}

TEST_CASE("what a patch says of itself is checked") {
  const SmallPatch sample(PatchKind::kSections);
  struct Case {
    const char* message;
    std::function<void(Bytes&)> damage;
  };
  const std::vector<Case> cases = {
      {"this is no patch", [](Bytes& b) { b[3] = std::byte{'T'}; }},
      {"version 2", [](Bytes& b) { store::put<std::uint32_t>(b, 8, 2); }},
      {"front does not have its checksum", [](Bytes& b) { store::put<std::uint32_t>(b, 8, 0); }},
      {"kind 3", [](Bytes& b) { store::put<std::uint32_t>(b, 12, 3); }},
      {"flags 0x80", [](Bytes& b) { store::put<std::uint64_t>(b, 16, 0x80); }},
      {"its fingerprint is", [](Bytes& b) { store::put<std::uint64_t>(b, 24, 1); }},
      {"is of another file", [](Bytes& b) { store::put<std::uint64_t>(b, 40, 1); }},
      {"in the table of its result", [](Bytes& b) { store::put<std::uint64_t>(b, 64, 1u << 30); }},
      {"ends inside a record", [](Bytes& b) { store::put<std::uint32_t>(b, 112, ~0u); }},
      {"a record of type 1 should come", [](Bytes& b) { store::put<std::uint32_t>(b, 116, 9); }},
  };
  for (const Case& c : cases) {
    Bytes bad = sample.patch;
    c.damage(bad);
    if (std::string_view(c.message) != "front does not have its checksum") repair_patch(bad);
    CHECK_THAT(refusal(sample, bad), Contains(c.message));
  }
}

TEST_CASE("a table that promises more than there can be takes no memory for it") {
  const TempFolder folder;
  const std::vector<std::uint8_t> bytes(100, 7);
  const auto save = [&](const char* name, std::size_t size) {
    store::write_model_file(
        folder / name, store::Kind::kModel, "{}",
        {store::make_section("w", store::Dtype::kU8, {size}, {},
                             std::span<const std::uint8_t>(bytes).first(size))});
  };
  save("old", 50);
  save("new", 100);
  const store::ModelFile old = store::ModelFile::open(folder / "old"),
                         now = store::ModelFile::open(folder / "new");
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 50;
  Bytes table(now.front().begin(), now.front().end());
  const std::size_t at = (store::preamble::kBytes + 2 + 7) / 8 * 8;
  const std::uint64_t offset = store::get<std::uint64_t>(table, at + store::entry::kOffset);
  store::put<std::uint64_t>(
      table, at + store::entry::kOffset,
      (offset + store::kPageBytes - 1) / store::kPageBytes * store::kPageBytes);
  store::put<std::uint64_t>(table, at + store::entry::kLength, kHuge);
  store::put<std::uint64_t>(table, at + store::entry::kShape, kHuge);
  const std::uint64_t all = store::get<std::uint64_t>(table, at + store::entry::kOffset) + kHuge;
  store::put<std::uint64_t>(table, store::preamble::kFileBytes, all);
  const store::Checksum checksum = store::checksum_of(std::span(table).subspan(
      store::preamble::kChecked, at + store::entry::kBytes - store::preamble::kChecked));
  store::put<std::uint64_t>(table, store::preamble::kChecksum, checksum.low);
  store::put<std::uint64_t>(table, store::preamble::kChecksum + 8, checksum.high);
  {
    AtomicFile file(folder / "patch");
    PatchWriter writer(
        file, {PatchKind::kSections, {old.fingerprint(), old.bytes()}, {checksum, all}, {}});
    writer.write(RecordType::kTable, write_table(table));
    writer.end();
    file.commit();
  }
  PatchChain patches({folder / "patch"});
  REQUIRE_THROWS_WITH(apply_patches(folder / "old", patches, folder / "made", 2),
                      Contains("a record of type 3 should come"));
  REQUIRE(folder.names() == std::vector<std::string>{"new", "old", "patch"});
}

TEST_CASE("a damaged base is told from a damaged patch") {
  const SmallPatch sample(PatchKind::kSections);
  for (std::size_t i = 4096; i < sample.base.size(); i += 61) {
    Bytes bad = sample.base;
    bad[i] ^= std::byte{4};
    write_bytes(sample.folder / "old", bad);
    const std::string message = refusal(sample, sample.patch);
    // What the new file needs nothing of may be what it is.
    if (message != "accepted") REQUIRE_THAT(message, Contains("old: byte "));
  }
}

TEST_CASE("a damaged base is found in each section, the last one, too") {
  const TempFolder folder;
  std::vector<std::uint8_t> first(5000, 7), last(5000, 9);
  const auto save = [&](const char* name) {
    const auto section = [](const char* of, const std::vector<std::uint8_t>& bytes) {
      return store::make_section<std::uint8_t>(of, store::Dtype::kU8, {bytes.size()}, {}, bytes);
    };
    store::write_model_file(folder / name, store::Kind::kModel, "{}",
                            {section("first", first), section("last", last)});
  };
  save("old");
  first[10] = last[10] = 1;
  save("new");
  const store::ModelFile old = store::ModelFile::open(folder / "old");
  make_patch(old, store::ModelFile::open(folder / "new"), {}, folder / "patch", 1);
  const Bytes whole = read_bytes(folder / "old");
  for (const char* const name : {"first", "last"}) {
    INFO(name);
    Bytes bad = whole;
    bad[old.find(name)->offset + 3000] ^= std::byte{4};
    write_bytes(folder / "old", bad);
    PatchChain patches({folder / "patch"});
    CHECK_THROWS_WITH(apply_patches(folder / "old", patches, folder / "made", 1),
                      Contains("old: byte "));
    CHECK_FALSE(std::filesystem::exists(folder / "made"));
  }
}

}  // namespace
}  // namespace leveret::patch
