// Requests in JSON: the pieces that they are read in, what is none, raw rows; and numbers, in each
// form that the grammar has and at each place where one may stand: the line that is made of a
// request has the values that were sent.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "daemon/house.h"
#include "daemon/read_request.h"
#include "files/temp_folder.h"
#include "train/train_run.h"

namespace leveret::daemon {
namespace {

/// A sign or none, a whole number (what 64 bits hold with a sign, without one, and more), a
/// fraction, an exponent.
std::vector<std::string> numbers() {
  std::vector<std::string> all;
  for (const char* const sign : {"", "-"}) {
    for (const char* const whole : {"0", "1", "7", "40", "2147483648", "9223372036854775807",
                                    "9223372036854775808", "18446744073709551616"}) {
      for (const char* const fraction : {"", ".0", ".5", ".0625"}) {
        for (const char* const exponent : {"", "e2", "E+2", "e-3"}) {
          all.push_back(std::string(sign) + whole + fraction + exponent);
        }
      }
    }
  }
  return all;
}

/// Each place where a request may have a value.
std::vector<std::string> values_at_each_place(const std::string& number) {
  return {R"({"candidates":[{"A":{"f":)" + number + "}}]}",
          R"({"candidates":[{"A":["g",{"f":)" + number + "}]}]}",
          R"({"candidates":[{"A":[{"g":1,"f":)" + number + "},\"h\"]}]}",
          R"({"context":{"A":{"f":)" + number + R"(}},"candidates":[{"B":["g"]}]})",
          R"({"context":{"A":[{"f":)" + number + R"(}]},"candidates":[{"B":["g"]}]})"};
}

TEST_CASE("A request is read the same in pieces of any size", "[daemon]") {
  const std::string body =
      " {\n\"candidates\" : [ {\"a\": [\"x}\\\"]\", {\"b\": 2}]} , {} ,{\"a\":\"y z\"},"
      "{\"a\":null}, {\"namespaces\":{\"a\":[\"z\"]}}, {\"a\":\"" +
      std::string(1000, 'l') + "\"} ]\t, \"context\":{\"u\":\"v\"}} ";
  const ReadRequest whole = read_request(body);
  CHECK(whole.error.empty());
  CHECK(whole.context == "|u v |\n");
  CHECK(whole.lines == "|a x}\"] b:2 |\n|\n|a z |\n");
  REQUIRE(whole.why.size() == 6);
  CHECK(whole.why[2] == "the feature \"y z\" has white space, which names cannot have");
  CHECK(whole.why[3] == "namespace \"a\" must be a list of features, not null");
  CHECK(whole.why[5] == "is longer than --max_line");
  for (const std::size_t bytes : {1, 2, 3, 7, 30}) {
    const ReadRequest pieces = read_request(body, nullptr, bytes);
    CHECK(pieces.context == whole.context);
    CHECK(pieces.lines == whole.lines);
    CHECK(pieces.why == whole.why);
  }
  // Cut anywhere, it is none.
  for (std::size_t size = 0; size + 1 < body.size(); ++size) {
    INFO(size);
    CHECK_FALSE(read_request(body.substr(0, size)).error.empty());
  }
}

TEST_CASE("What is no request is refused", "[daemon]") {
  const auto error_of = [](const std::string& body) { return read_request(body).error; };
  CHECK(error_of("[]").starts_with("the request must be an object"));
  CHECK(error_of("{}") == "the request has no \"candidates\"");
  CHECK(error_of("{\"candidates\":[]} x").starts_with("the request must be"));
  CHECK(error_of("{\"candidates\":[{}],}") == "byte 20: a name in quotes is missing");
  CHECK(error_of("{\"candidates\":[{},]}") == "byte 19: candidate 1 must be an object");
  CHECK(error_of("{\"candidates\":[{} {}]}") ==
        "byte 19: a comma or the end of the list is missing");
  CHECK(error_of("{\"candidates\":{}}") == "byte 15: \"candidates\" must be a list of objects");
  CHECK(error_of("{\"candidates\":[],\"candidates\":[]}") == "\"candidates\" comes twice");
  CHECK(error_of("{\"context\":{},\"context\":{}}") == "\"context\" comes twice");
  CHECK(error_of("{\"context\":[]}") == "byte 12: \"context\" must be an object");
  CHECK(error_of("{\"rows\":[]}").starts_with("\"rows\": is no member of a request"));
  CHECK(error_of("{\"candidates\":[{\"a\":tru}]}").starts_with("candidate: byte "));
  CHECK(error_of("{\"candidates\":[{\"a\":{]}}]}").starts_with("byte 24"));
  CHECK(error_of("{\"candidates\":[],\"context\":{\"a\":tru}}").starts_with("context: byte "));
  CHECK(error_of("{\"candidates\":[],\"context\":{\"a\":1}}").starts_with("context: namespace"));
}

TEST_CASE("Rows of a request are the lines of its model's schema", "[daemon]") {
  const auto schema = std::make_shared<const schema::Schema>(
      schema::from_text("y label\nid tag\nage number:edges=10+20\ncity category\ntags list\nnew "
                        "open\nn.m number:value\n"));
  schema::RequestRows rows(schema);
  const ReadRequest whole = read_request(
      R"({"candidates":[{"age":15,"city":"a b","tags":["p","q|"],"id":7,"y":1,"n":{"m":0}},{},)"
      R"({"age":"x"},{"new":5,"city":null,"other":1,"age":null,"n.m":0},{"tags":"p|q","city":["a"]},)"
      R"({"namespaces":{"age":["b0"]}}]})",
      &rows);
  CHECK(whole.error.empty());
  CHECK(whole.lines ==
        "1 '7 |age b0:0.500 b1:0.500 |city a%20b |tags p q%7C\n"
        "|age NA |n.m NA\n|age NA\n|age b0 |\n");
  REQUIRE(whole.why.size() == 6);
  CHECK(whole.why[2].starts_with("column \"age\": not a number"));
  CHECK(whole.why[4].starts_with("column \"city\": a list in a column that is none"));
  CHECK(rows.take_unknown() == 1);

  const ReadRequest split = read_request(
      R"({"context":{"city":"u","age":null,"y":1,"id":3},"candidates":[{"tags":["t"]},{"city":"v"},{"n.m":2}]})",
      &rows);
  CHECK(split.context == "|age NA |city u\n");
  CHECK(split.lines == "|tags t |n.m NA\n|n.m v:1.09861\n");
  REQUIRE(split.why.size() == 3);
  CHECK(split.why[1] == "column \"city\" is in the context, too");
  CHECK(read_request(R"({"context":{"age":"x"},"candidates":[]})", &rows)
            .error.starts_with("context: column \"age\""));
}

TEST_CASE("Requests of raw rows by turns keep their contexts", "[daemon]") {
  schema::RequestRows rows(std::make_shared<const schema::Schema>(
      schema::from_text("y label\na number:edges=10+20\nb category\nc category\n")));
  const std::vector<std::string> bodies{
      R"({"context":{"a":10},"candidates":[{"b":"x"},{"b":"y"},{"c":"z"}]})",
      R"({"context":{"b":"q","c":"r"},"candidates":[{"a":20},{},{"a":10}]})",
      R"({"candidates":[{"a":20,"b":"x"},{"c":"y"},{}]})"};
  std::vector<JsonRequest> requests;
  for (const std::string& body : bodies) requests.emplace_back(body);
  std::vector<JsonLineMaker> makers;
  for (JsonRequest& request : requests) {
    while (request.read(100)) {
    }
    makers.emplace_back(request, &rows, 1000).context();
  }
  std::vector<std::string> lines(bodies.size());
  for (int turn = 0; turn < 3; ++turn) {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      JsonLines piece;
      CHECK(makers[i].next(1, 0, piece));
      CHECK(piece.why == std::vector<std::string>{""});
      lines[i] += piece.text;
    }
  }
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    CHECK(lines[i] == read_request(bodies[i], &rows).lines);
  }
}

