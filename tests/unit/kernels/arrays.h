/// Arrays for the kernel tests, and the loop over what is to be tested.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <random>
#include <span>
#include <vector>

#include "int16_near.h"
#include "kernels/dispatch.h"

namespace leveret::kernels {

constexpr float kEps = std::numeric_limits<float>::epsilon();

/// Numbers that end where a page ends which nobody may touch: reading or writing one too many
/// faults, and the address is as unaligned as the length is odd. (LEVERET_TEST_UNGUARDED takes them
/// from the heap instead: qemu 7.2 reads the masked lanes of AVX2's vmaskmov, which no processor
/// does, and is slow at changing its memory map.)
template <class T>
class Guarded {
 public:
  explicit Guarded(std::size_t size) : size_(size) {
    if (std::getenv("LEVERET_TEST_UNGUARDED") != nullptr) {
      heap_.resize(size + 17);  // 16 of slack, and off by one
      data_ = heap_.data() + 1;
      return;
    }
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t body = (size * sizeof(T) + page - 1) / page * page;
    mapped_ = body + page;
    map_ = static_cast<char*>(
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (map_ == MAP_FAILED) throw std::bad_alloc();
    mprotect(map_ + body, page, PROT_NONE);
    data_ = reinterpret_cast<T*>(map_ + body) - size;
  }
  explicit Guarded(const std::vector<T>& values) : Guarded(values.size()) {
    std::copy(values.begin(), values.end(), data_);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() {
    if (mapped_ != 0) munmap(map_, mapped_);
  }

  operator T*() const { return data_; }
  std::vector<T> copy() const { return {data_, data_ + size_}; }

 private:
  std::size_t size_;
  std::size_t mapped_ = 0;
  char* map_ = nullptr;
  std::vector<T> heap_;
  T* data_;
};
using Floats = Guarded<float>;

/// `size` numbers in [low, high), of which a share is exactly 0.
inline std::vector<float> random_floats(std::size_t size, std::uint32_t seed, float low = -1,
                                        float high = 1, float zeros = 0) {
  std::mt19937 bits(seed);
  std::uniform_real_distribution<float> value(low, high), chance(0, 1);
  std::vector<float> out(size);
  for (float& x : out) {
    x = value(bits);
    if (chance(bits) < zeros) x = 0;
  }
  return out;
}

inline const Kernels& reference() { return *find("reference"); }

/// Calls body(kernels) for every instruction set that runs here, but for the reference.
template <class Body>
void for_each_instruction_set(Body&& body) {
  for (const Kernels* k : all()) {
    if (k == &reference() || !runs_here(*k)) continue;
    INFO("instruction set " << k->name);
    body(*k);
  }
}

inline bool same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }
inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

/// Fails at the first element that is off by more than its tolerance.
inline void require_close(const std::vector<float>& got, const std::vector<float>& expected,
                          const std::vector<double>& tolerance) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(static_cast<double>(got[i]) - expected[i]);
    if (!(error <= tolerance[i])) {
      FAIL("element " << i << " of " << got.size() << ": got " << got[i] << ", expected "
                      << expected[i] << ", off by " << error << ", allowed " << tolerance[i]);
    }
  }
}

/// The rules every update is tried with.
inline std::vector<StepRule> rules() {
  return {{.rate = .1f, .power = .5f, .l2 = 0}, {.rate = .1f, .power = .5f, .l2 = .01f},
          {.rate = .05f, .power = 0, .l2 = 0},  {.rate = .05f, .power = 0, .l2 = .1f},
          {.rate = .2f, .power = .3f, .l2 = 0}, {.rate = .2f, .power = .45f, .l2 = .01f}};
}

/// Some of them whose accumulators forget, too: little, as tolerances are for accumulators that are
/// large beside the gradient's rounding.
inline std::vector<StepRule> forgetful_rules() {
  std::vector<StepRule> all = rules();
  for (const float decay : {.999f, .97f}) {
    for (StepRule rule : {rules()[0], rules()[1], rules()[4]}) {
      rule.decay = decay;
      all.push_back(rule);
    }
  }
  return all;
}

/// What rounding may do to one component's step of gradient g + l2 * w: the gradient is off by an
/// ulp of its largest term; 1/acc^power is off by 1e-6 for the root (a guess and one Newton step)
/// and by (2 + power * |ln acc|) ulps of exp and log otherwise, in all less than 5e-6 here.
struct StepTolerance {
  double weight, acc;

  StepTolerance(double g, double w, double acc_before, double acc_after, const StepRule& rule) {
    const double size = std::abs(g) + rule.l2 * std::abs(w);
    const double root = std::sqrt(std::max(acc_after, 1e-37));
    const double scale = rule.power == 0.5f ? 1 / root : std::pow(root, -2 * rule.power);
    const double inexact = rule.power == 0 ? 4 * kEps : (rule.power == 0.5f ? 1e-6 : 5e-6);
    weight = rule.rate * scale * size * (inexact + 4 * kEps) + kEps * std::abs(w);
    acc = 4 * kEps * (size * size + acc_before);
  }
};

}  // namespace leveret::kernels
