#include "stream/source_events.h"

#include <optional>
#include <string>
#include <utility>

namespace leveret::stream {
namespace {

class WatchedSource final : public ByteSource {
 public:
  WatchedSource(std::unique_ptr<ByteSource> source, std::uint32_t number, SourceEvents& events,
                const StopFlag* stop)
      : source_(std::move(source)), number_(number), events_(events), stop_(stop) {}

  std::optional<std::size_t> try_read(char* to, std::size_t max) override {
    const auto got = source_->try_read(to, max);
    if (got && *got > 0) events_.bytes(number_, {to, *got});
    // A stop also ends the reading: then nobody knows whether there was more.
    if (got && *got == 0 && !is_stopped() && !std::exchange(ended_, true)) events_.ended(number_);
    return got;
  }
  void wait(Patience patience) override { source_->wait(patience); }
  const std::string& name() const override { return source_->name(); }
  std::uint64_t bytes_consumed() const override { return source_->bytes_consumed(); }
  std::optional<std::uint64_t> bytes_total() const override { return source_->bytes_total(); }

 private:
  bool is_stopped() const { return stop_ != nullptr && stop_->raised(); }

  const std::unique_ptr<ByteSource> source_;
  const std::uint32_t number_;
  SourceEvents& events_;
  const StopFlag* const stop_;
  bool ended_ = false;
};

}  // namespace

std::vector<TextSum> SourceEvents::sums(std::uint32_t) { return {}; }
bool SourceEvents::wants(std::uint32_t, const std::string&) { return true; }
void SourceEvents::late(const std::string&, const std::string&) {}
void SourceEvents::before(const std::vector<std::string>&, const std::string&) {}

std::unique_ptr<ByteSource> watch_source(std::unique_ptr<ByteSource> source, std::uint32_t number,
                                         SourceEvents& events, const StopFlag* stop) {
  return std::make_unique<WatchedSource>(std::move(source), number, events, stop);
}

}  // namespace leveret::stream
