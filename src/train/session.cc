#include "train/session.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <mutex>
#include <utility>

#include "train/hogwild.h"

namespace leveret::train {

Session::Session(std::shared_ptr<model::Model> model, text::NamespaceNames& names,
                 const kernels::Kernels& kernels, SessionOptions options)
    : options_(std::move(options)), names_(names), kernels_(kernels), model_(std::move(model)) {
  model_->check_memory(std::max(model_->features().field_count(), 1u), options_.threads);
  own_.emplace(*model_, names_, kernels_);
  learner_ = &*own_;
  // A window of one example is what learning does by itself.
  const bool is_each = options_.test_then_train == 1 && model_->spec().batch_size == 1;
  if (options_.test_then_train > 0 && !is_each) {
    learner_ = &windows_.emplace(*own_, model_, names_, kernels_, options_.test_then_train);
  }
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
  assert(options_.threads == 1 || (options_.holdout_after == 0 && options_.test_then_train == 0));
  assert(own_ || options_.test_then_train == 0);
  if (!options_.start) return;
  pass_ = options_.start->pass;
  learned_ = options_.start->examples;
  if (options_.threads > 1) {
    text_walk_.emplace(*options_.start);
  } else {
    walk_.emplace(*options_.start);
    settle();
  }
}

void Session::learn(const text::ExampleChunk& chunk, SessionEvents& events) {
  const std::size_t size = chunk.examples.size();
  const std::size_t first = walk_ ? walk_->pass_over(chunk) : 0;
  events.chunk(chunk, walk_ ? walk_->line_behind(chunk, first) : 0, 0);
  if (chunk.ends_source) {
    finish(events);
    return events.ended(chunk.source);
  }
  std::size_t end = size;
  if (options_.holdout_after > 0) {
    const std::uint64_t left = options_.holdout_after - std::min(learned_, options_.holdout_after);
    end = first + std::min<std::uint64_t>(size - first, left);
  }
  settle();
  learn_some(chunk, first, end);
  give(events);
  if (end < size) hold_out(chunk, end, events);
  if (events.wants_pause()) events.pause();
}

void Session::learn_some(const text::ExampleChunk& chunk, std::size_t first, std::size_t end) {
  while (first < end) {
    const std::size_t count =
        walk_ ? std::min(end - first, learner_->until_none_waits()) : end - first;
    learner_->learn(chunk, first, count, outcomes_);
    first += count;
    learned_ += count;
    if (!walk_) continue;
    walk_->add(chunk, first - count, count);
    settle();
  }
}

/// Keeps the position where no example waits.
void Session::settle() {
  if (!walk_ || !walk_->is_at_start() || !learner_->none_waits()) return;
  if (settled_ && settled_->examples == walk_->examples() && settled_->pass == pass_) return;
  settled_.emplace();
  settled_->data = options_.start->data;
  settled_->pass = pass_;
  settled_->examples = walk_->examples();
  settled_->checksum = walk_->checksum();
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
  settle();
  give(events);
}

void Session::learn_all(stream::ExampleSource& source, SessionEvents& events) {
  text::ExampleChunk chunk;
  while (source.next(chunk)) learn(chunk, events);
  if (!events.leaves_rest()) finish(events);
}

void Session::learn_in_threads(stream::ExampleSource& source,
                               const std::optional<text::ParserOptions>& parser,
                               SessionEvents& events) {
  assert(own_ && !walk_ && (!text_walk_ || parser));
  HogwildOptions hogwild;
  hogwild.threads = options_.threads;
  hogwild.pin = options_.pin;
  if (parser) hogwild.parser = *parser;
  std::mutex order;  // in which chunks are handed out, where that matters
  std::atomic<bool> pauses{false};
  std::optional<std::uint32_t> ended;  // the source at whose end they pause
  const auto take = [&](text::ExampleChunk& chunk) {
    if (!text_walk_ && !options_.pauses_at_ends) return source.next(chunk);
    const std::lock_guard lock(order);
    if (pauses) return false;
    const bool more = text_walk_ ? text_walk_->next(source, chunk) : source.next(chunk);
    if (more && chunk.ends_source) {
      ended = chunk.source;
      pauses = true;
    }
    return more;
  };
  const auto next = [&](text::ExampleChunk& chunk, unsigned thread) {
    if (!pauses && events.wants_pause()) pauses = true;
    if (pauses) return false;
    if (take(chunk)) {
      events.room_for(chunk, thread);
      return true;
    }
    // A source that was stopped may have kept the chunk whose turn it is.
    if (!pauses) events.end_waiting();
    return false;
  };
  const auto stop = [&] {
    source.stop();
    events.end_waiting();
  };
  for (bool more = true; more; more = pauses.exchange(false)) {
    Hogwild(*model_, names_, kernels_, hogwild)
        .run(
            next, stop, parser.has_value(),
            [&](const text::ExampleChunk& chunk, unsigned thread) {
              events.chunk(chunk, 0, thread);
            },
            [&](Outcomes& outcomes, unsigned thread) { events.outcomes(outcomes, false, thread); });
    if (ended) {
      events.ended(*std::exchange(ended, std::nullopt));
    } else if (pauses) {
      events.pause();
    }
  }
}

void Session::begin_pass() {
  ++pass_;
  InputPosition start;
  start.pass = pass_;
  if (text_walk_) text_walk_.emplace(start);
  if (!walk_) return;
  walk_.emplace(std::move(start));
  settle();
}

std::optional<InputPosition> Session::position() const {
  if (!text_walk_) return settled_;
  if (!text_walk_->is_at_start()) return std::nullopt;
  InputPosition position = text_walk_->position();
  position.data = options_.start->data;
  position.pass = pass_;
  return position;
}

}  // namespace leveret::train
