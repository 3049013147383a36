// One line for every line of the input, in its order, whatever the order in which outcomes come.
#include "train/answers.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <random>
#include <thread>

#include "text/parser.h"

namespace leveret::train {
namespace {

/// Parsed lines at their place in a stream.
text::ExampleChunk chunk_of(const std::string& lines, std::uint64_t block, std::uint32_t part = 0,
                            bool last = true) {
  static text::NamespaceNames names;
  text::ExampleChunk chunk;
  chunk.bytes = lines;
  chunk.first_line = 100 * block + 10 * part + 1;
  chunk.place = {block, part, last};
  text::Parser(names, {}).parse(chunk);
  return chunk;
}

/// Outcomes of examples [first, end), each with the probability 0.5.
Outcomes outcomes_of(const text::ExampleChunk& chunk, std::size_t first, std::size_t end) {
  Outcomes outcomes;
  for (std::size_t i = first; i < end; ++i) outcomes.add(chunk, chunk.examples[i]);
  return outcomes;
}

Outcomes outcomes_of(const text::ExampleChunk& chunk) {
  return outcomes_of(chunk, 0, chunk.examples.size());
}

std::string taken(Answers& answers) {
  std::string text;
  answers.take(text);
  return text;
}

TEST_CASE("a prediction has six decimals, and the tag of its line") {
  Answers answers;
  const text::ExampleChunk chunk = chunk_of("1 'a |n x\n|n y\nnone 'tag |n z\n\r\n'b\n  \n", 0);
  answers.expect(chunk);
  Outcomes outcomes = outcomes_of(chunk);
  outcomes.items[0].probability = 0.25f;
  answers.add(outcomes);
  CHECK(taken(answers) == "0.250000 a\n0.500000\nnan\n\n0.500000 b\n\n");
  CHECK(taken(answers).empty());
}

TEST_CASE("who knows more of the lines says how they are answered, and by which number") {
  Answers answers(1, Answers::kMaxAhead, Answers::Number::kScore);
  const text::ExampleChunk chunk = chunk_of("|n x\n|n y\n\n\nno\n", 0);
  using enum LineAnswer;
  answers.expect(chunk, {kNone, kScored, kEmpty, kNone, kBad});
  Outcomes outcomes = outcomes_of(chunk, 1, 2);
  outcomes.items[0].set_score(-1.5f);
  answers.add(outcomes);
  CHECK(taken(answers) == "-1.500000\n\nnan\n");
}

TEST_CASE("blank and bad lines are answered as soon as it is their turn") {
  Answers answers;
  answers.expect(chunk_of("\n", 0));
  CHECK(taken(answers) == "\n");
  answers.expect(chunk_of("x\n\n", 1));
  CHECK(taken(answers) == "nan\n\n");
  const text::ExampleChunk late = chunk_of("\n|a b\n\n|a c\nx\n", 2);
  answers.expect(late);
  CHECK(taken(answers) == "\n");
  answers.expect(chunk_of("\n", 3));
  CHECK(taken(answers).empty());  // outcomes may come with a later chunk
  answers.add(outcomes_of(late, 0, 1));
  CHECK(taken(answers) == "0.500000\n\n");
  answers.add(outcomes_of(late, 1, 2));
  CHECK(taken(answers) == "0.500000\nnan\n\n");
}

TEST_CASE("chunks without lines, parts and blocks pass their turn on") {
  Answers answers;
  answers.expect(chunk_of("", 0));
  answers.expect(chunk_of("x\n", 2));
  answers.expect(chunk_of("x\n", 1, 1, false));
  answers.expect(chunk_of("", 1, 2, true));
  CHECK(taken(answers).empty());
  answers.expect(chunk_of("\n", 1, 0, false));
  CHECK(taken(answers) == "\nnan\nnan\n");
}

TEST_CASE("whatever threads do, answers come in the order of the input") {
  std::mt19937 random(1);
  for (int run = 0; run < 300; ++run) {
    const unsigned threads = 1 + random() % 4;
    Answers answers(threads);
    std::string expected, all;
    // What each thread has taken, and how many of its outcomes are told.
    std::vector<std::vector<text::ExampleChunk>> taken_by(threads);
    std::vector<std::size_t> told(threads, 0);
    const auto tell = [&](unsigned thread, std::size_t count) {
      Outcomes outcomes;
      std::size_t i = 0;
      for (const text::ExampleChunk& chunk : taken_by[thread]) {
        for (const text::Example& example : chunk.examples) {
          if (i >= told[thread] && i < told[thread] + count) outcomes.add(chunk, example);
          ++i;
        }
      }
      told[thread] += outcomes.items.size();
      answers.add(outcomes, thread);
      answers.take(all);
      CHECK(expected.compare(0, all.size(), all) == 0);
    };
    std::vector<std::pair<text::ExampleChunk, unsigned>> waiting;
    std::uint32_t part = 0;
    for (std::uint64_t block = 0; block < 12;) {
      std::string lines;
      for (std::size_t line = random() % 6; line > 0; --line) {
        const auto kind = random() % 3;
        const std::string tag = "t" + std::to_string(random());
        lines += kind == 0 ? "\n" : kind == 1 ? "x |\n" : "'" + tag + "\n";
        expected += kind == 0 ? "\n" : kind == 1 ? "nan\n" : "0.500000 " + tag + "\n";
      }
      const bool last = random() % 2 == 0;
      waiting.emplace_back(chunk_of(lines, block, part, last), random() % threads);
      part = last ? 0 : part + 1;
      block += last;
    }
    // Chunks are parsed a little out of order; outcomes come when they come.
    while (!waiting.empty()) {
      const std::size_t i = random() % std::min<std::size_t>(waiting.size(), 3);
      auto [chunk, thread] = std::move(waiting[i]);
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
      answers.expect(chunk, thread);
      taken_by[thread].push_back(std::move(chunk));
      tell(static_cast<unsigned>(random() % threads), random() % 5);
    }
    for (unsigned thread = 0; thread < threads; ++thread) tell(thread, 1000);
    CHECK(all == expected);
  }
}

TEST_CASE("a thread that is far ahead waits for the one whose turn it is, which never waits") {
  Answers answers(2, 10);
  const text::ExampleChunk slow = chunk_of("|a b\n", 0), next = chunk_of("|a c\n", 1);
  answers.expect(slow, 0);
  answers.wait_for_room(next, 1);  // nothing much is kept yet
  answers.expect(next, 1);
  answers.add(outcomes_of(next), 1);
  const text::ExampleChunk more = chunk_of("|a d\n", 2), batch = chunk_of("|a e\n", 3);
  answers.wait_for_room(batch, 0);  // the outcome may be that of a batch which is not full yet
  std::atomic<bool> waited{false};
  std::thread ahead([&] {
    answers.wait_for_room(more, 1);
    waited = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_FALSE(waited);
  answers.add(outcomes_of(slow), 0);
  CHECK(taken(answers) == "0.500000\n0.500000\n");
  ahead.join();
  CHECK(waited);
}

TEST_CASE("who waits is let go when a thread has failed") {
  Answers answers(2, 0);
  answers.expect(chunk_of("|a b\n", 0), 0);
  answers.wait_for_room(chunk_of("|a b\n", 0), 1);
  std::thread ahead([&] { answers.wait_for_room(chunk_of("|a c\n", 1), 1); });
  answers.stop();
  ahead.join();
  CHECK(taken(answers).empty());
}

}  // namespace
}  // namespace leveret::train
