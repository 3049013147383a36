// How much memory a save takes beside the model, and how often a load reads the file.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

#include "saved_tables.h"

namespace leveret::modelfile {
namespace {

// Sanitizers have memory of their own, and other cases save and load under them.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// A number of /proc/self/`file`, behind its name.
std::uint64_t number_in(const char* file, const std::string& name) {
  std::ifstream in(std::string("/proc/self/") + file);
  std::string word;
  while (in >> word) {
    std::uint64_t number = 0;
    if (word == name + ":" && in >> number) return number;
  }
  FAIL("no " << name << " in " << file);
  return 0;
}

struct Peak {
  std::uint64_t before, highest;  ///< kilobytes
};

/// The peak of a child that calls work(): there the highest begins where it is now. Pages of the
/// program, which come as they are run, do not count: RssFile, or RssShmem where it lies in a
/// tmpfs.
template <class Work>
Peak peak_of(Work work) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    Peak peak{number_in("status", "RssAnon"), 0};
    work();
    peak.highest = number_in("status", "VmHWM") - number_in("status", "RssFile") -
                   number_in("status", "RssShmem");
    const bool told = ::write(ends[1], &peak, sizeof peak) == sizeof peak;
    ::_exit(told ? 0 : 1);
  }
  ::close(ends[1]);
  Peak peak{};
  const bool heard = ::read(ends[0], &peak, sizeof peak) == sizeof peak;
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  REQUIRE(heard);
  return peak;
}

TEST_CASE("saving takes at most a tenth more memory, and loading reads the file once") {
  struct Kind {
    const char* name;
    RowLayout rows;
    CellKind cells;
    std::uint32_t features;
    std::uint32_t bits = 0;
  };
  // The smallest slots are where an order of them would take the largest share.
  const Kind kinds[] = {
      {"slots of 8 bytes", RowLayout(), CellKind::kNone, 3000000},
      {"slots of 16 bytes", RowLayout(), CellKind::kAdagrad, 2000000},
      {"slots of 32 bytes", RowLayout(), CellKind::kMixed, 1000000},
      {"rows", table::layout_of_slots(kFields), CellKind::kMixed, 200000},
      {"hashed slots of 8 bytes, most of them", RowLayout(), CellKind::kAdagrad, 4000000, 22},
      {"hashed slots of 8 bytes, a few", RowLayout(), CellKind::kAdagrad, 60000, 22},
  };
  constexpr std::uint64_t kRoom = std::uint64_t{1} << 30;
  for (const Kind& kind : kinds) {
    const auto options = options_of(kind.rows, kind.cells);
    const files::TempFolder folder;
    {
      const auto tables = make_tables(options, kind.bits, kRoom);
      for (std::uint32_t i = 1; i <= kind.features; ++i) {
        if (kind.bits > 0) {
          tables->hashed()->find(key_number(i))->weight = 1;
        } else if (kind.rows.empty()) {
          (*tables)[0].find_or_insert(key_number(i));
        } else {
          for (Shard& shard : *tables) learn(shard, i, 3, 0);
        }
      }
      const Peak peak = peak_of([&] { save(*tables, folder / "m"); });
      const double factor = static_cast<double>(peak.highest) / static_cast<double>(peak.before);
      std::printf("%s: saving took %.3f of the memory before it (%.0f MB)\n", kind.name, factor,
                  static_cast<double>(peak.before) / 1024);
      CHECK(factor <= 1.1);
      CHECK(tables->budget().used() > (20u << 20));
    }
    const std::uint64_t before = number_in("io", "rchar");
    loaded(folder / "m", options, kind.bits, kRoom);
    const std::uint64_t read = number_in("io", "rchar") - before;
    const std::uint64_t bytes = store::ModelFile::open(folder / "m").bytes();
    std::printf("%s: loading read %.4f of the file (%.0f MB)\n", kind.name,
                static_cast<double>(read) / static_cast<double>(bytes),
                static_cast<double>(bytes) / (1 << 20));
    CHECK(read <= bytes + 16 * 4096);
  }
}
#endif

/// What work() takes: seconds, and those of the processor, for machines that have other work, too.
template <class Work>
std::string seconds(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t before = std::clock();
  work();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  const double busy = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  return fmt::format("{:.2f} s ({:.2f} s busy)", passed.count(), busy);
}

// LEVERET_LARGE=MB: of about so many megabytes (1,000). Figures mean something in a release build.
TEST_CASE("print how long a large file takes to be read and to be loaded", "[.large]") {
  const char* const wanted = ::getenv("LEVERET_LARGE");
  const std::uint64_t megabytes = wanted != nullptr ? std::stoull(wanted) : 1000;
  constexpr std::uint32_t kManyFields = 39;
  constexpr std::uint64_t kRoom = std::uint64_t{8} << 30;
  const auto options = options_of(table::layout_of_slots(kManyFields));
  // 39 slots of 5 codes of 16 bits, 39 sums of 16 bits, key and cell.
  const std::uint64_t features = (megabytes << 20) / (kManyFields * (39 * 12 + 28));
  const files::TempFolder folder;
  {
    Tables tables(options, 0, kRoom);
    tables.fit(kManyFields);
    for (std::uint32_t f = 0; f < kManyFields; ++f) {
      Shard& shard = tables.field(f);
      for (std::uint32_t i = 1; i <= features; ++i) {
        Slot* const slot = shard.find_or_insert(key_number(i * kManyFields + f));
        shard.count_and_find(*slot);
        shard.count_and_find(*slot);
      }
    }
    fmt::print("saving: {}\n", seconds([&] { save(tables, folder / "m"); }));
  }
  const store::ModelFile file = store::ModelFile::open(folder / "m");
  for (int round = 0; round < 3; ++round) {
    std::vector<std::byte> block(256 << 10);
    const std::string reading = seconds([&] {
      std::uint64_t at = 0;
      for (ssize_t n = 1; n > 0; at += static_cast<std::uint64_t>(n)) {
        n = ::pread(file.fd(), block.data(), block.size(), static_cast<off_t>(at));
        REQUIRE(n >= 0);
      }
    });
    const std::string verifying = seconds([&] {
      for (const store::StoredSection& section : file.sections()) file.verify(section);
    });
    Tables tables(options, 0, kRoom);
    tables.fit(kManyFields);
    const std::string loading = seconds([&] { load(tables, folder / "m"); });
    fmt::print("{} MB: read {}, verified {}, loaded {}\n", file.bytes() >> 20, reading, verifying,
               loading);
  }
}

}  // namespace
}  // namespace leveret::modelfile
