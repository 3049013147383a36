/// Pairs and their update by every instruction set: floats, and fixed point of 16 bits with the
/// default shift.
#include <numeric>

#include "kernels/pairs_example.h"

namespace leveret::kernels {
namespace {

TEST_CASE("ffm_pairs of every instruction set") {
  const Codec codec = GENERATE(Codec::f32(), kInt16);
  for_each_instruction_set([&](const Kernels& kernels) {
    for_each_shape([&](std::size_t k, std::size_t n, std::size_t slots, bool gaps) {
      const Example example(n, slots, k, gaps);
      const Example::Copy rows = example.copy(codec);
      const std::size_t count = n * (n + 1) / 2;
      std::vector<float> expected(count);
      std::vector<double> tolerance;
      Floats pairs(count);
      reference().ffm_pairs(codec, rows.w.data(), example.fields.data(), n, k, expected.data());
      const float returned =
          kernels.ffm_pairs(codec, rows.w.data(), example.fields.data(), n, k, pairs);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          tolerance.push_back(static_cast<double>(k + 1) * kEps * example.pair_size(i, j));
        }
        tolerance.push_back(0);
      }
      require_close(pairs.copy(), expected, tolerance);
      const double sum = std::accumulate(expected.begin(), expected.end(), 0.0);
      double sizes = 0;  // each addition may round as much as all of them together are
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) sizes += example.pair_size(i, j);
      }
      const double bound = static_cast<double>(k + n) * kEps * sizes;
      CHECK(returned == Approx(sum).margin(bound));
    });
  });
}

TEST_CASE("ffm_deltas are the same bits on every instruction set") {
  constexpr std::size_t kSpare = Kernels::kSpare;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const bool with_d = GENERATE(true, false);
  for_each_instruction_set([&](const Kernels& kernels) {
    for (const std::size_t n : {0, 1, 2, 3, 4, 8, 9, 16, 17, 33, 39}) {
      INFO(n << " rows");
      const std::size_t count = n * (n + 1) / 2;
      std::vector<float> d = random_floats(count + kSpare, 31, -3, 3);
      std::vector<float> x = random_floats(n + kSpare, 32, -2, 2, 0.3f);
      // An infinite gradient of a pair that is not there leaves nothing behind.
      if (n > 3) {
        x[2] = 0;
        d[2 * 3 / 2] = std::numeric_limits<float>::infinity();
      }
      std::fill(d.end() - kSpare, d.end(), nan);
      std::fill(x.end() - kSpare, x.end(), nan);
      std::vector<float> expected(count);
      reference().ffm_deltas(with_d ? d.data() : nullptr, .7f, x.data(), n, expected.data());
      Floats from(d), values(x), delta(count + kSpare);
      kernels.ffm_deltas(with_d ? static_cast<float*>(from) : nullptr, .7f, values, n, delta);
      std::vector<float> got = delta.copy();
      got.resize(count);
      CHECK(same_bits(got, expected));
    }
  });
}

TEST_CASE("ffm_update_pairs of every instruction set") {
  const Codec codec = GENERATE(Codec::f32(), kInt16);
  for_each_instruction_set([&](const Kernels& kernels) {
    for (const StepRule& rule : rules()) {
      for_each_shape([&](std::size_t k, std::size_t n, std::size_t slots, bool gaps) {
        INFO("power " << rule.power << ", l2 " << rule.l2);
        const Example example(n, slots, k, gaps);
        const Example::Copy expected = example.copy(), got = example.copy(codec);
        update(reference(), example, expected, k, rule);
        update(kernels, example, got, k, rule);
        std::vector<std::vector<double>> w_tolerance, acc_tolerance;
        example.tolerances(expected, rule, w_tolerance, acc_tolerance);
        for (std::size_t i = 0; i < n; ++i) {
          INFO("row " << i);
          const std::vector<float> w = expected.weights(i, 0, slots * k);
          const std::vector<float> acc = expected.accs(i, slots);
          // One of the two numbers around it; what has no gradient stays.
          for (double& tolerance : w_tolerance[i]) {
            if (codec == kInt16 && tolerance != 0) tolerance += kInt16Near;
          }
          for (std::size_t at = 0; at < slots; ++at) {
            double& tolerance = acc_tolerance[i][at];
            if (codec == kInt16 && tolerance != 0) {
              tolerance += kBf16Near * acc[at];
            }
          }
          require_close(got.accs(i, slots), acc, acc_tolerance[i]);
          require_close(got.weights(i, 0, slots * k), w, w_tolerance[i]);
        }
      });
    }
  });
}

