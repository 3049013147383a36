#include "table/machine_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

namespace leveret::table {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// "max", as what is no number, is none.
std::uint64_t limit_in(const std::string& file) {
  std::uint64_t bytes = 0;
  return std::ifstream(file) >> bytes ? bytes : kNoLimit;
}

/// The lowest limit of a group and of those that it lies in. Within a container its path may be
/// that outside, of which no folder is there: then the group is the top one.
std::uint64_t lowest_of(const std::string& mount, std::string path, const char* file) {
  std::uint64_t lowest = kNoLimit;
  for (;;) {
    lowest = std::min(lowest, limit_in(mount + path + '/' + file));
    if (path.empty()) return lowest;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

/// cgroups(7): "0::/path" of version 2, "4:memory:/path", or "4:cpu,memory:/path", of version 1.
std::uint64_t cgroup_limit(const std::string& root) {
  std::uint64_t lowest = kNoLimit;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string kinds = ',' + line.substr(first + 1, second - first - 1) + ',';
    const std::string path = line.substr(second + 1);
    if (kinds == ",,") {
      lowest = std::min(lowest, lowest_of(root + "/sys/fs/cgroup", path, "memory.max"));
    } else if (kinds.find(",memory,") != std::string::npos) {
      lowest = std::min(lowest,
                        lowest_of(root + "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"));
    }
  }
  return lowest;
}

}  // namespace

std::uint64_t machine_memory(const std::string& root) {
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return std::min(pages * page, cgroup_limit(root));
}

}  // namespace leveret::table
