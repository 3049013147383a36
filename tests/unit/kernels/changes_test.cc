/// What copies of rows have learned, added to the rows by every instruction set.
#include <algorithm>

#include "kernels/arrays.h"
#include "kernels/no_numbers.h"

namespace leveret::kernels {
namespace {

template <class T>
std::byte* bytes(const Guarded<T>& array) {
  return reinterpret_cast<std::byte*>(static_cast<T*>(array));
}

std::vector<Fixed16> random_codes(std::size_t size, std::uint32_t seed) {
  std::vector<Fixed16> out;
  for (const float x : random_floats(size, seed, -12000, 12000)) {
    out.push_back(round_to_fixed<Fixed16>(x, kNearest));
  }
  return out;
}

TEST_CASE("changes of floats are added as they are") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    for (std::size_t length = 0; length < 70; ++length) {
      std::vector<float> before = random_floats(length, 1), copy = random_floats(length, 2);
      const std::vector<float> row = random_floats(length, 3);
      std::vector<float> expected(length);
      for (std::size_t i = 0; i < length; ++i) {
        if (i % 5 == 2) copy[i] = before[i] = i % 2 == 0 ? kInfinity : -3e38f;
        expected[i] = row[i] + (copy[i] == before[i] ? 0.0f : copy[i] - before[i]);
      }
      const Floats c(copy), b(before), to(row);
      kernels->add_changes(Codec::f32(), bytes(c), bytes(b), length, 7, bytes(to));
      CHECK(same_bits(to.copy(), expected));
    }
  }
}

TEST_CASE("changes of fixed-point weights are added exactly, within their range") {
  const int shift = GENERATE(8, 12, 14);
  const std::uint32_t noise = GENERATE(0u, 0xffffffffu);
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name << ", shift " << shift);
    for (std::size_t length = 0; length < 70; ++length) {
      std::vector<Fixed16> before = random_codes(length, 1), copy = random_codes(length, 2),
                           row = random_codes(length, 3);
      if (length > 3) {  // beyond either end
        row[1] = {32000}, copy[1] = {900}, before[1] = {-900};
        row[3] = {-32768}, copy[3] = {-32768}, before[3] = {32767};
      }
      const Guarded<Fixed16> c(copy), b(before), to(row);
      kernels->add_changes(Codec::fixed(16, shift), bytes(c), bytes(b), length, noise, bytes(to));
      for (std::size_t i = 0; i < length; ++i) {
        const int sum = row[i].code + copy[i].code - before[i].code;
        CHECK(to[i].code == std::clamp(sum, -32768, 32767));
      }
    }
  }
}

TEST_CASE("changes of weights of 8 bits are added exactly, within their range") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    const std::vector<Fixed8> before = {{1}, {-100}, {127}, {5}}, copy = {{4}, {100}, {-128}, {5}},
                              row = {{10}, {50}, {-3}, {-7}};
    const Guarded<Fixed8> c(copy), b(before), to(row);
    kernels->add_changes(Codec::fixed(8, 5), bytes(c), bytes(b), 4, 0xffffffffu, bytes(to));
    CHECK(to[0].code == 13);
    CHECK(to[1].code == 127);
    CHECK(to[2].code == -128);
    CHECK(to[3].code == -7);
  }
}

TEST_CASE("changes of short accumulators are added, in the mean exactly") {
  constexpr int kTimes = 3000;
  constexpr std::size_t kLength = 39;
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    std::vector<Bf16> before, copy, row;
    for (const float x : random_floats(kLength, 4, 0.01f, 2)) {
      before.push_back(round_to_bf16(x, kNearest));
      copy.push_back(round_to_bf16(1.25f * x, kNearest));
      row.push_back(round_to_bf16(7 * x, kNearest));
    }
    // What has not changed stays, finite or not.
    const Bf16 infinite = round_to_bf16(kInfinity, 0);
    before[3] = copy[3];
    before[20] = copy[20] = infinite;
    before[38] = copy[38] = row[38] = infinite;
    const Guarded<Bf16> c(copy), b(before);
    std::vector<double> sums(kLength);
    std::mt19937 seeds(5);
    for (int t = 0; t < kTimes; ++t) {
      const Guarded<Bf16> accs(row);
      kernels->add_changes(Codec::bf16(), bytes(c), bytes(b), kLength,
                           static_cast<std::uint32_t>(seeds()), bytes(accs));
      for (std::size_t i = 0; i < kLength; ++i) sums[i] += to_float(accs[i]);
      for (const std::size_t same : {3, 20, 38}) {
        if (accs[same].bits != row[same].bits) FAIL("accumulator " << same << " has changed");
      }
    }
    for (std::size_t i = 0; i < kLength; ++i) {
      if (row[i].bits == infinite.bits) continue;
      const double change = i == 20 ? 0 : double{to_float(copy[i])} - to_float(before[i]);
      const double expected = to_float(row[i]) + change;
      // A unit is 2^-7 of the number or less, and so is the deviation.
      const double off = std::abs(sums[i] / kTimes - expected);
      if (off > 3 * 0x1p-7 * expected / std::sqrt(kTimes)) {
        FAIL(expected << ": mean off by " << off);
      }
    }
  }
}

}  // namespace
}  // namespace leveret::kernels
