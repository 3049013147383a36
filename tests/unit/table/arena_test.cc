#include "table/arena.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

namespace leveret::table {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

/// A file without a name, holding bytes 1, 2, 3, … (never 0).
class ScratchFile {
 public:
  explicit ScratchFile(std::size_t bytes) : bytes_(bytes), file_(std::tmpfile()) {
    for (std::size_t i = 0; i < bytes; ++i) bytes_[i] = static_cast<std::byte>(i % 255 + 1);
    REQUIRE(file_ != nullptr);
    REQUIRE(::write(fd(), bytes_.data(), bytes) == static_cast<ssize_t>(bytes));
  }
  ~ScratchFile() { std::fclose(file_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  int fd() const { return ::fileno(file_); }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  std::vector<std::byte> read_back() const {
    std::vector<std::byte> now(bytes_.size());
    REQUIRE(::pread(fd(), now.data(), now.size(), 0) == static_cast<ssize_t>(now.size()));
    return now;
  }

 private:
  std::vector<std::byte> bytes_;
  std::FILE* file_;
};

bool zero(const Arena& arena, std::uint64_t from, std::uint64_t to) {
  return std::all_of(arena.data() + from, arena.data() + to,
                     [](std::byte b) { return b == std::byte{0}; });
}

void fill(Arena& arena, std::uint64_t from, std::uint64_t to) {
  std::memset(arena.data() + from, 0xab, to - from);
}

TEST_CASE("an arena grows in place and its new bytes are zero") {
  Arena arena(kGiB);
  REQUIRE(arena.reserved() == kGiB);
  REQUIRE(arena.size() == 0);
  std::byte* const data = arena.data();
  REQUIRE(reinterpret_cast<std::uintptr_t>(data) % (2 * kMiB) == 0);
  std::uint64_t before = 0;
  for (std::uint64_t size = 1; size < 40 * kMiB; size += size / 2 + 1) {
    REQUIRE(arena.resize(size));
    REQUIRE(arena.data() == data);
    REQUIRE(zero(arena, before, size));
    fill(arena, before, size);
    before = size;
  }
  REQUIRE(std::all_of(data, data + before, [](std::byte b) { return b == std::byte{0xab}; }));
}

TEST_CASE("an arena ends at its reservation and stays as it was") {
  Arena arena(kMiB);
  REQUIRE(arena.resize(kMiB));
  fill(arena, 0, kMiB);
  REQUIRE_FALSE(arena.resize(kMiB + 1));
  REQUIRE_FALSE(arena.resize(~std::uint64_t{0}));
  REQUIRE(arena.size() == kMiB);
  REQUIRE(arena.data()[kMiB - 1] == std::byte{0xab});
  Arena none;
  REQUIRE_FALSE(none.resize(1));
  REQUIRE(none.resize(0));
}

TEST_CASE("what was cut off is zero when the arena grows again") {
  Arena arena(kGiB);
  for (const std::uint64_t cut : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4096},
                                  std::uint64_t{5000}, 3 * kMiB + 17, 20 * kMiB}) {
    REQUIRE(arena.resize(20 * kMiB));
    fill(arena, 0, 20 * kMiB);
    REQUIRE(arena.resize(cut));
    REQUIRE(arena.resize(20 * kMiB));
    REQUIRE(zero(arena, cut, 20 * kMiB));
    REQUIRE((cut == 0 || arena.data()[cut - 1] == std::byte{0xab}));
  }
  arena.reset();
  REQUIRE(arena.size() == 0);
  REQUIRE(arena.resize(kMiB));
  REQUIRE(zero(arena, 0, kMiB));
}

TEST_CASE("a section is mapped, grows, and leaves its file alone") {
  constexpr std::size_t kBytes = 5 * 65536;
  const ScratchFile file(kBytes);
  const std::uint64_t offset = GENERATE(0, 65536);  // a page boundary of every machine
  const std::uint64_t bytes = GENERATE(1, 4095, 4096, 5000, 65536, 70001);
  Arena arena(kGiB);
  REQUIRE(arena.map(file.fd(), offset, bytes));
  REQUIRE(arena.is_mapped());
  REQUIRE(arena.size() == bytes);
  const auto* expected = file.bytes().data() + offset;
  REQUIRE(std::equal(expected, expected + bytes, arena.data()));
  // The file goes on with bytes that are not zero, the arena with zeros.
  REQUIRE(arena.resize(bytes + 200000));
  REQUIRE(zero(arena, bytes, bytes + 200000));
  fill(arena, 0, arena.size());
  REQUIRE(arena.resize(20 * kMiB));
  REQUIRE(zero(arena, bytes + 200000, 20 * kMiB));
  // Cutting must not bring the bytes of the file back.
  REQUIRE(arena.resize(bytes / 2));
  REQUIRE(arena.resize(bytes));
  REQUIRE(zero(arena, bytes / 2, bytes));
  REQUIRE(file.read_back() == file.bytes());
}

TEST_CASE("mapping replaces what was there, and what cannot be mapped leaves nothing") {
  const ScratchFile file(10000);
  Arena arena(kMiB);
  REQUIRE(arena.resize(kMiB));
  fill(arena, 0, kMiB);
  REQUIRE_FALSE(arena.is_mapped());
  REQUIRE(arena.map(file.fd(), 0, 10000));
  REQUIRE(arena.resize(kMiB));
  REQUIRE(zero(arena, 10000, kMiB));
  Arena moved = std::move(arena);
  REQUIRE(moved.is_mapped());
  REQUIRE_FALSE(arena.is_mapped());
  SECTION("no bytes") { REQUIRE_FALSE(moved.map(file.fd(), 0, 0)); }
  SECTION("no page boundary") { REQUIRE_FALSE(moved.map(file.fd(), 100, 10)); }
  SECTION("no file") { REQUIRE_FALSE(moved.map(-1, 0, 10)); }
  SECTION("beyond the reservation") { REQUIRE_FALSE(moved.map(file.fd(), 0, kGiB)); }
  REQUIRE(moved.size() == 0);
  REQUIRE_FALSE(moved.is_mapped());
  REQUIRE(moved.resize(10000));
  REQUIRE(zero(moved, 0, 10000));
  Arena small(4096), lead(kMiB, 64);
  REQUIRE_FALSE(small.map(file.fd(), 0, 10000));
  REQUIRE(small.map(file.fd(), 0, 4096));
  REQUIRE_FALSE(lead.map(file.fd(), 0, 4096));
}

TEST_CASE("arenas move") {
  Arena a(kMiB);
  REQUIRE(a.resize(100));
  fill(a, 0, 100);
  std::byte* const data = a.data();
  Arena b = std::move(a);
  REQUIRE(b.data() == data);
  REQUIRE(b.size() == 100);
  Arena c(kMiB);
  REQUIRE(c.resize(5));
  c = std::move(b);
  REQUIRE(c.data() == data);
  REQUIRE(c.data()[99] == std::byte{0xab});
  REQUIRE_FALSE(b.resize(1));
}

TEST_CASE("one thread appends while others read what they know of") {
  Arena arena(kGiB);
  REQUIRE(arena.resize(4096));
  fill(arena, 0, 4096);
  std::vector<int> wrong(2);
  std::vector<std::thread> readers;
  for (int& count : wrong) {
    readers.emplace_back([&arena, &count, data = arena.data()] {
      for (int i = 0; i < 100000; ++i) count += data[i % 4096] == std::byte{0xab} ? 0 : 1;
    });
  }
  for (std::uint64_t size = 74096; size < 24 * kMiB; size += 70000) {
    if (!arena.resize(size)) break;
    arena.data()[size - 1] = std::byte{1};
  }
  for (std::thread& reader : readers) reader.join();
  REQUIRE(wrong == std::vector<int>{0, 0});
  REQUIRE(arena.size() > 23 * kMiB);
}

// A limit of addresses is for a whole process, and the sanitizers need more than any.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// What `body` returns in a process that has so many addresses.
template <class Body>
int under_limit(std::uint64_t addresses, Body body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit limit = {addresses, addresses};
    ::_exit(::setrlimit(RLIMIT_AS, &limit) != 0 ? 100 : body());
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

TEST_CASE("under ulimit -v many arenas grow side by side, and stay where they are") {
  const int wrong = under_limit(2 * kGiB, [] {
    std::vector<Arena> arenas;
    for (int i = 0; i < 300; ++i) arenas.emplace_back(64 * kGiB, i % 64 * 64);
    std::vector<std::byte*> places;
    for (Arena& arena : arenas) places.push_back(arena.data());
    for (std::uint64_t size = 4096; size <= 4 * kMiB; size *= 4) {
      for (std::size_t i = 0; i < arenas.size(); ++i) {
        if (!arenas[i].resize(size)) return 1;
        if (arenas[i].data() != places[i]) return 2;
        std::memset(arenas[i].data() + size / 4, static_cast<int>(i), size - size / 4);
      }
    }
    for (std::size_t i = 0; i < arenas.size(); ++i) {
      if (arenas[i].data()[1000] != std::byte{}) return 3;
      if (arenas[i].data()[4 * kMiB - 1] != static_cast<std::byte>(i)) return 4;
      if (reinterpret_cast<std::uintptr_t>(places[i]) % (2 * kMiB) != i % 64 * 64) return 5;
    }
    return 0;
  });
  CHECK(wrong == 0);
}

TEST_CASE("under ulimit -v an arena says so when there is nothing left, and keeps what it has") {
  const int wrong = under_limit(kGiB, [] {
    Arena arena(64 * kGiB);
    if (!arena.resize(10 * kMiB)) return 1;
    fill(arena, 0, 10 * kMiB);
    if (arena.resize(4 * kGiB) || arena.size() != 10 * kMiB) return 2;
    if (arena.data()[10 * kMiB - 1] != std::byte{0xab}) return 3;
    if (!arena.resize(500 * kMiB)) return 4;
    std::vector<Arena> more;
    more.reserve(1000000);
    try {
      while (more.size() < 1000000) more.emplace_back(64 * kGiB);
    } catch (const std::runtime_error&) {
      return 0;
    }
    return 5;
  });
  CHECK(wrong == 0);
}

TEST_CASE("under ulimit -v a file is mapped, and what comes behind it grows") {
  const ScratchFile file(2 * 4096 + 100);
  const int wrong = under_limit(kGiB, [&] {
    Arena arena(64 * kGiB);
    if (!arena.map(file.fd(), 0, 2 * 4096 + 100)) return 1;
    if (!arena.resize(50 * kMiB)) return 2;
    if (arena.data()[2 * 4096 + 99] != file.bytes().back()) return 3;
    if (arena.data()[2 * 4096 + 100] != std::byte{}) return 4;
    return 0;
  });
  CHECK(wrong == 0);
}
#endif

}  // namespace
}  // namespace leveret::table
