// Products of several threads come to an OpenBLAS that has one working memory one after the other,
// and else side by side. Here its sgemm is this file's, which sees who is inside: whether the real
// one is hurt by two at a time depends on the processor and on the size (small products of SkylakeX
// use no memory that is shared).
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "block/dense/gemm.h"

namespace {

std::atomic<int> calls, inside, most_inside;
std::atomic<int> parallel;        // the kind of this OpenBLAS
std::atomic<long> second_thread;  // its number, when it is about to call

/// Whether the thread has slept for ten milliseconds: it waits for something.
bool sleeps(long thread) {
  for (int i = 0; i < 10; ++i) {
    std::ifstream stat("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string number, name, state;
    stat >> number >> name >> state;
    if (state != "S") return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace

extern "C" int openblas_get_parallel(void) { return parallel; }

/// The first call stays until the second one is inside, too, or waits.
extern "C" void cblas_sgemm(int, int, int, int, int, int, float, const float*, int, const float*,
                            int, float, float*, int) {
  const int now = ++inside;
  if (now > most_inside) most_inside = now;
  if (++calls == 1) {
    while (most_inside < 2 && (second_thread == 0 || !sleeps(second_thread))) {
      std::this_thread::yield();
    }
  }
  --inside;
}

namespace leveret::block {
namespace {

/// Product 0, 1 or 2 of a layer.
void multiply(int product) {
  constexpr GemmShape kShape{4, 4, 16, 4};
  std::array<float, 64> w{}, in{}, out{};
  const Gemm& gemm = openblas();
  if (product == 0) gemm.forward(kShape, w.data(), in.data(), out.data());
  if (product == 1) gemm.backward(kShape, w.data(), out.data(), in.data());
  if (product == 2) gemm.weight_gradient(kShape, out.data(), in.data(), w.data());
}

TEST_CASE(
    "whether two threads' products run side by side is told by OpenBLAS, whichever they are") {
  parallel = GENERATE(0, 1, 2);
  const int first = GENERATE(0, 1, 2), second = GENERATE(0, 1, 2);
  calls = inside = most_inside = 0;
  second_thread = 0;
  std::thread one([&] { multiply(first); });
  while (calls == 0) std::this_thread::yield();
  std::thread other([&] {
    second_thread = syscall(SYS_gettid);
    multiply(second);
  });
  one.join();
  other.join();
  INFO("products " << first << " and " << second << ", OpenBLAS of kind " << parallel);
  CHECK(calls == 2);
  CHECK(most_inside == (parallel == 1 ? 2 : 1));
}

}  // namespace
}  // namespace leveret::block
