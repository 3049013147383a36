/// One example's FFM work: 39 fields, one feature each, rows resident in the second-level cache.
///
/// ffm_pairs of floats reads 49 KB at k = 8 (.5 µs from the second-level cache at 3 GHz), and its
/// shuffles and multiplications take 19 cycles per 16 pairs (.3 µs).
///
/// With weights of 16 bits (_i16) sixteen pairs of an update are some 150 vector operations on
/// AVX-512, 75 cycles: 0.9 µs at 3.7 GHz where 1.4 are measured, and stores, bytes and the chain
/// from the sums of squares through the root to the step are not what is missing: without any
/// stores, or with one tile at a time, it takes as long.
#include <cstdint>
#include <vector>

#include "registry.h"
#include "table/aligned.h"

namespace leveret::bench {
namespace {

using kernels::Codec;
constexpr Codec kInt16 = Codec::fixed(16, kernels::kDefaultShift);

constexpr std::size_t kFields = 39;
constexpr std::size_t kTableRows = 400;

/// Weights and accumulators of one example's rows, as the model has them.
struct Block {
  explicit Block(std::size_t slot_length)
      : k(slot_length),
        length(kFields * k),
        stride(((length + 15) / 16 | 1) * 16),
        w(random_floats(kTableRows * stride, -1, 1)),
        acc(random_floats(kTableRows * stride, 1, 2)),
        t(random_floats(kFields * length, -1, 1)),
        delta(random_floats(kFields * kFields, -.01f, .01f)),
        pairs(random_floats(kFields * kFields, 0, 1)),
        fixed_stride(table::packed(2 * (length + kFields), table::kLineBytes / 2)),
        fixed(random_floats(kTableRows * fixed_stride / 4, 0, 0)) {
    std::byte* const fixed_rows = reinterpret_cast<std::byte*>(fixed.get());
    for (std::size_t row = 0; row < kTableRows; ++row) {
      std::byte* const at = fixed_rows + row * fixed_stride;
      kernels::encode_all(kInt16, at, 0, w.get() + row * stride, length);
      kernels::encode_all(Codec::bf16(), at + kInt16.bytes(length), 0, acc.get() + row * stride,
                          kFields);
    }
    for (std::size_t f = 0; f < kFields; ++f) {
      const std::size_t row = f * 37 % kTableRows;  // rows of one example lie anywhere
      const std::size_t at = row * stride;
      rows.push_back(w.get() + at);
      stored[0].push_back(reinterpret_cast<std::byte*>(w.get() + at));
      stored[1].push_back(fixed_rows + row * fixed_stride);
      accs.push_back(reinterpret_cast<std::byte*>(acc.get() + at));
      slice_accs[0].push_back(reinterpret_cast<std::byte*>(acc.get() + f * kFields));
      slice_accs[1].push_back(stored[1].back() + kInt16.bytes(length));
      fields.push_back(static_cast<std::uint32_t>(f));
      delta[f * kFields + f] = 0;
      if (f % 2 == 0) continue;
      odd_fields.push_back(fields[f]);
      for (int format : {0, 1}) {
        odd_stored[format].push_back(stored[format][f]);
        odd_accs[format].push_back(slice_accs[format][f]);
      }
    }
  }
  /// Bytes of `n` arrays as large as the weights.
  double bytes(double n) const { return n * 4 * static_cast<double>(kFields * length); }

