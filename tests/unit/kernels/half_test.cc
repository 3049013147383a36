/// Halves one by one, and rows of them by every instruction set.
#include "kernels/arrays.h"

namespace leveret::kernels {
namespace {

constexpr std::uint32_t kFirstInfinity = 0x7c00;

TEST_CASE("halves of known bits") {
  const std::pair<std::uint16_t, float> known[] = {{0x0000, 0.0f},     {0x3c00, 1.0f},
                                                   {0xc000, -2.0f},    {0x7bff, 65504.0f},
                                                   {0x0001, 0x1p-24f}, {0x03ff, 1023 * 0x1p-24f},
                                                   {0x0400, 0x1p-14f}, {0x3555, 0.333251953125f}};
  for (const auto& [bits, value] : known) {
    CHECK(to_float(Half{bits}) == value);
    CHECK(nearest_half(value).bits == bits);
    CHECK(truncate_to_half(value).bits == bits);
  }
  CHECK(same_bits(to_float(Half{0x8000}), -0.0f));
}

TEST_CASE("rounding of halves") {
  CHECK(nearest_half(1 + 0x1p-11f).bits == 0x3c01);  // a tie, away from zero
  CHECK(nearest_half(1 + 0x1p-12f).bits == 0x3c00);
  CHECK(truncate_to_half(-1 - 0x1.ffcp-11f).bits == 0xbc00);
  CHECK(round_to_half(1 + 0x1p-12f, 0xbfffffff).bits == 0x3c00);  // a quarter rounds up
  CHECK(round_to_half(1 + 0x1p-12f, 0xc0000000).bits == 0x3c01);
  for (const float large :
       {65504.0f, 65505.0f, 70000.0f, 3e38f, std::numeric_limits<float>::infinity()}) {
    CHECK(round_to_half(large, 0xffffffff).bits == 0x7bff);
    CHECK(round_to_half(-large, 0xffffffff).bits == 0xfbff);
  }
  CHECK(nearest_half(std::numeric_limits<float>::quiet_NaN()).bits == kNanHalf.bits);
}

TEST_CASE("numbers within the halves are rounded without a branch as they are with one") {
  // Every exponent there is, and fractions around each place where rounding turns.
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const std::uint32_t lower : {0x0000u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0xf000u}) {
      const float x = std::bit_cast<float>(upper << 16 | lower);
      if (!(std::abs(x) < kLargestHalf)) continue;
      REQUIRE(nearest_half_within(x).bits == nearest_half(x).bits);
    }
  }
}

TEST_CASE("every half survives every instruction set, whatever the noise") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    std::vector<Half> halves;
    std::vector<float> values;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      if ((bits & 0x7fff) >= kFirstInfinity) continue;
      halves.push_back({static_cast<std::uint16_t>(bits)});
      values.push_back(to_float(halves.back()));
    }
    // Pieces of every length, so that parts of registers are met, too.
    for (std::size_t first = 0, length = 1; first < halves.size(); first += length++) {
      length = std::min(length, halves.size() - first);
      const std::vector<Half> piece(halves.begin() + static_cast<std::ptrdiff_t>(first),
                                    halves.begin() + static_cast<std::ptrdiff_t>(first + length));
      const Guarded<Half> row(piece);
      Half* const at = row;
      Floats out(length);
      kernels->read_weights(RowFormat::kF16, reinterpret_cast<std::byte*>(at), length, out);
      if (!same_bits(out.copy(), {&values[first], &values[first] + length})) {
        FAIL("halves from " << first << ", " << length << " of them");
      }
      std::fill(at, at + length, Half{0x1234});
      kernels->write_weights(RowFormat::kF16, out, length, static_cast<std::uint32_t>(first * 977),
                             reinterpret_cast<std::byte*>(at));
      if (std::memcmp(at, piece.data(), length * sizeof(Half)) != 0) {
        FAIL("halves from " << first << ", " << length << " of them, were changed");
      }
    }
  }
}

TEST_CASE("what lies between two halves becomes one of them, each as often as it is near") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    std::vector<float> in = random_floats(200, 3, -4, 4);
    for (const float extreme : {1e-7f, -3e-6f, 65503.0f, 1e6f, -3e38f, 0.0f}) in.push_back(extreme);
    std::vector<double> sum(in.size());
    std::vector<Half> row(in.size());
    std::vector<float> out(in.size());
    std::mt19937 seeds(2);
    constexpr int kTimes = 4000;
    for (int t = 0; t < kTimes; ++t) {
      auto* const bytes = reinterpret_cast<std::byte*>(row.data());
      kernels->write_weights(RowFormat::kF16, in.data(), in.size(),
                             static_cast<std::uint32_t>(seeds()), bytes);
      kernels->read_weights(RowFormat::kF16, bytes, in.size(), out.data());
      for (std::size_t i = 0; i < in.size(); ++i) {
        const float x = std::clamp(in[i], -kLargestHalf, kLargestHalf);
        if (!(std::abs(double{out[i]} - x) < half_ulp(x) || out[i] == x)) {
          FAIL(x << " became " << out[i]);
        }
        sum[i] += out[i];
      }
    }
    for (std::size_t i = 0; i < in.size(); ++i) {
      const float x = std::clamp(in[i], -kLargestHalf, kLargestHalf);
      // Below the normal halves rounding is towards zero.
      const double bias = std::abs(x) < 0x1p-14f ? 0x1p-24 : 0;
      const double off = std::abs(sum[i] / kTimes - x);
      if (off > 3 * half_ulp(x) / std::sqrt(kTimes) + bias) FAIL(x << ": mean off by " << off);
    }
  }
}

TEST_CASE("NaN is written as such, so that no file takes it") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    const std::vector<float> in(19, std::numeric_limits<float>::quiet_NaN());
    std::vector<Half> row(in.size());
    kernels->write_weights(RowFormat::kF16, in.data(), in.size(), 0xffffffff,
                           reinterpret_cast<std::byte*>(row.data()));
    for (const Half h : row) CHECK((h.bits & 0x7fff) > kFirstInfinity);
  }
}

TEST_CASE("rows of floats are read and written as they are") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    for (std::size_t length = 0; length < 40; ++length) {
      const std::vector<float> in = random_floats(length, 4, -1e30f, 1e30f);
      Floats row(length), out(length);
      float* const at = row;
      kernels->write_weights(RowFormat::kF32, in.data(), length, 9,
                             reinterpret_cast<std::byte*>(at));
      kernels->read_weights(RowFormat::kF32, reinterpret_cast<std::byte*>(at), length, out);
      CHECK(same_bits(out.copy(), in));
    }
  }
}

}  // namespace
}  // namespace leveret::kernels
