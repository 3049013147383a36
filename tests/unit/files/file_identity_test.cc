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
