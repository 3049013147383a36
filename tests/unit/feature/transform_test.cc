// --transform: what its text means, the maths of each function on numbers worked out by hand, and
// that its namespaces are namespaces like any other.
#include "feature/transform.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "feature/selector.h"
#include "feature/transform_bins.h"
#include "mapped.h"
#include "text/hash.h"

namespace leveret::feature {
namespace {

using text::HashMode;

std::uint32_t space_hash(const std::string& space) {
  return text::hash_name(space, 0, HashMode::kStrings);
}

std::uint32_t hash_in(const std::string& space, const std::string& name) {
  return text::hash_name(name, space_hash(space), HashMode::kStrings);
}

FeatureOptions with(std::string_view transforms) {
  FeatureOptions options;
  options.transforms = parse_transforms(transforms);
  return options;
}

/// Every linear feature of the first line: hash -> value.
std::map<std::uint32_t, float> linear(const Mapped& m) {
  std::map<std::uint32_t, float> features;
  for (std::uint32_t i = m.batch.linear_begin(0); i < m.batch.linear_end(0); ++i) {
    CHECK(features.emplace(m.batch.linear[i].hash, m.batch.linear[i].value).second);
  }
  return features;
}

/// The linear features of namespaces made by the transforms; those of the line are ignored.
std::map<std::uint32_t, float> derived(std::string_view line, std::string_view transforms) {
  FeatureOptions options = with(transforms);
  for (const Transform& transform : options.transforms) options.keep.push_back(transform.name);
  return linear(Mapped(line, options));
}

using Features = std::map<std::uint32_t, float>;

/// Bins as "name:weight name:weight".
std::string bins(std::string_view definition, double a, double b = 0) {
  const Bins found = bins_of(parse_transforms(definition)[0], a, b);
  std::string text;
  for (std::size_t i = 0; i < found.count; ++i) {
    std::string weight = std::to_string(found.bins[i].weight);
    weight.erase(weight.find_last_not_of('0') + 1);
    if (weight.back() == '.') weight.pop_back();
    text += (text.empty() ? "" : " ") + std::string(found.bins[i].name()) + ":" + weight;
  }
  return text;
}

TEST_CASE("square root, plain") {
  // sqrt(150 - 10) = 11.83; with resolution 2: 23.66
  CHECK(bins("n=BinnerSqrtPlain(a)(10)", 150) == "11:1");
  CHECK(bins("n=BinnerSqrtPlain(a)(10,2)", 150) == "23:1");
  CHECK(bins("n=BinnerSqrtPlain(a)", 49) == "7:1");
  CHECK(bins("n=BinnerSqrtPlain(a)(10)", 10) == "0:1");
}

TEST_CASE("numbers below greater_than are their own bins") {
  CHECK(bins("n=BinnerSqrtPlain(a)(10)", 9.9) == "=9:1");
  CHECK(bins("n=BinnerSqrt(a)(10)", 7.5) == "=7:1");
  CHECK(bins("n=BinnerLog(a)(10)", -2.5) == "=-3:1");
  CHECK(bins("n=BinnerLogRatio(a,b)(10)", 3, 6.5) == "=3/6:1");
}

TEST_CASE("interpolated: the nearer bin weighs more") {
  // sqrt(30.25) = 5.5; sqrt(27.5625) = 5.25
  CHECK(bins("n=BinnerSqrt(a)", 30.25) == "5:0.5 6:0.5");
  CHECK(bins("n=BinnerSqrt(a)", 27.5625) == "5:0.75 6:0.25");
  CHECK(bins("n=BinnerSqrt(a)(0,4)", 27.5625) == "21:1");
  CHECK(bins("n=BinnerSqrt(a)", 49) == "7:1");
}

TEST_CASE("logarithm") {
  CHECK(bins("n=BinnerLogPlain(a)", 20.1) == "3:1");  // ln = 3.0007
  CHECK(bins("n=BinnerLogPlain(a)(0,10)", 20.1) == "30:1");
  CHECK(bins("n=BinnerLogPlain(a)", 0.5) == "-1:1");  // ln = -0.69
  CHECK(bins("n=BinnerLogPlain(a)", 0) == "-inf:1");
  CHECK(bins("n=BinnerLog(a)", 0) == "-inf:1");
  CHECK(bins("n=BinnerLog(a)", std::exp(-0.25)) == "-1:0.25 0:0.75");
  CHECK(bins("n=BinnerLog(a)(5)", 5 + std::exp(2.5)) == "2:0.5 3:0.5");
}

TEST_CASE("log ratio") {
  CHECK(bins("n=BinnerLogRatioPlain(a,b)", 100, 10) == "2:1");  // ln 10 = 2.30
  CHECK(bins("n=BinnerLogRatioPlain(a,b)", 10, 100) == "-3:1");
  CHECK(bins("n=BinnerLogRatioPlain(a,b)(0,10)", 100, 10) == "23:1");
  CHECK(bins("n=BinnerLogRatio(a,b)", 4 * std::exp(1.5), 4) == "1:0.5 2:0.5");
  CHECK(bins("n=BinnerLogRatioPlain(a,b)(3)", 0, 23.1) == "0/3:1");  // ln 20.1
  CHECK(bins("n=BinnerLogRatioPlain(a,b)(3)", 23.1, 0) == "3/0:1");
  CHECK(bins("n=BinnerLogRatioPlain(a,b)", 0, 0) == "0/-inf:1");
  // A ratio with a negative number has no logarithm.
  CHECK(bins("n=BinnerLogRatio(a,b)", -1, 2) == "=-1/2:1");
  CHECK(bins("n=BinnerLogRatio(a,b)", 20, -1.5) == "=20/-2:1");
}

TEST_CASE("weights of a number's bins add up to 1, none is 0, whatever the number") {
  const char* functions[] = {"n=BinnerSqrt(a)(3,7.3)", "n=BinnerLog(a)(1,0.37)",
                             "n=BinnerLogRatio(a,b)(2,5)"};
  for (const char* function : functions) {
    const Transform transform = parse_transforms(function)[0];
    for (double a = -5; a < 1e6; a += 0.013 + std::fabs(a) * 0.01) {
      const Bins found = bins_of(transform, a, 17.5);
      float sum = 0;
      for (std::size_t i = 0; i < found.count; ++i) {
        CHECK(found.bins[i].weight > 0);
        sum += found.bins[i].weight;
      }
      CHECK(sum == Approx(1));
    }
  }
  for (const double a : {3.4e38, -3.4e38, 1e-45, -1e-45}) {
    for (const double b : {a, -a, 1 / a, 0.0}) {
      for (const char* function : functions) {
        CHECK(bins_of(parse_transforms(function)[0], a, b).count >= 1);
      }
    }
  }
  // Just below a whole number the bin is not one too high.
  CHECK(bins("n=BinnerLog(a)", 1 - 1e-16) == "0:1");
}

TEST_CASE("a binner reads its namespace's number; its features hash as the text of their bin") {
  CHECK(derived("1 |a x:30.25 y:7\n", "n=BinnerSqrt(a)") ==
        Features{{hash_in("n", "5"), 0.5f}, {hash_in("n", "6"), 0.5f}});
  const Features seven = {{hash_in("n", "7"), 1}};
  for (const char* line :
       {"|a :49", "|a 49", "|a 49.0", "|a x:49", "|a b3 x:49", "|a:49 x", "|a:2 24.5",
        "|a x |b y |a x:49", "|a 49 |a 4", "|b y |a 49 50", "|a text:t 49"}) {
    CAPTURE(line);
    CHECK(derived(std::string("1 ") + line + "\n", "n=BinnerSqrt(a)") == seven);
  }
  CHECK(derived("1 |a :3 |b 4\n", "n=BinnerLogRatio(a,b)(10)") ==
        Features{{hash_in("n", "=3/4"), 1}});
}

TEST_CASE("0 is a number; what is missing or no number makes nothing") {
  const Features zero = {{hash_in("n", "0"), 1}};
  for (const char* line : {"|a :0", "|a 0", "|a x:0", "|a -0.0", "|a:0 5"}) {
    CAPTURE(line);
    CHECK(derived(std::string("1 ") + line + "\n", "n=BinnerSqrt(a)") == zero);
  }
  for (const char* line : {"|b :3", "|a", "|a x", "|a x:y", "|a 1e99", "|a 3,5", "|a 0x10", ""}) {
    CAPTURE(line);
    CHECK(derived(std::string("1 ") + line + "\n", "n=BinnerSqrt(a)").empty());
  }
  CHECK(derived("1 |a :3\n", "n=BinnerLogRatio(a,b)").empty());
  CHECK(derived("1 |a :3 |b x\n", "n=BinnerLogRatio(a,b)").empty());
  CHECK(derived("1 |a x\n", "n=Combine(a,b)").empty());
  CHECK(derived("1 |a x |b z:0\n", "n=Combine(a,b)").empty());
  CHECK(derived("1 |b x\n", "n=Weight(a)(2)").empty());
  CHECK(derived("1\n", "n=Weight(a)(2)").empty());
}

TEST_CASE("a binner reads the number of a namespace made by Weight, times its factor") {
  const char* both = "n=BinnerSqrtPlain(w) w=Weight(v)(0.5) v=Weight(a)(8)";
  for (const char* line : {"1 |a 25\n", "1 |a :25\n"}) {
    CHECK(derived(line, both).count(hash_in("n", "10")) == 1);
  }
  // 8^1000 is beyond all numbers.
  std::string chain = "n=BinnerSqrt(w0) ";
  for (int i = 0; i < 900; ++i) {
    chain += fmt::format("w{}=Weight({})(8) ", i, i < 899 ? fmt::format("w{}", i + 1) : "a");
  }
  CHECK(linear(Mapped("1 |a 25\n", with(chain))).count(hash_in("a", "25")) == 1);
  CHECK(linear(Mapped("1 |a 25\n", with(chain))).size() == 901);
}

TEST_CASE("a binner of what has no number is refused") {
  CHECK_THROWS_WITH(parse_transforms("n=BinnerLog(k) k=Combine(a,b)"),
                    Catch::Contains("--transform n: BinnerLog reads numbers, and k, made by "
                                    "Combine, has none"));
  CHECK_THROWS_WITH(parse_transforms("m=BinnerLog(w) w=Weight(n)(2) n=BinnerSqrt(a)"),
                    Catch::Contains("--transform m: BinnerLog reads numbers, and n, made by "
                                    "BinnerSqrt, has none"));
}

TEST_CASE("the namespaces whose numbers are to be read") {
  CHECK(number_namespaces(parse_transforms("n=BinnerLogRatio(c,a) k=Combine(n,d) w=Weight(b)(2) "
                                           "m=BinnerSqrt(w) o=BinnerSqrt(a)")) ==
        std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("Combine takes all features with all and multiplies their values") {
  const auto hash = [](const std::string& x, const std::string& y) {
    return text::hash_pair(text::hash_pair(space_hash("n"), hash_in("a", x)), hash_in("b", y));
  };
  CHECK(derived("1 |b p:5 |a x:2 y:3 |b q\n", "n=Combine(a,b)()") ==
        Features{
            {hash("x", "p"), 10}, {hash("x", "q"), 2}, {hash("y", "p"), 15}, {hash("y", "q"), 3}});
  const std::uint32_t four =
      text::hash_pair(text::hash_pair(hash("x", "p"), hash_in("c", "r")), hash_in("d", "s"));
  CHECK(derived("1 |a x:2 |b p:3 |c r:5 |d s:7\n", "n=Combine(a,b,c,d)") == Features{{four, 210}});
}

TEST_CASE("Combine of large namespaces stops at a bound; values stay finite") {
  std::string line = "1 ";
  for (const char* space : {"|a", "|b", "|c", "|d"}) {
    line += space;
    for (int i = 0; i < 100; ++i) line += " f" + std::to_string(i);
    line += " ";
  }
  CHECK(derived(line + "\n", "n=Combine(a,b,c,d)").size() <= kMaxDerivedFeatures);
  const Features large = derived("1 |a x:3e38 |b y:-3e38\n", "n=Combine(a,b)");
  REQUIRE(large.size() == 1);
  CHECK(std::isfinite(large.begin()->second));
}

TEST_CASE("Weight keeps the features apart from their origin's") {
  CHECK(derived("1 |a x:3 y\n", "n=Weight(a)(0.5)") ==
        Features{{text::hash_pair(space_hash("n"), hash_in("a", "x")), 1.5f},
                 {text::hash_pair(space_hash("n"), hash_in("a", "y")), 0.5f}});
}

TEST_CASE("any order of definitions, and transforms of transforms") {
  const char* line = "1 |a :100 |b :10 |c z\n";
  const auto forward = derived(line, "r=BinnerLogRatioPlain(a,b) k=Combine(r,c) w=Weight(k)(3)");
  CHECK(forward == derived(line, "w=Weight(k)(3) k=Combine(r,c) r=BinnerLogRatioPlain(a,b)"));
  const std::uint32_t k =
      text::hash_pair(text::hash_pair(space_hash("k"), hash_in("r", "2")), hash_in("c", "z"));
  CHECK(forward ==
        Features{{hash_in("r", "2"), 1}, {k, 1}, {text::hash_pair(space_hash("w"), k), 3}});
}

TEST_CASE("cycles are refused by name, and only what is in them is named") {
  const auto message = [](const char* text) {
    try {
      parse_transforms(text);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK_THAT(message("a=Weight(a)(2)"), Catch::Contains("cycle: a <- a;"));
  CHECK_THAT(message("x=Weight(y)(2) y=Combine(q,z) z=Weight(y)(1) q=Weight(o)(1)"),
             Catch::Contains("cycle: y <- z <- y;"));
  CHECK(message("x=Weight(y)(2) y=Combine(z,q) z=Weight(q)(1)") == "accepted");
}

TEST_CASE("bad definitions are refused with their column") {
  const auto message = [](const std::string& text) {
    try {
      parse_transforms(text);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const auto column = [&](const char* text) {
    const std::string told = message(text);
    const std::size_t at = told.find("column ");
    return at == std::string::npos ? told : told.substr(at);
  };
  CHECK(column("n") == "column 2: expected =");
  CHECK(column("=Weight(a)(1)") == "column 1: expected the new namespace's name");
  CHECK(column("n=") == "column 3: expected a function");
  CHECK_THAT(column("n = Foo(a)"),
             Catch::StartsWith("column 5: there is no function Foo; there are "
                               "BinnerSqrt, BinnerSqrtPlain,"));
  CHECK(column("n=Weight") == "column 9: expected (");
  CHECK(column("n=Weight(a") == "column 11: expected )");
  CHECK(column("n=Weight(,a)(1)") == "column 10: expected a namespace");
  CHECK(column("n=Combine(a,a)") == "column 13: namespace a comes twice");
  CHECK_THAT(column("n=Combine(a)"), Catch::StartsWith("column 12: too few namespaces: write"));
  CHECK_THAT(column("n=Combine(a,b,c,d,e)"), Catch::StartsWith("column 19: too many namespaces"));
  CHECK_THAT(column("n=Combine(a,b)(1)"), Catch::StartsWith("column 16: too many parameters"));
  CHECK_THAT(column("n=Weight(a)"), Catch::StartsWith("column 12: too few parameters"));
  CHECK(column("n=Weight(a)(1") == "column 14: expected )");
  CHECK(column("n=Weight(a)(x)") == "column 13: expected a finite number");
  CHECK(column("n=Weight(a)(inf)") == "column 13: expected a finite number");
  CHECK(column("n=Weight(a)(1e99)") == "column 13: expected a finite number");
  CHECK_THAT(column("n=Weight(a)(0)"), Catch::StartsWith("column 13: a factor of 0"));
  CHECK(column("n=BinnerLog(a)(-1)") == "column 16: greater_than must be at least 0");
  CHECK(column("n=BinnerLog(a)(1,0)") == "column 18: resolution must be above 0");
  CHECK_THAT(column("n=BinnerLog(a,b)"), Catch::StartsWith("column 15: too many namespaces"));
  CHECK(column("m=Weight(a)(1) n=Weight(b)(1)x") == "column 2: expected =");
  CHECK(message("m=Weight(a)(1) n=Foo(b)").find("\"n=Foo(b)\", column 3") != std::string::npos);
  CHECK(column("n=Weight(a)(1) n=Weight(b)(1)") == "column 1: namespace n is defined twice");
  std::string many;
  for (std::size_t i = 0; i <= kMaxTransforms; ++i) {
    many += "n" + std::to_string(i) + "=Weight(n" + std::to_string(i + 1) + ")(1) ";
  }
  CHECK_THAT(message(many), Catch::Contains("more than 1000 transforms"));
}

TEST_CASE("canonical text reads back to the same") {
  CHECK(transforms_text({}).empty());
  const std::vector<Transform> transforms = parse_transforms(
      " new = BinnerSqrt( #a ) ( 10 , 0.25 )k=Combine(a, b,new)  w=Weight(k)(-1e-7)\n"
      "l=BinnerLogPlain(b)(3) r=BinnerLogRatio(a,b)() ");
  const std::string text = transforms_text(transforms);
  CHECK(text ==
        "new=BinnerSqrt(#a)(10,0.25) k=Combine(a,b,new)() w=Weight(k)(-1e-07) "
        "l=BinnerLogPlain(b)(3,1) r=BinnerLogRatio(a,b)(0,1)");
  CHECK(parse_transforms(text) == transforms);
}

TEST_CASE("a new namespace is a namespace like any other") {
  const char* line = "1 |a :49 |b y\n";
  const std::string seven = "#" + std::to_string(hash_in("n", "7") & 0x3ffff);
  SECTION("field and linear, its own") {
    const Mapped m(line, with("n=BinnerSqrt(a)"));
    CHECK(m.linear() == "2(a^:49) 3(b^y) 1(" + seven + ")");
    CHECK(m.fields() == "0(" + seven + ") 1(a^:49) 2(b^y)");
    CHECK(m.map.field_names() == std::vector<std::string>{"n", "a", "b"});
  }
  SECTION("--field") {
    FeatureOptions options = with("n=BinnerSqrt(a)");
    options.fields = {{"b"}, {"n", "a"}};
    CHECK(Mapped(line, options).fields() == "0(b^y) 1(a^:49 " + seven + ")");
  }
  SECTION("--linear") {
    FeatureOptions options = with("n=BinnerSqrt(a)");
    options.linear_all = false;
    options.linear = {"n"};
    const Mapped m(line, options);
    CHECK(m.linear() == "1(" + seven + ")");
    CHECK(m.fields() == "0(" + seven + ") 1(a^:49!) 2(b^y!)");
  }
  SECTION("--ignore what it is made from, or itself") {
    FeatureOptions options = with("n=BinnerSqrt(a) w=Weight(n)(2)");
    options.ignore = {"a", "n"};
    options.keep = {};
    const std::uint32_t w = text::hash_pair(space_hash("w"), hash_in("n", "7"));
    CHECK(linear(Mapped(line, options)) == Features{{hash_in("b", "y"), 1}, {w, 2}});
  }
  SECTION("--interactions") {
    FeatureOptions options = with("n=BinnerSqrt(a)");
    options.keep = {"n", "b"};
    options.interactions = {parse_interaction("n*b")};
    const std::uint32_t pair = text::hash_pair(hash_in("n", "7"), hash_in("b", "y"));
    const Mapped m(line, options);
    CHECK(m.linear().substr(0, m.linear().find(' ')) ==
          "0(#" + std::to_string(pair & 0x3ffff) + ")");
    options.interactions = {{":", ":"}};
    // n*n, b*b and b*n, in the order of names
    CHECK(
        linear(Mapped(line, options)).count(text::hash_pair(hash_in("b", "y"), hash_in("n", "7"))));
  }
}

TEST_CASE("a namespace of the data with the name of a new one is refused") {
  CHECK_THROWS_WITH(Mapped("1 |a :4\n1 |b y |n x\n", with("n=BinnerSqrt(a)")),
                    Catch::Contains("line 2 has a namespace n, which is the name of what "
                                    "--transform makes"));
  // In a line to predict, too, long after.
  const Mapped first("1 |a :4\n", with("n=BinnerSqrt(a)"));
  CHECK_THROWS_WITH(Mapped("1 |n x\n", with("n=BinnerSqrt(a)"), first.map.plans()),
                    Catch::Contains("line 1 has a namespace n"));
}

TEST_CASE("namespaces that are numbers make no features, and numbers in the order of the option") {
  FeatureOptions options = with("n=BinnerLogPlain(a)(0,1)");
  options.numeric = {"c", "a", "b"};
  const Mapped m("1 |a 3 |d x y |b :-2.5\n-1 |d y\n1 |c :0 |d x |a 1e3\n", options);
  CHECK(m.batch.numbers == std::vector<float>{0, 3, -2.5f, 0, 0, 0, 0, 1000, 0});
  CHECK(m.fields(0) ==
        "0(#" + std::to_string(m.batch.field_features[0].hash & 0x3ffff) + ") 1(d^x d^y)");
  CHECK(m.linear(1) == "2(d^y)");
  CHECK(m.map.field_names() == std::vector<std::string>{"n", "d"});
  CHECK_FALSE(m.map.keeps("a"));
  // Prediction goes by the stored plans.
  const Mapped again("1 |b 7 |d x |c -1\n", options, m.map.plans());
  CHECK(again.batch.numbers == std::vector<float>{-1, 0, 7});
  CHECK(again.fields() == "1(d^x)");
}

TEST_CASE("what no line has is told") {
  const FeatureOptions options = with("n=BinnerSqrt(a) k=Combine(n,b,z) r=BinnerLogRatio(a,c)");
  Mapped m("1 |b y |c x\n", options);
  CHECK(m.map.unread() == std::vector<std::string>{"n: no line has a number in namespace a",
                                                   "k: no line has namespace z",
                                                   "r: no line has a number in namespace a",
                                                   "r: no line has a number in namespace c"});
  m.parse("1 |a 0 |c x:5 |z y\n");
  m.map_all(true);
  CHECK(m.map.unread().empty());
}

TEST_CASE(
    "single letters select as they do when the new namespaces' names are known from the start") {
  // `a` is a namespace, so the letter does not mean `ab`, whichever is defined first.
  for (const char* text : {"ab=Weight(x)(2) a=Weight(y)(2)", "a=Weight(y)(2) ab=Weight(x)(2)"}) {
    FeatureOptions options = with(text);
    options.ignore = {"a"};
    const FeatureMap map(options, {});
    for (const NamespacePlan& plan : map.plans()) CHECK(plan.keep == (plan.name == "ab"));
  }
}

TEST_CASE("several examples, and a second batch, do not mix") {
  Mapped m("1 |a :49\n-1 |b x\n1 |a :64\n", with("n=BinnerSqrt(a)"));
  for (int repeat = 0; repeat < 2; ++repeat) {
    CHECK(m.batch.linear_end(0) - m.batch.linear_begin(0) == 2);
    CHECK(m.batch.linear_end(1) - m.batch.linear_begin(1) == 1);
    CHECK(m.batch.linear_end(2) - m.batch.linear_begin(2) == 2);
    CHECK(m.batch.linear[m.batch.linear_begin(2) + 1].hash == hash_in("n", "8"));
    m.map_all(true);
  }
}

TEST_CASE("a map made from stored plans maps as the first did") {
  const char* text = "1 |c z |a :47 |b y\n-1 |b q |a :3 |c t\n";
  const FeatureOptions options = with("k=Combine(n,b) n=BinnerSqrt(a)(4,2)");
  const Mapped first(text, options);
  Mapped second(text, options, first.map.plans());
  second.map_all(false);
  for (std::size_t b = 0; b < 2; ++b) {
    CHECK(second.linear(b) == first.linear(b));
    CHECK(second.fields(b) == first.fields(b));
  }
  CHECK(second.map.plans().size() == first.map.plans().size());
}

TEST_CASE("stored plans without a transform's namespace are a damaged file") {
  const Mapped plain("1 |a x\n");
  CHECK_THROWS_WITH(FeatureMap(with("n=BinnerSqrt(a)"), plain.map.plans()),
                    Catch::Contains("lack n, which --transform makes"));
}

TEST_CASE("--hash all and --hash_seed hold for derived features") {
  FeatureOptions options = with("n=BinnerSqrtPlain(a)");
  options.hash = HashMode::kAll;
  options.hash_seed = 9;
  options.keep = {"n"};
  const std::uint32_t space = text::hash_name("n", 9, HashMode::kAll);
  CHECK(linear(Mapped("1 |a :49\n", options)) ==
        Features{{text::hash_name("7", space, HashMode::kAll), 1}});
}

/// Looking for the features of b anew for each of a would take hours.
TEST_CASE("Combine of a namespace in a million pieces takes no time") {
  std::string line = "1";
  for (std::uint32_t i = 0; i < text::kMaxFeatures / 2 - 1; ++i) line += " |a x |c y";
  FeatureOptions options;
  options.transforms = parse_transforms("n=Combine(a,b)");
  const Mapped m(line + " |b z\n", options);
  CHECK(m.batch.linear.size() == text::kMaxFeatures - 1 + kMaxDerivedFeatures);
  // Products too small for a float.
  std::string zeros = "1 |a:1e-30";
  for (int i = 0; i < 100000; ++i) zeros += " x";
  zeros += " |b:1e-30";
  for (int i = 0; i < 100000; ++i) zeros += " x";
  CHECK(Mapped(zeros + "\n", options).batch.linear.size() == 200000);
}

}  // namespace
}  // namespace leveret::feature
