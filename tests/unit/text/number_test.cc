#include "text/number.h"

#include <catch2/catch.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>

namespace leveret::text {
namespace {

float number(std::string_view text) {
  INFO(text);
  float value = -12345;
  REQUIRE(parse_number(text, value) == NumberStatus::kOk);
  return value;
}

NumberStatus status(std::string_view text) {
  float value;
  return parse_number(text, value);
}

TEST_CASE("numbers as they are written", "[number]") {
  CHECK(number("1") == 1.0f);
  CHECK(number("+1") == 1.0f);
  CHECK(number("-1.0") == -1.0f);
  CHECK(number("5.") == 5.0f);
  CHECK(number(".5") == 0.5f);
  CHECK(number("007") == 7.0f);
  CHECK(number("1e3") == 1000.0f);
  CHECK(number("1E+3") == 1000.0f);
  CHECK(number("1.5e-3") == 1.5e-3f);
  CHECK(number("0.1") == 0.1f);
  CHECK(number("16777217") == 16777216.0f);
  CHECK(number("3.4028235e38") == 3.4028235e38f);
  CHECK(number("0e99999999999999999999") == 0.0f);
  CHECK(std::signbit(number("-0")));
}

TEST_CASE("a number too small is 0, and denormals are kept", "[number]") {
  CHECK(number("1e-46") == 0.0f);
  CHECK(number("1e-99999999999") == 0.0f);
  CHECK(number("1e-45") == 1.4e-45f);
  CHECK(number("1.1754942e-38") == 1.1754942e-38f);
}

TEST_CASE("a number too large is out of range", "[number]") {
  for (const char* text : {"1e39", "-1e39", "3.4028236e38", "1e99999999999",
                           "340282366920938463463374607431768211456"}) {
    INFO(text);
    CHECK(status(text) == NumberStatus::kOutOfRange);
  }
}

TEST_CASE("what is not a number from end to end is malformed", "[number]") {
  for (const char* text :
       {"",   "-",  "+",   ".",   "-.",    "e5",  "1e",    "1e+", "1b",  "0x10", "1:2",
        "1 ", " 1", "--1", "+-1", "1.2.3", "1,5", "1_000", "1f",  "abc", "1e5.5"}) {
    INFO(text);
    CHECK(status(text) == NumberStatus::kMalformed);
  }
  CHECK(status(std::string_view("1\0", 2)) == NumberStatus::kMalformed);
}

TEST_CASE("spellings of NaN and infinity", "[number]") {
  for (const char* text :
       {"nan", "NaN", "-nan", "nan(1)", "inf", "-INF", "+inf", "infinity", "Infinity"}) {
    INFO(text);
    CHECK(status(text) == NumberStatus::kNotANumber);
    CHECK(looks_like_number(text));
  }
  for (const char* text :
       {"nancy", "info", "infinit", "i", "n", "in", "nan(", "", "abc", "_1", "\xE2\x82\xAC"}) {
    INFO(text);
    CHECK_FALSE(looks_like_number(text));
  }
  for (const char* text : {"0", "-x", "+", ".net", "9lives"}) CHECK(looks_like_number(text));
}

TEST_CASE("floats written in full come back bit for bit", "[number]") {
  std::mt19937 random(3);
  for (int round = 0; round < 200000; ++round) {
    const auto bits = static_cast<std::uint32_t>(random());
    float expected;
    std::memcpy(&expected, &bits, sizeof bits);
    if (!std::isfinite(expected)) continue;
    char text[64];
    std::snprintf(text, sizeof text, round % 2 ? "%.9g" : "%.8e", static_cast<double>(expected));
    const float got = number(text);
    REQUIRE(std::memcmp(&got, &expected, sizeof got) == 0);
  }
}

/// Halfway cases and digits in plenty: the fast way must not round twice.
TEST_CASE("random decimals are rounded as the standard library rounds them", "[number]") {
  std::mt19937_64 random(4);
  for (int round = 0; round < 200000; ++round) {
    std::string text;
    const int digits = 1 + static_cast<int>(random() % (round % 10 ? 10 : 24));
    const int point = static_cast<int>(random() % (digits + 1));
    for (int i = 0; i < digits; ++i) {
      if (i == point) text += '.';
      text += static_cast<char>('0' + random() % 10);
    }
    if (round % 3 == 0) text += "e", text += std::to_string(static_cast<int>(random() % 50) - 25);
    float expected = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), expected);
    if (result.ec != std::errc{}) continue;
    INFO(text);
    REQUIRE(number(text) == expected);
  }
}

TEST_CASE("decimals exactly between two floats go to the even one, their neighbours do not",
          "[number]") {
  CHECK(number("16777217") == 16777216.0f);
  CHECK(number("16777217.000000001") == 16777218.0f);
  CHECK(number("16777216.999999999") == 16777216.0f);
  CHECK(number("16777219") == 16777220.0f);
  CHECK(number("1.00000005960464477539062500") == 1.0f);
  CHECK(number("1.000000059604644775390625001") == 1.00000012f);
}

}  // namespace
}  // namespace leveret::text
