// The models in tests/golden say for ever what they said when they were made. To make the files of
// a new version: LEVERET_GOLDEN_OUT=tests/golden/model-v2 test_train "[.golden]".
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>

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

/// Small: every section takes a page.
model::Spec golden_spec() {
  model::Spec spec;
  spec.heads = model::Heads::kOne;
  spec.ffm_k = 3;
  spec.hidden = {4};
  spec.features.interactions = {{"A", "B"}};
  return spec;
}

TEST_CASE("models of version 1 predict what they predicted, and learn on") {
  // The first is older than --ffm_precision: its weights are floats. Those of the second are
  // halves, which are read as fixed-point numbers near them. The last two have accumulators of 16
  // bits, the last also row words, as its linear table grows and it has one head.
  const auto [name, precision, near] =
      GENERATE(table<std::string, std::uint32_t, double>({{"model-v1", 32, 1e-5},
                                                          {"model-v1-halves", 16, 5e-4},
                                                          {"model-v1-fixed", 16, 1e-5},
                                                          {"model-v1-short-sums", 16, 1e-5},
                                                          {"model-v1-row-words", 16, 1e-5}}));
  INFO(name);
  TrainRun run(load_model(golden_path(name + ".lvt"), kTestMemory));
  CHECK(run.model.spec().ffm_precision == precision);
  CHECK(run.model.scalars().examples == 200);
  CHECK(run.model.fields().size() == 2);
  std::ifstream in(golden_path(name + ".txt"));
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
    CHECK(predicted[i] == Approx(expected[i]).epsilon(near));
  }
  run.learn(lines);
  CHECK(run.model.scalars().examples == 230);
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
