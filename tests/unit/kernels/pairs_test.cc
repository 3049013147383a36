#include <memory>

#include "kernels/arrays.h"

namespace leveret::kernels {
namespace {

constexpr std::size_t kSlotLengths[] = {1, 2, 3, 4, 5, 8, 12, 16, 17};
constexpr std::size_t kTileSlotLengths[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16};

/// One example: n rows, each in pages of its own, of a model with `slots` fields.
/// Its weights are fixed-point numbers and its accumulators of slots have 16 bits, so that both
/// formats hold the same.
class Example {
 public:
  /// Without gaps its fields are the last ones of the model. Weights are within `size`.
  Example(std::size_t n, std::size_t slots, std::size_t k, bool gaps, float size = 1)
      : k_(k), deltas_(random_floats(n * (n + 1) / 2, 9, -1, 1, .2f)) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t seed = static_cast<std::uint32_t>(i);
      fields.push_back(static_cast<std::uint32_t>(slots - 1 - (n - 1 - i) * (gaps ? 2 : 1)));
      weights_.push_back(random_floats(slots * k, 100 + seed, -size, size, .1f));
      for (float& w : weights_.back()) w = to_float(nearest_q12(w));
      squares_.push_back(random_floats(slots, 200 + seed, .01f, 2));
      for (float& acc : squares_.back()) acc = to_float(round_to_bf16(acc, kNearest));
    }
  }

  /// Fresh copies of the rows, the accumulators and the deltas.
  struct Copy {
    RowFormat format;
    std::vector<std::unique_ptr<Guarded<std::byte>>> owned;
    std::vector<std::byte*> w, acc;
    std::unique_ptr<Floats> delta;

    std::byte* make(std::size_t bytes) {
      owned.push_back(std::make_unique<Guarded<std::byte>>(bytes));
      return *owned.back();
    }
    float acc_at(std::size_t i, std::size_t at) const { return slice_at(format, acc[i], at); }
    std::vector<float> accs(std::size_t i, std::size_t length) const {
      std::vector<float> all(length);
      for (std::size_t at = 0; at < length; ++at) all[at] = acc_at(i, at);
      return all;
    }

    std::vector<float> weights(std::size_t i, std::size_t first, std::size_t length) const {
      std::vector<float> all(length);
      reference().read_weights(format, w[i] + first * weight_bytes(format), length, all.data());
      return all;
    }
  };
  Copy copy(RowFormat format = RowFormat::kF32) const {
    Copy c;
    c.format = format;
    for (const auto& row : weights_) {
      c.w.push_back(c.make(row.size() * weight_bytes(format)));
      reference().write_weights(format, row.data(), row.size(), 0, c.w.back());
    }
    for (const auto& row : squares_) {
      c.acc.push_back(c.make(row.size() * slice_bytes(c.format)));
      for (std::size_t i = 0; i < row.size(); ++i) {
        set_slice_at(c.format, c.acc.back(), i, row[i]);
      }
    }
    c.delta = std::make_unique<Floats>(deltas_);
    return c;
  }

  /// What rounding may do to each weight and accumulator; 0 for what no pair touches.
  void tolerances(const Copy& after, const StepRule& rule, std::vector<std::vector<double>>& w,
                  std::vector<std::vector<double>>& acc) const {
    const std::size_t n = fields.size();
    w.assign(n, std::vector<double>(weights_.empty() ? 0 : weights_[0].size()));
    acc.assign(n, std::vector<double>(squares_.empty() ? 0 : squares_[0].size()));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (i == j) continue;
        const std::size_t a = std::max(i, j), b = std::min(i, j);
        const float delta = deltas_[a * (a + 1) / 2 + b];
        double squares = 0;
        for (std::size_t c = 0; c < k_; ++c) {
          const std::size_t at = fields[j] * k_ + c;
          const double g = delta * weights_[j][fields[i] * k_ + c];
          const StepTolerance off(g, weights_[i][at], squares_[i][fields[j]],
                                  after.acc_at(i, fields[j]), rule);
          if (g == 0) continue;
          w[i][at] = off.weight;
          squares += std::pow(std::abs(g) + rule.l2 * std::abs(weights_[i][at]), 2);
        }
        if (squares != 0) {
          acc[i][fields[j]] =
              (4 + static_cast<double>(k_)) * kEps * (squares + squares_[i][fields[j]]);
        }
      }
    }
  }

  double pair_size(std::size_t i, std::size_t j) const {
    double size = 0;
    for (std::size_t c = 0; c < k_; ++c) {
      size += std::abs(weights_[i][fields[j] * k_ + c] * weights_[j][fields[i] * k_ + c]);
    }
    return size;
  }

  std::vector<std::uint32_t> fields;

 private:
  std::size_t k_;
  std::vector<float> deltas_;
  std::vector<std::vector<float>> weights_, squares_;
};

