#include "files/temporary_names.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "files/atomic_file.h"
#include "files/temp_folder.h"

namespace leveret::files {
namespace {

std::span<const std::byte> text_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// A process of its own that does `work` and ends with what that returns.
pid_t start(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  return child;
}

int status_of(pid_t child) {
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

void on_signal(int) {
  remove_temporaries();
  _exit(7);
}

/// Saves files, some of them not to their end, until a signal comes.
void save_for_ever(const std::string& path, unsigned seed) {
  std::mt19937 random(seed);
  const std::string text(1 + random() % 20000, 'x');
  for (;;) {
    AtomicFile file(path);
    file.write(text_bytes(text));
    AtomicFile moved = std::move(file);
    if (random() % 2 == 0) moved.commit();
  }
}

TEST_CASE("whenever a signal ends the process, no temporary file is left", "[threads]") {
  const TempFolder folder;
  std::mt19937 random(42);
  std::size_t with_files = 0;
  for (int seed = 0; seed < 200; ++seed) {
    const unsigned threads = 1 + random() % 3, first_seed = static_cast<unsigned>(random());
    const pid_t child = start([&] {
      struct sigaction action {};
      action.sa_handler = on_signal;
      sigaction(SIGTERM, &action, nullptr);
      std::vector<std::thread> others;
      for (unsigned t = 1; t < threads; ++t) {
        others.emplace_back(
            [&, t] { save_for_ever(folder / ("f" + std::to_string(t)), first_seed + t); });
      }
      save_for_ever(folder / "f0", first_seed);
      return 1;
    });
    // Once it has begun, at any moment.
    while (folder.names().empty()) usleep(100);
    usleep(random() % 3000);
    kill(child, SIGTERM);
    const int status = status_of(child);
    INFO("seed " << seed);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) == 7);
    for (const std::string& name : folder.names()) {
      INFO(name);
      REQUIRE(name.find(".leveret-tmp.") == std::string::npos);
      ++with_files;
      std::filesystem::remove(folder / name);
    }
  }
  CHECK(with_files > 50);
}

/// What a process says to whom waits for it.
enum Answer { kGood = 0, kNoError, kOtherError, kWasPending, kDisposition, kMask };

/// Of a host of the library: dispositions of signals are the default, and stay so.
int write_beyond_limit(const std::string& path) {
  const rlimit limit = {8192, 8192};
  setrlimit(RLIMIT_FSIZE, &limit);
  try {
    AtomicFile file(path);
    file.write(text_bytes(std::string(100000, 'x')));
    return kNoError;
  } catch (const std::exception& error) {
    if (std::string(error.what()).find("ulimit -f") == std::string::npos) return kOtherError;
  }
  sigset_t set;
  sigpending(&set);
  if (sigismember(&set, SIGXFSZ) == 1) return kWasPending;
  pthread_sigmask(SIG_BLOCK, nullptr, &set);
  if (sigismember(&set, SIGXFSZ) == 1) return kMask;
  struct sigaction action {};
  sigaction(SIGXFSZ, nullptr, &action);
  return action.sa_handler == SIG_DFL ? kGood : kDisposition;
}

TEST_CASE("beyond the limit of file sizes a save is an error, and the process lives") {
  const TempFolder folder;
  CHECK(status_of(start([&] { return write_beyond_limit(folder / "f"); })) == 0);
  CHECK(folder.names().empty());
  // A SIGXFSZ that was waiting, and that the host has blocked, is the host's own.
  CHECK(status_of(start([&]() -> int {
          sigset_t set;
          sigemptyset(&set);
          sigaddset(&set, SIGXFSZ);
          pthread_sigmask(SIG_BLOCK, &set, nullptr);
          raise(SIGXFSZ);
          if (write_beyond_limit(folder / "f") != kWasPending) return 1;
          const timespec at_once = {};
          return sigtimedwait(&set, nullptr, &at_once) == SIGXFSZ ? 0 : 2;
        })) == 0);
  CHECK(folder.names().empty());
}

TEST_CASE("a pipe that nobody reads is an error, and the process lives") {
  const TempFolder folder;
  CHECK(status_of(start([]() -> int {
          int ends[2];
          if (pipe(ends) != 0) return 1;
          close(ends[0]);
          try {
            AtomicFile file("/dev/fd/" + std::to_string(ends[1]));
            file.write(text_bytes("x"));
          } catch (const std::exception&) {
            return 0;
          }
          return 2;
        })) == 0);
}

}  // namespace
}  // namespace leveret::files
