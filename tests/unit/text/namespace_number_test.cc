// Which number a namespace stands for, and that it goes on as a run of its own.
#include "text/namespace_number.h"

#include "parse_text.h"

namespace leveret::text {
namespace {

TEST_CASE("the number is that of the first feature that has one") {
  const auto number = [](const char* text) { return namespace_number(text); };
  CHECK(number("a 37") == 37.0f);
  CHECK(number("a -3.5") == -3.5f);
  CHECK(number("a 1e3 5") == 1000.0f);
  CHECK(number("a x:37") == 37.0f);
  CHECK(number("a 5:37") == 37.0f);
  CHECK(number("a :0.5") == 0.5f);
  CHECK(number("a b5 v:3.25") == 3.25f);
  CHECK(number("a  x\t7 ") == 7.0f);
  CHECK(number("a 0") == 0.0f);
  CHECK(number("a v:0") == 0.0f);
  CHECK(number("a 37:") == 37.0f);
  CHECK(number("a 37: 4") == 4.0f);
  CHECK(number("a x:   37") == 37.0f);
  CHECK(number("a : 37") == 37.0f);
  CHECK(number("a x: \t5") == 5.0f);
  CHECK(number(" 4") == 4.0f);
}

TEST_CASE("a namespace's weight multiplies, and is a number where the name is none") {
  CHECK(namespace_number("a:2 37") == 74.0f);
  CHECK(namespace_number("a:2 x:37") == 74.0f);
  CHECK(namespace_number("a:  2 x:  37") == 74.0f);
  CHECK(namespace_number("a:37 x") == 37.0f);
  CHECK(namespace_number("a:1 x") == 1.0f);
  CHECK(namespace_number("a:0 5") == 0.0f);
  CHECK(namespace_number("a:2 37:") == 37.0f);  // a weight does not touch what has only a colon
}

TEST_CASE("what is no finite number has none") {
  for (const char* text : {"a",        "a ",       "",        "a x",         "a x:y",     "a x:y:5",
                           "a 1e99",   "a nan",    "a inf",   "a 0x10",      "a 3,5",     "a -",
                           "a :",      "a:2 :",    "a:2 x:",  "a:2 x:y",     "a 37: x",   "a 37: ",
                           "a 37: \t", "a x:\t37", "a:2 x: ", "a:1e38 1e38", "a 68fd1e64"}) {
    CAPTURE(text);
    CHECK_FALSE(namespace_number(text));
  }
}

TEST_CASE("numbers are read for the namespaces that are asked for, and go on as runs") {
  const ParserOptions options{.numbers = {"a", "user"}};
  const Parsed parsed("1 |b 3 |a 37 |user x |c 4|user v:0|a 5\r\n", options);
  parsed.only();
  CHECK(parsed.run_names() == "b a |a user c |user a |a");
  std::vector<float> numbers;
  for (const NamespaceRun& run : parsed.chunk.runs) {
    if (!parsed.names.name(run.name).starts_with("|")) continue;
    CHECK(run.hash == 0);
    CHECK(parsed.chunk.features[run.begin].hash == 0);
    numbers.push_back(parsed.chunk.features[run.begin].value);
  }
  CHECK(numbers == std::vector<float>{37, 0, 5});
}

TEST_CASE("nobody asks, nobody is told; and a bad line leaves no number behind") {
  CHECK(Parsed("1 |a 37\n").run_names() == "a");
  const Parsed bad("1 |user 37 |b x:1e99\n", {.numbers = {"user"}});
  CHECK(bad.chunk.bad.size() == 1);
  CHECK(bad.chunk.runs.empty());
  CHECK(bad.chunk.features.empty());
}

TEST_CASE("a namespace that is to be a number and is not makes its line bad") {
  const ParserOptions options{.numbers = {"age", "b"}, .only_numbers = {"age"}};
  for (const char* const good : {"1 |age 37 |b x\n", "1 |age :37\n", "1 |age x:37\n", "1 |age\n",
                                 "1 |b 3 4\n", "1 |age:2 3\n", "1 |age:37 x\n", "1 |age :0 |b 5\n",
                                 "1 |age |b y |age 4\n", "1 |age 1e38\n"}) {
    INFO(good);
    CHECK(Parsed(good, options).chunk.bad.empty());
  }
  const auto reason = [&](const std::string& line) {
    const Parsed parsed(line, options);
    REQUIRE(parsed.chunk.bad.size() == 1);
    CHECK(parsed.chunk.features.empty());
    CHECK(parsed.chunk.runs.empty());
    return std::to_string(parsed.chunk.bad[0].column) + " " + parsed.chunk.bad[0].what;
  };
  for (const char* const line : {"1 |age old |b x\n", "1 |age nan\n", "1 |age x:y |b 3\n"}) {
    CHECK(reason(line) == "4 a namespace of --numeric has no number");
  }
  for (const char* const line :
       {"1 |age 3 4\n", "1 |age 3 x\n", "1 |age x:0 7\n", "1 |age 7 x:0\n", "1 |age :0 :5\n"}) {
    CHECK(reason(line) == "4 a namespace of --numeric has more than one feature");
  }
  CHECK(reason("1 |age 3 |b x |age 4\n") ==
        "16 a namespace of --numeric has more than one feature");
  CHECK(reason("1 |age :nan\n") == "9 value is NaN or infinite");
}

TEST_CASE("names are kept beside the features when they are asked for") {
  const Parsed parsed("1 |a x:3\n-1 |user 4 |a 5\n",
                      {.keep_names = true, .numbers = {"a", "user"}});
  REQUIRE(parsed.chunk.names.size() == parsed.chunk.features.size());
  CHECK(parsed.chunk.names[1].name_size == 0);
  CHECK(parsed.values() == Values{3, 3, 1, 4, 1, 5});
}

}  // namespace
}  // namespace leveret::text
