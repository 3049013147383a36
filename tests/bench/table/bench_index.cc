/// What finding a feature costs: its slot by key, and its row by slot.
///
/// 1.18 million features of 39 fields, as a day of Criteo's clicks has them: some fields of a few
/// values, some of hundreds of thousands, and within a field values by Zipf's law. An example has
/// 37 of the fields. As in the model, an example's keys are prefetched two examples ahead, slots
/// are taken at home without a branch where they are there, and the weight of each is read.
///
///   find_in_one_index   all features in one index of 32-byte slots
///   find_in_shards      each field in a shard of its own, slots of 32 bytes
///   rows_of_slots       slot to the address of its row, the slots being known
///
/// "per_feature" is CPU time; "home" the share of look-ups that end where they begin.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "table/index.h"
#include "table/mix.h"
#include "table/tables.h"

namespace leveret::table {
namespace {

constexpr std::uint32_t kFields = 39, kPresent = 37;
constexpr std::uint32_t kFeatures = 1'180'000;
constexpr std::size_t kExamples = 60'000;
constexpr std::size_t kAhead = 2;
constexpr std::uint64_t kMemory = std::uint64_t{8} << 30;

struct Feature {
  Key key;
  std::uint32_t field;
};

/// Examples, feature after feature.
struct Data {
  std::vector<Feature> features;
  std::vector<std::uint32_t> values;  ///< how many each field has

  std::span<const Feature> example(std::size_t i) const {
    return std::span(features).subspan(i * kPresent, kPresent);
  }
  static Key key(std::uint32_t field, std::uint32_t value) {
    return key_of(static_cast<std::uint32_t>(mix(std::uint64_t{field} << 32 | value)));
  }
};

const Data& data() {
  static const Data made = [] {
    Data data;
    // From 4 values on each field has 1.38 times as many as the one before.
    double size = 4, sum = 0;
    for (std::uint32_t f = 0; f < kFields; ++f, size *= 1.38) sum += size;
    size = 4;
    for (std::uint32_t f = 0; f < kFields; ++f, size *= 1.38) {
      data.values.push_back(static_cast<std::uint32_t>(std::max(2.0, size / sum * kFeatures)));
    }
    std::mt19937 random(1);
    std::uniform_real_distribution<double> unit(0, 1);
    data.features.reserve(kExamples * kPresent);
    for (std::size_t e = 0; e < kExamples; ++e) {
      const std::uint32_t absent = random() % kFields, other = (absent + 7) % kFields;
      for (std::uint32_t f = 0; f < kFields; ++f) {
        if (f == absent || f == other) continue;
        // Zipf with exponent 1: the n-th value as often as 1 / n.
        const double n = std::pow(data.values[f] + 1.0, unit(random));
        data.features.push_back({Data::key(f, static_cast<std::uint32_t>(n) - 1), f});
      }
    }
    return data;
  }();
  return made;
}

/// Calls insert(feature) for all features: those of the examples as they come, then the others.
template <class Insert>
void insert_all(Insert insert) {
  for (const Feature& feature : data().features) insert(feature);
  for (std::uint32_t f = 0; f < kFields; ++f) {
    for (std::uint32_t v = 0; v < data().values[f]; ++v) insert({Data::key(f, v), f});
  }
}

void report(benchmark::State& state, std::uint64_t at_home) {
  const double features = static_cast<double>(data().features.size());
  state.counters["per_feature"] = benchmark::Counter(
      features, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["home"] =
      static_cast<double>(at_home) / features / static_cast<double>(state.iterations());
}

/// index_of(field) gives the index.
template <class IndexOf>
void find_all(benchmark::State& state, IndexOf index_of) {
  std::uint64_t at_home = 0;
  for (auto _ : state) {
    float sum = 0;
    for (std::size_t e = 0; e < kExamples; ++e) {
      if (e + kAhead < kExamples) {
        for (const auto& [key, field] : data().example(e + kAhead)) index_of(field).prefetch(key);
      }
      // Which are not at home is unpredictable: they are noted without a branch.
      const std::byte* slots[kPresent];
      std::uint32_t away[kPresent + 1];
      std::size_t count = 0;
      const std::span<const Feature> features = data().example(e);
      for (std::uint32_t i = 0; i < kPresent; ++i) {
        slots[i] = index_of(features[i].field).home(features[i].key);
        away[count] = i;
        count += Index::key_at(slots[i]) != features[i].key;
      }
      for (std::size_t a = 0; a < count; ++a) {
        const Feature& feature = features[away[a]];
        slots[away[a]] = index_of(feature.field).find(feature.key);
      }
      for (const std::byte* const slot : slots) {
        sum += cell_of(reinterpret_cast<const Slot*>(slot))->weight;
      }
      at_home += kPresent - count;
    }
    benchmark::DoNotOptimize(sum);
  }
  report(state, at_home);
}

void find_in_one_index(benchmark::State& state) {
  MemoryBudget budget(kMemory);
  Index index(slot_bytes(CellKind::kMixed), budget);
  insert_all([&](const Feature& feature) { index.find_or_insert(feature.key); });
  find_all(state, [&](std::uint32_t) -> const Index& { return index; });
}
BENCHMARK(find_in_one_index)->Unit(benchmark::kMillisecond);

/// A shard for each field; the features of the examples have rows, of the least size.
std::unique_ptr<Tables> filled_shards() {
  RowPart part;
  part.slots = part.k = part.used_k = 1;
  part.codec = kernels::Codec::fixed(16, kernels::kDefaultShift);
  ShardOptions options;
  options.cells = CellKind::kMixed;
  options.rows = RowLayout({part});
  options.admission.admit = 1;
  auto tables = std::make_unique<Tables>(options, 0, kMemory);
  tables->fit(kFields);
  insert_all([&](const Feature& feature) {
    Shard& shard = tables->field(feature.field);
    shard.count_and_find(*shard.find_or_insert(feature.key));
  });
  return tables;
}

void find_in_shards(benchmark::State& state) {
  const std::unique_ptr<Tables> tables = filled_shards();
  find_all(state,
           [&](std::uint32_t field) -> const Index& { return tables->field(field).index(); });
}
BENCHMARK(find_in_shards)->Unit(benchmark::kMillisecond);

void rows_of_slots(benchmark::State& state) {
  const std::unique_ptr<Tables> tables = filled_shards();
  std::vector<Slot*> slots;
  for (const auto& [key, field] : data().features) {
    slots.push_back(tables->field(field).find_or_insert(key));
  }
  for (auto _ : state) {
    for (std::size_t e = 0; e < kExamples; ++e) {
      if (e + kAhead < kExamples) {
        for (std::size_t i = 0; i < kPresent; ++i) {
          __builtin_prefetch(slots[(e + kAhead) * kPresent + i]);
        }
      }
      const std::byte* at[kPresent];
      const std::span<const Feature> features = data().example(e);
      for (std::size_t i = 0; i < kPresent; ++i) {
        Shard& shard = tables->field(features[i].field);
        at[i] = shard.rows().at(shard.count_and_find(*slots[e * kPresent + i]));
      }
      benchmark::DoNotOptimize(at);
    }
  }
  report(state, state.iterations() * slots.size());
}
BENCHMARK(rows_of_slots)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace leveret::table

BENCHMARK_MAIN();
