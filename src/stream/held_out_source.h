/// Examples of a stream without those that are held out, or these alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "stream/example_source.h"

namespace leveret::stream {

/// Every Nth example of the stream is held out: N, 2N, … by their number from 1. So they are the
/// same in each pass, whatever files and chunks they come in, and whoever takes these. Threads take
/// chunks one at a time, as they are numbered in the order of the stream.
class HeldOutSource final : public ExampleSource {
 public:
  enum class Part { kLearned, kHeldOut };
  /// Told of each chunk before anything is taken out of it; one call at a time. May be empty.
  using Whole = std::function<void(const text::ExampleChunk&)>;

  /// `period` is at least 1. What is not of this part counts as blank lines of its chunk.
  HeldOutSource(std::unique_ptr<ExampleSource> source, std::uint64_t period, Part part,
                Whole whole = {})
      : source_(std::move(source)), period_(period), part_(part), whole_(std::move(whole)) {}

  bool next(text::ExampleChunk& chunk) override;
  void stop() noexcept override { source_->stop(); }
  const std::string& source_name(std::uint32_t source) const override {
    return source_->source_name(source);
  }
  std::uint64_t bytes_read() const override { return source_->bytes_read(); }
  std::optional<std::uint64_t> bytes_total() const override { return source_->bytes_total(); }

  const ExampleSource* inner() const override { return source_.get(); }

 private:
  void take_out(text::ExampleChunk& chunk, std::uint64_t before) const;

  const std::unique_ptr<ExampleSource> source_;
  const std::uint64_t period_;
  const Part part_;
  const Whole whole_;
  std::mutex mutex_;            ///< guards what follows, and the order of chunks
  std::uint64_t examples_ = 0;  ///< of the stream, so far
};

}  // namespace leveret::stream
