#include "cli/signals.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <thread>

#include "files/temp_folder.h"
#include "files/temporary_names.h"

namespace leveret::cli {
namespace {

/// Counts how often it was stopped.
struct CountingSource final : stream::ExampleSource {
  std::atomic<int> stops{0};

  bool next(text::ExampleChunk&) override { return false; }
  void stop() noexcept override { ++stops; }
  const std::string& source_name(std::uint32_t) const override {
    static const std::string name = "none";
    return name;
  }
  std::uint64_t bytes_read() const override { return 0; }
  std::optional<std::uint64_t> bytes_total() const override { return 0; }
};

void pass(int milliseconds) {
  for (int i = 0; i < milliseconds; ++i) usleep(1000);
}

/// How a process ends that has prepared for signals, has a temporary file, and does `work`: its
/// exit code, or minus the signal.
int ends(const std::string& file, const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    prepare_signals();
    close(STDERR_FILENO);
    files::TemporaryName name(file);
    {
      const files::TemporaryStep step;
      close(open(file.c_str(), O_WRONLY | O_CREAT, 0666));
      name.list(step);
    }
    const int code = work();
    {
      const files::TemporaryStep step;
      unlink(file.c_str());
      name.forget(step);
    }
    _exit(code);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_CASE("a signal ends a program that has nothing to save, and its temporary files") {
  const files::TempFolder folder;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    CHECK(ends(folder / "f", [&] { return raise(signal), 0; }) == -signal);
    CHECK(folder.names().empty());
  }
}

TEST_CASE("a second signal within a second of the first is the same request") {
  const files::TempFolder folder;
  for (const int second : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    for (const int pause : {0, 10, 500}) {
      CHECK(ends(folder / "f", [&] {
              CountingSource source;
              const StopOnSignal stop(source);
              raise(SIGTERM);
              pass(pause);
              raise(second);
              return source.stops == 1 && stop.stopped() ? 0 : 1;
            }) == 0);
      CHECK(ends(folder / "f", [&] {
              {
                const StopOnSignal stop;
                raise(SIGTERM);
              }
              pass(pause);
              raise(second);  // all is done by now
              return 0;
            }) == 0);
    }
  }
}

TEST_CASE("a signal that comes later ends the program at once, and its temporary files") {
  const files::TempFolder folder;
  CHECK(ends(folder / "f", [&] {
          const StopOnSignal stop;
          raise(SIGTERM);
          pass(1100);
          raise(SIGUSR1);
          return 0;
        }) == 128 + SIGUSR1);
  CHECK(folder.names().empty());
  CHECK(ends(folder / "f", [&] {
          const StopOnSignal stop(StopOnSignal::Then::kEndSoon);
          raise(SIGTERM);
          pass(10000);
          return 0;
        }) == 128 + SIGTERM);
  CHECK(folder.names().empty());
}

TEST_CASE("a signal ends a program while another thread puts handlers in place") {
  const files::TempFolder folder;
  for (int round = 0; round < 50; ++round) {
    const int end = ends(folder / "f", [] {
      std::thread([] {
        while (true) prepare_signals();
      }).detach();
      std::thread([] {
        pass(20000);
        raise(SIGKILL);
      }).detach();
      pass(1);
      raise(SIGTERM);
      pass(30000);
      return 0;
    });
    CHECK((end == -SIGTERM || end == 128 + SIGTERM));
    CHECK(folder.names().empty());
  }
}

TEST_CASE("beyond the limit of file sizes, and on a closed pipe, write() fails") {
  const files::TempFolder folder;
  CHECK(ends(folder / "f", [] { return raise(SIGXFSZ) + raise(SIGPIPE); }) == 0);
}

}  // namespace
}  // namespace leveret::cli
