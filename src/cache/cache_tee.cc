#include "cache/cache_tee.h"

#include <algorithm>

#include "stream/text_reader.h"

namespace leveret::cache {

CacheTee::CacheTee(std::unique_ptr<stream::ExampleSource> source,
                   std::unique_ptr<CacheWriter> writer, stream::SourceEvents* events,
                   std::size_t chunks_ahead)
    : source_(std::move(source)),
      writer_(std::move(writer)),
      events_(events),
      queue_(std::max<std::size_t>(1, chunks_ahead), stream::ReaderOptions{}.bytes_ahead()),
      thread_([this] { run(); }) {}

CacheTee::~CacheTee() {
  queue_.cancel();
  stop();
  thread_.join();
}

void CacheTee::run() {
  try {
    text::ExampleChunk chunk;
    while (source_->next(chunk)) {
      writer_->add(chunk);
      if (!queue_.push(chunk, chunk.size_bytes())) return;
    }
    if (!stopped_) {
      using Sums = std::vector<stream::TextSum>;
      writer_->finish(events_ != nullptr ? events_->sums(writer_->sources()) : Sums());
    }
    queue_.close();
  } catch (...) {
    queue_.fail(std::current_exception());
  }
}

}  // namespace leveret::cache
