// Files that were damaged, cut, or made to be evil. Where a test says "with its checksums", these
// have been made right again, as somebody who wants to break the reader would do.
#include <bit>
#include <catch2/catch.hpp>
#include <functional>
#include <random>
#include <utility>

#include "files/temp_folder.h"
#include "store/layout_bytes.h"
#include "store/model_file.h"
#include "store/sample_model.h"

namespace leveret::store {

using namespace files;

namespace {

using Bytes = std::vector<std::byte>;

Bytes sample_bytes(const TempFolder& folder) {
  SampleModel().save(folder / "sample");
  return read_bytes(folder / "sample");
}

/// Reads the bytes as a ModelFile does, but without a file, hence much faster.
void read_all(const Bytes& bytes) {
  const std::span file(bytes);
  const Layout layout = read_layout(file, bytes.size(), "m");
  for (const StoredSection& section : layout.sections) {
    const std::uint64_t end = section.offset + section.bytes;
    check_checksum(section, checksum_of(file.subspan(section.offset, section.bytes)), "m");
    check_padding(section, file.subspan(end, section.padding), "m");
  }
}

void verify_all(const ModelFile& file) {
  for (const StoredSection& section : file.sections()) file.verify(section);
}

std::string refusal(const Bytes& bytes) {
  // A copy of exactly this length: the address sanitizer sees each byte that is read beyond it.
  const Bytes exact(bytes);
  try {
    read_all(exact);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "accepted";
}

/// Makes the checksum of header and table right.
void repair_front(Bytes& bytes) {
  const auto header = get<std::uint64_t>(bytes, preamble::kHeaderBytes);
  const auto sections = get<std::uint32_t>(bytes, preamble::kSections);
  const std::uint64_t end = (preamble::kBytes + header + 7) / 8 * 8 + sections * entry::kBytes;
  if (header > bytes.size() || end > bytes.size()) return;
  const auto checked = std::span(bytes).subspan(preamble::kChecked, end - preamble::kChecked);
  const Checksum checksum = checksum_of(checked);
  put<std::uint64_t>(bytes, preamble::kChecksum, checksum.low);
  put<std::uint64_t>(bytes, preamble::kChecksum + 8, checksum.high);
}

/// Where the one large section begins and ends; to damage each of its bytes would take long.
std::pair<std::size_t, std::size_t> large_section(const Bytes& good) {
  for (const StoredSection& section : read_layout(good, good.size(), "m").sections) {
    if (section.name == "large") return {section.offset, section.offset + section.bytes};
  }
  FAIL("no large section");
  return {};
}

std::size_t table_at() { return (preamble::kBytes + SampleModel::kHeader.size() + 7) / 8 * 8; }

TEST_CASE("every flipped bit of a file is found") {
  const TempFolder folder;
  const Bytes good = sample_bytes(folder);
  REQUIRE(refusal(good) == "accepted");
  Bytes bad = good;
  const auto [large, end] = large_section(good);
  for (std::size_t i = 0; i < bad.size(); i += i >= large && i + 97 < end ? 97 : 1) {
    bad[i] ^= std::byte{1} << (i % 8);
    if (refusal(bad) == "accepted") FAIL("byte " << i);
    bad[i] = ~good[i];
    if (refusal(bad) == "accepted") FAIL("byte " << i);
    bad[i] = good[i];
  }
}

TEST_CASE("a flipped byte is found when the file is opened by its name") {
  const TempFolder folder;
  const Bytes good = sample_bytes(folder);
  for (std::size_t i = 0; i < good.size(); i += 97) {
    Bytes bad = good;
    bad[i] ^= std::byte{0x10};
    write_bytes(folder / "bad", bad);
    REQUIRE_THROWS_AS(verify_all(ModelFile::open(folder / "bad")), std::runtime_error);
  }
}

TEST_CASE("every length but the right one is refused") {
  const TempFolder folder;
  const Bytes good = sample_bytes(folder);
  const auto [large, end] = large_section(good);
  for (std::size_t n = 0; n < good.size(); n += n >= large && n + 97 < end ? 97 : 1) {
    if (refusal(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n))) == "accepted") {
      FAIL("length " << n);
    }
  }
  for (const std::size_t more : {1, 8, 4096}) {
    Bytes longer = good;
    longer.insert(longer.end(), more, std::byte{0});
    REQUIRE_THAT(refusal(longer), Catch::Contains("bytes follow"));
  }
}

TEST_CASE("random splices of a file are refused") {
  const TempFolder folder;
  const Bytes good = sample_bytes(folder);
  std::mt19937_64 random(7);
  for (int round = 0; round < 3000; ++round) {
    Bytes bad = good;
    const std::size_t length = 1 + random() % 600;
    const std::size_t from = random() % (good.size() - length);
    const std::size_t to = random() % (good.size() - length);
    const auto piece = std::span(good).subspan(from, length);
    if (round % 3 == 0)
      bad.insert(bad.begin() + static_cast<std::ptrdiff_t>(to), piece.begin(), piece.end());
    if (round % 3 == 1)
      std::copy(piece.begin(), piece.end(), bad.begin() + static_cast<std::ptrdiff_t>(to));
    if (round % 3 == 2)
      bad.erase(bad.begin() + static_cast<std::ptrdiff_t>(to),
                bad.begin() + static_cast<std::ptrdiff_t>(to + length));
    if (bad != good && refusal(bad) == "accepted") FAIL("round " << round);
  }
}

TEST_CASE("evil tables with their checksums are refused") {
  const TempFolder folder;
  const Bytes good = sample_bytes(folder);
  const std::size_t first = table_at(), second = first + entry::kBytes;
  constexpr std::uint64_t kHuge = ~std::uint64_t{0};
  struct Case {
    const char* message;
    std::function<void(Bytes&)> damage;
  };
  const auto set64 = [](std::size_t at, std::uint64_t value) {
    return [=](Bytes& b) { put<std::uint64_t>(b, at, value); };
  };
  const auto set32 = [](std::size_t at, std::uint32_t value) {
    return [=](Bytes& b) { put<std::uint32_t>(b, at, value); };
  };
  const auto entry_at = [=](std::size_t i) { return first + i * entry::kBytes; };
  const auto set8 = [](std::size_t at, std::uint8_t value) {
    return [=](Bytes& b) { put<std::uint8_t>(b, at, value); };
  };
  const std::vector<Case> cases = {
      {"header of", set64(preamble::kHeaderBytes, kHuge)},
      {"header of", set64(preamble::kHeaderBytes, good.size())},
      {"table of", [](Bytes& b) { put<std::uint32_t>(b, preamble::kSections, ~0u); }},
      {"bytes after the table", [](Bytes& b) { put<std::uint32_t>(b, preamble::kSections, 12); }},
      {"name of a section", [](Bytes& b) { put<std::uint32_t>(b, preamble::kSections, 14); }},
      {"kind", [](Bytes& b) { put<std::uint32_t>(b, preamble::kKind, 9); }},
      {"version 2", [](Bytes& b) { put<std::uint32_t>(b, preamble::kVersion, 2); }},
      {"flags 0x4", set64(preamble::kFlags, 4)},
      {"not zero", set8(preamble::kReserved, 1)},
      {"should have", set64(preamble::kFileBytes, kHuge)},
      {"does not lie", set64(first + entry::kOffset, kHuge - 4095)},
      {"does not lie", set64(second + entry::kOffset, get<std::uint64_t>(good, first))},
      {"those of its shape", set64(first + entry::kLength, kHuge)},
      {"those of its shape", set64(second + entry::kShape, std::uint64_t{1} << 63)},
      {"type 0", set8(first + entry::kDtype, 0)},
      {"type 200", set8(first + entry::kDtype, 200)},
      {"shape of section", set8(first + entry::kRank, 7)},
      {"shape of section", set8(second + entry::kRank, 1)},
      {"shape of section", set8(first + entry::kReserved, 1)},
      {"name of a section", set8(first + entry::kName, 0)},
      {"name of a section", set8(first + entry::kName, 7)},
      {"name of a section", set8(second - 1, 'x')},
      {"no role", set8(first + entry::kRole, 0)},
      {"no role", set8(first + entry::kRole, 5)},
      {"flags 0x4 of section", set8(first + entry::kFlags, 4)},
      {"no keys", set8(entry_at(4) + entry::kFlags, entry::kLastKeys)},
      {"keys are not there", set8(second + entry::kKeys, 14)},
      {"keys are none", set8(second + entry::kKeys, 2)},
      {"keys are none", set8(second + entry::kKeys, 7)},
      {"keys are none", set8(first + entry::kRole, 2)},
      {"more rows than keys",
       [=](Bytes& b) {  // seven keys become three
         put<std::uint64_t>(b, first + entry::kShape, 3);
         put<std::uint64_t>(b, first + entry::kLength, 12);
       }},
      {"coding is not known", set8(first + entry::kCoding, 4)},
      {"whole numbers", set8(second + entry::kCoding, 1)},
      {"needs one", set32(first + entry::kScale, std::bit_cast<std::uint32_t>(2.0f))},
      {"no scale", set32(first + entry::kScale, 0)},
      {"no scale", set32(first + entry::kScale, 0x7fc00000)},
      {"no scale", set32(entry_at(5) + entry::kScale, 0xbf800000)},
      {"scales are not there", set8(entry_at(11) + entry::kName, 'x')},
      {"one for each row",
       [=](Bytes& b) {
         put<std::uint64_t>(b, entry_at(11) + entry::kShape, 2);
         put<std::uint64_t>(b, entry_at(11) + entry::kLength, 8);
       }},
      {"those of its shape", set64(entry_at(10) + entry::kShape + 8, 3)},
      {"there twice",
       [=](Bytes& b) {
         const auto name = std::span(good).subspan(first + entry::kName, kMaxNameBytes);
         std::copy(name.begin(), name.end(),
                   b.begin() + static_cast<std::ptrdiff_t>(second + entry::kName));
       }},
      {"does not lie",
       [=](Bytes& b) {  // fits in 64 bits, but not into the file
         put<std::uint64_t>(b, first + entry::kShape, std::uint64_t{1} << 61);
         put<std::uint64_t>(b, first + entry::kLength, std::uint64_t{1} << 63);
       }},
      {"bytes follow the last section",
       [](Bytes& b) {
         b.insert(b.end(), 4096, std::byte{0});
         put<std::uint64_t>(b, preamble::kFileBytes, b.size());
       }},
  };
  for (const Case& c : cases) {
    Bytes bad = good;
    c.damage(bad);
    repair_front(bad);
    CHECK_THAT(refusal(bad), Catch::Contains(c.message) && Catch::StartsWith("m: byte "));
  }
}

TEST_CASE("a front whose every byte is changed, with its checksum, is read or refused") {
  const TempFolder folder;
  const Bytes good = sample_bytes(folder);
  std::mt19937_64 random(11);
  int accepted = 0;
  for (std::size_t i = preamble::kChecked; i < table_at() + 13 * entry::kBytes; ++i) {
    for (const unsigned value : {0x00u, 0x01u, 0x7fu, 0x80u, 0xffu, unsigned(random() & 0xff)}) {
      Bytes bad = good;
      bad[i] = static_cast<std::byte>(value);
      repair_front(bad);
      accepted += refusal(bad) == "accepted" ? 1 : 0;
    }
  }
  // Letters of the header and of names, kind, roles, scales: what is read is another file.
  REQUIRE(accepted > 0);
}

TEST_CASE("messages name the file, the byte and what to do") {
  const TempFolder folder;
  Bytes bad = sample_bytes(folder);
  bad[4096] ^= std::byte{1};
  write_bytes(folder / "bad.lvt", bad);
  using Catch::Contains;
  REQUIRE_THROWS_WITH(verify_all(ModelFile::open(folder / "bad.lvt")),
                      Contains("bad.lvt: byte 4096: the 28 bytes of section 'ffm.0.keys'") &&
                          Contains("copy it again"));
}

}  // namespace
}  // namespace leveret::store
