#include "kernels/dispatch.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace leveret::kernels {
namespace {

/// What active() says in a process of its own: it decides once per process.
std::string active_with(const char* wanted) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    setenv("LEVERET_SIMD", wanted, 1);
    std::string answer;
    try {
      answer = active().name;
    } catch (const std::runtime_error& error) {
      answer = std::string("error: ") + error.what();
    }
    const ssize_t written = write(ends[1], answer.data(), answer.size());
    _exit(written == static_cast<ssize_t>(answer.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string answer(1000, '\0');
  const ssize_t length = read(ends[0], answer.data(), answer.size());
  close(ends[0]);
  int status = 1;
  waitpid(child, &status, 0);
  REQUIRE(status == 0);
  answer.resize(static_cast<std::size_t>(length < 0 ? 0 : length));
  return answer;
}

TEST_CASE("the reference is always there and comes first") {
  REQUIRE_FALSE(all().empty());
  CHECK(all().front()->name == std::string("reference"));
  CHECK(runs_here(*all().front()));
}

TEST_CASE("tables are found by name") {
  for (const Kernels* k : all()) CHECK(find(k->name) == k);
  CHECK(find("avx1024") == nullptr);
  CHECK(find("") == nullptr);
}

TEST_CASE("every table is filled") {
  for (const Kernels* k : all()) {
    INFO(k->name);
    // A table is a name and function pointers, nothing else.
    const auto* entries = reinterpret_cast<void* const*>(k);
    for (std::size_t i = 0; i < sizeof(Kernels) / sizeof(void*); ++i) CHECK(entries[i] != nullptr);
  }
}

TEST_CASE("LEVERET_SIMD forces an instruction set") {
  for (const Kernels* k : all()) {
    if (runs_here(*k)) {
      CHECK(active_with(k->name) == k->name);
    } else {
      const std::string answer = active_with(k->name);
      INFO(answer);
      CHECK(answer.find(std::string("error: LEVERET_SIMD=") + k->name) == 0);
      CHECK(answer.find("cannot run") != std::string::npos);
    }
  }
}

TEST_CASE("an empty LEVERET_SIMD takes the fastest") {
  const Kernels* fastest = nullptr;
  for (const Kernels* k : all()) {
    if (runs_here(*k)) fastest = k;
  }
  CHECK(active_with("") == fastest->name);
}

TEST_CASE("an unknown LEVERET_SIMD is an error that lists the choices") {
  const std::string answer = active_with("altivec");
  INFO(answer);
  CHECK(answer.find("error: LEVERET_SIMD=altivec") == 0);
  for (const Kernels* k : all()) {
    if (runs_here(*k)) CHECK(answer.find(k->name) != std::string::npos);
  }
}

}  // namespace
}  // namespace leveret::kernels
