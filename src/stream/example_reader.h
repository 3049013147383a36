/// Examples from VW text: reading, parsing and learning each in a thread of their own.
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "stream/example_source.h"
#include "stream/queue.h"
#include "stream/text_reader.h"
#include "text/namespace_names.h"
#include "text/parser.h"

namespace leveret::stream {

/// One parsing thread, so namespace ids and chunks come in the same order on every run. Hogwild
/// workers that parse for themselves use a TextReader, a Parser each, and parse_chunk instead.
class ExampleReader final : public ExampleSource {
 public:
  /// `names` must outlive the reader. Throws as TextReader does.
  ExampleReader(std::vector<std::string> paths, ReaderOptions options, text::NamespaceNames& names,
                text::ParserOptions parser_options);
  ~ExampleReader() override;
  ExampleReader(const ExampleReader&) = delete;
  ExampleReader& operator=(const ExampleReader&) = delete;

  bool next(text::ExampleChunk& chunk) override {
    chunk.free_large();
    return queue_.pop(chunk);
  }
  void stop() noexcept override { lines_.stop(); }
  const std::string& source_name(std::uint32_t source) const override {
    return lines_.source_name(source);
  }
  std::uint64_t bytes_read() const override { return lines_.bytes_read(); }
  std::optional<std::uint64_t> bytes_total() const override { return lines_.bytes_total(); }

 private:
  void run();

  TextReader lines_;
  text::Parser parser_;
  BoundedQueue<text::ExampleChunk> queue_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace leveret::stream
