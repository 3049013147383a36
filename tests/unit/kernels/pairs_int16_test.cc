/// What is particular to pairs of fixed-point numbers: rounding, ranges, and steps of any size.
#include "kernels/pairs_example.h"

namespace leveret::kernels {
namespace {

TEST_CASE("the mean of many updates with fixed point is the update with floats") {
  constexpr std::size_t kTimes = 3000;
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    for (const std::size_t k : {3, 4, 7, 10, 16}) {
      INFO("instruction set " << kernels->name << ", k " << k);
      const std::size_t n = 9, length = n * k;
      const Example example(n, n, k, false);
      const StepRule rule;
      const Example::Copy before = example.copy(), expected = example.copy();
      update(reference(), example, expected, k, rule);
      const std::size_t accs = n;
      std::vector<std::vector<double>> sum(n, std::vector<double>(length));
      std::vector<std::vector<double>> acc_sum(n, std::vector<double>(accs));
      std::mt19937 seeds(1);
      const Example::Copy got = example.copy(kInt16);
      for (std::size_t t = 0; t < kTimes; ++t) {
        example.fill(got);
        update(*kernels, example, got, k, rule, static_cast<std::uint32_t>(seeds()));
        for (std::size_t i = 0; i < n; ++i) {
          const std::vector<float> w = got.weights(i, 0, length);
          for (std::size_t c = 0; c < length; ++c) sum[i][c] += w[c];
          for (std::size_t at = 0; at < accs; ++at) acc_sum[i][at] += got.acc_at(i, at);
        }
      }
      for (std::size_t i = 0; i < n; ++i) {
        const std::vector<float> w = expected.weights(i, 0, length);
        const std::vector<float> from = before.weights(i, 0, length);
        for (std::size_t c = 0; c < length; ++c) {
          // The variance of a rounding is at most a quarter of a square unit: six deviations. A
          // step may be off by what a root of 14 bits is.
          const double off = std::abs(sum[i][c] / kTimes - w[c]);
          if (off > 3 * kInt16.unit() / std::sqrt(kTimes) + 1e-4 * std::abs(w[c] - from[c])) {
            FAIL("weight " << c << " of row " << i << ": mean off by " << off / kInt16.unit()
                           << " units");
          }
        }
        for (std::size_t at = 0; at < accs; ++at) {
          const double acc = expected.acc_at(i, at), off = std::abs(acc_sum[i][at] / kTimes - acc);
          if (off > (3 * kBf16Near / std::sqrt(kTimes) + 1e-6) * acc) {
            FAIL("accumulator " << at << " of row " << i << ": mean off by a share of "
                                << off / acc);
          }
        }
      }
    }
  }
}

TEST_CASE("sums of weights at the end of their range") {
  for_each_instruction_set([&](const Kernels& kernels) {
    for (const std::size_t k : kTileSlotLengths) {
      for (const std::size_t n : {3, 13}) {
        INFO("k " << k << ", " << n << " fields");
        // Nearly all of them are clamped to -8 or just below 8.
        const Example example(n, n, k, false, 1e6f);
        const StepRule rule{.01f, .5f, 0};
        const Example::Copy expected = example.copy(kInt16);
        const Example::Copy got = example.copy(kInt16);
        for (const Example::Copy* c : {&expected, &got}) {
          for (std::byte* row : c->w) {
            for (std::size_t i = 0; i < n * k / 2; ++i) encode(c->weights_codec, row, i, -8);
          }
        }
        const std::size_t count = n * (n + 1) / 2;
        std::vector<float> pairs(count);
        Floats got_pairs(count);
        reference().ffm_pairs(kInt16, expected.w.data(), example.fields.data(), n, k, pairs.data());
        kernels.ffm_pairs(kInt16, got.w.data(), example.fields.data(), n, k, got_pairs);
        require_close(got_pairs.copy(), pairs, std::vector<double>(count, .05));
        update(reference(), example, expected, k, rule);
        update(kernels, example, got, k, rule);
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t j = 0; j < n; ++j) {
            CHECK(got.acc_at(i, j) == Approx(expected.acc_at(i, j)).epsilon(2 * kBf16Near));
          }
          const std::vector<float> w = expected.weights(i, 0, n * k);
          require_close(got.weights(i, 0, n * k), w, std::vector<double>(n * k, 2 * kInt16Near));
        }
      }
    }
  });
}

