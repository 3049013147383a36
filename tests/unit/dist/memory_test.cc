// The more ranks, the less each of them holds.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "sharded_run.h"

namespace leveret::dist {
namespace {

/// Lines of click data: 24 fields, of which the largest have 40,000 values and the smallest 5, each
/// by Zipf's law with exponent 1 (P(rank) ~ log(1 + 1 / rank), by inversion).
std::string zipf_lines(std::size_t count, std::uint32_t seed) {
  constexpr std::uint32_t kFields = 24;
  std::mt19937 random(seed);
  std::string text;
  for (std::size_t l = 0; l < count; ++l) {
    text += random() % 5 == 0 ? "1" : "-1";
    for (std::uint32_t f = 0; f < kFields; ++f) {
      const double values = 40000.0 * std::pow(8000.0, -static_cast<double>(f) / (kFields - 1));
      const double u = static_cast<double>(random()) / 4294967296.0;
      const auto rank = static_cast<std::uint32_t>(std::pow(values + 1, u));
      text += std::string(" |") + static_cast<char>('A' + f) + " v" + std::to_string(rank);
    }
    text += '\n';
  }
  return text;
}

TEST_CASE("each of N ranks holds little more than its share of the tables", "[digits]") {
  const std::string lines = zipf_lines(20000, 3);
  for (const bool layers : {true, false}) {
    spec::Spec spec;
    spec.batch_size = 1024;
    if (!layers) spec.hidden = {};
    ShardedRun one(spec, 1);
    one.learn(lines);
    const auto whole = static_cast<double>((*one.model)[0].tables().budget().used());
    train::TrainRun ordinary(spec);
    ordinary.learn(lines);
    CHECK(whole <= 1.01 * static_cast<double>(ordinary.model.tables().budget().used()));
    for (const std::uint32_t ranks : {2, 4}) {
      if (layers && ranks == 4) continue;  // layers are no tables: once is enough
      ShardedRun run(spec, ranks);
      run.learn(lines);
      double fullest = 0;
      for (std::uint32_t p = 0; p < ranks; ++p) {
        const auto bytes = static_cast<double>((*run.model)[p].tables().budget().used());
        fullest = std::max(fullest, bytes);
      }
      INFO(ranks << " ranks, layers " << layers << ": " << fullest * ranks / whole
                 << " times their share of " << whole);
      CHECK(fullest * ranks <= 1.2 * whole);
    }
  }
}

TEST_CASE("what one process has no memory for, two ranks have") {
  const std::string lines = zipf_lines(10000, 5);
  spec::Spec spec;
  spec.batch_size = 512;
  ShardedRun free(spec, 1);
  free.learn(lines);
  const std::uint64_t limit = (*free.model)[0].tables().budget().used() * 7 / 10;
  train::TrainRun one(spec, limit);
  one.learn(lines);
  CHECK(one.model.tables().overflow_lookups() > 0);
  ShardedRun two(spec, 2, limit);
  two.learn(lines);
  for (std::uint32_t p = 0; p < 2; ++p) CHECK((*two.model)[p].tables().overflow_lookups() == 0);
}

TEST_CASE("shards that run out of memory go on, and are gathered to a model that predicts",
          "[digits]") {
  const std::string lines = zipf_lines(10000, 6);
  spec::Spec spec;
  spec.batch_size = 512;
  spec.admit = 1;
  ShardedRun free(spec, 4);
  free.learn(lines);
  const std::uint64_t limit = (*free.model)[0].tables().budget().used() / 2;
  ShardedRun few(spec, 4, limit), again(spec, 4, limit);
  few.learn(lines);
  again.learn(lines);
  for (std::uint32_t p = 0; p < 4; ++p) CHECK((*few.model)[p].tables().overflow_lookups() > 0);
  model::Model whole = few.whole();
  CHECK(whole.tables().overflow_lookups() > 0);
  CHECK((saved_bytes(whole) == saved_bytes(again.whole())));
  train::TrainRun run(std::move(whole));
  for (const float p : run.predict(zipf_lines(500, 7))) CHECK((p > 0 && p < 1));
  // It goes on, too.
  ShardedRun more(run.model, 4);
  more.learn(zipf_lines(1000, 8));
  for (const float p : more.probabilities()) CHECK((p > 0 && p < 1));
}

TEST_CASE("a linear model is cut evenly") {
  const std::string lines = zipf_lines(5000, 4);
  spec::Spec spec;
  spec.ffm_k = 0;
  spec.batch_size = 512;
  ShardedRun one(spec, 1);
  one.learn(lines);
  const std::uint64_t whole = (*one.model)[0].tables()[0].index().size();
  for (const std::uint32_t ranks : {2, 3, 4}) {
    ShardedRun run(spec, ranks);
    run.learn(lines);
    for (std::uint32_t p = 0; p < ranks; ++p) {
      const table::Shard& shard = (*run.model)[p].tables()[0];
      CHECK(shard.index().size() * ranks <= whole * 105 / 100);
      // They lie as near to their homes as keys do that nobody has chosen: linear probing, three
      // quarters full, has 1.5 on the average (Knuth, 6.4).
      std::uint64_t probes = 0;
      shard.for_each([&](const table::Slot& slot) { probes += shard.probes(slot); });
      CHECK(probes <= 3 * shard.index().size());
    }
  }
}

}  // namespace
}  // namespace leveret::dist
