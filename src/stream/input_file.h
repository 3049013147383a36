/// A file, pipe or standard input as raw bytes that are read without waiting, or waited for.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "stream/stop_flag.h"

namespace leveret::stream {

/// Owns its descriptor (standard input is never closed). One reading thread; offset() may be asked
/// from any. Errors are std::runtime_error with the file's name.
class InputFile {
 public:
  /// `path` "-" is standard input. Does not wait, not even for the writer of a named pipe.
  /// `stop`, when given, ends waiting and reading; it must outlive the file.
  InputFile(const std::string& path, const StopFlag* stop);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Bytes read, 0 at the end (or when stopped), nullopt when none is there right now.
  std::optional<std::size_t> try_read(char* to, std::size_t max);
  /// As ByteSource::wait.
  void wait(std::optional<std::chrono::milliseconds> patience);

  const std::string& name() const { return name_; }
  std::uint64_t offset() const { return offset_.load(std::memory_order_relaxed); }
  /// Known for regular files only.
  std::optional<std::uint64_t> size() const { return size_; }
  bool stopped() const { return stop_ && stop_->raised(); }

 private:
  bool readable(int timeout_ms);

  std::string name_;
  int fd_ = -1;
  bool regular_ = false;
  std::optional<std::uint64_t> size_;
  std::atomic<std::uint64_t> offset_{0};
  const StopFlag* stop_;
};

/// The name that messages give `path`: itself, or "standard input" for "-".
std::string display_name(const std::string& path);

/// Throws as opening would when `path` is missing, a directory or not readable, so that a mistyped
/// last file is known before the first is read. Returns the size of a regular file.
std::optional<std::uint64_t> check_readable(const std::string& path);

}  // namespace leveret::stream
