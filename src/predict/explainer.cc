#include "predict/explainer.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <string_view>
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

/// Sums differ by less where features that say nothing stand between others.
constexpr float kRounding = 1e-6f;

}  // namespace

Explainer::Explainer(const std::shared_ptr<const model::Model>& model,
                     const text::NamespaceNames& names, const kernels::Kernels& kernels)
    : predictor_(model, names, kernels), names_(names) {
  for (const feature::NamespacePlan& plan : model->features().plans()) known_.insert(plan.name);
}

bool Explainer::is_known(std::uint32_t name) const { return known_.contains(names_.name(name)); }

void Explainer::begin_marks() { ++now_; }

/// Whether it was not marked yet. The run of its number goes with a namespace.
bool Explainer::mark(std::uint32_t name) {
  if (name >= marks_.size()) marks_.resize(name + std::size_t{1});
  const auto number = number_runs_.find(name);
  if (number != number_runs_.end()) {
    if (number->second >= marks_.size()) marks_.resize(number->second + std::size_t{1});
    marks_[number->second] = now_;
  }
  return std::exchange(marks_[name], now_) != now_;
}

/// Fills number_runs_ with those of the line.
void Explainer::find_number_runs(const text::ExampleChunk& chunk, const text::Example& example) {
  number_runs_.clear();
  std::unordered_map<std::string_view, std::uint32_t> spaces;
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    const std::uint32_t name = chunk.runs[r].name;
    const std::string_view text = names_.name(name);
    if (!text.starts_with('|')) {
      spaces.emplace(text, name);
    } else if (const auto space = spaces.find(text.substr(1)); space != spaces.end()) {
      number_runs_.emplace(space->second, name);  // it comes behind its namespace
    }
  }
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
  scored_ += lines_.features.size() + lines_.runs.size();
  predictor_.predict(lines_, 0, lines_.examples.size(), outcomes_);
  for (const Outcome& outcome : outcomes_.items) scores_.push_back(outcome.score);
  lines_.clear();
}

/// With the parts of the line, which contribute nothing yet.
Explanation Explainer::begin(const text::ExampleChunk& chunk, const text::Example& example) {
  Explanation explanation;
  find_number_runs(chunk, example);
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
  find_idle(chunk, example, explanation);
  return explanation;
}

/// The score of the line without those that are marked.
float Explainer::score_without_marked(const text::ExampleChunk& chunk,
                                      const text::Example& example) {
  scores_.clear();
  add_part(chunk, example, [&](std::uint32_t name) { return !is_marked(name); });
  score_parts();
  return scores_[0];
}

/// Fills at_work_. Features of a namespace that was not learned are in no table, as a rule: then
/// the line says the same without it, and so does each part of it. A hashed table may have
/// something in their slots. Halves are left out, then halves of those that change the score, so
/// that thousands of strangers cost a prediction or two.
void Explainer::find_idle(const text::ExampleChunk& chunk, const text::Example& example,
                          const Explanation& of) {
  const auto is_same = [&](float score) {
    return std::fabs(score - of.score) <= kRounding * (1 + std::fabs(of.score));
  };
  std::vector<std::size_t> strangers, idle;
  for (std::size_t i = 0; i < of.parts.size(); ++i) {
    if (!is_known(of.parts[i].name)) strangers.push_back(i);
  }
  std::vector<std::span<const std::size_t>> waiting;
  if (!strangers.empty()) waiting.emplace_back(strangers);
  while (!waiting.empty()) {
    const std::span<const std::size_t> some = waiting.back();
    waiting.pop_back();
    begin_marks();
    for (const std::size_t i : some) mark(of.parts[i].name);
    const std::size_t half = some.size() / 2;
    if (is_same(score_without_marked(chunk, example))) {
      idle.insert(idle.end(), some.begin(), some.end());
    } else if (half > 0) {
      waiting.push_back(some.subspan(half));
      waiting.push_back(some.first(half));
    }
  }
  // Each may say nothing alone, and all together something: that they are many.
  begin_marks();
  for (const std::size_t i : idle) mark(of.parts[i].name);
  if (!idle.empty() && !is_same(score_without_marked(chunk, example))) begin_marks();
  at_work_.clear();
  for (std::size_t i = 0; i < of.parts.size(); ++i) {
    if (!is_marked(of.parts[i].name)) at_work_.push_back(i);
  }
}

Explanation Explainer::explain(const text::ExampleChunk& chunk, std::size_t example,
                               std::size_t orders) {
  const text::Example& of = chunk.examples[example];
  Explanation explanation = begin(chunk, of);
  std::vector<std::size_t> order = at_work_;
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
  for (const std::size_t i : at_work_) {
    const std::uint32_t left_out = explanation.parts[i].name;
    add_part(chunk, of, [&](std::uint32_t name) { return name != left_out; });
  }
  score_parts();
  for (std::size_t i = 0; i < at_work_.size(); ++i) {
    explanation.parts[at_work_[i]].contribution = explanation.score - scores_[i];
  }
  return explanation;
}

}  // namespace leveret::predict
