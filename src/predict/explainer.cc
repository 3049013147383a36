#include "predict/explainer.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "predict/parts.h"

namespace leveret::predict {
namespace {

/// Fisher and Yates; std::shuffle differs between libraries.
void shuffle(std::vector<std::size_t>& order, std::mt19937& random) {
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
}

/// Appends the part of a line that wanted(name) wants; without its tag, whose bytes are elsewhere.
template <class Wanted>
void append_untagged(const text::ExampleChunk& chunk, const text::Example& example,
                     text::ExampleChunk& to, const Wanted& wanted) {
  append_part(chunk, example, to, wanted);
  to.examples.back().tag_begin = to.examples.back().tag_size = 0;
}

}  // namespace

/// With the parts of the line, which contribute nothing yet.
Explanation Explainer::begin(const text::ExampleChunk& chunk, const text::Example& example) {
  Explanation explanation;
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    const std::uint32_t name = chunk.runs[r].name;
    if (std::ranges::find(explanation.parts, name, &Explanation::Part::name) ==
        explanation.parts.end()) {
      explanation.parts.push_back({name, 0});
    }
  }
  lines_.clear();
  outcomes_.clear();
  append_untagged(chunk, example, lines_, [](std::uint32_t) { return false; });
  append_untagged(chunk, example, lines_, [](std::uint32_t) { return true; });
  predictor_.predict(lines_, 0, 2, outcomes_);
  explanation.base = outcomes_.items[0].score;
  explanation.score = outcomes_.items[1].score;
  return explanation;
}

Explanation Explainer::explain(const text::ExampleChunk& chunk, std::size_t example,
                               std::size_t orders) {
  const text::Example& of = chunk.examples[example];
  Explanation explanation = begin(chunk, of);
  std::vector<std::size_t> order(explanation.parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random;
  for (std::size_t i = 0; i < orders; ++i) {
    shuffle(order, random);
    add_order(chunk, of, order, explanation);
    std::ranges::reverse(order);
    add_order(chunk, of, order, explanation);
  }
  for (Explanation::Part& part : explanation.parts) {
    part.contribution /= static_cast<float>(2 * orders);
  }
  return explanation;
}

/// Adds what each part adds when it joins those before it.
void Explainer::add_order(const text::ExampleChunk& chunk, const text::Example& example,
                          const std::vector<std::size_t>& order, Explanation& to) {
  lines_.clear();
  outcomes_.clear();
  std::vector<std::uint32_t> joined;
  for (const std::size_t part : order) {
    joined.push_back(to.parts[part].name);
    append_untagged(chunk, example, lines_, [&](std::uint32_t name) {
      return std::ranges::find(joined, name) != joined.end();
    });
  }
  predictor_.predict(lines_, 0, lines_.examples.size(), outcomes_);
  float before = to.base;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const float score = outcomes_.items[i].score;
    to.parts[order[i]].contribution += score - before;
    before = score;
  }
}

Explanation Explainer::leave_out(const text::ExampleChunk& chunk, std::size_t example) {
  const text::Example& of = chunk.examples[example];
  Explanation explanation = begin(chunk, of);
  lines_.clear();
  outcomes_.clear();
  for (const Explanation::Part& part : explanation.parts) {
    append_untagged(chunk, of, lines_, [&](std::uint32_t name) { return name != part.name; });
  }
  predictor_.predict(lines_, 0, lines_.examples.size(), outcomes_);
  for (std::size_t i = 0; i < explanation.parts.size(); ++i) {
    explanation.parts[i].contribution = explanation.score - outcomes_.items[i].score;
  }
  return explanation;
}

}  // namespace leveret::predict
