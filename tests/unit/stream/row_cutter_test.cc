#include "stream/row_cutter.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "pieces.h"

using namespace leveret;
using namespace leveret::stream;

namespace {

struct Cut {
  std::vector<std::string> lines;   ///< "NUMBER LINE", bad ones "NUMBER:COLUMN WHAT"
  std::vector<std::size_t> chunks;  ///< lines of each
  std::string error;
};

Cut cut(ByteSource& source, const CutterOptions& options) {
  Cut result;
  try {
    const std::unique_ptr<Cutter> cutter = make_cutter(options, nullptr);
    cutter->start(source, 3);
    text::ExampleChunk chunk;
    while (cutter->next(chunk)) {
      CHECK(chunk.source == 3);
      result.chunks.push_back(0);
      for (const text::BadLine& bad : chunk.bad) {
        result.lines.push_back(std::to_string(bad.line) + ":" + std::to_string(bad.column) + " " +
                               bad.what + " " + chunk.bytes);
      }
      std::string_view rest = chunk.bad.empty() ? std::string_view(chunk.bytes) : "";
      for (std::uint64_t line = chunk.first_line; !rest.empty(); ++line) {
        const std::size_t end = rest.find('\n');
        REQUIRE(end != std::string_view::npos);
        result.lines.push_back(std::to_string(line) + " " + std::string(rest.substr(0, end)));
        rest.remove_prefix(end + 1);
        ++result.chunks.back();
      }
    }
  } catch (const std::runtime_error& error) {
    result.error = error.what();
  }
  return result;
}

CutterOptions options_of(std::string_view schema, std::size_t chunk_bytes,
                         std::size_t max_line = 1 << 20) {
  auto rows = std::make_shared<schema::RowInput>();
  rows->options.format = schema::parse_format("csv");
  rows->options.patience = rows->options.later_patience = {};
  rows->options.least_numbers = 1;
  rows->schema = std::make_shared<schema::SharedSchema>(schema::from_text(schema));
  return {chunk_bytes, max_line, rows};
}

constexpr std::string_view kRows =
    "label,a,b\n"
    "1,2,x\n"
    "\n"
    "0,3,\"two\nlines\"\n"
    "1,nothing,x\n"
    "0,3,\"three\n\nlines\"\n"
    "0,\"three\n\nlines\",\n"
    "label,a,b\r\n"
    "1,2,y\r\n"
    "1,2\n"
    "0,,z";
const std::vector<std::string> kLines = {
    "2 1 |a b0 |b x",
    "4 -1 |a b1 |b two%0Alines",
    "6:3 not a number in a column of numbers: --column NAME=category takes any value 1,nothing,x",
    "7 -1 |a b1 |b three%0A%0Alines",
    "10:4 not a number in a column of numbers: --column NAME=category takes any value "
    "0,\"three\n\nlines\",",
    "14 1 |a b0 |b y",
    "15:4 too few columns 1,2",
    "16 -1 |a NA |b z"};

}  // namespace

TEST_CASE("rows are the same lines however they come", "[stream]") {
  const std::string_view known = "label label\na number:edges=2+3\nb category\n";
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    testing::Pieces source(kRows, seed, seed % 2 == 1);
    const std::size_t chunk_bytes = seed % 3 == 0 ? 16 : seed % 3 == 1 ? 200 : 1 << 16;
    const Cut rows = cut(source, options_of(known, chunk_bytes));
    CHECK(rows.error.empty());
    CHECK(rows.lines == kLines);
  }
}

