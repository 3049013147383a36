/// Chunks of lines not parsed yet, for threads that parse for themselves (see parse_chunk).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stream/example_source.h"
#include "stream/text_reader.h"

namespace leveret::stream {

class LineSource final : public ExampleSource {
 public:
  LineSource(std::vector<std::string> paths, ReaderOptions options)
      : lines_(std::move(paths), options) {}

  bool next(text::ExampleChunk& chunk) override { return lines_.next(chunk); }
  void stop() noexcept override { lines_.stop(); }
  const std::string& source_name(std::uint32_t source) const override {
    return lines_.source_name(source);
  }
  std::uint64_t bytes_read() const override { return lines_.bytes_read(); }
  std::optional<std::uint64_t> bytes_total() const override { return lines_.bytes_total(); }

 private:
  TextReader lines_;
};

}  // namespace leveret::stream
