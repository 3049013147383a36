#include "table/machine_memory.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "files/temp_folder.h"

namespace leveret::table {
namespace {

class Machine {
 public:
  void put(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = folder_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::uint64_t memory() const { return machine_memory(folder_ / ""); }

 private:
  const files::TempFolder folder_;
};

TEST_CASE("the memory is the machine's where no group has less") {
  const std::uint64_t all = Machine().memory();
  CHECK(all > 0);
  CHECK(machine_memory() <= all);
  const Machine machine;
  machine.put("proc/self/cgroup", "0::/a/b\nnonsense\n");
  CHECK(machine.memory() == all);
  machine.put("sys/fs/cgroup/a/memory.max", "max\n");
  machine.put("sys/fs/cgroup/a/b/memory.max", "9223372036854771712\n");
  CHECK(machine.memory() == all);
}

TEST_CASE("a group of version 2 has what it and those around it are allowed") {
  const Machine machine;
  machine.put("proc/self/cgroup", "0::/system.slice/leveret.service\n");
  machine.put("sys/fs/cgroup/system.slice/memory.max", "30000\n");
  CHECK(machine.memory() == 30000);
  machine.put("sys/fs/cgroup/system.slice/leveret.service/memory.max", "20000\n");
  CHECK(machine.memory() == 20000);
  machine.put("sys/fs/cgroup/system.slice/memory.max", "10000\n");
  CHECK(machine.memory() == 10000);
}

TEST_CASE("a container is the top group, whatever its path is outside") {
  const Machine two, one;
  two.put("proc/self/cgroup", "0::/\n");
  two.put("sys/fs/cgroup/memory.max", "2147483648\n");
  CHECK(two.memory() == 2147483648);
  one.put("proc/self/cgroup", "9:cpu:/docker/abc\n5:hugetlb,memory:/docker/abc\n");
  one.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  one.put("sys/fs/cgroup/memory.max", "1\n");
  CHECK(one.memory() == 1073741824);
}

}  // namespace
}  // namespace leveret::table
