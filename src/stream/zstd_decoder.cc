#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <new>

#include "stream/decoder.h"

namespace leveret::stream {
namespace {

constexpr std::size_t kFrameStart = 5;  // bytes: magic and descriptor
constexpr std::size_t kBlockHeader = 3;

/// Frames one after the other, skippable ones among them.
///
/// When ZSTD_decompressStream meets a fault it does not say how much it wrote in that call. So it
/// is fed one block or one header at a time, and a call that can fail has nothing else to deliver:
/// all that precedes a fault reaches the caller.
class ZstdDecoder final : public Decoder {
 public:
  explicit ZstdDecoder(int max_window_log) : context_(ZSTD_createDCtx()) {
    if (!context_) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, max_window_log);
  }
  ~ZstdDecoder() override { ZSTD_freeDCtx(context_); }
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;

  std::size_t decode(std::string_view& in, char* out, std::size_t max) override {
    ZSTD_outBuffer output{out, max, 0};
    while (!error_ && output.pos < max && (pending_ || !in.empty())) {
      // While output waits inside, no new block is given.
      const std::size_t size = pending_ ? 0 : std::min(in.size(), next_input());
      ZSTD_inBuffer input{in.data(), size, 0};
      const std::size_t result = ZSTD_decompressStream(context_, &output, &input);
      in.remove_prefix(input.pos);
      if (ZSTD_isError(result)) {
        set_error(result);
        break;
      }
      pending_ = output.pos == max && result != 0;
      in_frame_ = result != 0;
      hint_ = in_frame_ ? result : kFrameStart;
    }
    return output.pos;
  }
  const char* error() const override { return error_; }
  bool complete() const override { return !in_frame_; }
  const char* format() const override { return "zstd"; }

 private:
  /// The library's hint covers a block and the header of the next: take them one by one.
  std::size_t next_input() const { return hint_ > kBlockHeader ? hint_ - kBlockHeader : hint_; }

  void set_error(std::size_t result) {
    switch (ZSTD_getErrorCode(result)) {
      case ZSTD_error_memory_allocation:
        throw std::bad_alloc();
      case ZSTD_error_prefix_unknown:
        error_ = "data after the end of the compressed stream is not zstd";
        break;
      case ZSTD_error_frameParameter_windowTooLarge:
        error_ = "its window is larger than 1 GiB; compress it again with --long=30 or less";
        break;
      default:
        error_ = ZSTD_getErrorName(result);
    }
  }

  ZSTD_DCtx* context_;
  std::size_t hint_ = kFrameStart;
  bool in_frame_ = false;
  bool pending_ = false;  ///< the output was full: more of it may wait inside
  const char* error_ = nullptr;
};

}  // namespace

std::unique_ptr<Decoder> make_zstd_decoder(int max_window_log) {
  return std::make_unique<ZstdDecoder>(max_window_log);
}

}  // namespace leveret::stream
