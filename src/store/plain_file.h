/// A regular file that is read at offsets, and that knows when it has been changed in place.
#pragma once

#include <time.h>

#include <cstdint>
#include <span>
#include <string>

#include "store/checksum.h"

namespace leveret::files {
class UnnamedFile;
}

namespace leveret::store {

struct RegularFile;

/// Any number of threads may read. Errors are std::runtime_error that name the file and say what to
/// do.
class PlainFile {
 public:
  explicit PlainFile(const std::string& path);
  /// The bytes that have been written to a file without a name; `name`: what messages call it.
  PlainFile(files::UnnamedFile file, const std::string& name);
  ~PlainFile();
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }
  /// All of `to`, which must be inside the file.
  void read_at(std::uint64_t offset, std::span<std::byte> to) const;
  /// The checksum of all its bytes, which are read for it.
  Checksum checksum() const;
  void check_unchanged() const;

 private:
  PlainFile(const RegularFile& file, const std::string& path);
  bool changed() const noexcept;

  std::string path_;
  int fd_ = -1;
  std::uint64_t bytes_ = 0;
  timespec written_ = {};
};

}  // namespace leveret::store