TEST_CASE("steps just below and above what a factor of 16 bits holds") {
  for_each_instruction_set([&](const Kernels& kernels) {
    const std::size_t n = 5;
    for (const std::size_t k : kTileSlotLengths) {
      for (int times = -40; times <= 40; ++times) {
        const Example example(n, n, k, false);
        const Example::Copy expected = example.copy(), got = example.copy(kInt16);
        for (const Example::Copy* c : {&expected, &got}) {
          // Accumulators far larger than what is added: all steps are near 1/2.
          for (std::size_t i = 0; i < n * n; ++i) {
            encode(c->state_codec, c->acc[i / n], i % n, 0x1p40f);
          }
          std::fill_n(static_cast<float*>(*c->delta), n * (n + 1) / 2, 1.0f);
        }
        const StepRule rule{0x1p19f * (1 + static_cast<float>(times) * 5e-6f), .5f, 0};
        update(reference(), example, expected, k, rule);
        update(kernels, example, got, k, rule, static_cast<std::uint32_t>(times) * 0x9e3779b9u);
        for (std::size_t i = 0; i < n; ++i) {
          const std::vector<float> w = expected.weights(i, 0, n * k);
          require_close(got.weights(i, 0, n * k), w, std::vector<double>(n * k, kInt16Near));
        }
      }
    }
  });
}

TEST_CASE("however large a delta, what meets weights of 0 stays as it is") {
  for_each_instruction_set([&](const Kernels& kernels) {
    for (const float delta : {1e15f, 1e20f, 1e30f}) {
      for (const std::size_t k : kTileSlotLengths) {
        INFO("k " << k << ", delta " << delta);
        const std::size_t n = 6;
        const Example example(n, n, k, false);
        const Example::Copy before = example.copy(kInt16);
        const Example::Copy got = example.copy(kInt16);
        std::memset(got.w[2], 0, n * k * 2);
        std::fill_n(static_cast<float*>(*got.delta), n * (n + 1) / 2, 0.0f);
        (*got.delta)[4 * 5 / 2 + 2] = delta;
        update(kernels, example, got, k, {});
        CHECK(got.weights(4, 0, n * k) == before.weights(4, 0, n * k));
        CHECK(got.acc_at(4, 2) == before.acc_at(4, 2));
      }
    }
  });
}

TEST_CASE("steps larger than a factor of 16 bits, and those that are no number") {
  const bool no_number = GENERATE(false, true);
  for_each_instruction_set([&](const Kernels& kernels) {
    for (const std::size_t k : kTileSlotLengths) {
      for (const std::size_t n : {3, 8, 39}) {
        INFO("k " << k << ", " << n << " fields");
        const Example example(n, n, k, false);
        const StepRule rule{20, .5f, 0};
        const Example::Copy expected = example.copy(), got = example.copy(kInt16);
        const std::size_t bad = n * (n + 1) / 2 - 2;  // the last row with the one before it
        if (no_number) (*got.delta)[bad] = std::numeric_limits<float>::quiet_NaN();
        update(reference(), example, expected, k, rule);
        update(kernels, example, got, k, rule);
        for (std::size_t i = 0; i < n; ++i) {
          const std::vector<float> w = expected.weights(i, 0, n * k);
          const std::vector<float> moved = got.weights(i, 0, n * k);
          for (std::size_t c = 0; c < n * k; ++c) {
            const std::size_t j = c / k;
            if (no_number && std::max(i, j) == n - 1 && std::min(i, j) == n - 2) {
              // No file takes the weights beside it.
              if (i != j) CHECK(!std::isfinite(got.acc_at(i, j)));
              continue;
            }
            const double in_range = std::clamp(w[c], kInt16.smallest(), kInt16.largest());
            CHECK(std::abs(moved[c] - in_range) < kInt16Near + 2e-4 * std::abs(w[c]));
          }
        }
      }
    }
  });
}

TEST_CASE("equal noise gives equal weights, other noise others") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    const std::size_t n = 19, k = 4, length = n * k;
    const Example example(n, n, k, false);
    const auto updated = [&](std::uint32_t noise) {
      const Example::Copy c = example.copy(kInt16);
      update(*kernels, example, c, k, {}, noise);
      return c.weights(7, 0, length);
    };
    CHECK(updated(5) == updated(5));
    CHECK(updated(5) != updated(0x12345678));
  }
}

TEST_CASE("steps of any size leave weights within their range") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    for (const StepRule& rule : {StepRule{1e30f, .5f, 0}, StepRule{1e30f, 0, 0},
                                 StepRule{1e30f, .5f, 1e10f}, StepRule{1e9f, .3f, 1}}) {
      for (const std::size_t k : {3, 8}) {
        INFO("instruction set " << kernels->name << ", power " << rule.power << ", k " << k);
        const std::size_t n = 18, length = n * k;
        const Example example(n, n, k, false);
        const Example::Copy c = example.copy(kInt16);
        for (int times = 0; times < 3; ++times) update(*kernels, example, c, k, rule, 7);
        for (std::size_t i = 0; i < n; ++i) {
          for (const float w : c.weights(i, 0, length)) CHECK(std::abs(w) <= -kInt16.smallest());
        }
      }
    }
  }
}

}  // namespace
}  // namespace leveret::kernels