TEST_CASE("A number of JSON is the value that it is in a line", "[daemon]") {
  const std::vector<std::string> all = numbers();
  REQUIRE(all.size() == 256);
  for (const std::string& number : all) {
    for (const std::string& body : values_at_each_place(number)) {
      INFO(body);
      const ReadRequest read = read_request(body);
      text::NamespaceNames names;
      const text::ExampleChunk chunk =
          train::parse(names, read.context.empty() ? read.lines : read.context);
      const text::ExampleChunk of_f = train::parse(names, "|A f\n");
      const float value = std::strtof(number.c_str(), nullptr);
      int found = 0;
      for (const text::Feature& feature : chunk.features) {
        if (feature.hash != of_f.features[0].hash) continue;
        ++found;
        CHECK(feature.value == value);
      }
      CHECK(found == (value != 0.0f));  // nothing is learned of those
    }
  }
}

TEST_CASE("A request in JSON is answered as the line with its values", "[daemon]") {
  const files::TempFolder folder;
  train::TrainRun run{spec::Spec{}};
  run.learn(model::random_lines(400, train::usual_shape(), 5));
  modelfile::save_model(run.model, folder / "model");
  House house({}, 1 << 20, {"one=" + folder / "model"});
  std::string before;
  for (const char* const number : {"2", "-2", "-3", "3", "0", "-1.5", "25e-1", "-25e-1"}) {
    const std::string line =
        house.posted("text/plain", std::string("|A f1:") + number + " |B f2\n");
    CHECK(line != before);  // or another value could be read and nobody would see
    before = line;
    const std::string value = std::string(R"({"f1":)") + number + "}";
    for (const std::string& body : {R"({"candidates":[{"A":)" + value + R"(,"B":["f2"]}]})",
                                    R"({"candidates":[{"A":[)" + value + R"(],"B":"f2"}]})"}) {
      INFO(body);
      const std::string json = house.posted("application/json", body);
      CHECK(json.find("\"predictions\":[" + line.substr(0, line.size() - 1) + "]") !=
            std::string::npos);
    }
    // A context's values come first to the sums, whose last digit may be another.
    const std::string with_context = house.posted(
        "application/json", R"({"context":{"A":)" + value + R"(},"candidates":[{"B":["f2"]}]})");
    const std::size_t at = with_context.find("\"predictions\":[");
    REQUIRE(at != std::string::npos);
    CHECK(std::abs(std::atof(with_context.c_str() + at + 15) - std::atof(line.c_str())) < 3e-6);
  }
}

}  // namespace
}  // namespace leveret::daemon
