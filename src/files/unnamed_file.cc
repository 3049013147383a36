#include "files/unnamed_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "files/file_calls.h"

namespace leveret::files {
namespace {

int open_again(const std::string& folder) {
  int fd;
  do fd = file_calls().open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  while (fd < 0 && errno == EINTR);
  return fd;
}

/// Those of file systems without files that have no name, and of kernels that know none.
bool needs_name(int error) { return error == EOPNOTSUPP || error == EISDIR || error == EINVAL; }

int open_and_unlink(const std::string& folder) {
  std::string path = folder + "/.leveret-XXXXXX";
  const int fd = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd >= 0) file_calls().unlink(path.c_str());
  return fd;
}

}  // namespace

UnnamedFile::UnnamedFile(Place place) : place_(std::move(place)), fd_(open_again(place_.folder)) {
  if (fd_ < 0 && needs_name(errno)) fd_ = open_and_unlink(place_.folder);
  if (fd_ < 0) fail("make a temporary file there", errno);
}

UnnamedFile::UnnamedFile(UnnamedFile&& other) noexcept
    : place_(std::move(other.place_)), fd_(std::exchange(other.fd_, -1)) {}

UnnamedFile::~UnnamedFile() {
  if (fd_ >= 0) ::close(fd_);
}

void UnnamedFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t part = std::min(bytes.size(), kWriteBytes);
    const ssize_t written = file_calls().write(fd_, bytes.data(), part);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("write a temporary file there", written == 0 ? EIO : errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

int UnnamedFile::release() { return std::exchange(fd_, -1); }

void UnnamedFile::fail(const char* operation, int error) const {
  // No other folder would help there.
  const char* const remedy =
      error == EFBIG ? "raise the limit of file sizes (ulimit -f)" : place_.remedy.c_str();
  throw std::runtime_error(
      fmt::format("{}: cannot {}: {}; {}", place_.name, operation, std::strerror(error), remedy));
}

}  // namespace leveret::files
