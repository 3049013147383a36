// Sums that travel in 16 bits: rounding, and the tree that every rank makes.
#include "dist/talk/wire.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "dist/float_bits.h"
#include "thread_ranks.h"

namespace leveret::dist {
namespace {

constexpr WireFormat kHalf = {.bits = 16, .exact = 3, .noise = 7};

std::vector<float> some_values(unsigned rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(std::sin(1.0 + 7.3 * static_cast<double>(i) + rank) *
                                   std::exp(static_cast<double>(i % 13) - 6));
  }
  return values;
}

TEST_CASE("what is rounded has the mean that it had, and one of its two neighbours") {
  constexpr std::size_t kDraws = 40000;
  for (const float x : {1.001f, -3.14159f, 2.7e-20f, 0.3333333f}) {
    std::vector<float> drawn(kDraws, x);
    round({.bits = 16, .exact = 0, .noise = 5}, 1, 0, drawn);
    const float lower = std::bit_cast<float>(bits(x) & 0xffff0000u);
    const float upper = std::bit_cast<float>((bits(x) & 0xffff0000u) + 0x10000u);
    double sum = 0;
    std::size_t wrong = 0;
    for (const float y : drawn) {
      wrong += y != lower && y != upper;
      sum += y;
    }
    CHECK(wrong == 0);
    // The mean of so many has a deviation of at most half a unit by the root of their number.
    CHECK(std::fabs(sum / kDraws - x) <= 4 * 0.5 * std::fabs(upper - lower) / std::sqrt(kDraws));
  }
}

TEST_CASE("noise is by key, sum and place alone") {
  const std::vector<float> values = some_values(0, 1000);
  const auto rounded = [&](std::uint64_t key, std::uint64_t node) {
    std::vector<float> of = values;
    round({.bits = 16, .exact = 0, .noise = key}, node, 0, of);
    return of;
  };
  CHECK(rounded(1, 1) == rounded(1, 1));
  CHECK(rounded(1, 1) != rounded(2, 1));
  CHECK(rounded(1, 1) != rounded(1, 2));
  // A part, by its place among all, and what is exact stays.
  std::vector<float> all = values, part(values.begin() + 100, values.end());
  round(kHalf, 1, 0, all);
  round(kHalf, 1, 100, part);
  CHECK(std::equal(part.begin(), part.end(), all.begin() + 100));
  CHECK(std::equal(all.begin(), all.begin() + 3, values.begin()));
  CHECK(all[3] != values[3]);
  std::vector<float> again = all;
  round(kHalf, 9, 0, again);
  CHECK(again == all);
}

TEST_CASE("numbers that are not finite stay what they are, and the largest stay finite") {
  using Limits = std::numeric_limits<float>;
  const float nans[] = {Limits::quiet_NaN(), -Limits::quiet_NaN(),
                        std::bit_cast<float>(0x7f800001u), std::bit_cast<float>(0xffffffffu)};
  for (std::uint64_t key = 0; key < 200; ++key) {
    std::vector<float> values = {Limits::max(), -Limits::max(), Limits::infinity(),
                                 -Limits::infinity(), 0.0f};
    values.insert(values.end(), std::begin(nans), std::end(nans));
    const WireFormat format = {.bits = 16, .exact = 0, .noise = key};
    round(format, 0, 0, values);
    CHECK((std::isfinite(values[0]) && values[0] > 3.3e38f));
    CHECK((std::isfinite(values[1]) && values[1] < -3.3e38f));
    CHECK(values[2] == Limits::infinity());
    CHECK(values[3] == -Limits::infinity());
    CHECK(values[4] == 0.0f);
    for (std::size_t i = 5; i < values.size(); ++i) CHECK(std::isnan(values[i]));
    std::vector<std::byte> sent;
    pack(format, 0, values, sent);
    std::vector<float> received(values.size());
    unpack(format, 0, sent, received);
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(bits(received[i]) == bits(values[i]));
  }
}

TEST_CASE("bytes of any range are as the format says, and come as they were sent") {
  std::vector<float> values = some_values(1, 50);
  round(kHalf, 0, 0, values);
  for (const std::size_t begin : {0, 2, 3, 20}) {
    const std::vector<float> part(values.begin() + static_cast<std::ptrdiff_t>(begin),
                                  values.end());
    std::vector<std::byte> sent;
    pack(kHalf, begin, part, sent);
    CHECK(sent.size() == 2 * part.size() + 2 * (begin < 3 ? 3 - begin : 0));
    CHECK(sent.size() == kHalf.bytes(begin, 50));
    std::vector<float> received(part.size());
    unpack(kHalf, begin, sent, received);
    CHECK(received == part);
  }
}

/// The sums of all-reduce over 2^n ranks, as the header of Communicator has them.
std::vector<float> tree(unsigned first, unsigned count, std::size_t size) {
  std::vector<float> sum = some_values(first, size);
  if (count == 1) {
    round(kHalf, first, 0, sum);
    return sum;
  }
  sum = tree(first, count / 2, size);
  const std::vector<float> upper = tree(first + count / 2, count / 2, size);
  for (std::size_t i = 0; i < size; ++i) sum[i] += upper[i];
  const std::uint64_t step = count / 2;
  round(kHalf, step << 33 | first / count, 0, sum);
  return sum;
}

TEST_CASE("sums of 16 bits are one tree, bit by bit, on every rank", "[threads]") {
  const unsigned size = GENERATE(2u, 3u, 4u, 7u, 8u);
  const std::size_t count = GENERATE(5, 2047, 2048, 5001);
  std::vector<std::vector<float>> results(size);
  std::uint64_t sent = 0;
  run_ranks(size, [&](Communicator& ranks) {
    std::vector<float>& values = results[ranks.rank()];
    values = some_values(ranks.rank(), count);
    ranks.all_reduce_sum(values, kHalf);
    if (ranks.is_root()) sent = ranks.traffic().sent_for(Traffic::kSums);
  });
  for (const std::vector<float>& values : results) CHECK(values == results[0]);
  CHECK(sent == Communicator::all_reduce_bytes(count, size, kHalf));
  CHECK(2 * sent <= Communicator::all_reduce_bytes(count, size) + 6 * 4 * size);
  if (std::has_single_bit(size)) CHECK(results[0] == tree(0, size, count));
  for (std::size_t i = 0; i < count; i += 97) {
    double sum = 0, scale = 0;
    for (unsigned r = 0; r < size; ++r) {
      const double value = some_values(r, count)[i];
      sum += value;
      scale += std::fabs(value);
    }
    CHECK(std::fabs(results[0][i] - sum) <= 4 * scale / 128);
  }
}

}  // namespace
}  // namespace leveret::dist
