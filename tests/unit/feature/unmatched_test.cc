#include "feature/unmatched.h"

#include <catch2/catch.hpp>

using namespace leveret::feature;

namespace {

NamespacePlan plan(const char* name, bool keep = true, std::vector<std::uint32_t> fields = {}) {
  NamespacePlan plan;
  plan.name = name;
  plan.keep = keep;
  plan.fields = std::move(fields);
  return plan;
}

}  // namespace

TEST_CASE("selectors that pick no namespace are named once, with their option") {
  FeatureOptions options;
  options.ignore = {"price", "s"};
  options.keep = {"site", "sight"};
  options.fields = {{"site", "user"}, {"user"}};
  options.interactions = {{"site", "x"}, {":", "ad"}};
  const std::vector<NamespacePlan> plans = {plan("site"), plan("ad")};
  CHECK(unmatched(options, plans) == std::vector<std::string>{"--ignore price", "--keep sight",
                                                              "--field user", "--interactions x"});
  CHECK(unmatched({}, plans).empty());
}

TEST_CASE("a letter means names that begin with it, unless it is a name") {
  FeatureOptions options;
  options.linear = {"s"};
  CHECK(unmatched(options, {plan("site")}).empty());
  CHECK(unmatched(options, {plan("ad")}) == std::vector<std::string>{"--linear s"});
}

TEST_CASE("of a list of selectors, those that pick nothing are named") {
  const std::vector<NamespacePlan> plans = {plan("site"), plan("ad")};
  CHECK(unmatched_selectors({"ad", "s", "sit", "x"}, plans) ==
        std::vector<std::string>{"sit", "x"});
}

TEST_CASE("with --field, namespaces that it does not list are told") {
  FeatureOptions options;
  options.fields = {{"site"}};
  const std::vector<NamespacePlan> plans = {plan("site", true, {0}), plan("ad"),
                                            plan("gone", false)};
  CHECK(beside_fields(options, plans) == std::vector<std::string>{"ad"});
  CHECK(beside_fields({}, plans).empty());
}
