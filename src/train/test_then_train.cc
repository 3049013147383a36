#include "train/test_then_train.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "predict/parts.h"

namespace leveret::train {
namespace {

/// Features of a chunk of what waits, some megabytes: one chunk of all would be copied as it grows.
constexpr std::size_t kChunkFeatures = std::size_t{1} << 18;
/// Outcome::tag_begin has 32 bits, and those of a window are handed out with others.
constexpr std::size_t kMostTags = std::size_t{1} << 31;

void keep(const text::ExampleChunk& from, std::size_t example,
          std::vector<text::ExampleChunk>& kept) {
  if (kept.empty() || kept.back().features.size() >= kChunkFeatures) kept.emplace_back();
  predict::append_whole(from, from.examples[example], kept.back());
  text::Example& added = kept.back().examples.back();
  added.tag_begin = added.tag_size = 0;  // its bytes are not kept
}

}  // namespace

TestThenTrain::TestThenTrain(SerialLearner& learner, std::shared_ptr<const model::Model> model,
                             const text::NamespaceNames& names, const kernels::Kernels& kernels,
                             std::size_t window)
    : learner_(learner),
      model_(std::move(model)),
      names_(names),
      kernels_(kernels),
      window_(window) {}

void TestThenTrain::learn(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
                          predict::Outcomes& outcomes) {
  for (const std::size_t end = first + count; first < end;) {
    const std::size_t taken = std::min(end - first, until_none_waits());
    test(chunk, first, taken);
    for (std::size_t i = first; i < first + taken; ++i) keep(chunk, i, waiting_);
    first += taken;
    if (tested_.items.size() == window_) learn_window(outcomes);
  }
}

void TestThenTrain::finish(predict::Outcomes& outcomes) { learn_window(outcomes); }

void TestThenTrain::test(const text::ExampleChunk& chunk, std::size_t first, std::size_t count) {
  if (!predictor_) predictor_.emplace(model_, names_, kernels_);
  predictor_->predict(chunk, first, count, tested_);
  if (tested_.tags.size() > kMostTags) {
    throw std::runtime_error("the tags of a window of --test_then_train have more than 2 GiB");
  }
}

void TestThenTrain::learn_window(predict::Outcomes& outcomes) {
  predictor_.reset();  // the next window's model has other rows and namespaces
  for (const text::ExampleChunk& chunk : waiting_) {
    learner_.learn(chunk, 0, chunk.examples.size(), learned_);
    learned_.clear();
  }
  learner_.finish(learned_);
  learned_.clear();
  waiting_.clear();
  for (std::size_t i = 0; i < tested_.items.size(); ++i) outcomes.append(tested_, i);
  tested_.clear();
}

}  // namespace leveret::train
