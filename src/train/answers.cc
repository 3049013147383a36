#include "train/answers.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "predict/prediction_text.h"

namespace leveret::train {

/// Up to the next line that waits for its outcome.
void Answers::Chunk::answer_unscored() {
  for (; at < lines.size() && lines[at] != LineAnswer::kScored; ++at) {
    predict::append_unscored(text, lines[at]);
  }
}

void Answers::expect(const text::ExampleChunk& chunk, unsigned thread) {
  expect(chunk, predict::answers_of(chunk), thread);
}

void Answers::expect(const text::ExampleChunk& chunk, std::vector<LineAnswer> lines,
                     unsigned thread) {
  const std::lock_guard lock(mutex_);
  Chunk& expected = chunks_[{chunk.place.block, chunk.place.part}];
  expected.lines = std::move(lines);
  expected.last = chunk.place.last;
  expected.thread = thread;
  expected.answer_unscored();
  kept_ += expected.size();
  if (!expected.answered()) unanswered_[thread].push_back(&expected);
}

void Answers::expect_behind(std::uint64_t behind, const text::ExampleChunk& chunk) {
  std::vector<LineAnswer> lines = predict::answers_of(chunk);
  const std::uint64_t before = behind + 1 > chunk.first_line ? behind + 1 - chunk.first_line : 0;
  std::fill_n(lines.begin(), std::min<std::uint64_t>(before, lines.size()), LineAnswer::kNone);
  expect(chunk, std::move(lines));
}

void Answers::add(const Outcomes& outcomes, unsigned thread) {
  const std::lock_guard lock(mutex_);
  std::deque<Chunk*>& expected = unanswered_[thread];
  for (const Outcome& outcome : outcomes.items) {
    assert(!expected.empty());
    Chunk& chunk = *expected.front();
    const std::size_t before = chunk.size();
    predict::append_prediction(chunk.text,
                               number_ == Number::kScore ? outcome.score : outcome.probability,
                               outcomes.tag(outcome));
    ++chunk.at;
    chunk.answer_unscored();
    kept_ += chunk.size() - before;
    if (chunk.answered()) expected.pop_front();
  }
}

void Answers::take(std::string& to) {
  const std::lock_guard lock(mutex_);
  while (!chunks_.empty() && chunks_.begin()->first == next_) {
    Chunk& chunk = chunks_.begin()->second;
    to += chunk.text;
    kept_ -= chunk.text.size();
    chunk.text.clear();
    if (!chunk.answered()) break;
    kept_ -= chunk.lines.size();
    next_ = chunk.last ? Place{next_.first + 1, 0} : Place{next_.first, next_.second + 1};
    chunks_.erase(chunks_.begin());
  }
  taken_.notify_all();
}

void Answers::wait_for_room(const text::ExampleChunk& chunk, unsigned thread) {
  const Place place{chunk.place.block, chunk.place.part};
  std::unique_lock lock(mutex_);
  taken_.wait(lock, [&] {
    const auto first = chunks_.begin();
    const bool turn = place == next_ || (first != chunks_.end() && first->first == next_ &&
                                         first->second.thread == thread);
    return turn || stopped_ || kept_ <= max_ahead_;
  });
}

void Answers::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  taken_.notify_all();
}

}  // namespace leveret::train
