/// Registers one benchmark per instruction set that runs here, and fills its inputs.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#include "kernels/dispatch.h"

namespace leveret::bench {

/// A zero-cost owner of 64-byte aligned floats: the model's sections are aligned so.
struct Free {
  void operator()(float* p) const { std::free(p); }
};
using Floats = std::unique_ptr<float[], Free>;

inline Floats random_floats(std::size_t size, float low, float high) {
  const std::size_t bytes = (size * sizeof(float) + 63) / 64 * 64;
  Floats x(static_cast<float*>(std::aligned_alloc(64, bytes + 64)));
  std::mt19937 bits(static_cast<std::uint32_t>(size));
  std::uniform_real_distribution<float> value(low, high);
  for (std::size_t i = 0; i < size; ++i) x[i] = value(bits);
  return x;
}

/// Bytes and floating-point operations of one call, shown per second.
inline void count(benchmark::State& state, double bytes, double flops) {
  using benchmark::Counter;
  state.counters["bytes"] = Counter(bytes, Counter::kIsIterationInvariantRate, Counter::kIs1024);
  state.counters["flop"] = Counter(flops, Counter::kIsIterationInvariantRate);
}

/// body(state, kernels) as NAME/avx512, NAME/avx2, …
template <class Body>
void register_all(const std::string& name, Body body) {
  for (const kernels::Kernels* k : kernels::all()) {
    if (!kernels::runs_here(*k)) continue;
    benchmark::RegisterBenchmark((name + '/' + k->name).c_str(),
                                 [=](benchmark::State& state) { body(state, *k); });
  }
}

/// Runs what was registered; the exit status of main.
inline int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace leveret::bench
