/// Examples from VW text, read and parsed by whoever asks for them: what ExampleReader does ahead,
/// in threads that would only take turns where there is one processor for all of them.
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stream/example_source.h"
#include "stream/file_lines.h"
#include "stream/text_reader.h"
#include "text/namespace_names.h"
#include "text/parser.h"

namespace leveret::stream {

class SerialReader final : public ExampleSource {
 public:
  /// `names` must outlive the reader. Throws as FileLines does.
  SerialReader(std::vector<std::string> paths, const ReaderOptions& options,
               text::NamespaceNames& names, text::ParserOptions parser_options)
      : lines_(std::move(paths), options.cutter(), options.events, options.follow_after),
        parser_(names, parser_options) {}

  bool next(text::ExampleChunk& chunk) override {
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    chunk.free_large();
    try {
      if (!lines_.next(chunk)) return false;
      parse_chunk(parser_, chunk);
    } catch (...) {
      error_ = std::current_exception();
      throw;
    }
    return true;
  }
  void stop() noexcept override { lines_.stop(); }
  const std::string& source_name(std::uint32_t source) const override {
    return lines_.source_name(source);
  }
  std::uint64_t bytes_read() const override { return lines_.bytes_read(); }
  std::optional<std::uint64_t> bytes_total() const override { return lines_.bytes_total(); }

 private:
  FileLines lines_;
  std::mutex mutex_;  ///< guards what follows, and calls of lines_.next
  text::Parser parser_;
  std::exception_ptr error_;
};

}  // namespace leveret::stream
