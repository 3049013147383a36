#include "text/plain_number.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

namespace leveret::text {
namespace {

/// By hand: digits alone, and no more than fits.
std::optional<std::uint64_t> by_hand(const std::string& text) {
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (kAnyWhole - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

/// Words that look like numbers, more or less.
std::string random_word(std::mt19937& random) {
  static const std::vector<std::string> kPieces = {
      "0", "1",  "7", "9", "18446744073709551615", "-",  "+", " ", "e", "x", ".", "nan", "inf",
      "K", "\t", "_", ",", "\xef\xbc\x95",         "0x", "5"};
  std::string word;
  for (unsigned pieces = random() % 5; pieces > 0; --pieces) {
    word += kPieces[random() % (random() % 2 == 0 ? 5 : kPieces.size())];
  }
  return word;
}

TEST_CASE("a whole number is all digits, and within its bounds") {
  std::mt19937 random(1);
  std::size_t good = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string word = random_word(random);
    INFO(word);
    const auto value = by_hand(word);
    REQUIRE(read_whole(word, 0, kAnyWhole) == value);
    good += value.has_value();
    if (!value) continue;
    CHECK(read_whole(word, *value, *value) == value);
    if (*value < kAnyWhole) CHECK(!read_whole(word, *value + 1, kAnyWhole));
    if (*value > 0) CHECK(!read_whole(word, 0, *value - 1));
  }
  CHECK(good > 2000);
  CHECK(read_whole("007", 0, 10) == 7u);
}

TEST_CASE("a size is a whole number, and perhaps a power of 1024") {
  std::mt19937 random(2);
  const std::string letters = "kmgtp";
  for (int i = 0; i < 20000; ++i) {
    const std::string word = random_word(random);
    INFO(word);
    const auto plain = by_hand(word);
    if (plain || word.find('K') == std::string::npos) {
      REQUIRE(read_size(word, 0, kAnyWhole) == plain);
    }
    const unsigned power = random() % letters.size();
    std::string suffix(1, letters[power]);
    if (random() % 2 == 0) suffix[0] = static_cast<char>(suffix[0] - 0x20);
    suffix += std::vector<std::string>{"", "b", "B", "i", "iB", "IB"}[random() % 6];
    const auto number = by_hand(word);
    const unsigned shift = 10 * (power + 1);
    if (number && *number <= kAnyWhole >> shift) {
      CHECK(read_size(word + suffix, 0, kAnyWhole) == *number << shift);
    } else if (number) {
      CHECK(!read_size(word + suffix, 0, kAnyWhole));
    }
  }
  for (const char* bad : {"", "K", "5 K", "5KK", "5iK", "5bi", "1.5K", "-1K", "5x", "5K ", "0x5K",
                          "1e", "7e", "1E", "1EiB", "1e3"}) {
    INFO(bad);
    CHECK(!read_size(bad, 0, kAnyWhole));
  }
}

TEST_CASE("a real number is finite, and within its bounds") {
  for (const char* bad : {"", "nan", "NAN", "-nan", "inf", "-inf", "infinity", "1e400", " 5", "5 ",
                          "0x10", "5x", "1,5", "+1", "--1", "1e", ".", "e5", "1e3.5"}) {
    INFO(bad);
    CHECK(!read_real<float>(bad, -1e30f, 1e30f));
    CHECK(!read_real<double>(bad, -1e300, 1e300));
  }
  CHECK(read_real<float>("1e3", 0, 1e30f) == 1000.0f);
  CHECK(read_real<float>(".5", 0, 1) == .5f);
  CHECK(read_real<float>("5.", 0, 10) == 5.0f);
  CHECK(!read_real<float>("-0.1", 0, 1));
  CHECK(!read_real<float>("1.1", 0, 1));
}

}  // namespace
}  // namespace leveret::text
