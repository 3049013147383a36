// Numbers of JSON, in each form that the grammar has and at each place where one may stand: the
// line that is made of a request has the values that were sent.
#include "daemon/json_request.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "daemon/house.h"
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

TEST_CASE("A number of JSON is the value that it is in a line", "[daemon]") {
  const std::vector<std::string> all = numbers();
  REQUIRE(all.size() == 256);
  for (const std::string& number : all) {
    for (const std::string& body : values_at_each_place(number)) {
      INFO(body);
      const JsonRequest request = read_json_request(body);
      text::NamespaceNames names;
      const text::ExampleChunk chunk =
          train::parse(names, (request.has_context ? request.context + '\n' : request.candidates));
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