TEST_CASE("rows in place agree with steps row by row") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    const std::size_t n = 19, k = 8, row_length = n * k;
    const Example example(n, n, k, false);
    const Example::Copy in_place = example.copy(), by_row = example.copy();
    std::vector<float> t(n * row_length), delta(n * n);
    std::vector<float*> rows;
    for (std::byte* w : by_row.w) rows.push_back(reinterpret_cast<float*>(w));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) std::copy_n(rows[j] + i * k, k, &t[(i * n + j) * k]);
    }
    for (std::size_t i = 0, p = 0; i < n; ++i, ++p) {
      for (std::size_t j = 0; j < i; ++j, ++p)
        delta[i * n + j] = delta[j * n + i] = (*in_place.delta)[p];
    }
    const StepRule rule;
    for (std::size_t i = 0; i < n; ++i) {
      kernels->ffm_update_slice(rows[i], reinterpret_cast<float*>(by_row.acc[i]),
                                &t[i * row_length], &delta[i * n], n, k, rule);
    }
    update(*kernels, example, in_place, k, rule);
    for (std::size_t i = 0; i < n; ++i) {
      require_close(in_place.weights(i, 0, row_length), by_row.weights(i, 0, row_length),
                    std::vector<double>(row_length, 1e-6));
      require_close(in_place.accs(i, n), by_row.accs(i, n), std::vector<double>(n, 1e-6));
    }
  }
}

TEST_CASE("a row of zeros stands for absent fields and leaves what it meets") {
  const Codec codec = GENERATE(Codec::f32(), kInt16);
  for_each_instruction_set([&](const Kernels& kernels) {
    for (const std::size_t k : {2, 3, 4, 7, 8, 10, 16}) {
      const std::size_t n = 19;
      const std::vector<std::size_t> absent = {3, 4, 18};
      const Example example(n, n, k, false);
      const Example::Copy before = example.copy(codec);
      Example::Copy after = example.copy(codec);
      Guarded<std::byte> zeros(codec.bytes(n * k));
      Guarded<std::byte> zero_acc(after.state_codec.bytes(n));
      float* delta = *after.delta;
      for (const std::size_t f : absent) {
        after.w[f] = zeros;
        after.acc[f] = zero_acc;
        for (std::size_t g = 0; g < n; ++g) {
          delta[std::max(f, g) * (std::max(f, g) + 1) / 2 + std::min(f, g)] = 0;
        }
      }
      Floats pairs(n * (n + 1) / 2);
      kernels.ffm_pairs(codec, after.w.data(), example.fields.data(), n, k, pairs);
      update(kernels, example, after, k, StepRule{});
      CHECK(zeros.copy() == std::vector<std::byte>(codec.bytes(n * k)));
      CHECK(zero_acc.copy() == std::vector<std::byte>(zero_acc.copy().size()));
      for (const std::size_t f : absent) {
        for (std::size_t g = 0; g < n; ++g) {
          const std::size_t place = std::max(f, g) * (std::max(f, g) + 1) / 2 + std::min(f, g);
          CHECK(pairs[place] == 0);
          CHECK(after.weights(g, f * k, k) ==
                (after.w[g] == zeros ? std::vector<float>(k) : before.weights(g, f * k, k)));
        }
      }
    }
  });
}

}  // namespace
}  // namespace leveret::kernels
