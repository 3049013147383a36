// Interactions hash and multiply as VW's do. 167114 is VW 9.11's own answer; other hashes follow
// its formulas, in 64 bits as VW computes them.
#include "feature/interactions.h"

#include <catch2/catch.hpp>

#include "feature/selector.h"
#include "mapped.h"
#include "text/hash.h"

namespace leveret::feature {
namespace {

constexpr std::uint64_t kPrime = 16777619;

std::uint64_t hash_of(const std::string& space, const std::string& name) {
  return text::hash_name(name, text::hash_name(space, 0, text::HashMode::kStrings),
                         text::HashMode::kStrings);
}

std::string pair(std::uint64_t a, std::uint64_t b) {
  return "#" + std::to_string(((kPrime * a) ^ b) & 0x3ffff);
}

std::string triple(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return "#" + std::to_string((kPrime * ((kPrime * a) ^ b) ^ c) & 0x3ffff);
}

/// The interactions of a line, without what the namespaces have for themselves.
std::string interactions(std::string_view line, const std::vector<std::string>& list,
                         FeatureOptions options = {}) {
  for (const std::string& text : list) options.interactions.push_back(parse_interaction(text));
  options.linear_all = false;
  const Mapped m(line, options);
  const std::string told = m.linear();
  if (told.empty()) return "";
  // One run, of group 0, whatever the number of interactions.
  REQUIRE(told.substr(0, 2) == "0(");
  REQUIRE(told.find(')') == told.size() - 1);
  return told.substr(2, told.size() - 3);
}

const std::uint64_t ax = hash_of("a", "x"), aw = hash_of("a", "w"), by = hash_of("b", "y"),
                    bv = hash_of("b", "v"), cz = hash_of("c", "z");

TEST_CASE("VW's pair") { CHECK(interactions("1 |a x |b y\n", {"ab"}) == "#167114"); }

TEST_CASE("pairs go in the order typed, not in that of the line") {
  CHECK(interactions("1 |b y |a x\n", {"ab"}) == "#167114");
  CHECK(interactions("1 |a x |b y\n", {"ba"}) == pair(by, ax));
  CHECK(pair(by, ax) != pair(ax, by));
}

TEST_CASE("pairs are all features with all features, and values multiply") {
  CHECK(interactions("1 |a x:2 w |b y:-3 v\n", {"ab"}) ==
        pair(ax, by) + ":-6 " + pair(ax, bv) + ":2 " + pair(aw, by) + ":-3 " + pair(aw, bv));
}

TEST_CASE("triples") {
  CHECK(interactions("1 |a x:2 |b y:3 v |c z:5\n", {"abc"}) ==
        triple(ax, by, cz) + ":30 " + triple(ax, bv, cz) + ":10");
}

TEST_CASE("a namespace with itself gives combinations with repetition, as in VW") {
  CHECK(interactions("1 |a x:2 w:3\n", {"aa"}) ==
        pair(ax, ax) + ":4 " + pair(ax, aw) + ":6 " + pair(aw, aw) + ":9");
  CHECK(interactions("1 |a x w\n", {"aaa"}) == triple(ax, ax, ax) + " " + triple(ax, ax, aw) + " " +
                                                   triple(ax, aw, aw) + " " + triple(aw, aw, aw));
  CHECK(interactions("1 |a x |b y v\n", {"abb"}) ==
        triple(ax, by, by) + " " + triple(ax, by, bv) + " " + triple(ax, bv, bv));
}

TEST_CASE(":: pairs namespaces in byte order, themselves included") {
  const std::string expected = pair(ax, ax) + " " + pair(ax, by) + " " + pair(ax, cz) + " " +
                               pair(by, by) + " " + pair(by, cz) + " " + pair(cz, cz);
  CHECK(interactions("1 |a x |b y |c z\n", {"::"}) == expected);
  CHECK(interactions("1 |c z |b y |a x\n", {"::"}) == expected);
}

TEST_CASE(": stands for every namespace in a mixed pair too") {
  CHECK(interactions("1 |c z |a x |b y\n", {"b:"}) ==
        pair(by, ax) + " " + pair(by, by) + " " + pair(by, cz));
}

TEST_CASE("a repeated namespace is one namespace") {
  CHECK(interactions("1 |a x |b y |a w\n", {"ab"}) == pair(ax, by) + " " + pair(aw, by));
  CHECK(interactions("1 |a x |b y |a w\n", {"aa"}) ==
        pair(ax, ax) + " " + pair(ax, aw) + " " + pair(aw, aw));
  CHECK(interactions("1 |a x |a w\n", {"::"}) ==
        pair(ax, ax) + " " + pair(ax, aw) + " " + pair(aw, aw));
}

TEST_CASE("letters select by first byte, full names by name") {
  const std::uint64_t ux = hash_of("user", "x"), uy = hash_of("url", "y"),
                      sz = hash_of("site", "z");
  const std::string_view line = "1 |user x |url y |site z\n";
  CHECK(interactions(line, {"us"}) == pair(uy, sz) + " " + pair(ux, sz));
  CHECK(interactions(line, {"url*site"}) == pair(uy, sz));
  CHECK(interactions(line, {"url*s"}) == pair(uy, sz));
}

TEST_CASE("several interactions stand one after the other; what is missing gives none") {
  CHECK(interactions("1 |a x |b y |c z\n", {"ab", "cd", "bc", "abd"}) ==
        pair(ax, by) + " " + pair(by, cz));
  CHECK(interactions("1 |a x\n", {"ab"}).empty());
  CHECK(interactions("1 |a |b y\n", {"ab", "aa"}).empty());
}

TEST_CASE("ignored namespaces form no interactions") {
  FeatureOptions options;
  options.ignore = {"b"};
  CHECK(interactions("1 |a x |b y |c z\n", {"ab", "ac"}, options) == pair(ax, cz));
  CHECK(interactions("1 |a x |b y |c z\n", {"::"}, options) ==
        pair(ax, ax) + " " + pair(ax, cz) + " " + pair(cz, cz));
}

TEST_CASE("interactions come before the namespaces' own features and do not shift their fields") {
  FeatureOptions options;
  options.interactions = {{"a", "b"}};
  const Mapped m("1 |a x |b y\n1 |b y |a x w\n", options);
  CHECK(m.linear(0) == "0(#167114) 1(a^x) 2(b^y)");
  CHECK(m.fields(0) == "0(a^x) 1(b^y)");
  CHECK(m.linear(1) == "0(#167114 " + pair(aw, by) + ") 2(b^y) 1(a^x a^w)");
  CHECK(m.fields(1) == "0(a^x a^w) 1(b^y)");
}

TEST_CASE("a product that is too small for a float counts for nothing, as value 0 does in text") {
  CHECK(interactions("1 |a x:1e-30 w |b y:1e-30\n", {"ab"}).find(pair(ax, by)) ==
        std::string::npos);
}

TEST_CASE("a letter's namespaces pair with themselves in byte order, wherever they stand") {
  const std::string expected = interactions("1 |ua x z |ub y\n", {"uu", "uuu"});
  for (const char* const line :
       {"1 |ub y |ua x z\n", "1 |ua x |ub y |ua z\n", "1 |ub |ub y |ua x |ua z\n"}) {
    // The first of a run's lines says which namespaces the letter stands for.
    CHECK(interactions(line, {"uu", "uuu"}) == expected);
  }
}

}  // namespace
}  // namespace leveret::feature
