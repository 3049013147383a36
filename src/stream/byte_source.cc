#include "stream/byte_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "stream/decoder.h"
#include "stream/input_file.h"
#include "stream/sniff.h"

namespace leveret::stream {
namespace {

constexpr std::size_t kBufferSize = 128 << 10;

class FileSource final : public ByteSource {
 public:
  FileSource(const std::string& path, const StopFlag* stop) : file_(path, stop) {}

  std::optional<std::size_t> try_read(char* to, std::size_t max) override {
    if (format_ == Format::kNeedMore && !try_identify()) return std::nullopt;
    const auto got = decoder_ ? try_decode(to, max) : try_copy(to, max);
    if (!seen_text_ && got && *got > 0) check_text(std::string_view(to, *got));
    return got;
  }
  void wait(Patience patience) override { file_.wait(patience); }
  const std::string& name() const override { return file_.name(); }
  std::uint64_t bytes_consumed() const override { return file_.offset(); }
  std::optional<std::uint64_t> bytes_total() const override { return file_.size(); }

 private:
  /// Reads until the first bytes say what they are; false when there are too few right now.
  bool try_identify() {
    buffer_.resize(kBufferSize);
    while (format_ == Format::kNeedMore) {
      const auto got = file_.try_read(buffer_.data() + in_.size(), buffer_.size() - in_.size());
      if (!got) return false;
      in_ = std::string_view(buffer_.data(), in_.size() + *got);
      const Sniffed found = sniff(in_);
      if (found.format == Format::kForeign) fail_foreign(found.what);
      const bool ended = *got == 0 && found.format == Format::kNeedMore;
      format_ = ended ? sniff_whole(in_) : found.format;
    }
    if (format_ == Format::kGzip) decoder_ = make_gzip_decoder();
    if (format_ == Format::kZstd) decoder_ = make_zstd_decoder();
    return true;
  }

  std::optional<std::size_t> try_copy(char* to, std::size_t max) {
    if (in_.empty()) return file_.try_read(to, max);
    const std::size_t size = std::min(max, in_.size());
    std::memcpy(to, in_.data(), size);
    in_.remove_prefix(size);
    if (in_.empty()) std::vector<char>().swap(buffer_);  // it was for the first bytes alone
    return size;
  }

  std::optional<std::size_t> try_decode(char* to, std::size_t max) {
    for (;;) {
      if (file_.stopped()) return 0;
      const std::size_t size = decoder_->decode(in_, to, max);
      if (size > 0) return size;
      if (decoder_->error()) fail_decoding(decoder_->error());
      const auto got = file_.try_read(buffer_.data(), buffer_.size());
      if (!got) return std::nullopt;
      if (*got == 0) {
        if (!decoder_->complete() && !file_.stopped()) fail_decoding("ends too early (truncated)");
        return 0;
      }
      in_ = std::string_view(buffer_.data(), *got);
    }
  }

  void check_text(std::string_view first) {
    seen_text_ = true;
    if (const char* what = looks_binary(first)) fail_foreign(what);
  }

  [[noreturn]] void fail_foreign(const char* what) const {
    throw std::runtime_error(
        fmt::format("{}: is not text: {} {}; expected VW text, plain or compressed by gzip or zstd",
                    name(), decoder_ ? "unpacked, it looks like" : "it looks like", what));
  }
  [[noreturn]] void fail_decoding(const char* what) const {
    throw std::runtime_error(fmt::format(
        "{}: {} stream is broken at compressed byte {}: {}; all before it was read; fetch the "
        "file again, or check it with '{} -t'",
        name(), decoder_->format(), file_.offset() - in_.size(), what, decoder_->format()));
  }

  InputFile file_;
  Format format_ = Format::kNeedMore;
  std::unique_ptr<Decoder> decoder_;  ///< null: plain text
  std::vector<char> buffer_;          ///< empty until the first read
  std::string_view in_;               ///< of buffer_, not yet handed on or decoded
  bool seen_text_ = false;
};

}  // namespace

std::size_t ByteSource::read(char* to, std::size_t max) {
  for (;;) {
    if (const auto got = try_read(to, max)) return *got;
    wait({});
  }
}

std::unique_ptr<ByteSource> open_source(const std::string& path, const StopFlag* stop) {
  return std::make_unique<FileSource>(path, stop);
}

}  // namespace leveret::stream
