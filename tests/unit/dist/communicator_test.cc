#include "dist/talk/communicator.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>

#include "dist/float_bits.h"
#include "thread_ranks.h"

namespace leveret::dist {
namespace {

/// Numbers of very different sizes, so that another order of adding gives other bits.
std::vector<float> values_of(unsigned rank, std::size_t count) {
  std::mt19937 random(rank + 1);
  std::normal_distribution<float> number;
  std::vector<float> values(count);
  for (float& value : values) value = number(random) * std::exp(3 * number(random));
  return values;
}

/// The sum of leaves [first, first + count), by halves.
float tree(const std::vector<std::vector<float>>& leaves, std::size_t first, std::size_t count,
           std::size_t i) {
  if (count == 1) return leaves[first][i];
  return tree(leaves, first, count / 2, i) + tree(leaves, first + count / 2, count / 2, i);
}

std::vector<std::vector<float>> reduced(unsigned size, std::size_t count) {
  std::vector<std::vector<float>> results(size);
  run_ranks(size, [&](Communicator& ranks) {
    std::vector<float> values = values_of(ranks.rank(), count);
    ranks.all_reduce_sum(values);
    results[ranks.rank()] = values;
  });
  return results;
}

TEST_CASE("sums over 2^n ranks are one binary tree, bit by bit, on every rank", "[threads]") {
  const unsigned size = GENERATE(1u, 2u, 4u, 8u);
  const std::size_t count = GENERATE(0, 1, 7, 2047, 2048, 5001);
  std::vector<std::vector<float>> leaves;
  for (unsigned rank = 0; rank < size; ++rank) leaves.push_back(values_of(rank, count));
  for (const std::vector<float>& sums : reduced(size, count)) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i)
      wrong += bits(sums[i]) != bits(tree(leaves, 0, size, i));
    CHECK(wrong == 0);
  }
}

TEST_CASE("sums over any number of ranks have the same bits on every rank", "[threads]") {
  const unsigned size = GENERATE(3u, 5u, 6u, 7u);
  const std::size_t count = GENERATE(3, 3000);
  const std::vector<std::vector<float>> results = reduced(size, count);
  for (const std::vector<float>& sums : results) CHECK(sums == results[0]);
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0, scale = 0;
    for (unsigned rank = 0; rank < size; ++rank) {
      const double value = values_of(rank, count)[i];
      sum += value;
      scale += std::abs(value);
    }
    CHECK(std::abs(results[0][i] - sum) <= 1e-6 * scale);
    if (i == 20) break;  // values_of makes all of them each time
  }
}

TEST_CASE("a NaN is the same one on every rank", "[threads]") {
  const float nans[] = {std::bit_cast<float>(0x7fc00001u), std::bit_cast<float>(0x7fc00002u)};
  std::vector<std::uint32_t> results(2);
  run_ranks(2, [&](Communicator& ranks) {
    std::vector<float> value = {nans[ranks.rank()]};
    ranks.all_reduce_sum(value);
    results[ranks.rank()] = bits(value[0]);
  });
  CHECK(results[0] == results[1]);
}

TEST_CASE("the bytes of a sum are as the formula says", "[threads]") {
  const unsigned size = GENERATE(1u, 2u, 3u, 4u, 6u, 8u);
  const std::size_t count = GENERATE(0, 5, 2047, 2048, 4099);
  TrafficCount of_root;
  run_ranks(size, [&](Communicator& ranks) {
    std::vector<float> values(count);
    ranks.all_reduce_sum(values);
    if (ranks.is_root()) of_root = ranks.traffic();
  });
  CHECK(of_root.sent_for(Traffic::kSums) == Communicator::all_reduce_bytes(count, size));
  CHECK(of_root.received_for(Traffic::kSums) == of_root.sent_for(Traffic::kSums));
  CHECK(of_root.sent_for(Traffic::kInput) == 0);
  CHECK(of_root.sent_for(Traffic::kOther) == 0);
}

/// Another length and letter for each rank; nothing for rank 0.
std::string part_of(unsigned rank) {
  return std::string(1000 * rank, static_cast<char>('a' + rank));
}

TEST_CASE("bytes of any length go from rank 0 to all, to each, and from each to rank 0",
          "[threads]") {
  const unsigned size = GENERATE(1u, 2u, 3u, 5u);
  std::vector<Bytes> same(size, "old"), own(size, "old"), gathered;
  std::vector<Bytes> parts;
  for (unsigned rank = 0; rank < size; ++rank) parts.push_back(part_of(rank));
  same[0] = "the same for all";
  TrafficCount of_root;
  run_ranks(size, [&](Communicator& ranks) {
    ranks.broadcast(same[ranks.rank()]);
    ranks.scatter(ranks.is_root() ? std::span<const Bytes>(parts) : std::span<const Bytes>(),
                  own[ranks.rank()], Traffic::kInput);
    const std::vector<Bytes> all = ranks.gather(own[ranks.rank()]);
    ranks.barrier();
    if (ranks.is_root()) {
      gathered = all;
      of_root = ranks.traffic();
    }
  });
  for (const Bytes& bytes : same) CHECK(bytes == "the same for all");
  CHECK(own == parts);
  CHECK(gathered == parts);
  CHECK(of_root.sent_for(Traffic::kInput) == 1000 * size * (size - 1) / 2 + 8 * (size - 1));
  CHECK(of_root.received_for(Traffic::kInput) == 0);
}

TEST_CASE("a rank that fails ends those that wait for it", "[threads]") {
  CHECK_THROWS_WITH(run_ranks(3,
                              [](Communicator& ranks) {
                                if (ranks.rank() == 1) throw std::runtime_error("rank 1 fails");
                                std::vector<float> values(3);
                                ranks.all_reduce_sum(values);
                              }),
                    "rank 1 fails");
}

TEST_CASE("one process alone sends nothing") {
  SingleCommunicator alone;
  std::vector<float> values = {1, 2};
  alone.all_reduce_sum(values);
  CHECK(values == std::vector<float>{1, 2});
  Bytes own;
  alone.scatter(std::vector{Bytes("x")}, own);
  CHECK(own == Bytes("x"));
  CHECK(alone.gather(own) == std::vector{Bytes("x")});
  alone.barrier();
  for (const Traffic traffic : {Traffic::kSums, Traffic::kInput, Traffic::kOther}) {
    CHECK(alone.traffic().sent_for(traffic) == 0);
  }
}

}  // namespace
}  // namespace leveret::dist
