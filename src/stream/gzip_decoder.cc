#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "stream/decoder.h"

namespace leveret::stream {
namespace {

constexpr int kGzipOnly = 16;  // added to the window bits: gzip header and CRC required

/// RFC 1952: members one after the other decode to their concatenation; like gzip(1), zero bytes
/// after the last member (tape padding) are allowed.
class GzipDecoder final : public Decoder {
 public:
  GzipDecoder() {
    if (inflateInit2(&zlib_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecoder() override { inflateEnd(&zlib_); }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  std::size_t decode(std::string_view& in, char* out, std::size_t max) override {
    std::size_t done = 0;
    while (!error_ && !in.empty() && done < max) {
      if (state_ != State::kInMember && !begin_member(in)) continue;
      done += inflate_some(in, out + done, max - done);
    }
    // A full window may wait inside zlib although all input is taken.
    if (!error_ && in.empty() && done < max && state_ == State::kInMember) {
      done += inflate_some(in, out + done, max - done);
    }
    return done;
  }
  const char* error() const override { return error_; }
  bool complete() const override { return state_ != State::kInMember; }
  const char* format() const override { return "gzip"; }

 private:
  enum class State { kStart, kInMember, kBetween, kPadding };

  /// False when the bytes at the front begin no member; they are taken or error_ is set.
  bool begin_member(std::string_view& in) {
    if (state_ != State::kStart) {
      const std::size_t zeros = std::min(in.find_first_not_of('\0'), in.size());
      if (zeros > 0) {
        state_ = State::kPadding;
        in.remove_prefix(zeros);
        return false;
      }
      if (state_ == State::kPadding || in.front() != '\x1f') {
        error_ = "data after the end of the compressed stream is not gzip";
        return false;
      }
      inflateReset(&zlib_);
    }
    state_ = State::kInMember;
    return true;
  }

  std::size_t inflate_some(std::string_view& in, char* out, std::size_t max) {
    constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
    zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    zlib_.avail_in = static_cast<uInt>(std::min(in.size(), kMost));
    zlib_.next_out = reinterpret_cast<Bytef*>(out);
    zlib_.avail_out = static_cast<uInt>(std::min(max, kMost));
    const uInt in_before = zlib_.avail_in, out_before = zlib_.avail_out;
    const int result = inflate(&zlib_, Z_SYNC_FLUSH);
    in.remove_prefix(in_before - zlib_.avail_in);
    if (result == Z_STREAM_END) {
      state_ = State::kBetween;
    } else if (result == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (result == Z_NEED_DICT) {
      error_ = "needs a preset dictionary";
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      error_ = zlib_.msg ? zlib_.msg : "corrupt data";
    }
    return out_before - zlib_.avail_out;
  }

  z_stream zlib_{};
  State state_ = State::kStart;
  const char* error_ = nullptr;
};

}  // namespace

std::unique_ptr<Decoder> make_gzip_decoder() { return std::make_unique<GzipDecoder>(); }

}  // namespace leveret::stream
