/// A model, a learner and the namespaces of one run of `train`, fed with text.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "files/temp_folder.h"
#include "kernels/dispatch.h"
#include "model/random_lines.h"
#include "model/specs_to_test.h"
#include "modelfile/model_io.h"
#include "predict/predictor.h"
#include "text/parser.h"
#include "train/learner.h"

namespace leveret::train {

using model::NamedSpec;
using model::reading_numbers;
using model::specs_to_test;
using model::together;
using modelfile::load_model;
using modelfile::save_model;

/// Enough for every test; small enough for the sanitizers' addresses.
inline constexpr std::uint64_t kTestMemory = std::uint64_t{256} << 20;

inline text::ExampleChunk parse(text::NamespaceNames& names, std::string_view lines,
                                const text::ParserOptions& options = {}) {
  text::ExampleChunk chunk;
  chunk.bytes = lines;
  text::Parser(names, options).parse(chunk);
  for (const text::BadLine& bad : chunk.bad) FAIL("line " << bad.line << ": " << bad.what);
  return chunk;
}

/// Lines [first, first + count).
inline std::string cut(const std::string& lines, std::size_t first, std::size_t count) {
  const auto start_of = [&](std::size_t line) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < line && at < lines.size(); ++i) at = lines.find('\n', at) + 1;
    return at;
  };
  return lines.substr(start_of(first), start_of(first + count) - start_of(first));
}

inline model::LineShape usual_shape() {
  model::LineShape shape;
  shape.fields = 8;
  shape.vocabulary = 30;
  return shape;
}

class TrainRun {
 public:
  explicit TrainRun(const spec::Spec& spec, std::uint64_t memory = kTestMemory)
      : TrainRun(model::Model(spec, memory)) {}
  explicit TrainRun(model::Model model)
      : model(std::move(model)), learner_(this->model, names, kernels::active()) {}

  /// `step` examples per call of the learner, each call with a chunk of its own.
  void learn(const std::string& lines, std::size_t step = 1000000) {
    const std::size_t total =
        static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
    for (std::size_t first = 0; first < total; first += step) {
      const text::ExampleChunk chunk = parse(cut(lines, first, step));
      learner_.learn(chunk, 0, chunk.examples.size(), outcomes);
    }
    learner_.finish(outcomes);
  }

  text::ExampleChunk parse(std::string_view lines) {
    return train::parse(names, lines, model::reading_numbers(model.spec()));
  }

  std::vector<float> predict(const std::string& lines) {
    const text::ExampleChunk chunk = parse(lines);
    Outcomes predicted;
    predict::Predictor(shared(), names, kernels::active())
        .predict(chunk, 0, chunk.examples.size(), predicted);
    return probabilities(predicted);
  }

  std::vector<std::byte> saved() const {
    const files::TempFolder folder;
    save_model(model, folder / "model");
    return files::read_bytes(folder / "model");
  }

  /// For predictors that live no longer than the run.
  std::shared_ptr<const model::Model> shared() const {
    return {std::shared_ptr<const void>(), &model};
  }

  static std::vector<float> probabilities(const Outcomes& outcomes) {
    std::vector<float> all;
    for (const Outcome& outcome : outcomes.items) all.push_back(outcome.probability);
    return all;
  }
  std::vector<float> probabilities() const { return probabilities(outcomes); }

  text::NamespaceNames names;
  model::Model model;
  Outcomes outcomes;

 private:
  Learner learner_;
};

}  // namespace leveret::train
