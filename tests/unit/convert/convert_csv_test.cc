#include "convert/convert_csv.h"

#include <catch2/catch.hpp>
#include <random>

#include "convert/convert_harness.h"
#include "convert/convert_vw.h"

namespace leveret::convert {
namespace {

TEST_CASE("csv: columns become namespaces of their names") {
  CHECK(convert_text(csv(), "label,a,b c,|d:\n1,x,,y\n0,,,\n").text == "1 |a x |%7Cd%3A y\n-1 |\n");
  CHECK(convert_text(csv(), "a,click\nx,0").text == "-1 |a x\n");
  CHECK(convert_text(csv(), "label,,b\n1,p,q\n").text == "1 |column2 p |b q\n");
}

TEST_CASE("csv: quoting by RFC 4180") {
  CHECK(convert_text(csv(), "label,a,b\n1,\"x,y\",\"\"\n").text == "1 |a x,y\n");
  CHECK(convert_text(csv(), "label,a\n1,\"x\"\"y\"\"\"\n").text == "1 |a x\"y\"\n");
  CHECK(convert_text(csv(), "\"label\",\"a\nb\"\n\"1\",\"x\r\ny\"\r\n0,z").text ==
        "1 |a%0Ab x%0D%0Ay\n-1 |a%0Ab z\n");
  CHECK(convert_text(csv(), "\xef\xbb\xbf\"label\",a\n1,x\n").text == "1 |a x\n");
  // A quote within an unquoted field is an ordinary byte.
  CHECK(convert_text(csv(), "label,a,b\n1,5\" disk,x\"\"\n0,y,z\n").text ==
        "1 |a 5\"%20disk |b x\"\"\n-1 |a y |b z\n");
}

TEST_CASE("csv: line numbers count the lines within quotes") {
  Converted got = convert_text(csv(), "label,a\n1,\"x\n\n\ny\"\n7,z\n1,\"q\"r\n");
  CHECK(got.counts.examples == 1);
  REQUIRE(got.bad.size() == 2);
  CHECK(got.bad[0].line == 6);
  CHECK(got.bad[0].what == "the label is not 0 or 1");
  CHECK(got.bad[1].line == 7);
  CHECK(got.bad[1].column == 6);
  CHECK(got.bad[1].what == "text behind a closing quote");
}

TEST_CASE("csv: a quote that is never closed loses no rows silently") {
  CHECK_THROWS_WITH(convert_text(csv(), "label,a\n1,x\n1,\"y\n0,z\n"),
                    Catch::Contains("never closed"));
  try {
    convert_text(csv(), "label,a\n1,x\n1,\"y\n0,z\n");
  } catch (const ConvertError& error) {
    CHECK(error.line() == 3);
  }
}

TEST_CASE("csv: wrong quoting ends the run in a header, and makes a bad row where there is none") {
  try {
    convert_text(csv(), "label,\"a\"b\n1,x\n");
    FAIL("no error");
  } catch (const ConvertError& error) {
    CHECK(error.line() == 1);
    CHECK(error.column() == 10);
  }
  CsvOptions options;
  options.columns = {"label", "a"};
  const Converted got = convert_text(csv(options), "1,\"a\"b\n1,x\n");
  CHECK(got.text == "1 |a x\n");
  REQUIRE(got.bad.size() == 1);
  CHECK(got.bad[0].what == "text behind a closing quote");
}

TEST_CASE("csv: options") {
  CsvOptions options;
  options.label = "bought";
  options.ignore = {"id", "u,v"};
  options.numeric = {"n,m", "x,y"};
  options.missing = {"?", "NA"};
  options.positive = {"yes", "maybe"};
  options.delimiter = ';';
  const std::string header = "id;bought;n;m;x,y;u;v;c\n";
  CHECK(convert_text(csv(options), header + "7;yes;3;-0.5; 8 ;1;2;?\n8;no;NA;?;;1;2;3\n").text ==
        "1 |n b2 |m f-1 |x,y b4\n-1 |c 3\n");
  Converted got = convert_text(csv(options), header + "7;yes;3x;1;1;1;2;z\n7;;3;1;1;1;2;z\n7;no\n");
  REQUIRE(got.bad.size() == 2);
  CHECK(got.bad[0].column == 7);
  CHECK(got.bad[0].what == "not a number in a numeric column");
  CHECK(got.bad[1].what == "too few columns");
  CHECK(got.text == "|n b2 |m b1 |x,y b1 |c z\n");
}

TEST_CASE("csv: columns that are not there are named") {
  CsvOptions options;
  options.numeric = {"a,z"};
  CHECK_THROWS_WITH(convert_text(csv(options), "label,a\n1,1\n"),
                    "there is no column 'z'; the columns are: label, a");
  CHECK_THROWS_WITH(convert_text(csv(), "x,y\n1,1\n"),
                    "there is no column 'label'; --label NAME names the label's column, --no_label "
                    "is for rows without a label; the columns are: x, y");
}

TEST_CASE("csv: without header, without label") {
  CsvOptions options;
  options.columns = {"click", "u"};
  CHECK(convert_text(csv(options), "1,a\n0,b\n").text == "1 |u a\n-1 |u b\n");
  options.labels = CsvOptions::Labels::kNone;
  CHECK(convert_text(csv(options), "1,a\n").text == "|click 1 |u a\n");
}

TEST_CASE("csv: each source has a header of its own") {
  std::string text;
  CsvConverter converter({}, {[&](std::string_view t) { text += t; }, [](const BadRow&) {}});
  converter.feed("label,a,b\n1,x,y\n");
  converter.finish_source();
  converter.feed("b,label,a\ny,0,x");
  converter.finish_source();
  CHECK(text == "1 |a x |b y\n-1 |b y |a x\n");
  CHECK(converter.counts().rows == 2);
}

/// Property: any table, written with any legal quoting and fed in any pieces, comes out as its
/// cells.
TEST_CASE("csv: random tables survive quoting and cutting") {
  std::mt19937 random(20140826);
  auto below = [&](std::uint32_t n) { return random() % n; };
  const std::string alphabet = "ab\",\n\r:| %\t;";
  for (int round = 0; round < 300; ++round) {
    CsvOptions options;
    options.delimiter = ",;\t|"[below(4)];
    std::size_t columns = 1 + below(5);
    std::string source = "label", want;
    for (std::size_t i = 0; i < columns; ++i)
      source.append(1, options.delimiter).append("c").append(std::to_string(i));
    source += "\n";
    for (std::uint32_t row = below(6); row > 0; --row) {
      source += "1";
      want += "1";
      bool any = false;
      for (std::size_t i = 0; i < columns; ++i) {
        std::string cell;
        for (std::uint32_t n = below(7); n > 0; --n) cell += alphabet[below(alphabet.size())];
        bool must_quote = cell.find_first_of("\"\n\r") != std::string::npos ||
                          cell.find(options.delimiter) != std::string::npos;
        source += options.delimiter;
        if (must_quote || below(3) == 0) {
          source += '"';
          for (char c : cell) source += c == '"' ? "\"\"" : std::string(1, c);
          source += '"';
        } else {
          source += cell;
        }
        if (cell.empty()) continue;
        any = true;
        char escaped[32];
        want.append(" |c").append(std::to_string(i)).append(" ");
        want.append(escaped, put_escaped(escaped, cell));
      }
      source += below(2) == 0 ? "\n" : "\r\n";
      want += any ? "\n" : " |\n";
    }
    Converted got = convert_text(csv(options), source, 1 + below(40));
    INFO(source);
    REQUIRE(got.bad.empty());
    REQUIRE(got.text == want);
  }
}

}  // namespace
}  // namespace leveret::convert
