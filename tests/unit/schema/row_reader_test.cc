#include "schema/row_reader.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "reading.h"

using namespace leveret::schema;
using namespace leveret::schema::testing;

namespace {

std::string error_of(std::string_view source, const RowOptions& options,
                     const Schema& schema = {}) {
  try {
    read_rows(source, options, schema);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("rows become lines by the kinds of their columns", "[schema]") {
  const ReadRows read = read_rows(
      "when,label,w,x,site id,tags,note,junk\r\n"
      "t 1,1,2.5,0,\"a|b, \"\"c\"\"\",x|y z||x,\"Hi, it's ME: ok\",9\r\n"
      "\r\n"
      "t2,0,,10,news,, ,9\n"
      "when,label,w,x,site id,tags,note,junk\n"
      "t3,,3,NA,,x,Hi,9\n"
      "t4,-1,?,5,b,,,",
      options_of("csv", {"when=tag", "w=weight", "tags=list", "note=text:words=3", "junk=ignore",
                         "site id=category"}));
  CHECK(read.bad.empty());
  CHECK(read.text ==
        "1 2.5 't%201 |x b0 |site%20id a%7Cb,%20\"c\" |tags x y%20z x |note hi it's me\n"
        "-1 't2 |x b2 |site%20id news\n"
        "'t3 |x NA |tags x |note hi\n"
        "-1 't4 |x b1 |site%20id b\n");
  CHECK(to_text(read.schema) ==
        "when tag\nlabel label\nw weight\nx number:edges=0+5+10\nsite%20id category\ntags list\n"
        "note text:words=3\njunk ignore\n");
}

TEST_CASE("JSON objects say the same as CSV rows", "[schema]") {
  const Schema schema =
      from_text("y label\nid tag\na number:edges=0+10\nb category\nl list\nc.d category\n");
  const ReadRows csv = read_rows("id,y,a,b,l,c.d\n7,1,2.5,\"x, y\",p|q,true\n8,0,,\xc3\xa9,,-3\n",
                                 options_of("csv"), schema);
  const ReadRows json = read_rows(
      "{\"b\": \"x, y\", \"a\": 2.5, \"y\": 1, \"id\": 7, \"l\": [\"p\", \"q\"], "
      "\"c\": {\"d\": true}}\n"
      "{\"y\": false, \"a\": null, \"b\": \"\\u00e9\", \"id\": \"8\", \"l\": [], \"c\": {\"d\": "
      "-3}}\n",
      options_of("json"), schema);
  CHECK(csv.text ==
        "1 '7 |a b0:0.750 b1:0.250 |b x,%20y |l p q |c.d true\n-1 '8 |a NA |b \xc3\xa9 |c.d -3\n");
  CHECK(json.text == csv.text);
  CHECK(json.bad.empty());
}

TEST_CASE("rows that are none are bad, and leave nothing", "[schema]") {
  const ReadRows csv = read_rows(
      "label,n,w\n1,2,1\n1,2\n1,2,3,4\nmaybe,2,1\n1,\"1,234.5\",1\n1,$3,1\n1,x,1\n1,1e999,1\n"
      "1,2,-1\n0,3,1\n\"1\"x,2,1\n",
      options_of("csv", {"n=number", "w=weight"}));
  CHECK(csv.text == "1 1 |n b0\n-1 1 |n b1\n");
  REQUIRE(csv.bad.size() == 9);
  CHECK(csv.bad[0] == "1: too few columns");
  CHECK(csv.bad[1] == "2: too many columns");
  CHECK(csv.bad[2].starts_with("3: the label is not 0 or 1"));
  CHECK(csv.bad[3].starts_with("4: not a number, as it has a comma"));
  CHECK(csv.bad[4].starts_with("5: not a number, as it has a sign"));
  CHECK(csv.bad[5].starts_with("6: not a number in a column of numbers"));
  CHECK(csv.bad[6].starts_with("7: not a number"));
  CHECK(csv.bad[7] == "8: the weight is no number from 0 to 1e12");
  CHECK(csv.bad[8] == "10: text behind a closing quote");

  std::string deep(2000, '[');
  const ReadRows json = read_rows(
      "{\"label\": 1, \"n\": 1}\n3\nnull\n[]\n{\"label\": 1, \"n\": 2\n{\"label\": 1} x\n"
      "{\"label\": 1, \"n\": [1]}\n{\"n\": [{}]}\n{\"n\": [[]]}\n" +
          deep +
          "\n{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{}}}}}}}}}\n"
          "{\"n\": \"\xff\"}\n{\"label\": 0, \"n\": 2}\n",
      options_of("json", {"n=number"}));
  CHECK(json.text == "1 |n b0\n-1 |n b1\n");
  CHECK(json.bad.size() == 11);
}

TEST_CASE("a weight and a tag are no lists", "[schema]") {
  const ReadRows json = read_rows(
      "{\"label\": 1, \"w\": [2], \"t\": 1}\n{\"label\": 1, \"w\": 2, \"t\": [1]}\n"
      "{\"label\": 1, \"w\": 2, \"t\": 1}\n",
      options_of("json", {"w=weight", "t=tag"}));
  CHECK(json.text == "1 2 '1 |\n");
  CHECK(json.bad == std::vector<std::string>{"0: the weight is a list", "1: the tag is a list"});
}

TEST_CASE("columns that nobody can tell are refused", "[schema]") {
  RowOptions options = options_of("csv");
  options.needs_label = true;
  CHECK(error_of("a,b\n1,2\n", options) ==
        "no column is the label: --label NAME names it; the columns are: a, b");
  CHECK(error_of("a,label,a\n1,2,3\n", options) == "two columns are called 'a'");
  CHECK(error_of("1,2\n1,2\n", options).starts_with("the first row has numbers alone"));
  CHECK(error_of("a,b\n", options_of("csv", {"c=number"})) ==
        "there is no column 'c'; the columns are: a, b");
  CHECK(error_of("{\"a\": 1}\n", options_of("json", {"c=number"})) ==
        "there is no column 'c'; the columns are: a");
  std::string wide = "label";
  for (std::size_t i = 0; i < kMostColumns; ++i) wide += ",c" + std::to_string(i);
  CHECK(error_of(wide + "\n", options).starts_with("the header has 10001 columns"));
  const Schema known = from_text("label label\na number:edges=1\n");
  CHECK(error_of("b,a\n1,2\n", options, known) == "the column of the label, 'label', is missing");
  for (const char* wanted :
       {"a=category", "a=number:hard", "a=number:edges=2", "a=number:bins=3"}) {
    CHECK(error_of("label,a\n", options_of("csv", {wanted}), known)
              .starts_with("column 'a' is number in the model's schema"));
  }
  CHECK(error_of("label,a\n", options_of("csv", {"a=number"}), known).empty());
  CHECK(error_of("label,a\n", options_of("csv", {"a=number:edges=1"}), known).empty());
  const Schema open = from_text("label label\na open\n");
  CHECK(error_of("label,a\n", options_of("csv", {"a=label"}), open) ==
        "column 'a' is a second label, beside 'label'");
  CHECK(read_rows("label,a\n1,7\n0,NA\n", options_of("csv", {"a=category"}), open).text ==
        "1 |a 7\n-1 |\n");
  CHECK(error_of("label,a\n", options_of("csv", {"a=date:age_at=none"}), open)
            .starts_with("column 'a': there is no column 'none'"));
  CHECK(error_of("click,label,b\n", options_of("csv"))
            .starts_with("columns 'click' and 'label' are both named as a label"));
  CHECK(error_of("{\"click\": 1, \"Label\": 2}\n", options_of("json"))
            .starts_with("columns 'click' and 'Label' are both named as a label"));
  CHECK(error_of("click,label,b\n", options_of("csv", {"click=label"})).empty());
  CHECK(error_of("click,label,b\n", options_of("csv", {"label=ignore"})).empty());
  CHECK(error_of("label,a\n", options_of("csv", {"b=category"}), known)
            .starts_with("the model's schema has no column 'b'"));
}

TEST_CASE("columns come in any order, and those that differ are told once", "[schema]") {
  const Schema known = from_text("label label\na number:edges=0+1\nb category\n");
  const ReadRows read = read_rows("c,b,label\nx,y,1\nx,z,0\n", options_of("csv"), known);
  CHECK(read.text == "1 |a NA |b y\n-1 |a NA |b z\n");
  CHECK(read.told ==
        std::vector<std::string>{"column 'c' is left out: the schema has no such column",
                                 "column 'a' is missing: these rows are as if it were empty"});
  CHECK(read.schema == known);
}

TEST_CASE("a column without a value stays open until one comes", "[schema]") {
  const auto shared = std::make_shared<SharedSchema>();
  RowReader reader(options_of("csv", {"n=number"}), shared);
  reader.start_source();
  reader.take_header("label,n,c,m,k");
  const std::vector<std::string> first{"1,,,,a", "0,NA,,,b"},
      later{"1,5,,,a", "0,7,x,1.5,b", "0,9,,2,b"};
  std::string text;
  leveret::convert::Fault fault;
  for (const std::string& row : first) reader.look_at(row);
  CHECK(reader.wants_more(2));
  reader.decide();
  for (const std::string& row : first) reader.convert(row, text, fault);
  CHECK(to_text(*shared->get()) == "label label\nn number\nc open\nm open\nk category\n");
  CHECK(reader.is_open());
  for (const std::string& row : later) reader.look_at(row);
  reader.decide();
  for (const std::string& row : later) reader.convert(row, text, fault);
  CHECK(to_text(*shared->get()) ==
        "label label\nn number:edges=5+7+9\nc category:missing=none\nm "
        "number:missing=none,edges=1.5+2\nk "
        "category\n");
  CHECK_FALSE(reader.is_open());
  CHECK(
      text ==
      "1 |n NA |k a\n-1 |n NA |k b\n1 |n b0 |k a\n-1 |n b1 |c x |m b0 |k b\n-1 |n b2 |m b1 |k b\n");
}

TEST_CASE("kinds are guessed by names and values", "[schema]") {
  std::string rows = "label,row,age,price,zip,user_id,hash,flag,lists,words,empty,uid\n";
  for (int i = 0; i < 200; ++i) {
    const std::string n = std::to_string(i);
    rows += std::to_string(i % 2) + ',' + n + ',' + std::to_string(i % 70) + ',' +
            std::to_string(i % 50) + ".5,0" + n + ',' + std::to_string(i % 9) + ",9" +
            std::to_string(1000000000000000000 + i % 10) + ',' + std::to_string(i % 2) + ",a|b" +
            std::to_string(i % 5) + ",see the item " + n + ",,u" + n + '\n';
  }
  const ReadRows read = read_rows(rows, options_of("csv"));
  std::vector<std::string> kinds;
  for (const Column& column : read.schema.columns) kinds.emplace_back(kind_name(column.kind));
  CHECK(kinds == std::vector<std::string>{"label", "id", "number", "number", "id", "category",
                                          "category", "category", "list", "text", "open", "id"});
  REQUIRE(read.facts.size() == 12);
  CHECK(read.facts[2].different == 70);
  CHECK(read.facts[2].rows == 200);
  CHECK(read.facts[10].missing == 200);
}

TEST_CASE("a format's word", "[schema]") {
  CHECK(parse_format("csv:delimiter=;,quoting=none").delimiter == ';');
  CHECK(parse_format("csv:delimiter=,").delimiter == ',');
  CHECK(parse_format("csv:delimiter=tab").delimiter == '\t');
  CHECK_FALSE(parse_format("csv:quoting=none").quoted);
  for (const char* const word :
       {"", "xml", "csv:x", "csv:delimiter=ab", "json:delimiter=,", "vw:"}) {
    if (std::string(word) == "vw:") continue;
    CHECK_THROWS_AS(parse_format(word), std::runtime_error);
  }
  CHECK(format_of_file("a/b.csv.gz") == parse_format("csv"));
  CHECK(format_of_file("b.ndjson.zst") == parse_format("json"));
  CHECK_FALSE(format_of_file("csv"));
  CHECK_FALSE(format_of_file("log.vw"));
  CHECK(read_rows("label;a b\n1;\"x;y\"\n", options_of("csv")).text == "1 |a%20b x;y\n");
  CHECK(read_rows("label\ta\n1\t\"x\ty\"\n", options_of("tsv")).text == "1 |a x%09y\n");
}
