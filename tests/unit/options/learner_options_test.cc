#include "options/learner_options.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <vector>

using namespace leveret;
using options::LearnerOptions;
using Words = std::vector<std::string>;

TEST_CASE("a line of options is words, as a shell takes them") {
  REQUIRE(options::split_words("").empty());
  REQUIRE(options::split_words(" \t\n").empty());
  REQUIRE(options::split_words("--ffm_k 4\n--hidden  none ") ==
          Words{"--ffm_k", "4", "--hidden", "none"});
  REQUIRE(options::split_words("--field '@a b' --x=\"c 'd\"") ==
          Words{"--field", "@a b", "--x=c 'd"});
  REQUIRE(options::split_words("a\\ b 'c\\d' \"e\\\"f\" ''") == Words{"a b", "c\\d", "e\"f", ""});
  // As Python's shlex.quote writes a quote.
  REQUIRE(options::split_words("'a'\"'\"'b'") == Words{"a'b"});
  REQUIRE_THROWS_AS(options::split_words("--field 'a"), std::runtime_error);
  REQUIRE_THROWS_AS(options::split_words("\""), std::runtime_error);
}

TEST_CASE("a learner's options are those of train") {
  const LearnerOptions options(
      "--ffm-k 8 -b18 --hidden=64,16 -q AB --threads 2 --pin --max_memory 1G");
  const spec::Spec spec = options.spec();
  REQUIRE(spec.ffm_k == 8);
  REQUIRE(spec.bit_precision == 18);
  REQUIRE(spec.hidden == std::vector<std::uint32_t>{64, 16});
  REQUIRE(spec.features.interactions.size() == 1);
  REQUIRE(options.threads() == 2);
  REQUIRE(options.pin());
  REQUIRE(options.max_memory() == std::uint64_t{1} << 30);
  REQUIRE(LearnerOptions("").spec().ffm_k == spec::Spec().ffm_k);
  REQUIRE(LearnerOptions("").threads() == 1);
}

TEST_CASE("of the model that a learner goes on with the shape stays") {
  const spec::Spec stored = LearnerOptions("--ffm_k 8").spec();
  REQUIRE(LearnerOptions("--learning_rate 0.25").spec(stored, "m").linear.rate == 0.25f);
  REQUIRE(LearnerOptions("--ffm_k 8").spec(stored, "m").ffm_k == 8);
  REQUIRE_THROWS_WITH(LearnerOptions("--ffm_k 4").spec(stored, "m.lvt"),
                      Catch::Contains("contradicts the model m.lvt"));
}

TEST_CASE("what is wrong with a learner's options is said") {
  const auto says = [](const std::string& text, const std::string& words) {
    REQUIRE_THROWS_WITH(LearnerOptions(text).spec(), Catch::Contains(words));
  };
  says("--ffm_k x", "--ffm_k x");
  says("--threads 0", "threads");
  says("--l1 1", "--l1 1 does nothing");
  says("--optimizer linear=sgd:l1=1", "l1=1 of --optimizer linear does nothing");
  says("--row_bits 8:range=1 --weight_range 1", "--weight_range 1 set the same thing");
  says("--pin", "--pin does nothing");
  says("-f model", "-f is no option of a learner");
  says("--passes 2", "--passes is no option of a learner");
  says("ffm_k", "ffm_k is no option of a learner");
  says("--help", "--help is no option of a learner");
  says("--field", "field");
  says("--field @/nowhere", "cannot read it");
}
