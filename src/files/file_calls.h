/// The system calls that a save depends on, as pointers, so that the tests can make each of them
/// fail. Nothing but a test changes them, and it does so while no other thread writes files.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace leveret::files {

/// One write call at most: bounds how long a signal waits, and is far above the cost of a call.
inline constexpr std::size_t kWriteBytes = std::size_t{16} << 20;

struct FileCalls {
  int (*open)(const char* path, int flags, mode_t mode);
  ssize_t (*write)(int fd, const void* data, std::size_t bytes);
  int (*fsync)(int fd);
  int (*rename)(const char* from, const char* to);
  int (*unlink)(const char* path);
  int (*link)(const char* from, const char* to);
};

/// Those in use; the system's own unless a test has put others there.
FileCalls& file_calls();

}  // namespace leveret::files
