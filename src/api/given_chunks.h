/// Chunks that are there, for threads that share them out.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "stream/example_source.h"

namespace leveret::api {

class GivenChunks final : public stream::ExampleSource {
 public:
  /// Moves from them; they outlive it.
  explicit GivenChunks(std::span<text::ExampleChunk> chunks) : chunks_(chunks) {}

  bool next(text::ExampleChunk& chunk) override {
    if (stopped_) return false;
    const std::size_t i = next_.fetch_add(1);
    if (i >= chunks_.size()) return false;
    chunk = std::move(chunks_[i]);
    return true;
  }
  void stop() noexcept override { stopped_ = true; }
  const std::string& source_name(std::uint32_t) const override { return name_; }
  std::uint64_t bytes_read() const override { return 0; }
  std::optional<std::uint64_t> bytes_total() const override { return std::nullopt; }

 private:
  const std::span<text::ExampleChunk> chunks_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stopped_{false};
  const std::string name_ = "the text";
};

}  // namespace leveret::api
