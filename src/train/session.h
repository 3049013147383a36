/// Learning from a stream: chunks come in, a learner, or threads, learn from them, outcomes go out.
/// Prints nothing and opens no file; what it tells goes to SessionEvents.
///
///     source → chunk → [parse] → learn → outcomes → events
///
/// A session can be stopped (by its source), saved, and gone on with behind any chunk: see
/// position(). Several sessions may learn from the chunks of one source, by learn(chunk).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "kernels/kernels.h"
#include "model/model.h"
#include "predict/outcome.h"
#include "predict/predictor.h"
#include "stream/example_source.h"
#include "text/namespace_names.h"
#include "text/parser.h"
#include "train/input_position.h"
#include "train/learner.h"
#include "train/serial_learner.h"
#include "train/test_then_train.h"
#include "train/text_walk.h"

namespace leveret::train {

/// The events of a session as it goes on: one call at a time, but for room_for. What they throw
/// ends the session's run.
class SessionEvents {
 public:
  virtual ~SessionEvents() = default;
  /// A parsed chunk, before any outcome of its examples. Those on lines up to number `behind` were
  /// learned before (SessionOptions::start), and have no outcomes; 0: all have.
  virtual void chunk(const text::ExampleChunk& chunk, std::uint64_t behind, unsigned thread) = 0;
  /// In the order of the examples that the thread took; cleared afterwards. `held_out`: they were
  /// predicted, and not learned from.
  virtual void outcomes(Outcomes& outcomes, bool held_out, unsigned thread) = 0;
  /// Where there are several threads, one has this chunk, and asks whether it may go on. May wait;
  /// any thread.
  virtual void room_for(const text::ExampleChunk& chunk, unsigned thread) = 0;
  /// Nobody waits any more: the source has ended, or a thread has failed. Any thread.
  virtual void end_waiting() = 0;
  /// Whether learning is to stand still soon, for pause(). Any thread.
  virtual bool wants_pause() { return false; }
  /// Nothing is learned while this runs: the model, with Session::position(), is what a run can go
  /// on with. Called behind a chunk, by the thread that called the session.
  virtual void pause() {}
  /// A source has ended (ExampleChunk::ends_source), and all of it is learned. As pause().
  virtual void ended(std::uint32_t) {}
  /// The source was stopped: what waits for the rest of its batch stays unlearned, so that a run
  /// that goes on at position() is as one that was not stopped.
  virtual bool leaves_rest() { return false; }
};

struct SessionOptions {
  unsigned threads = 1;
  bool pin = false;  ///< thread i on the i-th processor
  /// So many examples are learned from, those behind them predicted; 0: all are learned from. With
  /// one thread.
  std::uint64_t holdout_after = 0;
  /// Windows of so many examples are tested before they are learned (TestThenTrain); 0: each
  /// example by itself, or batch by batch. With one thread that learns into a whole model.
  std::size_t test_then_train = 0;
  /// Examples of its pass before this are passed over, as they have been learned: a checksum of
  /// them tells whether they are those. With it positions are known, for which an InputPosition{}
  /// begins at the front. With several threads, learn_in_threads() of text that is not parsed.
  std::optional<InputPosition> start;
  /// Several threads: they pause where a source ends, for SessionEvents::ended.
  bool pauses_at_ends = false;
};

/// One thread calls it.
class Session {
 public:
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Learns into `model`, in one thread or several. `names` are those of the parsers whose chunks
  /// will come; all outlive the session.
  Session(std::shared_ptr<model::Model> model, text::NamespaceNames& names,
          const kernels::Kernels& kernels, SessionOptions options);
  /// Learns by `learner`, in this thread. `whole` gives the model, and ends the learning.
  Session(SerialLearner& learner, std::function<std::shared_ptr<model::Model>()> whole,
          text::NamespaceNames& names, const kernels::Kernels& kernels, SessionOptions options);

  /// The next chunk of a pass.
  void learn(const text::ExampleChunk& chunk, SessionEvents& events);
  /// Behind the last chunk of a pass: learns from the examples that wait.
  void finish(SessionEvents& events);
  /// To be called behind an input that has ended, and was not stopped: std::runtime_error where
  /// that was before SessionOptions::start.
  void check_end() const {
    if (walk_) walk_->check_end();
    if (text_walk_) text_walk_->check_end();
  }
  /// All of a source, or what there is until it is stopped; then finish().
  void learn_all(stream::ExampleSource& source, SessionEvents& events);
  /// The same in SessionOptions::threads. `parser`: chunks of the source are to be parsed.
  void learn_in_threads(stream::ExampleSource& source,
                        const std::optional<text::ParserOptions>& parser, SessionEvents& events);
  /// A further pass over the input begins.
  void begin_pass();

  /// Up to where the pass is learned: a session with this as its start, and the model of this
  /// moment, goes on exactly. Examples that wait for the rest of their batch are not before it.
  /// Nothing without SessionOptions::start, and before that is reached.
  std::optional<InputPosition> position() const;

  /// All of what has been learned. With a SerialLearner that was given nothing can be learned
  /// afterwards.
  const std::shared_ptr<model::Model>& model() {
    if (!model_) model_ = whole_();
    return model_;
  }

 private:
  void learn_some(const text::ExampleChunk& chunk, std::size_t first, std::size_t end);
  void settle();
  void hold_out(const text::ExampleChunk& chunk, std::size_t first, SessionEvents& events);
  void begin();
  void give(SessionEvents& events, bool held_out = false);

  const SessionOptions options_;
  text::NamespaceNames& names_;
  const kernels::Kernels& kernels_;
  std::shared_ptr<model::Model> model_;  ///< null until `whole_` has given it
  std::function<std::shared_ptr<model::Model>()> whole_;
  std::optional<Learner> own_;
  std::optional<TestThenTrain> windows_;  ///< around own_
  SerialLearner* learner_;
  std::optional<InputWalk> walk_;
  std::optional<TextWalk> text_walk_;     ///< in place of walk_, of several threads
  std::optional<InputPosition> settled_;  ///< where no example waited last
  std::uint32_t pass_ = 0;
  std::optional<predict::Predictor> predictor_;  ///< for what is held out
  Outcomes outcomes_;
  std::uint64_t learned_ = 0;  ///< with those passed over
};

}  // namespace leveret::train
