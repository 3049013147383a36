/// The lines that `predict` and `train -p` write: one for every line that came, in the order of the
/// input. An example's is its prediction ("0.123456", then " tag" if it has one), a blank line's is
/// empty, a bad one's is "nan".
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "predict/outcome.h"
#include "text/example.h"

namespace leveret::train {

using predict::LineAnswer;
using predict::Outcome;
using predict::Outcomes;

/// The answers of one pass over a stream. Outcomes may come later than their chunk (batches), and
/// chunks from several threads in any order; what is ahead of its turn is kept. All functions may
/// be called by several threads, those with a number by the thread of that number alone.
class Answers {
 public:
  /// Far more than threads of one speed are ever apart: about a million usual lines.
  static constexpr std::size_t kMaxAhead = 16 << 20;

  /// The form in which predictions are written.
  enum class Number { kProbability, kScore };

  explicit Answers(unsigned threads = 1, std::size_t max_ahead = kMaxAhead,
                   Number number = Number::kProbability)
      : max_ahead_(max_ahead), number_(number), unanswered_(threads) {}

  /// A parsed chunk, before any outcome of its examples. `thread` will learn from it.
  void expect(const text::ExampleChunk& chunk, unsigned thread = 0);
  /// The same, with answers other than the usual ones. As many of `lines` are to be scored as
  /// outcomes will be added.
  void expect(const text::ExampleChunk& chunk, std::vector<LineAnswer> lines, unsigned thread = 0);
  /// The same, with no answers to lines up to number `behind`.
  void expect_behind(std::uint64_t behind, const text::ExampleChunk& chunk);
  /// Outcomes of the examples that `thread` expects, in their order.
  void add(const Outcomes& outcomes, unsigned thread = 0);
  /// Appends to `to` what may be written now: each answer follows those of all lines before it.
  void take(std::string& to);

  /// Waits while more than `max_ahead` bytes are kept that wait for other threads; to be called
  /// with each chunk that a thread has got, before it works on it. So memory has a bound, if a
  /// thread is stopped for minutes, too. It ends, as the thread whose turn it is never waits here:
  /// the source hands out no chunk before one that is earlier in the stream, so some thread has
  /// that one. Where a source was stopped it may have none: then stop() ends the waiting.
  void wait_for_room(const text::ExampleChunk& chunk, unsigned thread);
  /// Nobody waits any more: a thread has failed, or the source has no more chunks.
  void stop();

 private:
  using Place = std::pair<std::uint64_t, std::uint32_t>;  ///< block and part

  struct Chunk {
    std::vector<LineAnswer> lines;
    std::size_t at = 0;  ///< those before are answered
    std::string text;    ///< answers not taken yet
    bool last = true;    ///< of its block
    unsigned thread = 0;

    bool answered() const { return at == lines.size(); }
    void answer_unscored();
    std::size_t size() const { return lines.size() + text.size(); }
  };

  const std::size_t max_ahead_;
  const Number number_;
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable taken_;
  std::map<Place, Chunk> chunks_;
  std::vector<std::deque<Chunk*>> unanswered_;  ///< of each thread, in its order
  Place next_{0, 0};                            ///< what is before it was taken
  std::size_t kept_ = 0;                        ///< bytes of chunks_
  bool stopped_ = false;
};

}  // namespace leveret::train
