// The model in tests/golden says for ever what it said when it was made. To make the files of a new
// version: LEVERET_GOLDEN_OUT=tests/golden/model-v2 test_train "[.golden]".
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <utility>

#include "golden_path.h"
#include "train_run.h"

namespace leveret::train {
namespace {

model::LineShape golden_shape() {
  model::LineShape shape;
  shape.fields = 2;
  shape.repeats = true;
  return shape;
}

/// Small: every section takes a page. Of mixed heads, as these have all kinds of sections but that
/// of -b, and with slots that are filled up.
spec::Spec golden_spec() {
  spec::Spec spec;
  spec.ffm_k = 3;
  spec.hidden = {4};
  spec.features.interactions = {{"A", "B"}};
  return spec;
}

TEST_CASE("the model of version 1 predicts what it predicted, and learns on") {
  for (const auto& [use, by] : {std::pair(model::Use::kPredict, modelfile::LoadBy::kMapping),
                                std::pair(model::Use::kPredict, modelfile::LoadBy::kReading),
                                std::pair(model::Use::kLearn, modelfile::LoadBy::kReading)}) {
    TrainRun run(load_model(golden_path("model-v1.lvt"), kTestMemory, use, by));
    CHECK(run.model.parameters().scalars.examples == 200);
    CHECK(run.model.tables().fields() == 2);
    std::ifstream in(golden_path("model-v1.txt"));
    std::string lines, line;
    std::vector<double> expected;
    while (std::getline(in, line)) {
      const std::size_t tab = line.find('\t');
      expected.push_back(std::stod(line.substr(0, tab)));
      lines += line.substr(tab + 1) + '\n';
    }
    REQUIRE(expected.size() == 30);
    const std::vector<float> predicted = run.predict(lines);
    REQUIRE(predicted.size() == 30);
    for (std::size_t i = 0; i < 30; ++i) {
      INFO("line " << i + 1);
      CHECK(predicted[i] == Approx(expected[i]).epsilon(1e-5));
    }
    if (use == model::Use::kPredict) continue;
    CHECK(run.saved() == files::read_bytes(golden_path("model-v1.lvt")));
    run.learn(lines);
    CHECK(run.model.parameters().scalars.examples == 230);
  }
}

TEST_CASE("write a golden model", "[.golden]") {
  const char* out = ::getenv("LEVERET_GOLDEN_OUT");
  REQUIRE(out != nullptr);
  TrainRun run(golden_spec());
  run.learn(model::random_lines(200, golden_shape(), 1));
  save_model(run.model, std::string(out) + ".lvt");
  const std::string lines = model::random_lines(29, golden_shape(), 2) + "1 |A new |C c\n";
  const std::vector<float> predicted = run.predict(lines);
  std::ofstream text(std::string(out) + ".txt");
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    char number[32];
    std::snprintf(number, sizeof number, "%.8f", static_cast<double>(predicted[i]));
    text << number << '\t' << cut(lines, i, 1);
  }
}

}  // namespace
}  // namespace leveret::train
