#include "store/regular_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace leveret::store {

RegularFile open_regular(const std::string& path) {
  int fd;
  // Not blocking: a pipe without a writer is refused below instead of waited for.
  do fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) {
    fail_on_file(path, "open", std::strerror(errno), "check the name and its permissions");
  }
  return check_regular(fd, path);
}

RegularFile check_regular(int fd, const std::string& path) {
  struct stat status;
  const bool known = ::fstat(fd, &status) == 0;
  const int error = errno;
  if (known && S_ISREG(status.st_mode)) {
    return {fd, static_cast<std::uint64_t>(status.st_size), status.st_mtim};
  }
  ::close(fd);
  if (!known) fail_on_file(path, "read", std::strerror(error), "check the disk");
  if (S_ISDIR(status.st_mode)) {
    fail_on_file(path, "read", "it is a folder",
                 "name a file; of a folder of shards 'leveret-mpi gather' makes one");
  }
  fail_on_file(path, "read", "it is no regular file", "copy its content to a file first");
}

void fail_on_file(const std::string& path, const char* operation, const std::string& why,
                  const char* remedy) {
  throw std::runtime_error(fmt::format("{}: cannot {}: {}; {}", path, operation, why, remedy));
}

}  // namespace leveret::store