  std::size_t k, length, stride;
  Floats w, acc, t, delta, pairs;
  std::size_t fixed_stride;  ///< bytes
  Floats fixed;
  std::vector<float*> rows;
  std::vector<std::byte*> accs;                      ///< one per weight
  std::vector<std::byte*> stored[2], slice_accs[2];  ///< the rows, and theirs: floats, kInt16
  std::vector<std::uint32_t> fields, odd_fields;
  std::vector<std::byte*> odd_stored[2], odd_accs[2];  ///< of the odd fields alone
};

constexpr kernels::StepRule kRule = {.rate = .02f, .power = .5f, .l2 = 0};

void update(const kernels::Kernels& kernels, Block& b, bool slice, kernels::StepRule rule) {
  const auto step = slice ? kernels.ffm_update_slice : kernels.ffm_update;
  for (std::size_t f = 0; f < kFields; ++f) {
    step(b.rows[f], reinterpret_cast<float*>(slice ? b.slice_accs[0][f] : b.accs[f]),
         b.t.get() + f * b.length, b.delta.get() + f * kFields, kFields, b.k, rule);
  }
}

/// What a candidate with the last 9 fields adds to a context with the first 30.
void rectangle(const kernels::Kernels& kernels, Block& b, Codec weights) {
  constexpr std::size_t kContext = 30;
  const auto& rows = b.stored[weights == kInt16];
  // Any numbers do for slots that were gathered: rows are long enough.
  kernels.ffm_rectangle(weights, rows.data() + kContext, rows.data(), kFields - kContext,
                        b.fields.data(), kContext, b.k, b.pairs.get());
}

Codec state_of(Codec weights) { return weights == kInt16 ? Codec::bf16() : Codec::f32(); }

void update_pairs(const kernels::Kernels& kernels, Block& b, Codec weights,
                  kernels::StepRule rule) {
  const int f = weights == kInt16;
  kernels.ffm_update_pairs(weights, state_of(weights), b.stored[f].data(), b.slice_accs[f].data(),
                           b.fields.data(), kFields, b.k, b.delta.get(), rule, 1);
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
    count(state, b.bytes(arrays), flops_per_float * static_cast<double>(kFields * b.length));
  });
}

void register_ffm() {
  using kernels::Kernels;
  for (std::size_t k : {2, 3, 4, 5, 8, 10, 16}) {
    for (const Codec weights : {Codec::f32(), kInt16}) {
      const std::string suffix = weights == kInt16 ? "_i16" : "";
      const double bytes = weights == kInt16 ? .5 : 1;
      const int f = weights == kInt16;
      add("ffm_pairs" + suffix, k, bytes, 1, [=](const Kernels& kernels, Block& b) {
        kernels.ffm_pairs(weights, b.stored[f].data(), b.fields.data(), kFields, b.k,
                          b.pairs.get());
      });
      add("ffm_rectangle" + suffix, k, bytes * 2 * 9 * 30 / (39 * 39), 1,
          [=](const Kernels& kernels, Block& b) { rectangle(kernels, b, weights); });
      add("ffm_update_pairs" + suffix, k, 2 * bytes, 4,
          [=](const Kernels& kernels, Block& b) { update_pairs(kernels, b, weights, kRule); });
      // Every other field: what fill_from compares with all of them.
      add("ffm_pairs_and_update_slice_gaps" + suffix, k, .75 * bytes, 1.25,
          [=](const Kernels& kernels, Block& b) {
            const std::size_t n = b.odd_fields.size();
            kernels.ffm_pairs(weights, b.odd_stored[f].data(), b.odd_fields.data(), n, b.k,
                              b.pairs.get());
            kernels.ffm_update_pairs(weights, state_of(weights), b.odd_stored[f].data(),
                                     b.odd_accs[f].data(), b.odd_fields.data(), n, b.k,
                                     b.delta.get(), kRule, 1);
          });
    }
    add("ffm_update", k, 5, 7,
        [](const Kernels& kernels, Block& b) { update(kernels, b, false, kRule); });
    add("ffm_update_slice", k, 3, 4,
        [](const Kernels& kernels, Block& b) { update(kernels, b, true, kRule); });
  }
  add("ffm_update_pairs_power.45", 8, 2, 4, [](const Kernels& kernels, Block& b) {
    update_pairs(kernels, b, Codec::f32(), {.rate = .02f, .power = .45f, .l2 = 0});
  });
  add("ffm_update_pairs_l2", 8, 2, 4, [](const Kernels& kernels, Block& b) {
    update_pairs(kernels, b, Codec::f32(), {.rate = .02f, .power = .5f, .l2 = 1e-6f});
  });
}

}  // namespace
}  // namespace leveret::bench

int main(int argc, char** argv) {
  leveret::bench::register_ffm();
  return leveret::bench::run(argc, argv);
}
