/// Fixed-point numbers one by one, and rows of them by every instruction set.
#include "kernels/arrays.h"

namespace leveret::kernels {
namespace {

TEST_CASE("fixed-point numbers of known units") {
  const std::pair<std::int16_t, float> known[] = {
      {0, 0.0f},     {4096, 1.0f},    {-8192, -2.0f},         {32767, kLargestQ12},
      {1, 0x1p-12f}, {-1, -0x1p-12f}, {-32768, kSmallestQ12}, {-32767, -kLargestQ12},
      {6144, 1.5f}};
  for (const auto& [units, value] : known) {
    CHECK(to_float(Q12{units}) == value);
    CHECK(nearest_q12(value).units == units);
    CHECK(round_to_q12(value, 0).units == units);
    CHECK(round_to_q12(value, 0xffffffff).units == units);
  }
  CHECK(kSmallestQ12 == -8.0f);
}

TEST_CASE("rounding to fixed point") {
  CHECK(nearest_q12(1 + 0x1p-13f).units == 4097);  // a tie, upwards
  CHECK(nearest_q12(-1 - 0x1p-13f).units == -4096);
  CHECK(nearest_q12(1 + 0x1p-14f).units == 4096);
  CHECK(round_to_q12(-1 - 0x1p-14f, 0).units == -4097);
  CHECK(round_to_q12(1 + 0x1p-14f, 0xbfffffff).units == 4096);  // a quarter rounds up
  CHECK(round_to_q12(1 + 0x1p-14f, 0xc0000000).units == 4097);
  for (const float large : {8.0f, 8.1f, 70000.0f, 3e38f, std::numeric_limits<float>::infinity()}) {
    CHECK(round_to_q12(large, 0xffffffff).units == 32767);
    CHECK(round_to_q12(-large, 0xffffffff).units == -32768);
  }
}

TEST_CASE("every fixed-point number survives every instruction set, whatever the noise") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    std::vector<Q12> numbers;
    std::vector<float> values;
    for (int units = -32768; units < 32768; ++units) {
      numbers.push_back({static_cast<std::int16_t>(units)});
      values.push_back(static_cast<float>(units) / 4096);
    }
    // Pieces of every length, so that parts of registers are met, too.
    for (std::size_t first = 0, length = 1; first < numbers.size(); first += length++) {
      length = std::min(length, numbers.size() - first);
      const std::vector<Q12> piece(numbers.begin() + static_cast<std::ptrdiff_t>(first),
                                   numbers.begin() + static_cast<std::ptrdiff_t>(first + length));
      const Guarded<Q12> row(piece);
      Q12* const at = row;
      Floats out(length);
      kernels->read_weights(RowFormat::kI16, reinterpret_cast<std::byte*>(at), length, out);
      if (!same_bits(out.copy(), {&values[first], &values[first] + length})) {
        FAIL("numbers from " << first << ", " << length << " of them");
      }
      std::fill(at, at + length, Q12{0x1234});
      kernels->write_weights(RowFormat::kI16, out, length, static_cast<std::uint32_t>(first * 977),
                             reinterpret_cast<std::byte*>(at));
      if (std::memcmp(at, piece.data(), length * sizeof(Q12)) != 0) {
        FAIL("numbers from " << first << ", " << length << " of them, were changed");
      }
    }
  }
}

TEST_CASE("what lies between two numbers becomes one of them, each as often as it is near") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    std::vector<float> in = random_floats(200, 3, -4, 4);
    for (const float extreme : {1e-7f, -3e-6f, 7.9999f, -7.99999f, 1e6f, -3e38f, 0.0f}) {
      in.push_back(extreme);
    }
    std::vector<double> sum(in.size());
    std::vector<Q12> row(in.size());
    std::vector<float> out(in.size());
    std::mt19937 seeds(2);
    constexpr int kTimes = 4000;
    for (int t = 0; t < kTimes; ++t) {
      auto* const bytes = reinterpret_cast<std::byte*>(row.data());
      kernels->write_weights(RowFormat::kI16, in.data(), in.size(),
                             static_cast<std::uint32_t>(seeds()), bytes);
      kernels->read_weights(RowFormat::kI16, bytes, in.size(), out.data());
      for (std::size_t i = 0; i < in.size(); ++i) {
        const float x = std::clamp(in[i], kSmallestQ12, kLargestQ12);
        if (!(std::abs(double{out[i]} - x) < kQ12Unit || out[i] == x)) {
          FAIL(x << " became " << out[i]);
        }
        sum[i] += out[i];
      }
    }
    for (std::size_t i = 0; i < in.size(); ++i) {
      const float x = std::clamp(in[i], kSmallestQ12, kLargestQ12);
      const double off = std::abs(sum[i] / kTimes - x);
      if (off > 3 * kQ12Unit / std::sqrt(kTimes)) FAIL(x << ": mean off by " << off);
    }
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
