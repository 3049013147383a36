#include "feature/feature_map.h"

#include <catch2/catch.hpp>
#include <random>

#include "mapped.h"

namespace leveret::feature {
namespace {

using Names = std::vector<std::string>;

TEST_CASE("with no option every namespace is linear and a field, in order of appearance") {
  const Mapped m("1 |user u1:2 |ad a1 a2\n-1 2.5 0.25 |ad a2 |site s |user u1\n");
  CHECK(m.map.field_count() == 3);
  CHECK(m.map.field_names() == Names{"user", "ad", "site"});
  CHECK(m.linear(0) == "1(user^u1:2) 2(ad^a1 ad^a2)");
  CHECK(m.fields(0) == "0(user^u1:2) 1(ad^a1 ad^a2)");
  CHECK(m.linear(1) == "2(ad^a2) 3(site^s) 1(user^u1)");
  CHECK(m.fields(1) == "0(user^u1) 1(ad^a2) 2(site^s)");
  CHECK(m.batch.label == std::vector<float>{1, -1});
  CHECK(m.batch.importance == std::vector<float>{1, 2.5});
  CHECK(m.batch.initial == std::vector<float>{0, 0.25});
}

TEST_CASE("--ignore leaves namespaces out altogether") {
  FeatureOptions options;
  SECTION("by name") { options.ignore = {"ad"}; }
  SECTION("by letter") { options.ignore = {"a"}; }
  const Mapped m("1 |user u |ad a |site s\n", options);
  CHECK(m.linear() == "1(user^u) 2(site^s)");
  CHECK(m.fields() == "0(user^u) 1(site^s)");
}

TEST_CASE("--keep leaves all others out, and --ignore wins") {
  FeatureOptions options;
  options.keep = {"user", "s", "ad"};
  options.ignore = {"ad"};
  const Mapped m("1 |ad a |user u |site s |time t |us x\n", options);
  CHECK(m.linear() == "1(user^u) 2(site^s)");
  CHECK(m.fields() == "0(user^u) 1(site^s)");
}

TEST_CASE("a letter that is somebody's full name means that one alone") {
  FeatureOptions options;
  options.ignore = {"a"};
  CHECK(Mapped("1 |a x |ad y\n", options).fields() == "0(ad^y)");
  // Decided when met: at that time nobody was called "a".
  const Mapped later("1 |ad y |a x |b z\n-1 |ad y |as w\n", options);
  CHECK(later.fields(0) == "0(b^z)");
  CHECK(later.fields(1) == "1(as^w)");
}

TEST_CASE("--linear picks what has linear weights, fields stay") {
  FeatureOptions options;
  options.linear_all = false;
  SECTION("some") {
    options.linear = {"ad", "t"};
    const Mapped m("1 |user u |ad a a2 |time t\n", options);
    CHECK(m.linear() == "2(ad^a ad^a2) 3(time^t)");
    CHECK(m.fields() == "0(user^u!) 1(ad^a ad^a2) 2(time^t)");
  }
  SECTION("none") {
    const Mapped m("1 |user u |ad a\n", options);
    CHECK(m.linear().empty());
    CHECK(m.fields() == "0(user^u!) 1(ad^a!)");
  }
}

TEST_CASE("--field: fields of several namespaces, namespaces in several or no fields") {
  FeatureOptions options;
  options.fields = {{"user", "time"}, {"ad"}, {"ad", "site"}, {"never"}};
  const Mapped m("1 |site s |ad a |other o |time t |user u\n", options);
  CHECK(m.map.field_count() == 4);
  CHECK(m.map.field_names() == Names{"time,user", "ad", "site,ad", ""});
  // A linear feature counts for its first field; "other" counts for the rest.
  CHECK(m.linear() == "3(site^s) 2(ad^a) 0(other^o) 1(time^t) 1(user^u)");
  CHECK(m.fields() == "0(time^t user^u) 1(ad^a) 2(site^s ad^a)");
}

TEST_CASE("--field takes letters as VW's options do") {
  FeatureOptions options;
  options.fields = {{"u"}, {"a"}};
  CHECK(Mapped("1 |user x |url y |ad z\n", options).fields() == "0(user^x url^y) 1(ad^z)");
}

TEST_CASE("a namespace that comes again is gathered into one run of its field") {
  const Mapped m("1 |b x |a y |b z:2 |a w\n");
  CHECK(m.linear() == "1(b^x b^z:2) 2(a^y a^w)");
  CHECK(m.fields() == "0(b^x b^z:2) 1(a^y a^w)");
}

TEST_CASE("namespaces without features count for nothing") {
  const Mapped m("1 |a |b x\n1 |a y\n1\n");
  CHECK(m.fields(0) == "0(b^x)");
  CHECK(m.linear(0) == "1(b^x)");
  CHECK(m.fields(1) == "1(a^y)");
  CHECK(m.fields(2).empty());
  CHECK(m.linear(2).empty());
}

TEST_CASE("later namespaces than --max_fields are linear only, and counted") {
  FeatureOptions options;
  options.max_fields = 2;
  const Mapped m("1 |a x |b y |c z |d w\n1 |d w |a x\n", options);
  CHECK(m.map.field_count() == 2);
  CHECK(m.map.fieldless() == 2);
  CHECK(m.fields(0) == "0(a^x) 1(b^y)");
  CHECK(m.linear(0) == "1(a^x) 2(b^y) 0(c^z) 0(d^w)");
  CHECK(m.fields(1) == "0(a^x)");
  CHECK(FeatureMap(options, m.map.plans()).fieldless() == 2);
}

TEST_CASE("a model without FFM has no field features, but groups") {
  FeatureOptions options;
  options.field_features = false;
  const Mapped m("1 |a x |b y\n", options);
  CHECK(m.fields().empty());
  CHECK(m.linear() == "1(a^x) 2(b^y)");
}

TEST_CASE("field numbers follow the examples, not how far a parser has run ahead") {
  Mapped m("");
  m.names.intern("z");
  m.names.intern("b");
  m.parse("1 |a x\n1 |b y |z w\n");
  m.map_all(true);
  CHECK(m.map.field_names() == Names{"a", "b", "z"});
}

TEST_CASE("map stops before an example with a namespace that has not been met") {
  Mapped m("1 |a x\n");
  m.parse("1 |a x\n-1 |a y\n1 |a x |new z\n1 |a x\n");
  m.batch.clear();
  CHECK(m.map.map(m.chunk, 0, 4, m.batch) == 2);
  CHECK(m.batch.size() == 2);
  CHECK(m.fields(1) == "0(a^y)");
  CHECK(m.map.map(m.chunk, 2, 2, m.batch) == 0);
  CHECK(m.batch.size() == 2);
  m.map.meet(m.names, m.chunk, 2, true);
  CHECK(m.map.map(m.chunk, 2, 2, m.batch) == 2);
  CHECK(m.fields(2) == "0(a^x) 1(new^z)");
}

TEST_CASE("prediction gives a new namespace no field, unless --field names it") {
  FeatureOptions options;
  const bool named = GENERATE(false, true);
  if (named) options.fields = {{"a"}, {"new"}};
  Mapped m("1 |a x\n", options);
  m.parse("1 |new z |a x\n");
  m.map_all(false);
  CHECK(m.map.field_count() == (named ? 2 : 1));
  CHECK(m.fields() == (named ? "0(a^x) 1(new^z)" : "0(a^x)"));
  CHECK(m.linear() == (named ? "2(new^z) 1(a^x)" : "0(new^z) 1(a^x)"));
}

TEST_CASE("closed names: what nobody knows is decided by its first letter") {
  FeatureOptions options;
  options.ignore = {"g", "price"};
  options.fields = {{"a"}, {"n"}, {"site"}};
  options.interactions = {{"n", "site"}};
  const Mapped learned("1 |site s |age x\n", options);
  Mapped m("", options, learned.map.plans());
  m.map.close_names(m.names);
  m.map.meet_known(m.names);
  const std::size_t plans = m.map.plans().size();
  const std::uint32_t names = m.names.size();
  // As names that are met one by one.
  Mapped open("", options, learned.map.plans());
  for (Mapped* mapped : {&m, &open}) {
    mapped->parse("1 |gone q |price p |new z |site s |other o |age x | y\n");
    mapped->map_all(false);
  }
  CHECK(open.fields() == "0(age^x) 1(new^z) 2(site^s)");
  CHECK(m.map.field_count() == 3);
  const auto hashes = [](const Mapped& mapped) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> all;  // group and hash
    for (const LinearRun& run : mapped.batch.linear_runs_of(0)) {
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        all.emplace_back(run.group, mapped.batch.linear[i].hash);
      }
    }
    for (const FieldRun& run : mapped.batch.field_runs_of(0)) {
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        all.emplace_back(1000 + run.field, mapped.batch.field_features[i].hash);
      }
    }
    return all;
  };
  CHECK(hashes(m) == hashes(open));
  CHECK(hashes(m).size() == 1 + 5 + 3);  // the interaction, and neither "gone" nor "price"
  for (int i = 0; i < 100; ++i) {
    m.parse("1 |stranger" + std::to_string(i) + " x |site s\n");
    m.map_all(false);
    CHECK(m.fields() == "2(site^s)");
  }
  CHECK(m.names.size() == names);
  CHECK(m.map.plans().size() <= plans + 2);  // "price" and the name without letters
}

