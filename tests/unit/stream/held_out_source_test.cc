#include "stream/held_out_source.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

using namespace leveret;
using stream::HeldOutSource;

namespace {

/// Examples with the importances 1, 2, …, in chunks of changing size with a blank line each.
class Counting final : public stream::ExampleSource {
 public:
  Counting(std::size_t examples, std::size_t most) : examples_(examples), most_(most) {}
  bool next(text::ExampleChunk& chunk) override {
    chunk.clear();
    if (given_ == examples_) return false;
    const std::size_t size = std::min(examples_ - given_, 1 + chunks_++ % most_);
    for (std::size_t i = 0; i < size; ++i) {
      text::Example example{};
      example.importance = static_cast<float>(++given_);
      chunk.examples.push_back(example);
    }
    chunk.blank_lines = 1;
    return true;
  }
  void stop() noexcept override {}
  const std::string& source_name(std::uint32_t) const override { return name_; }
  std::uint64_t bytes_read() const override { return 0; }
  std::optional<std::uint64_t> bytes_total() const override { return std::nullopt; }

 private:
  const std::size_t examples_, most_;
  std::size_t given_ = 0, chunks_ = 0;
  const std::string name_ = "counting";
};

std::vector<float> all_of(std::size_t examples, std::size_t most, std::uint64_t period,
                          HeldOutSource::Part part, unsigned threads = 1) {
  std::size_t lines = 0, whole = 0;
  HeldOutSource source(std::make_unique<Counting>(examples, most), period, part,
                       [&](const text::ExampleChunk& chunk) { whole += chunk.lines(); });
  std::vector<float> got;
  std::mutex mutex;
  std::vector<std::thread> team;
  for (unsigned t = 0; t < threads; ++t) {
    team.emplace_back([&] {
      text::ExampleChunk chunk;
      while (source.next(chunk)) {
        const std::lock_guard lock(mutex);
        for (const text::Example& example : chunk.examples) got.push_back(example.importance);
        lines += chunk.lines();
      }
    });
  }
  for (std::thread& thread : team) thread.join();
  CHECK(lines == whole);
  std::ranges::sort(got);
  return got;
}

}  // namespace

TEST_CASE("every Nth example is held out, however the stream is cut") {
  for (const std::size_t most : {1, 3, 40}) {
    for (const unsigned threads : {1u, 4u}) {
      CHECK(all_of(31, most, 10, HeldOutSource::Part::kHeldOut, threads) ==
            std::vector<float>{10, 20, 30});
      CHECK(all_of(7, most, 3, HeldOutSource::Part::kLearned, threads) ==
            std::vector<float>{1, 2, 4, 5, 7});
    }
  }
  CHECK(all_of(9, 4, 10, HeldOutSource::Part::kHeldOut).empty());
}