TEST_CASE("the first rows wait for the schema", "[stream]") {
  std::string text = "label,a\n";
  for (int i = 0; i < 500; ++i) text += std::to_string(i % 2) + ',' + std::to_string(i % 90) + '\n';
  const auto schema_of = [&](std::uint32_t seed, bool pauses, std::uint64_t first,
                             std::uint64_t least) {
    CutterOptions options = options_of("", 64);
    auto rows = std::make_shared<schema::RowInput>(*options.rows);
    rows->options.window_rows = first;
    rows->options.least_rows = least;
    options.rows = rows;
    testing::Pieces source(text, seed, pauses);
    const Cut lines = cut(source, options);
    CHECK(lines.lines.size() == 500);
    CHECK(lines.error.empty());
    return schema::to_text(*rows->schema->get());
  };
  const std::string first_90 = schema_of(0, false, 90, 1);
  CHECK(first_90.starts_with("label label\na number:edges=0+7+14"));
  for (std::uint32_t seed = 1; seed < 10; ++seed) {
    CHECK(schema_of(seed, false, 90, 1) == first_90);  // by number of rows, not of bytes
    CHECK(schema_of(seed, true, 90, 90) == first_90);  // no pause is heard before
  }
  CHECK(schema_of(1, true, 10'000, 1) != first_90);  // what is there when it pauses
  // All rows, where there are fewer than are waited for.
  CHECK(schema_of(2, true, 10'000, 10'000) == schema_of(3, false, 10'000, 1));
}

TEST_CASE("a row that is too long is bad, and ends with its line", "[stream]") {
  const std::string_view known = "label label\nb category\n";
  const std::string wide(300, 'y');
  const std::string text =
      "label,b\n1,x\n0," + wide + "\n1,\"z\nz\"\n1," + wide + "\"\n0,u\n" + wide;
  const std::string too_long = "row is longer than --max_line ";
  const std::vector<std::string> lines{
      "2 1 |b x",     "3:101 " + too_long + "0," + std::string(98, 'y'),
      "4 1 |b z%0Az", "6:101 " + too_long + "1," + std::string(98, 'y'),
      "7 -1 |b u",    "8:101 " + too_long + std::string(100, 'y')};
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    testing::Pieces source(text, seed, seed % 2 == 1);
    const std::size_t chunk_bytes = seed % 3 == 0 ? 16 : seed % 3 == 1 ? 200 : 1 << 16;
    const Cut rows = cut(source, options_of(known, chunk_bytes, 100));
    CHECK(rows.error.empty());
    CHECK(rows.lines == lines);
  }
  const std::string wide_header = wide + "\n1,2\n";
  testing::Pieces header(wide_header, 3);
  CHECK(cut(header, options_of("", 64, 100)).error ==
        "log:1: a header of more than 100 bytes (--max_line)");
}

namespace {

/// Columns of all kinds that get their first value in row 0, first, 2 * first and so on, with words
/// for a missing value before it.
std::string late_columns(int rows, int first) {
  constexpr const char* kMissing[] = {"", "NA", "-", "none", "null"};
  std::string text = "label,a,b,c,d,e,f\n";
  for (int i = 0; i < rows; ++i) {
    text += std::to_string(i % 2);
    for (int c = 0; c < 6; ++c) {
      text += ',';
      if (i < c * first) {
        text += kMissing[(i + c) % 5];
      } else if (c < 2) {
        text += std::to_string(i * 7 % 40 + 2);
      } else if (c < 4) {
        text += "x" + std::to_string(i % 3);
      } else if (c == 4) {
        text += i % 2 == 0 ? "p|q" : "none";
      } else {
        text += i % 3 == 0 ? "na" : "1.5";
      }
    }
    text += '\n';
  }
  return text;
}

}  // namespace

TEST_CASE("a column gets its kind late, and earlier rows stay as they were", "[stream]") {
  for (const int first : {1, 3, 4, 7, 20, 33}) {
    const std::string text = late_columns(240, first);
    const auto cut_with = [&](const std::string& schema, std::uint32_t seed,
                              std::size_t chunk_bytes) {
      CutterOptions options = options_of(schema, chunk_bytes);
      auto rows = std::make_shared<schema::RowInput>(*options.rows);
      rows->options.window_rows = 8;
      rows->options.least_numbers = 5;
      std::vector<std::string> schemas;
      rows->options.decided = [&](const auto&) {
        schemas.push_back(schema::to_text(*rows->schema->get()));
      };
      options.rows = rows;
      testing::Pieces source(text, seed, false);
      Cut made = cut(source, options);
      CHECK(made.error.empty());
      CHECK(made.lines.size() == 240);
      return std::pair(std::move(made.lines), std::move(schemas));
    };
    const auto [lines, schemas] = cut_with("", 0, 64);
    REQUIRE_FALSE(schemas.empty());
    CHECK(schemas.back().find("open") == std::string::npos);
    // Whatever reads find, and whatever has been decided when a run that was ended resumes.
    for (std::uint32_t seed = 1; seed < 6; ++seed) {
      CHECK(cut_with("", seed, seed % 2 == 0 ? 100 : 1 << 16) == std::pair(lines, schemas));
    }
    for (const std::string& schema : schemas) {
      const auto again = cut_with(schema, 3, 1 << 12);
      CHECK(again.first == lines);
      CHECK((again.second.empty() ? schema : again.second.back()) == schemas.back());
    }
  }
}

TEST_CASE("what ends a source comes behind the good rows", "[stream]") {
  const std::string_view known = "label label\nb category\n";
  const auto cut_text = [&](std::string_view text, std::size_t max_line = 1 << 20,
                            const char* error = nullptr) {
    testing::Pieces source(text, 7, true, error);
    return cut(source, options_of(known, 64, max_line));
  };
  const std::vector<std::string> good{"2 1 |b x"};
  const Cut open = cut_text("label,b\n1,x\n0,\"y\nz\n1,u\n");
  CHECK(open.lines == good);
  CHECK(open.error ==
        "log:3: a quote is opened here, in column 3, and never closed; if quotes are ordinary "
        "characters in this file, give --format csv:quoting=none");
  const Cut quoted = cut_text("label,b\n1,x\n0,\"" + std::string(200, '\n'), 100);
  CHECK(quoted.lines == good);
  CHECK(quoted.error.starts_with("log:3: a quote is opened here, in column 3, and not closed"));
  const Cut broken = cut_text("label,b\n1,x\n0,half", 1 << 20, "disk gone");
  CHECK(broken.lines == good);
  CHECK(broken.error == "disk gone");
  CHECK(cut_text("").lines.empty());
  CHECK(cut_text("\n\n").lines.empty());
  CHECK(cut_text("label,b\n").lines.empty());
  CHECK(cut_text("label,b").error.empty());
  CHECK(cut_text("\n1,2\n").error.starts_with("log:2: the first row has numbers alone"));
}
