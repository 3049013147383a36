#include "convert/convert_numeric.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <limits>
#include <string>

#include "convert/convert_vw.h"

namespace leveret::convert {
namespace {

std::string integer(std::int64_t v, NumericForm form = NumericForm::kLog2Bucket) {
  char out[kNumericRoom + 16];
  return std::string(out, put_integer(out, Prefix("n"), v, form));
}

std::string real(double v, NumericForm form = NumericForm::kLog2Bucket) {
  char out[kNumericRoom + 16];
  return std::string(out, put_real(out, Prefix("n"), v, form));
}

TEST_CASE("log2 buckets of integers begin at the powers of two") {
  CHECK(integer(0) == " |n b0");
  CHECK(integer(1) == " |n b1");
  CHECK(integer(2) == " |n b2");
  CHECK(integer(3) == " |n b2");
  CHECK(integer(4) == " |n b3");
  CHECK(integer(1023) == " |n b10");
  CHECK(integer(1024) == " |n b11");
  CHECK(integer(-1) == " |n b-1");
  CHECK(integer(-3) == " |n b-2");
  CHECK(integer(std::numeric_limits<std::int64_t>::max()) == " |n b63");
  CHECK(integer(std::numeric_limits<std::int64_t>::min()) == " |n b-64");
}

TEST_CASE("the value form is the signed logarithm, and nothing for zero") {
  CHECK(integer(0, NumericForm::kValue).empty());
  CHECK(integer(1, NumericForm::kValue) == " |n v:0.693147");
  CHECK(integer(-1, NumericForm::kValue) == " |n v:-0.693147");
  CHECK(integer(1382, NumericForm::kBoth) == " |n b11 v:7.23201");
  CHECK(integer(0, NumericForm::kBoth) == " |n b0");
  CHECK(real(0.5, NumericForm::kBoth) == " |n f1 v:0.405465");
}

TEST_CASE("reals share the integers' buckets and have their own below one") {
  for (std::int64_t v : {0, 1, 2, 3, 4, 7, 8, 1000000, -1, -2, -5}) {
    CHECK(real(static_cast<double>(v)) == integer(v));
  }
  CHECK(real(2.9) == " |n b2");
  CHECK(real(0.999) == " |n f1");
  CHECK(real(0.25) == " |n f2");
  CHECK(real(-0.2) == " |n f-3");
  CHECK(real(5e-324) == " |n f1074");
  CHECK(real(1.7976931348623157e308) == " |n b1024");
  CHECK(real(-1.7e308, NumericForm::kBoth).size() < kNumericRoom);
}

TEST_CASE("a real is a whole finite decimal number") {
  CHECK(read_real("1.5") == 1.5);
  CHECK(read_real("+2e3") == 2000);
  CHECK(read_real("-.5") == -0.5);
  for (const char* text :
       {"", "-", "+", "+-1", "1x", " 1", "1 ", "nan", "inf", "-inf", "0x10", "1e999", "1,5"}) {
    INFO(text);
    CHECK_FALSE(read_real(text));
  }
}

TEST_CASE("convert: labels") {
  for (const char* text : {"1", "+1", "1.0", "true", "Yes", "Y", "T"}) {
    INFO(text);
    CHECK(read_label(text) == true);
  }
  for (const char* text : {"0", "-1", "0.0", "-1.000", "FALSE", "no", "n", "f"}) {
    INFO(text);
    CHECK(read_label(text) == false);
  }
  for (const char* text : {"", "2", "0.5", "nan", "truely", "yesno!", "-", "click"}) {
    INFO(text);
    CHECK_FALSE(read_label(text));
  }
}

TEST_CASE("bytes with a meaning in VW text are escaped, all others kept") {
  char out[64];
  CHECK(std::string(out, put_escaped(out, "a b|c:d%\t\x7f\n")) == "a%20b%7Cc%3Ad%25%09%7F%0A");
  CHECK(std::string(out, put_escaped(out, "M\xc3\xbcsli_-.'\"")) == "M\xc3\xbcsli_-.'\"");
  CHECK(Prefix("a b").text() == " |a%20b ");
  // Every byte at every place within the eight that are looked at together.
  for (int place = 0; place < 11; ++place) {
    for (int c = 0; c < 256; ++c) {
      std::string text = "abcdefgh\xff\x80z", want = text;
      text[place] = static_cast<char>(c);
      if (c <= ' ' || c == '|' || c == ':' || c == '%' || c == 0x7f) {
        char hex[4];
        std::snprintf(hex, sizeof hex, "%%%02X", c);
        want.replace(place, 1, hex);
      } else {
        want[place] = text[place];
      }
      REQUIRE(std::string(out, put_escaped(out, text)) == want);
    }
  }
  for (std::size_t size : {0, 1, 11, 12, 13, 14, 40}) {
    std::string name(size, 'n');
    CHECK(std::string(out, Prefix(name).write(out)) == " |" + name + " ");
    CHECK(Prefix(name).room() <= std::max<std::size_t>(16, size + 3));
  }
}

}  // namespace
}  // namespace leveret::convert