TEST_CASE("closed names have what transforms read") {
  FeatureOptions options;
  options.transforms = parse_transforms("size=BinnerSqrt(num)(0,10) both=Combine(a,b)()");
  const Mapped learned("1 |num 9 |a x |b y\n", options);
  Mapped m("", options, learned.map.plans());
  m.map.close_names(m.names);
  m.map.meet_known(m.names);
  Mapped open("", options, learned.map.plans());
  for (Mapped* mapped : {&m, &open}) {
    mapped->parse("1 |z q |num 9 |b y |a x |zz r\n");
    mapped->map_all(false);
    CHECK(mapped->batch.derived.chunk.runs.size() == 7);
  }
  for (std::size_t i = 0; i < open.batch.linear.size(); ++i) {
    CHECK(m.batch.linear[i].hash == open.batch.linear[i].hash);
  }
  CHECK(m.batch.field_features.size() == open.batch.field_features.size());
  m.parse("1 |a x |both q\n");
  CHECK_THROWS_AS(m.map_all(false), BadExample);
}

TEST_CASE("a stored plan decides as before, whatever comes first") {
  FeatureOptions options;
  options.ignore = {"a"};
  options.linear_all = false;
  options.linear = {"b", "c"};
  options.interactions = {{"b", "c"}};
  const Mapped first("1 |ad x |b y |cat z\n1 |a q\n", options);
  const Mapped again("1 |cat z |a q |b y |ad x\n", options, first.map.plans());
  CHECK(again.fields() == "0(b^y) 1(cat^z)");
  CHECK(again.linear().find("2(cat^z)") != std::string::npos);
  CHECK(again.linear().find("1(b^y)") != std::string::npos);
  REQUIRE(again.map.plans().size() == first.map.plans().size());
  for (std::size_t i = 0; i < first.map.plans().size(); ++i) {
    CHECK(again.map.plans()[i].name == first.map.plans()[i].name);
    CHECK(again.map.plans()[i].fields == first.map.plans()[i].fields);
  }
}

