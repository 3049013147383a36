#include "publish/manifest.h"

#include <catch2/catch.hpp>
#include <random>
#include <stdexcept>

namespace leveret::publish {
namespace {

Manifest sample() {
  Manifest manifest;
  const auto sum = [](std::uint64_t n) { return store::Checksum{n, ~n}; };
  manifest.entries = {
      {3, Entry::Kind::kFull, "3.lvt", 100, sum(3), {}, 30},
      {3, Entry::Kind::kPatch, "3.patch", 10, sum(3), sum(2), 30},
      {4, Entry::Kind::kPatch, "4.patch", 11, sum(4), sum(3), modelfile::kNoSequence},
      {5, Entry::Kind::kFull, "3.lvt", 100, sum(3), {}, 30}};
  manifest.entries[0].published = 1'800'000'000;
  manifest.entries[0].gates = {{"a\xff.vw", "ne", "0.76", "< 0.8"}};
  manifest.retired = {"2.lvt"};
  return manifest;
}

TEST_CASE("a manifest is what its text says") {
  const Manifest manifest = sample();
  const Manifest read = manifest_from_text(to_text(manifest), "m");
  CHECK(read.entries == manifest.entries);
  CHECK(read.retired == manifest.retired);
  CHECK(to_text(read) == to_text(manifest));
  CHECK(read.newest().file == "3.lvt");
  CHECK(read.files_for(4).size() == 2);
  CHECK(read.files_for(5).size() == 1);
  CHECK(read.files_for(6).empty());
  CHECK(read.files_for(2).empty());
  CHECK(manifest_from_text(to_text({}), "m").empty());
}

// As leveret-publish(5) has it; the checksum is that of xxhsum -H2 of what comes before its key.
constexpr const char* kGolden = R"({
  "format": "leveret publish",
  "version": 1,
  "newest": 2,
  "steps": [
    {
      "step": 1,
      "kind": "full",
      "file": "1.lvt",
      "bytes": 365568,
      "fingerprint": "6674e5a22396623a7bad8f77df8cf692",
      "sequence": 3000
    },
    {
      "step": 2,
      "kind": "patch",
      "file": "2.patch",
      "bytes": 79010,
      "fingerprint": "e4ff6a0ccf13548b0992a9fcb3281c78",
      "base": "6674e5a22396623a7bad8f77df8cf692",
      "sequence": 3200
    }
  ],
  "retired": [],
  "checksum": "cc3d34229ec1b22bbbfb14d712b1abb4"
}
)";

TEST_CASE("a manifest of version 1 stays readable") {
  const Manifest manifest = manifest_from_text(kGolden, "m");
  REQUIRE(manifest.entries.size() == 2);
  CHECK(manifest.newest().fingerprint == store::Checksum{0x0992a9fcb3281c78, 0xe4ff6a0ccf13548b});
  CHECK(manifest.newest().base == manifest.entries[0].fingerprint);
  CHECK(manifest.newest().sequence == 3200);
  CHECK(to_text(manifest) == kGolden);
}

TEST_CASE("a manifest that is damaged is refused, whatever has become of it") {
  const std::string text = to_text(sample());
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string other = text;
    other[at] ^= 1;
    INFO("byte " << at);
    // White space behind the checksum is all that may differ.
    if (at + 3 < text.size()) CHECK_THROWS_AS(manifest_from_text(other, "m"), std::runtime_error);
    CHECK_THROWS_AS(manifest_from_text(text.substr(0, at > 2 ? at - 2 : 0), "m"),
                    std::runtime_error);
  }
}

TEST_CASE("a manifest whose checksum is right is not trusted either") {
  const auto refused = [](auto change, const char* words) {
    Manifest manifest = sample();
    change(manifest);
    CHECK_THROWS_WITH(manifest_from_text(to_text(manifest), "m"), Catch::Contains(words));
  };
  refused([](Manifest& m) { m.entries[0].file = "../x"; }, "not one of the folder");
  refused([](Manifest& m) { m.retired[0] = "a/b"; }, "not one of the folder");
  refused([](Manifest& m) { m.entries[0].file = ""; }, "not one of the folder");
  refused([](Manifest& m) { m.entries[0].file = Manifest::kName; }, "not one of the folder");
  refused([](Manifest& m) { m.entries[2].step = 7; }, "do not follow");
  refused([](Manifest& m) { m.entries[2].step = 3; }, "several models");
  refused([](Manifest& m) { m.entries[2].base->low ^= 1; }, "step before it");
  refused([](Manifest& m) { m.entries.erase(m.entries.begin()); }, "no full file");
  refused([](Manifest& m) { m.entries[0].step = m.entries[1].step = 0; }, "from 1 on");
  refused([](Manifest& m) { m.entries = {m.entries[3]}, m.entries[0].step = ~std::uint64_t{0}; },
          "from 1 on");
  CHECK_THROWS_WITH(manifest_from_text("{\"format\":\"leveret shards\"}", "m"),
                    Catch::Contains("not a manifest"));
  CHECK_THROWS_WITH(manifest_from_text("{\"format\":\"leveret publish\",\"version\":2}", "m"),
                    Catch::Contains("newer"));
}

}  // namespace
}  // namespace leveret::publish
