/// Fifty million weights to 16 bits, beside a copy of them; and rows of 8 and 4 bits as kernels
/// read them.
#include <cstring>
#include <vector>

#include "registry.h"

namespace leveret::bench {
namespace {

constexpr std::size_t kWeights = 50'000'000;
constexpr std::size_t kRow = 39 * 8;  ///< weights

const Floats& weights() {
  static const Floats all = random_floats(kWeights, -1, 1);
  return all;
}

void copy(benchmark::State& state) {
  std::vector<float> to(kWeights);
  for (auto _ : state) {
    std::memcpy(to.data(), weights().get(), kWeights * sizeof(float));
    benchmark::ClobberMemory();
  }
  count(state, 8.0 * kWeights, 0);
}

/// The range, and the codes by it.
void quantize(benchmark::State& state, const kernels::Kernels& kernels) {
  std::vector<std::int16_t> to(kWeights);
  for (auto _ : state) {
    const float largest = kernels.largest(weights().get(), kWeights);
    kernels.quantize(weights().get(), kWeights, 16384 / largest, 32767, to.data());
    benchmark::ClobberMemory();
  }
  count(state, 10.0 * kWeights, 2.0 * kWeights);
}

void widen(benchmark::State& state, const kernels::Kernels& kernels, int bits) {
  const kernels::Codec codec = kernels::Codec::scaled(bits);
  const std::vector<std::byte> row(codec.bytes(kRow), std::byte{0x5a});
  std::vector<kernels::Fixed16> to(kRow);
  for (auto _ : state) {
    benchmark::DoNotOptimize(kernels.widen(codec, row.data(), kRow, to.data()));
    benchmark::ClobberMemory();
  }
  count(state, static_cast<double>(row.size()) + 2.0 * kRow, 0);
}

}  // namespace
}  // namespace leveret::bench

int main(int argc, char** argv) {
  using namespace leveret::bench;
  benchmark::RegisterBenchmark("copy_50M", copy)->Unit(benchmark::kMillisecond);
  register_all("quantize_50M", quantize);
  for (const int bits : {8, 4}) {
    register_all("widen_" + std::to_string(bits),
                 [=](benchmark::State& state, const leveret::kernels::Kernels& kernels) {
                   widen(state, kernels, bits);
                 });
  }
  return run(argc, argv);
}