TEST_CASE("mapping in pieces, of a chunk that stays or not, gives the batch of mapping at once") {
  FeatureOptions options;
  options.field_features = GENERATE(true, false);
  if (GENERATE(true, false)) options.ignore = {"c"};
  Mapped m("1 |a x |b y:2\n-1 2 |b z |a q r\n1 |c x:0.5\n1\n-1 |a x\n", options);
  FeatureBatch pieces;
  pieces.chunks_stay = GENERATE(true, false);
  pieces.groups = m.batch.groups;
  for (std::size_t i = 0; i < 5; ++i) CHECK(m.map.map(m.chunk, i, 1, pieces) == 1);
  REQUIRE(pieces.linear.size() == m.batch.linear.size());
  for (std::size_t i = 0; i < pieces.linear.size(); ++i) {
    CHECK(pieces.linear[i].hash == m.batch.linear[i].hash);
    CHECK(pieces.linear[i].value == m.batch.linear[i].value);
  }
  const auto equal_runs = [](const auto& a, const auto& b) {
    return a.begin == b.begin && a.end == b.end;
  };
  CHECK(pieces.linear_runs_begin == m.batch.linear_runs_begin);
  CHECK(pieces.runs_begin == m.batch.runs_begin);
  CHECK(pieces.label == m.batch.label);
  REQUIRE(pieces.linear_runs.size() == m.batch.linear_runs.size());
  for (std::size_t i = 0; i < pieces.linear_runs.size(); ++i) {
    CHECK(equal_runs(pieces.linear_runs[i], m.batch.linear_runs[i]));
  }
  for (std::size_t b = 0; b < 5; ++b) {
    CHECK(pieces.linear_begin(b) == m.batch.linear_begin(b));
    CHECK(pieces.linear_end(b) == m.batch.linear_end(b));
  }
  CHECK(m.batch.linear_end(3) == m.batch.linear_begin(3));
}

