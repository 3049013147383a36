/// Decompression as a pure step from bytes to bytes; where the bytes come from is no concern of it.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace leveret::stream {

/// Not thread safe. Memory is bounded by the format's window (gzip 32 KiB, zstd kMaxWindowLog).
class Decoder {
 public:
  virtual ~Decoder() = default;

  /// Takes bytes off the front of `in` and writes up to `max` of output; returns how many. Stops
  /// only when the output is full, `in` is empty, or the data is bad: then error() says so, and
  /// all that was decoded has been returned, up to the block (zstd) in which the fault is.
  virtual std::size_t decode(std::string_view& in, char* out, std::size_t max) = 0;
  /// The fault in the data, or null. Final.
  virtual const char* error() const = 0;
  /// Whether the input may end here: a whole number of members or frames.
  virtual bool complete() const = 0;
  virtual const char* format() const = 0;
};

/// zstd windows up to 2^30 bytes (1 GiB; `zstd --long=30`) are accepted.
inline constexpr int kMaxWindowLog = 30;

std::unique_ptr<Decoder> make_gzip_decoder();
/// `max_window_log` below kMaxWindowLog refuses more than users meet: for fuzzing, which would
/// spend its time on mapping large windows.
std::unique_ptr<Decoder> make_zstd_decoder(int max_window_log = kMaxWindowLog);

}  // namespace leveret::stream
