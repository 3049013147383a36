#include "cli/look/section_stats.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace leveret::cli {
namespace {

using store::Dtype;

template <class T>
SectionStats stats(Dtype dtype, const std::vector<T>& values,
                   const store::Declaration& declared = {}) {
  SectionStats stats;
  const auto bytes = std::as_bytes(std::span(values));
  const std::size_t part = values.size() / 2 * sizeof(T);
  add_numbers(stats, dtype, bytes.first(part), declared);
  add_numbers(stats, dtype, bytes.subspan(part), declared);
  return stats;
}

TEST_CASE("Figures of a section of floats leave out what is not finite") {
  const float inf = std::numeric_limits<float>::infinity();
  const SectionStats s = stats<float>(Dtype::kF32, {NAN, -2, 0, 5, inf, 0, -inf, 1});
  CHECK(s.count == 8);
  CHECK(s.not_finite == 3);
  CHECK(s.min == -2);
  CHECK(s.max == 5);
  CHECK(s.mean() == Approx(0.8));
  CHECK(s.zero_share() == Approx(0.25));
}

TEST_CASE("Figures of every other type") {
  CHECK(stats<std::uint8_t>(Dtype::kU8, {0, 255}).max == 255);
  CHECK(stats<std::uint16_t>(Dtype::kU16, {7, 65535}).max == 65535);
  CHECK(stats<std::uint32_t>(Dtype::kU32, {7, 0xffffffffu}).max == 4294967295.0);
  CHECK(stats<std::uint64_t>(Dtype::kU64, {7, 0}).mean() == 3.5);
  CHECK(stats<std::int8_t>(Dtype::kI8, {-128, 1}).min == -128);
  CHECK(stats<std::int16_t>(Dtype::kI16, {-3, 1}).min == -3);
  // The upper halves of 1.0f, -2.5f and infinity.
  const SectionStats half = stats<std::uint16_t>(Dtype::kBf16, {0x3f80, 0xc020, 0x7f80});
  CHECK(half.max == 1);
  CHECK(half.min == -2.5);
  CHECK(half.not_finite == 1);
}

TEST_CASE("Figures are those of what codes stand for") {
  store::Declaration declared;
  declared.scale = 0.5f;
  declared.coding = store::Coding::kFixed;
  const SectionStats fixed = stats<std::int8_t>(Dtype::kI8, {-4, 0, 6}, declared);
  CHECK(fixed.min == -2);
  CHECK(fixed.max == 3);
  CHECK(fixed.zero_share() == Approx(1 / 3.0));
  // The low half first: 7, -8, -1, 0.
  const SectionStats halves = stats<std::uint8_t>(Dtype::kI4, {0x87, 0x0f}, declared);
  CHECK(halves.count == 4);
  CHECK(halves.min == -4);
  CHECK(halves.max == 3.5);
  CHECK(halves.sum == -1);
  declared.coding = store::Coding::kLog;
  CHECK(stats<std::uint8_t>(Dtype::kU8, {0, 4}, declared).max == Approx(std::exp(2.0) - 1));
  declared.coding = store::Coding::kFixedByRow;
  declared.scale = 1;
  CHECK(stats<std::int8_t>(Dtype::kI8, {-4, 6}, declared).max == 6);
  CHECK(stats<double>(Dtype::kF64, {1e300, -2}).max == 1e300);
}

TEST_CASE("Figures of nothing") {
  const SectionStats none = stats<float>(Dtype::kF32, {});
  CHECK(none.mean() == 0);
  CHECK(none.zero_share() == 0);
  const SectionStats broken = stats<float>(Dtype::kF32, {NAN});
  CHECK(broken.mean() == 0);
  CHECK(broken.max == 0);
}

}  // namespace
}  // namespace leveret::cli
