#include "files/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "files/faults.h"
#include "files/syncs.h"
#include "files/temp_folder.h"

namespace leveret::files {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

void save(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(bytes_of(text));
  file.commit();
}

std::string text_of(const std::string& path) {
  const auto bytes = read_bytes(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

unsigned mode_of(const std::string& path) {
  struct stat status;
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

TEST_CASE("a file is there when it is committed, and not before") {
  const TempFolder folder;
  save(folder / "f", "old");
  {
    AtomicFile file(folder / "f");
    file.write(bytes_of("ne"));
    file.write(bytes_of("w"));
    REQUIRE(file.size() == 3);
    REQUIRE(text_of(folder / "f") == "old");
    AtomicFile moved = std::move(file);
    moved.commit();
    REQUIRE(text_of(folder / "f") == "new");
  }
  REQUIRE(folder.names() == std::vector<std::string>{"f"});
}

TEST_CASE("a save that is only tried leaves what was there") {
  const TempFolder folder;
  try_save(folder / "f");
  REQUIRE(folder.names().empty());
  save(folder / "f", "old");
  try_save(folder / "f");
  try_save("/dev/null");
  for (const int call : {0, 1}) {  // open, write
    const Faults full(Fault::kNoSpace, call);
    REQUIRE_THROWS(try_save(folder / "f"));
  }
  REQUIRE_THROWS(try_save(folder / "f/g"));
  REQUIRE(text_of(folder / "f") == "old");
  REQUIRE(folder.names() == std::vector<std::string>{"f"});
}

TEST_CASE("a file is committed under a further name, in place of the file that had it") {
  const TempFolder folder;
  save(folder / "f", "old");
  save(folder / "kept", "older");
  {
    const Syncs syncs;
    AtomicFile file(folder / "f");
    file.write(bytes_of("new"));
    CHECK(file.commit_with_link(folder / "kept") == 0);
    CHECK(syncs.lost().empty());
  }
  CHECK(text_of(folder / "f") == "new");
  CHECK(fs::equivalent(folder / "f", folder / "kept"));
  AtomicFile alone(folder / "f");
  alone.write(bytes_of("newer"));
  CHECK(alone.commit_with_link(folder / "none/kept") == ENOENT);
  CHECK(text_of(folder / "f") == "newer");
  CHECK(text_of(folder / "kept") == "new");
}

TEST_CASE(
    "whichever call fails, both names have whole files, and only the further one may be old") {
  const TempFolder folder;
  int failures = 0;
  for (int call = 0;; ++call) {
    save(folder / "f", "old");
    save(folder / "kept", "older");
    bool failed = false, linked = false;
    {
      const Faults faults(Fault::kInputOutput, call);
      try {
        AtomicFile file(folder / "f");
        file.write(bytes_of("new"));
        linked = file.commit_with_link(folder / "kept") == 0;
      } catch (const std::runtime_error&) {
        failed = true;
      }
    }
    const std::string now = text_of(folder / "f");
    CHECK((now == "new" || (failed && now == "old")));
    if (fs::exists(folder / "kept")) CHECK((text_of(folder / "kept") == "new" || !linked));
    CHECK(folder.names().size() <= 2);
    failures += failed || !linked;
    if (!failed && linked) break;
  }
  CHECK(failures >= 5);  // open, write, fsync, link, rename
}

TEST_CASE("a file that is not committed leaves nothing") {
  const TempFolder folder;
  save(folder / "f", "old");
  { AtomicFile(folder / "f").write(bytes_of("new")); }
  REQUIRE(text_of(folder / "f") == "old");
  REQUIRE(folder.names() == std::vector<std::string>{"f"});
}

TEST_CASE("permissions of an existing file are kept, a new one has those of the umask") {
  const TempFolder folder;
  const mode_t before = ::umask(027);
  save(folder / "f", "a");
  REQUIRE(mode_of(folder / "f") == 0640);
  REQUIRE(::chmod((folder / "f").c_str(), 0604) == 0);
  save(folder / "f", "b");
  REQUIRE(mode_of(folder / "f") == 0604);
  ::umask(before);
}

TEST_CASE("symbolic links stay, and what they point to is replaced") {
  const TempFolder folder;
  fs::create_directory(folder / "deep");
  fs::create_symlink("deep/real", folder / "one");
  fs::create_symlink(folder / "one", folder / "two");
  save(folder / "two", "through a link that pointed nowhere");
  save(folder / "two", "again");
  REQUIRE(text_of(folder / "deep/real") == "again");
  REQUIRE(fs::is_symlink(folder / "one"));
  REQUIRE(fs::is_symlink(folder / "two"));
  REQUIRE(fs::is_regular_file(fs::symlink_status(folder / "deep/real")));
  REQUIRE(folder.names() == std::vector<std::string>{"deep", "one", "two"});
  fs::create_symlink("loop", folder / "loop");
  REQUIRE_THROWS_WITH(save(folder / "loop", "x"), Catch::Contains("symbolic links"));
}

TEST_CASE("devices and pipes are written as they are") {
  const TempFolder folder;
  save("/dev/null", "gone");
  REQUIRE(fs::is_character_file("/dev/null"));
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::string seen;
  std::thread reader([&] { seen = text_of(pipe); });
  save(pipe, "through the pipe");
  reader.join();
  REQUIRE(seen == "through the pipe");
  REQUIRE(fs::is_fifo(pipe));
  REQUIRE_THROWS_WITH(save("/dev/full", "x"), Catch::Contains("No space left"));
}

TEST_CASE("an open descriptor is written, not replaced") {
  const TempFolder folder;
  save(folder / "f", "something longer");
  const int fd = ::open((folder / "f").c_str(), O_RDONLY);
  save("/proc/self/fd/" + std::to_string(fd), "short");
  char text[16] = {};
  REQUIRE(::read(fd, text, sizeof text) == 5);
  REQUIRE(std::string(text) == "short");
  ::close(fd);
}

TEST_CASE("several saves of one target at a time do not disturb each other") {
  const TempFolder folder;
  AtomicFile a(folder / "f"), b(folder / "f");
  a.write(bytes_of("a"));
  b.write(bytes_of("b"));
  save(folder / "f", "c");
  b.commit();
  REQUIRE(text_of(folder / "f") == "b");
  a.commit();
  REQUIRE(text_of(folder / "f") == "a");
  REQUIRE(folder.names() == std::vector<std::string>{"f"});
}

TEST_CASE("saves from many threads leave one whole file") {
  const TempFolder folder;
  std::vector<std::thread> threads;
  for (char c = 'a'; c < 'e'; ++c) {
    threads.emplace_back([&folder, c] {
      for (int i = 0; i < 20; ++i) save(folder / "f", std::string(10000, c));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = text_of(folder / "f");
  REQUIRE(text == std::string(10000, text[0]));
  REQUIRE(folder.names() == std::vector<std::string>{"f"});
}

TEST_CASE("names as long as the system allows, and in the current folder") {
  const TempFolder folder;
  const std::string name(255, 'n');
  save(folder / name, "long");
  REQUIRE(text_of(folder / name) == "long");
  const fs::path before = fs::current_path();
  fs::current_path(folder / "");
  save("here", "x");
  fs::current_path(before);
  REQUIRE(text_of(folder / "here") == "x");
}

TEST_CASE("targets that cannot be written are refused, and the message says what to do") {
  const TempFolder folder;
  using Catch::Contains;
  REQUIRE_THROWS_WITH(save(folder / "", "x"),
                      Contains("Is a directory") && Contains("name a file"));
  REQUIRE_THROWS_WITH(save(folder / "no/f", "x"), Contains("No such file") && Contains("folder"));
  REQUIRE_THROWS_WITH(save(folder / std::string(256, 'n'), "x"), Contains("shorter name"));
  REQUIRE_THROWS_AS(save("", "x"), std::runtime_error);
  if (::geteuid() == 0) return;  // nothing is write protected for root
  save(folder / "f", "old");
  REQUIRE(::chmod((folder / "f").c_str(), 0444) == 0);
  REQUIRE_THROWS_WITH(save(folder / "f", "x"), Contains("permissions"));
}

}  // namespace
}  // namespace leveret::files
