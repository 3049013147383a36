/// Opens a file that is to be read at any place, and says what is wrong with others.
#pragma once

#include <cstdint>
#include <ctime>
#include <stdexcept>
#include <string>

namespace leveret::store {

/// Its descriptor is the caller's to close.
struct RegularFile {
  int fd;
  std::uint64_t bytes;
  timespec written;
};

/// std::runtime_error: there is none, it may not be read, or it is a folder, a pipe or a device.
/// Waits for nobody.
RegularFile open_regular(const std::string& path);
/// The same of a descriptor, which is closed where it is none. `path`: for messages.
RegularFile check_regular(int fd, const std::string& path);

/// "PATH: cannot OPERATION: WHY; REMEDY", as a std::runtime_error.
[[noreturn]] void fail_on_file(const std::string& path, const char* operation,
                               const std::string& why, const char* remedy);

}  // namespace leveret::store