/// The numbers of fields that end a row of pairs within a register, at its end, and beyond it.
template <class Body>
void for_each_shape(Body&& body) {
  const auto with_and_without_gaps = [&](std::size_t k, std::size_t n) {
    for (bool gaps : {false, true}) {
      INFO("k " << k << ", " << n << " fields" << (gaps ? ", gaps between them" : ""));
      body(k, n, gaps ? 2 * n + 1 : n, gaps);
    }
  };
  for (std::size_t k : kSlotLengths) {
    for (std::size_t n : {1, 2, 3, 18}) with_and_without_gaps(k, n);
  }
  // Tiles of four rows that end with 1 to 4 of them.
  for (std::size_t k : kTileSlotLengths) {
    for (std::size_t n : {4, 5, 8, 14, 23}) with_and_without_gaps(k, n);
  }
  // The first fields of the model are not there.
  for (std::size_t k : kSlotLengths) {
    INFO("k " << k << ", the last 7 of 10 fields");
    body(k, 7, 10, false);
  }
}

TEST_CASE("ffm_pairs of every instruction set") {
  const RowFormat format = GENERATE(RowFormat::kF32, RowFormat::kI16);
  for_each_instruction_set([&](const Kernels& kernels) {
    for_each_shape([&](std::size_t k, std::size_t n, std::size_t slots, bool gaps) {
      const Example example(n, slots, k, gaps);
      const Example::Copy rows = example.copy(format);
      const std::size_t count = n * (n + 1) / 2;
      std::vector<float> expected(count);
      std::vector<double> tolerance;
      Floats pairs(count);
      reference().ffm_pairs(format, rows.w.data(), example.fields.data(), n, k, expected.data());
      const float returned =
          kernels.ffm_pairs(format, rows.w.data(), example.fields.data(), n, k, pairs);
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

/// ffm_update_pairs of a copy.
void update(const Kernels& kernels, const Example& example, const Example::Copy& c, std::size_t k,
            const StepRule& rule, std::uint32_t noise = 1) {
  kernels.ffm_update_pairs(c.format, c.w.data(), c.acc.data(), example.fields.data(), c.w.size(), k,
                           *c.delta, rule, noise);
}

TEST_CASE("ffm_update_pairs of every instruction set") {
  const RowFormat format = GENERATE(RowFormat::kF32, RowFormat::kI16);
  for_each_instruction_set([&](const Kernels& kernels) {
    for (const StepRule& rule : rules()) {
      for_each_shape([&](std::size_t k, std::size_t n, std::size_t slots, bool gaps) {
        INFO("power " << rule.power << ", l2 " << rule.l2);
        const Example example(n, slots, k, gaps);
        const Example::Copy expected = example.copy(), got = example.copy(format);
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
            if (got.format == RowFormat::kI16 && tolerance != 0) tolerance += kQ12Near;
          }
          for (std::size_t at = 0; at < slots; ++at) {
            double& tolerance = acc_tolerance[i][at];
            if (got.format == RowFormat::kI16 && tolerance != 0) {
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

TEST_CASE("rows in place agree with sums, contra buffer and ffm_update_slice") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    const std::size_t n = 19, k = 8, row_length = n * k;
    const Example example(n, n, k, false);
    const Example::Copy in_place = example.copy(), by_row = example.copy();
    std::vector<float> t(n * row_length), delta(n * n);
    std::vector<float*> rows;
    for (std::byte* w : by_row.w) rows.push_back(reinterpret_cast<float*>(w));
    kernels->transpose(rows.data(), example.fields.data(), n, n, k, t.data());
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
  const RowFormat format = GENERATE(RowFormat::kF32, RowFormat::kI16);
  for_each_instruction_set([&](const Kernels& kernels) {
    for (const std::size_t k : {2, 3, 4, 7, 8, 10, 16}) {
      const std::size_t n = 19;
      const std::vector<std::size_t> absent = {3, 4, 18};
      const Example example(n, n, k, false);
      const Example::Copy before = example.copy(format);
      Example::Copy after = example.copy(format);
      Guarded<std::byte> zeros(n * k * weight_bytes(format));
      Guarded<std::byte> zero_acc(n * slice_bytes(format));
      float* delta = *after.delta;
      for (const std::size_t f : absent) {
        after.w[f] = zeros;
        after.acc[f] = zero_acc;
        for (std::size_t g = 0; g < n; ++g) {
          delta[std::max(f, g) * (std::max(f, g) + 1) / 2 + std::min(f, g)] = 0;
        }
      }
      Floats pairs(n * (n + 1) / 2);
      kernels.ffm_pairs(format, after.w.data(), example.fields.data(), n, k, pairs);
      update(kernels, example, after, k, StepRule{});
      CHECK(zeros.copy() == std::vector<std::byte>(n * k * weight_bytes(format)));
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
      for (std::size_t t = 0; t < kTimes; ++t) {
        const Example::Copy got = example.copy(RowFormat::kI16);
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
          if (off > 3 * kQ12Unit / std::sqrt(kTimes) + 1e-4 * std::abs(w[c] - from[c])) {
            FAIL("weight " << c << " of row " << i << ": mean off by " << off / kQ12Unit
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
        const Example::Copy expected = example.copy(RowFormat::kI16);
        const Example::Copy got = example.copy(RowFormat::kI16);
        for (const Example::Copy* c : {&expected, &got}) {
          for (std::byte* row : c->w) {
            for (std::size_t i = 0; i < n * k / 2; ++i) set_weight_at(c->format, row, i, -8);
          }
        }
        const std::size_t count = n * (n + 1) / 2;
        std::vector<float> pairs(count);
        Floats got_pairs(count);
        reference().ffm_pairs(RowFormat::kI16, expected.w.data(), example.fields.data(), n, k,
                              pairs.data());
        kernels.ffm_pairs(RowFormat::kI16, got.w.data(), example.fields.data(), n, k, got_pairs);
        require_close(got_pairs.copy(), pairs, std::vector<double>(count, .05));
        update(reference(), example, expected, k, rule);
        update(kernels, example, got, k, rule);
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t j = 0; j < n; ++j) {
            CHECK(got.acc_at(i, j) == Approx(expected.acc_at(i, j)).epsilon(2 * kBf16Near));
          }
          const std::vector<float> w = expected.weights(i, 0, n * k);
          require_close(got.weights(i, 0, n * k), w, std::vector<double>(n * k, 2 * kQ12Near));
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
        const Example::Copy expected = example.copy(), got = example.copy(RowFormat::kI16);
        for (const Example::Copy* c : {&expected, &got}) {
          // Accumulators far larger than what is added: all steps are near 1/2.
          for (std::size_t i = 0; i < n * n; ++i) {
            set_slice_at(c->format, c->acc[i / n], i % n, 0x1p40f);
          }
          std::fill_n(static_cast<float*>(*c->delta), n * (n + 1) / 2, 1.0f);
        }
        const StepRule rule{0x1p19f * (1 + static_cast<float>(times) * 5e-6f), .5f, 0};
        update(reference(), example, expected, k, rule);
        update(kernels, example, got, k, rule, static_cast<std::uint32_t>(times) * 0x9e3779b9u);
        for (std::size_t i = 0; i < n; ++i) {
          const std::vector<float> w = expected.weights(i, 0, n * k);
          require_close(got.weights(i, 0, n * k), w, std::vector<double>(n * k, kQ12Near));
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
        const Example::Copy before = example.copy(RowFormat::kI16);
        const Example::Copy got = example.copy(RowFormat::kI16);
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
        const Example::Copy expected = example.copy(), got = example.copy(RowFormat::kI16);
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
            const double in_range = std::clamp(w[c], kSmallestQ12, kLargestQ12);
            CHECK(std::abs(moved[c] - in_range) < kQ12Near + 2e-4 * std::abs(w[c]));
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
      const Example::Copy c = example.copy(RowFormat::kI16);
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
        const Example::Copy c = example.copy(RowFormat::kI16);
        for (int times = 0; times < 3; ++times) update(*kernels, example, c, k, rule, 7);
        for (std::size_t i = 0; i < n; ++i) {
          for (const float w : c.weights(i, 0, length)) CHECK(std::abs(w) <= -kSmallestQ12);
        }
      }
    }
  }
}

}  // namespace
}  // namespace leveret::kernels
