// Threads that pause: at the ends of sources, and where a checkpoint is due; and that go on there.
#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <mutex>

#include "train/session.h"
#include "train_run.h"

namespace leveret::train {
namespace {

using Catch::Contains;

/// ChunksToShare of text that are there already.
class ChunksToShare final : public stream::ExampleSource {
 public:
  void add(const std::string& lines, std::uint32_t source) {
    text::ExampleChunk& chunk = chunks_.emplace_back();
    chunk.bytes = lines;
    chunk.source = source;
    chunk.ends_source = lines.empty();
  }

  bool next(text::ExampleChunk& chunk) override {
    const std::lock_guard lock(mutex_);
    if (chunks_.empty()) return false;
    chunk = std::move(chunks_.front());
    chunks_.pop_front();
    return true;
  }
  void stop() noexcept override {}
  const std::string& source_name(std::uint32_t) const override { return name_; }
  std::uint64_t bytes_read() const override { return 0; }
  std::optional<std::uint64_t> bytes_total() const override { return std::nullopt; }

 private:
  const std::string name_ = "chunks";
  std::mutex mutex_;
  std::deque<text::ExampleChunk> chunks_;
};

class ToldByThreads : public SessionEvents {
 public:
  void chunk(const text::ExampleChunk&, std::uint64_t, unsigned) override {}
  void outcomes(Outcomes& outcomes, bool, unsigned) override {
    learned += outcomes.items.size();
    since += outcomes.items.size();
  }
  void room_for(const text::ExampleChunk&, unsigned) override {}
  void end_waiting() override {}
  bool wants_pause() override { return pause_after > 0 && since >= pause_after; }
  void pause() override {
    since = 0;
    positions.push_back(session->position().value());
    learned_at.push_back(learned);
    examples_at.push_back(session->model()->parameters().scalars.examples);
  }
  void ended(std::uint32_t source) override {
    ends.push_back(source);
    learned_at.push_back(learned);
    examples_at.push_back(session->model()->parameters().scalars.examples);
  }

  Session* session = nullptr;
  std::size_t pause_after = 0;
  std::atomic<std::size_t> learned = 0, since = 0;
  std::vector<std::uint32_t> ends;
  std::vector<InputPosition> positions;
  std::vector<std::size_t> learned_at, examples_at;
};

struct Threads {
  explicit Threads(SessionOptions options, std::uint32_t batch_size = 1) {
    spec::Spec spec;
    spec.batch_size = batch_size;
    options.threads = 3;
    model = std::make_shared<model::Model>(spec, kTestMemory);
    session.emplace(model, names, kernels::active(), options);
    told.session = &*session;
  }
  void learn(ChunksToShare& chunks) {
    session->learn_in_threads(chunks, text::ParserOptions{}, told);
  }

  text::NamespaceNames names;
  std::shared_ptr<model::Model> model;
  std::optional<Session> session;
  ToldByThreads told;
};

constexpr std::size_t kLinesToShare = 600, kStep = 7;

TEST_CASE("threads have learned a source, and nothing behind it, when they are told of its end",
          "[threads]") {
  const std::string lines = model::random_lines(kLinesToShare, usual_shape(), 31);
  for (const std::uint32_t batch_size : {1u, 32u}) {
    ChunksToShare chunks;
    for (std::uint32_t source = 0; source < 4; ++source) {
      for (std::size_t at = 0; at < 150; at += kStep) {
        chunks.add(cut(lines, source * 150 + at, std::min(kStep, 150 - at)), source);
      }
      chunks.add("", source);
    }
    SessionOptions options;
    options.pauses_at_ends = true;
    Threads run(options, batch_size);
    run.learn(chunks);
    CHECK(run.told.ends == std::vector<std::uint32_t>{0, 1, 2, 3});
    CHECK(run.told.learned_at == std::vector<std::size_t>{150, 300, 450, 600});
    CHECK(run.told.examples_at == run.told.learned_at);
  }
}

TEST_CASE("threads that pause have learned all before their position, and go on there",
          "[threads]") {
  const std::string lines = model::random_lines(kLinesToShare, usual_shape(), 32);
  SessionOptions options;
  options.start.emplace();
  Threads first(options);
  first.told.pause_after = 100;
  ChunksToShare chunks;
  for (std::size_t at = 0; at < kLinesToShare; at += kStep) chunks.add(cut(lines, at, kStep), 0);
  first.learn(chunks);
  CHECK(first.told.learned == kLinesToShare);
  REQUIRE(first.told.positions.size() >= 3);
  for (std::size_t i = 0; i < first.told.positions.size(); ++i) {
    const InputPosition& position = first.told.positions[i];
    CHECK(position.is_lines);
    CHECK(position.examples == first.told.learned_at[i]);
    CHECK(position.examples == first.told.examples_at[i]);
    // However the input is cut the next time.
    for (const std::size_t step : {5, 64}) {
      ChunksToShare again;
      for (std::size_t at = 0; at < kLinesToShare; at += step) again.add(cut(lines, at, step), 0);
      SessionOptions from;
      from.start = position;
      Threads second(from);
      second.learn(again);
      CHECK(second.told.learned == kLinesToShare - position.examples);
      CHECK_NOTHROW(second.session->check_end());
      CHECK(second.session->position()->checksum == first.session->position()->checksum);
    }
    SessionOptions from;
    from.start = position;
    Threads other(from);
    ChunksToShare turned;
    turned.add(cut(lines, 1, kLinesToShare), 0);
    CHECK_THROWS_WITH(other.learn(turned), Contains("are not those that"));
    Threads shorter(from);
    ChunksToShare few;
    few.add(cut(lines, 0, 50), 0);
    shorter.learn(few);
    CHECK(shorter.told.learned == 0);
    CHECK_THROWS_WITH(shorter.session->check_end(), Contains("ends after 50 lines"));
  }
}

}  // namespace
}  // namespace leveret::train
