/// Examples of a cache, which knows no model: those that are more than a model takes become bad
/// lines.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "stream/example_source.h"
#include "text/parser.h"

namespace leveret::stream {

class LimitedSource final : public ExampleSource {
 public:
  using Limit = decltype(text::ParserOptions::limit);

  /// `names` are those of the chunks. `has_text`: chunks have the text of their lines.
  LimitedSource(std::unique_ptr<ExampleSource> source, const text::NamespaceNames& names,
                Limit limit, bool has_text)
      : source_(std::move(source)), names_(names), limit_(std::move(limit)), has_text_(has_text) {}

  bool next(text::ExampleChunk& chunk) override {
    if (!source_->next(chunk)) return false;
    const std::lock_guard lock(mutex_);
    limit_(names_, chunk);
    for (text::BadLine& bad : chunk.bad) {
      if (!has_text_) bad.text_begin = bad.text_size = 0;
    }
    return true;
  }
  void stop() noexcept override { source_->stop(); }
  const std::string& source_name(std::uint32_t source) const override {
    return source_->source_name(source);
  }
  std::uint64_t bytes_read() const override { return source_->bytes_read(); }
  std::optional<std::uint64_t> bytes_total() const override { return source_->bytes_total(); }

  const ExampleSource* inner() const override { return source_.get(); }

 private:
  const std::unique_ptr<ExampleSource> source_;
  const text::NamespaceNames& names_;
  std::mutex mutex_;  ///< guards what follows
  Limit limit_;
  const bool has_text_;
};

}  // namespace leveret::stream
