#include "train/session.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "train/hogwild.h"

namespace leveret::train {

Session::Session(std::shared_ptr<model::Model> model, text::NamespaceNames& names,
                 const kernels::Kernels& kernels, SessionOptions options)
    : options_(std::move(options)), names_(names), kernels_(kernels), model_(std::move(model)) {
  own_.emplace(*model_, names_, kernels_);
  learner_ = &*own_;
  begin();
}

Session::Session(SerialLearner& learner, std::function<std::shared_ptr<model::Model>()> whole,
                 text::NamespaceNames& names, const kernels::Kernels& kernels,
                 SessionOptions options)
    : options_(std::move(options)),
      names_(names),
      kernels_(kernels),
      whole_(std::move(whole)),
      learner_(&learner) {
  begin();
}

void Session::begin() {
  assert(options_.threads == 1 || (!options_.start && options_.holdout_after == 0));
  if (!options_.start) return;
  walk_.emplace(*options_.start);
  pass_ = options_.start->pass;
  learned_ = options_.start->examples;
}

void Session::learn(const text::ExampleChunk& chunk, SessionEvents& events) {
  const std::size_t size = chunk.examples.size();
  const std::size_t first = walk_ ? walk_->pass_over(chunk) : 0;
  events.chunk(chunk, walk_ ? walk_->line_behind(chunk, first) : 0, 0);
  std::size_t end = size;
  if (options_.holdout_after > 0) {
    const std::uint64_t left = options_.holdout_after - std::min(learned_, options_.holdout_after);
    end = first + std::min<std::uint64_t>(size - first, left);
  }
  learner_->learn(chunk, first, end - first, outcomes_);
  if (walk_) walk_->add(chunk, first, end - first);
  learned_ += end - first;
  give(events);
  if (end < size) hold_out(chunk, end, events);
}

void Session::hold_out(const text::ExampleChunk& chunk, std::size_t first, SessionEvents& events) {
  learner_->finish(outcomes_);
  give(events);
  if (!predictor_) predictor_.emplace(model(), names_, kernels_);
  predictor_->predict(chunk, first, chunk.examples.size() - first, outcomes_);
  give(events, true);
}

void Session::give(SessionEvents& events, bool held_out) {
  events.outcomes(outcomes_, held_out, 0);
  outcomes_.clear();
}

void Session::finish(SessionEvents& events) {
  learner_->finish(outcomes_);
  give(events);
}

void Session::learn_all(stream::ExampleSource& source, SessionEvents& events) {
  text::ExampleChunk chunk;
  while (source.next(chunk)) learn(chunk, events);
  finish(events);
}

void Session::learn_in_threads(stream::ExampleSource& source,
                               const std::optional<text::ParserOptions>& parser,
                               SessionEvents& events) {
  assert(own_ && !walk_);
  HogwildOptions hogwild;
  hogwild.threads = options_.threads;
  hogwild.pin = options_.pin;
  if (parser) hogwild.parser = *parser;
  const auto next = [&](text::ExampleChunk& chunk, unsigned thread) {
    if (source.next(chunk)) {
      events.room_for(chunk, thread);
      return true;
    }
    // A source that was stopped may have kept the chunk whose turn it is.
    events.end_waiting();
    return false;
  };
  const auto stop = [&] {
    source.stop();
    events.end_waiting();
  };
  Hogwild(*model_, names_, kernels_, hogwild)
      .run(
          next, stop, parser.has_value(),
          [&](const text::ExampleChunk& chunk, unsigned thread) { events.chunk(chunk, 0, thread); },
          [&](Outcomes& outcomes, unsigned thread) { events.outcomes(outcomes, false, thread); });
}

void Session::begin_pass() {
  ++pass_;
  if (!walk_) return;
  InputPosition start;
  start.pass = pass_;
  walk_.emplace(std::move(start));
}

std::optional<InputPosition> Session::position() const {
  if (!walk_ || !walk_->is_at_start() || !learner_->none_waits()) return std::nullopt;
  InputPosition position;
  position.data = options_.start->data;
  position.pass = pass_;
  position.examples = walk_->examples();
  position.checksum = walk_->checksum();
  return position;
}

}  // namespace leveret::train
