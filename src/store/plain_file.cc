#include "store/plain_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "files/unnamed_file.h"
#include "store/regular_file.h"

namespace leveret::store {

PlainFile::PlainFile(const RegularFile& file, const std::string& path)
    : path_(path), fd_(file.fd), bytes_(file.bytes), written_(file.written) {}

PlainFile::PlainFile(const std::string& path) : PlainFile(open_regular(path), path) {}

PlainFile::PlainFile(files::UnnamedFile file, const std::string& name)
    : PlainFile(check_regular(file.release(), name), name) {}

PlainFile::~PlainFile() { ::close(fd_); }

void PlainFile::read_at(std::uint64_t offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t n = ::pread(fd_, to.data(), to.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0)
      fail_on_file(path_, "read", "it has become shorter", "replace files by renaming (mv)");
    if (n < 0)
      fail_on_file(path_, "read", std::strerror(errno), "check the disk (dmesg says more)");
    to = to.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
}

Checksum PlainFile::checksum() const {
  Checksummer checksum;
  std::vector<std::byte> memory(std::min<std::uint64_t>(bytes_, 256 << 10));
  for (std::uint64_t at = 0; at < bytes_; at += memory.size()) {
    const auto part = std::span(memory).first(std::min<std::uint64_t>(memory.size(), bytes_ - at));
    read_at(at, part);
    checksum.add(part);
  }
  return checksum.get();
}

bool PlainFile::changed() const noexcept {
  struct stat status;
  if (::fstat(fd_, &status) != 0) return true;
  return static_cast<std::uint64_t>(status.st_size) != bytes_ ||
         status.st_mtim.tv_sec != written_.tv_sec || status.st_mtim.tv_nsec != written_.tv_nsec;
}

void PlainFile::check_unchanged() const {
  if (changed()) {
    fail_on_file(path_, "go on", "it was changed while it was in use",
                 "replace it by renaming (mv)");
  }
}

}  // namespace leveret::store