TEST_CASE("a chunk that stays is not copied, but for what does not follow in it") {
  FeatureOptions options;
  options.ignore = {"c"};
  options.field_features = GENERATE(true, false);
  Mapped m("1 |a x |b y\n1 |b z |a q r\n1 |a s\n1 |c t |a u\n", options);
  FeatureBatch batch;
  batch.groups = GENERATE(true, false);
  batch.chunks_stay = true;
  CHECK(m.map.map(m.chunk, 0, 2, batch) == 2);
  CHECK(batch.linear.data() == m.chunk.features.data());
  CHECK(batch.linear.size() == 5);
  CHECK(m.map.map(m.chunk, 3, 1, batch) == 1);
  CHECK(batch.linear.data() != m.chunk.features.data());
  REQUIRE(batch.linear.size() == 6);
  CHECK(batch.linear[4].hash == m.chunk.features[4].hash);
  CHECK(batch.linear[5].hash == m.chunk.features[7].hash);
  batch.clear();
  CHECK(m.map.map(m.chunk, 1, 2, batch) == 2);
  CHECK(batch.linear.data() == m.chunk.features.data() + 2);
  CHECK(batch.linear_end(1) == 4);
  CHECK(m.map.map(m.chunk, 0, 1, batch) == 1);
  REQUIRE(batch.linear.size() == 6);
  CHECK(batch.linear[0].hash == m.chunk.features[2].hash);
  CHECK(batch.linear[5].hash == m.chunk.features[1].hash);
}

TEST_CASE("a chunk whose names are all known is not searched for others, one with more is") {
  FeatureOptions options;
  options.field_features = false;
  Mapped m("1 |a x |b y\n", options);
  FeatureBatch batch;
  batch.groups = false;
  CHECK(m.chunk.name_limit == 2);
  CHECK(m.map.map(m.chunk, 0, 1, batch) == 1);
  text::ExampleChunk later;
  later.bytes = "1 |b z\n1 |a u |c t\n";
  text::Parser(m.names, {}).parse(later);
  CHECK(later.name_limit == 3);
  CHECK(m.map.map(later, 0, 2, batch) == 1);
  m.map.meet(m.names, later, 1, true);
  CHECK(m.map.map(later, 1, 1, batch) == 1);
  CHECK(batch.linear.size() == 5);
  later.clear();
  CHECK(later.name_limit == text::ExampleChunk::kNoLimit);
}

