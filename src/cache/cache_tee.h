/// Makes a cache of a stream while it is used.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cache/cache_writer.h"
#include "stream/example_source.h"
#include "stream/queue.h"
#include "stream/source_events.h"

namespace leveret::cache {

/// Passes the chunks of another source on and writes them to a cache, in a thread of its own. The
/// cache appears when the stream has ended well: not after an error, a stop, or an early end of
/// its use.
class CacheTee final : public stream::ExampleSource {
 public:
  /// `events`, when given, are those of the source, outlive it, and may know the sums of its text.
  CacheTee(std::unique_ptr<stream::ExampleSource> source, std::unique_ptr<CacheWriter> writer,
           stream::SourceEvents* events = nullptr, std::size_t chunks_ahead = 8);
  ~CacheTee() override;
  CacheTee(const CacheTee&) = delete;
  CacheTee& operator=(const CacheTee&) = delete;

  /// False once the cache is complete; throws what reading or writing it threw.
  bool next(text::ExampleChunk& chunk) override {
    chunk.free_large();
    return queue_.pop(chunk);
  }
  void stop() noexcept override {
    stopped_ = true;
    source_->stop();
  }
  const std::string& source_name(std::uint32_t source) const override {
    return source_->source_name(source);
  }
  std::uint64_t bytes_read() const override { return source_->bytes_read(); }
  std::optional<std::uint64_t> bytes_total() const override { return source_->bytes_total(); }

 private:
  void run();

  std::unique_ptr<stream::ExampleSource> source_;
  std::unique_ptr<CacheWriter> writer_;
  stream::SourceEvents* const events_;
  std::atomic<bool> stopped_{false};
  stream::BoundedQueue<text::ExampleChunk> queue_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace leveret::cache
