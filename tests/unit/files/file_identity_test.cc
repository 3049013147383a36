#include "files/file_identity.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "temp_folder.h"

using namespace leveret::files;
namespace fs = std::filesystem;

TEST_CASE("paths to one file have one identity, whether it is there or not") {
  const TempFolder folder;
  write_bytes(folder / "file", {});
  fs::create_directory(folder / "sub");
  fs::create_hard_link(folder / "file", folder / "hard");
  fs::create_symlink("file", folder / "soft");
  fs::create_symlink("../new", folder / "sub/dangling");
  CHECK(identify(folder / "file") == identify(folder / "hard"));
  CHECK(identify(folder / "file") == identify(folder / "soft"));
  CHECK(identify(folder / "file") == identify(folder / "sub/../file"));
  CHECK(identify(folder / "new") == identify(folder / "sub/dangling"));
  CHECK(identify(folder / "new").has_value());
  CHECK(identify(folder / "new") != identify(folder / "newer"));
  CHECK(identify(folder / "new") != identify(folder / "sub/new"));
  CHECK(identify(folder / "file") != identify(folder / "new"));
}

TEST_CASE("names of descriptors are those of the shell's redirections alone") {
  for (const char* name : {"/dev/stdout", "/dev/fd/63", "/proc/self/fd/1"}) {
    CHECK(names_descriptor(name));
  }
  for (const char* name : {"/dev/shm/pipe", "/dev/null", "dev/fd/1", "model.lvt"}) {
    CHECK_FALSE(names_descriptor(name));
  }
}

TEST_CASE("a descriptor that is named is written on, not anew") {
  const TempFolder folder;
  const std::string path = folder / "file";
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  const int read_only = ::open(path.c_str(), O_RDONLY);
  REQUIRE(::write(fd, "one ", 4) == 4);
  for (const std::string& name :
       {"/dev/fd/" + std::to_string(fd), "/proc/self/fd/" + std::to_string(fd),
        "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd)}) {
    const int again = duplicate_to_write(name);
    REQUIRE(again > STDERR_FILENO);
    CHECK(::write(again, "two ", 4) == 4);
    ::close(again);
  }
  CHECK(fs::file_size(path) == 16);
  for (const std::string& name : {"/dev/fd/" + std::to_string(read_only), std::string("/dev/fd/1x"),
                                  std::string("/dev/fd/99999"), std::string("/proc/1/fd/1"), path}) {
    CHECK(duplicate_to_write(name) == -1);
  }
  ::close(fd);
  ::close(read_only);
}

TEST_CASE("devices and impossible paths have none, and descriptors that of their file") {
  const TempFolder folder;
  CHECK_FALSE(identify("/dev/null"));
  CHECK_FALSE(identify(folder / "no/such"));
  fs::create_symlink("loop", folder / "loop");
  CHECK_FALSE(identify(folder / "loop"));
  write_bytes(folder / "file", {});
  const int fd = open((folder / "file").c_str(), O_RDONLY);
  CHECK(identify(fd) == identify(folder / "file"));
  close(fd);
  CHECK_FALSE(identify(fd));
}
