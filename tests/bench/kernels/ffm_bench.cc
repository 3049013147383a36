/// One example's FFM work: 39 fields, one feature each, rows resident in the second-level cache.
///
/// The bounds: with k = 8 forward reads 39 rows and writes and reads the contra buffer, 146 KB; the
/// update reads 146 KB and writes 97 KB. A second-level cache gives about 48 bytes a cycle.
#include <cstdint>
#include <vector>

#include "kernels/registry.h"

namespace leveret::bench {
namespace {

constexpr std::size_t kFields = 39;

/// Weights and accumulators of one example's rows, as the model has them.
struct Block {
  explicit Block(std::size_t slot_length)
      : k(slot_length),
        row(kFields * k),
        w(random_floats(kFields * row, -1, 1)),
        acc(random_floats(kFields * row, 1, 2)),
        t(random_floats(kFields * row, -1, 1)),
        delta(random_floats(kFields * kFields, -.01f, .01f)),
        pairs(random_floats(kFields * kFields, 0, 1)) {
    for (std::size_t f = 0; f < kFields; ++f) {
      sums.push_back(w.get() + f * row);
      fields.push_back(static_cast<std::uint32_t>(f));
      delta[f * kFields + f] = 0;
    }
  }
  /// Bytes of `n` arrays as large as the weights.
  double bytes(double n) const { return n * 4 * static_cast<double>(kFields * row); }

  std::size_t k, row;
  Floats w, acc, t, delta, pairs;
  std::vector<const float*> sums;
  std::vector<std::uint32_t> fields;
};

void transpose(const kernels::Kernels& kernels, Block& b) {
  kernels.transpose(b.sums.data(), b.fields.data(), kFields, kFields, b.k, b.t.get());
}

void dots(const kernels::Kernels& kernels, Block& b) {
  float* out = b.pairs.get();
  for (std::size_t f = 0; f < kFields; ++f) {
    kernels.dots(b.sums[f], b.t.get() + f * b.row, f, b.k, out);
    out += f;
  }
}

constexpr kernels::StepRule kRule = {.rate = .02f, .power = .5f, .l2 = 0};

void update(const kernels::Kernels& kernels, Block& b, bool slice, kernels::StepRule rule) {
  const auto step = slice ? kernels.ffm_update_slice : kernels.ffm_update;
  for (std::size_t f = 0; f < kFields; ++f) {
    float* acc = b.acc.get() + f * (slice ? kFields : b.row);
    step(b.w.get() + f * b.row, acc, b.t.get() + f * b.row, b.delta.get() + f * kFields, kFields,
         b.k, rule);
  }
}

template <class Work>
void add(const std::string& name, std::size_t k, double arrays, double flops_per_float, Work work) {
  register_all(name + "/k" + std::to_string(k), [=](benchmark::State& state,
                                                    const kernels::Kernels& kernels) {
    Block b(k);
    for (auto _ : state) {
      work(kernels, b);
      benchmark::ClobberMemory();
    }
    count(state, b.bytes(arrays), flops_per_float * static_cast<double>(kFields * b.row));
  });
}

}  // namespace

void register_ffm() {
  using kernels::Kernels;
  for (std::size_t k : {std::size_t{4}, std::size_t{8}, std::size_t{16}}) {
    add("ffm_transpose", k, 2, 0, transpose);
    add("ffm_dots", k, 1, 1, dots);
    add("ffm_forward", k, 3, 1, [](const Kernels& kernels, Block& b) {
      transpose(kernels, b);
      dots(kernels, b);
    });
    add("ffm_update", k, 5, 7,
        [](const Kernels& kernels, Block& b) { update(kernels, b, false, kRule); });
    add("ffm_update_slice", k, 3, 4,
        [](const Kernels& kernels, Block& b) { update(kernels, b, true, kRule); });
  }
  add("ffm_update_power.45", 8, 5, 7, [](const Kernels& kernels, Block& b) {
    update(kernels, b, false, {.rate = .02f, .power = .45f, .l2 = 0});
  });
  add("ffm_update_l2", 8, 5, 7, [](const Kernels& kernels, Block& b) {
    update(kernels, b, false, {.rate = .02f, .power = .5f, .l2 = 1e-6f});
  });
}

}  // namespace leveret::bench
