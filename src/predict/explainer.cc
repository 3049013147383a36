#include "predict/explainer.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "predict/parts.h"

namespace leveret::predict {
namespace {

/// Fisher and Yates; std::shuffle differs between libraries.
void shuffle(std::vector<std::size_t>& order, std::mt19937& random) {
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
}

/// Features of parts that are made before they are scored: a line may have many namespaces.
constexpr std::size_t kWait = 1u << 16;

}  // namespace

void Explainer::begin_marks() { ++now_; }

/// Whether it was not marked yet.
bool Explainer::mark(std::uint32_t name) {
  if (name >= marks_.size()) marks_.resize(name + std::size_t{1});
  return std::exchange(marks_[name], now_) != now_;
}

bool Explainer::is_marked(std::uint32_t name) const {
  return name < marks_.size() && marks_[name] == now_;
}

/// The part of a line that wanted(name) wants; without its tag, whose bytes are elsewhere.
template <class Wanted>
void Explainer::add_part(const text::ExampleChunk& chunk, const text::Example& example,
                         const Wanted& wanted) {
  append_part(chunk, example, lines_, wanted);
  lines_.examples.back().tag_begin = lines_.examples.back().tag_size = 0;
  if (lines_.features.size() + lines_.runs.size() >= kWait) score_parts();
}

/// Appends to scores_.
void Explainer::score_parts() {
  outcomes_.clear();
  predictor_.predict(lines_, 0, lines_.examples.size(), outcomes_);
  for (const Outcome& outcome : outcomes_.items) scores_.push_back(outcome.score);
  lines_.clear();
}

/// With the parts of the line, which contribute nothing yet.
Explanation Explainer::begin(const text::ExampleChunk& chunk, const text::Example& example) {
  Explanation explanation;
  begin_marks();
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    const std::uint32_t name = chunk.runs[r].name;
    if (mark(name)) explanation.parts.push_back({name, 0});
  }
  lines_.clear();
  scores_.clear();
  add_part(chunk, example, [](std::uint32_t) { return false; });
  add_part(chunk, example, [](std::uint32_t) { return true; });
  score_parts();
  explanation.base = scores_[0];
  explanation.score = scores_[1];
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
  scores_.clear();
  begin_marks();
  for (const std::size_t part : order) {
    mark(to.parts[part].name);
    add_part(chunk, example, [&](std::uint32_t name) { return is_marked(name); });
  }
  score_parts();
  float before = to.base;
  for (std::size_t i = 0; i < order.size(); ++i) {
    to.parts[order[i]].contribution += scores_[i] - before;
    before = scores_[i];
  }
}

Explanation Explainer::leave_out(const text::ExampleChunk& chunk, std::size_t example) {
  const text::Example& of = chunk.examples[example];
  Explanation explanation = begin(chunk, of);
  scores_.clear();
  for (const Explanation::Part& part : explanation.parts) {
    add_part(chunk, of, [&](std::uint32_t name) { return name != part.name; });
  }
  score_parts();
  for (std::size_t i = 0; i < explanation.parts.size(); ++i) {
    explanation.parts[i].contribution = explanation.score - scores_[i];
  }
  return explanation;
}

}  // namespace leveret::predict
