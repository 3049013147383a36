/// The memory that this process may use: the machine's, or what its cgroup is allowed (a container,
/// a service of systemd), whichever is less.
#pragma once

#include <cstdint>
#include <string>

namespace leveret::table {

/// Bytes. `root` has the machine's /proc and /sys/fs/cgroup, of version 1 or 2, below it; empty:
/// they are the real ones.
std::uint64_t machine_memory(const std::string& root = "");

}  // namespace leveret::table
