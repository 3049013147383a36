#include "schema/column.h"

#include <catch2/catch.hpp>
#include <string>

#include "schema/schema.h"
#include "text/utf8.h"

using namespace leveret::schema;

TEST_CASE("a column's text is taken back to the same", "[schema]") {
  for (const char* const text : {"open",
                                 "label",
                                 "weight",
                                 "tag",
                                 "id",
                                 "ignore",
                                 "category",
                                 "number",
                                 "list",
                                 "text",
                                 "number:hard",
                                 "number:log2",
                                 "number:sqrt",
                                 "number:value",
                                 "number:bins=20",
                                 "number:hard,bins=7,edges=-1.5+0+1e-300+2e300",
                                 "number:edges=3",
                                 "number:missing=none,edges=1+2",
                                 "label:positive=yes+%3E50K%2B",
                                 "list:separator=%2C",
                                 "list:separator=%20",
                                 "text:words=3"}) {
    const Column column = parse_column("a b", text);
    CHECK(parse_column("a b", column_text(column)) == column);
    const Schema schema{{column}};
    CHECK(from_text(to_text(schema)) == schema);
  }
  CHECK(column_text(parse_column("x", "number:linear,bins=12")) == "number");
  CHECK(parse_column("x", "label:positive=>50K%2B").positive == std::vector<std::string>{">50K+"});
  CHECK(parse_column("x", "number:edges=1+2e3").edges == std::vector<double>{1, 2000});
}

TEST_CASE("what a column's text cannot be is said", "[schema]") {
  for (const char* const text : {"",
                                 "nothing",
                                 "number:",
                                 "Number",
                                 "number:bins",
                                 "number:bins=0",
                                 "number:bins=1001",
                                 "number:bins=x",
                                 "number:edges=",
                                 "number:edges=2+1",
                                 "number:edges=1+1",
                                 "number:edges=nan",
                                 "number:missing=yes",
                                 "number:words=3",
                                 "category:bins=3",
                                 "number:log2,bins=20",
                                 "number:value,edges=1",
                                 "list:separator=ab",
                                 "text:words=0",
                                 "date:bins=3",
                                 "date:age_at=",
                                 "vector"}) {
    INFO(text);
    if (std::string(text) == "number:") {
      CHECK(parse_column("x", text) == parse_column("x", "number"));
      continue;
    }
    CHECK_THROWS_AS(parse_column("x", text), std::runtime_error);
  }
}

TEST_CASE("the name before a kind may have an equals sign", "[schema]") {
  CHECK(parse_named_column("a=number").name == "a");
  CHECK(parse_named_column("a=b=number:bins=3").name == "a=b");
  CHECK(parse_named_column("y=label:positive=a=b").positive == std::vector<std::string>{"a=b"});
  CHECK_THROWS_AS(parse_named_column("a"), std::runtime_error);
  CHECK_THROWS_WITH(parse_named_column("a=numbr"), Catch::StartsWith("'numbr' is no kind"));
  CHECK_THROWS_WITH(parse_named_column("a=numbr:bins=3"), Catch::StartsWith("'numbr' is no kind"));
}

TEST_CASE("a schema is read back from its text, whatever bytes its names have", "[schema]") {
  std::uint32_t state = 1;
  const auto next = [&state](std::uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % below;
  };
  const auto word = [&] {
    std::string made(1 + next(6), ' ');
    for (char& c : made)
      c = static_cast<char>(next(4) == 0 ? "#=+,%|: \n\xc3\xa9"[next(11)] : next(256));
    return made;
  };
  constexpr const char* kTexts[] = {"open",
                                    "id",
                                    "ignore",
                                    "category",
                                    "category:missing=none",
                                    "list:separator=%2C",
                                    "text:words=7,missing=none",
                                    "number",
                                    "number:hard,bins=3",
                                    "number:log2,missing=none",
                                    "number:edges=-1.5+0+1e300",
                                    "number:value",
                                    "number:sqrt"};
  for (int round = 0; round < 2000; ++round) {
    Schema schema;
    for (std::uint32_t i = next(5); i > 0; --i) {
      Column column = parse_column(word(), kTexts[next(std::size(kTexts))]);
      if (schema.find(column.name) == Schema::kNone) schema.columns.push_back(column);
    }
    Column label = parse_column("label" + word(), "label");
    for (std::uint32_t i = next(3); i > 0; --i) label.positive.push_back(word());
    schema.columns.push_back(label);
    const std::string text = to_text(schema);
    CHECK(leveret::text::is_utf8(text));
    CHECK(from_text(text) == schema);
  }
  CHECK(to_text(from_text("prix_\xe2\x82\xac number\n")) == "prix_\xe2\x82\xac number\n");
}

TEST_CASE("a schema's text names the line that is wrong", "[schema]") {
  const Schema schema = from_text("# of my log\n\n  clicked label \r\nthe%20age   number:bins=5");
  REQUIRE(schema.columns.size() == 2);
  CHECK(schema.columns[1].name == "the age");
  CHECK(schema.find(Kind::kLabel) == 0);
  CHECK(schema.find("the age") == 1);
  CHECK(schema.has_open());
  const auto fault = [](const char* text) {
    try {
      from_text(text);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(fault("a number\nb") == "line 2: no kind behind the name");
  CHECK(fault("a number\na list") == "line 2: column 'a' is there already");
  CHECK(fault("a label\n\nb label") == "line 3: column 'b' is a second label, beside 'a'");
  CHECK(fault("a what").starts_with("line 1: 'what' is no kind"));
}