TEST_CASE("the usual line is mapped as any other") {
  // An interaction that no line has takes the general path.
  FeatureOptions general;
  general.interactions = {{"nobody", "nowhere"}};
  FeatureOptions usual;
  SECTION("of fields") {}
  SECTION("linear only") { usual.field_features = general.field_features = false; }
  SECTION("with something left out") { usual.ignore = general.ignore = {"D"}; }
  SECTION("with more namespaces than fields") { usual.max_fields = general.max_fields = 3; }
  std::mt19937 random(7);
  std::string text;
  for (int line = 0; line < 300; ++line) {
    text += "1";
    for (int space = 0; space < 5; ++space) {
      if (random() % 4 == 0) continue;
      // One in eight comes out of its order, and may come twice.
      text += std::string(" |") + static_cast<char>('A' + (random() % 8 ? space : random() % 6));
      for (std::uint32_t f = 0; f < 1 + (random() % 4 == 0); ++f) {
        text += " f" + std::to_string(random() % 50) + (random() % 5 ? "" : ":0.5");
      }
    }
    text += "\n";
  }
  const Mapped a(text, usual), b(text, general);
  for (std::size_t i = 0; i < a.batch.size(); ++i) {
    INFO("line " << i);
    CHECK(a.linear(i) == b.linear(i));
    CHECK(a.fields(i) == b.fields(i));
  }
}

TEST_CASE("a namespace that is cut is one linear run, where its first piece is") {
  const std::string whole = "1 |u a b c |x d |v e\n", cut = "1 |u a |x d |u b |v e |u c\n";
  for (const bool fields : {true, false}) {
    for (const bool several : {true, false}) {
      FeatureOptions options;
      options.field_features = fields;
      options.max_fields = 2;
      if (several) options.fields = {{"u", "x"}, {"u", "v"}};
      const Mapped one(whole, options), pieces(cut, options);
      CHECK(pieces.linear() == one.linear());
      CHECK(pieces.fields() == one.fields());
    }
  }
}

TEST_CASE("namespaces that nobody knows are told apart by their hashes") {
  Mapped m("1 |u a\n");
  text::NamespaceNames names;
  m.map.close_names(names);
  m.map.meet_known(names);
  text::ExampleChunk chunk;
  chunk.bytes = "1 |xa a |xb b |u c |xa d\n1 |xa a d |xb b |u c\n";
  text::Parser(names, {}).parse(chunk);
  m.batch.clear();
  REQUIRE(m.map.map(chunk, 0, 2, m.batch) == 2);
  for (const std::size_t b : {0, 1}) {
    const auto runs = m.batch.linear_runs_of(b);
    REQUIRE(runs.size() == 3);
    CHECK(runs[0].end - runs[0].begin == 2);
    CHECK(runs[1].end - runs[1].begin == 1);
  }
}

TEST_CASE("names of one hash share a plan, that of the first") {
  Mapped m("1 |7 a |007 b |08 c\n1 |8 d\n");
  CHECK(m.map.plans().size() == 2);
  CHECK(m.map.plans()[0].name == "7");
  CHECK(m.map.plans()[1].name == "08");
  CHECK(m.batch.linear_runs_of(0).size() == 2);
  CHECK(m.batch.field_runs_of(0).size() == 2);
  CHECK(m.batch.field_runs_of(1)[0].field == 1);
}

/// Inserting each run in its place would take hours.
TEST_CASE("a line of a million runs is mapped in no time") {
  std::string line = "1";
  for (std::uint32_t i = 0; i < text::kMaxFeatures / 2; ++i) line += " |v a |u b";
  line += "\n";
  const Mapped m(line);
  CHECK(m.batch.linear.size() == text::kMaxFeatures);
  CHECK(m.batch.field_runs_of(0).size() == 2);
  CHECK(m.batch.linear_runs_of(0).size() == 2);
}

TEST_CASE("map takes no more lines when a batch has grown large") {
  const std::string line = "1 |a" + [] {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += " x" + std::to_string(i);
    return text;
  }() + "\n";
  std::string lines;
  for (int i = 0; i < 20; ++i) lines += line;
  FeatureOptions options;
  options.interactions = {{"a", "a"}};
  Mapped m("1 |a x\n", options);
  m.parse(lines);
  m.batch.clear();
  const std::size_t taken = m.map.map(m.chunk, 0, 20, m.batch);
  CHECK(taken > 0);
  CHECK(taken < 5);
  CHECK(m.map.map(m.chunk, taken, 20 - taken, m.batch) > 0);
}

}  // namespace
}  // namespace leveret::feature
