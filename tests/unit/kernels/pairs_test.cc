#include <memory>

#include "kernels/arrays.h"

namespace leveret::kernels {
namespace {

constexpr std::size_t kSlotLengths[] = {1, 2, 3, 4, 5, 8, 12, 16, 17};

/// One example: n rows, each in pages of its own, of a model with `slots` fields.
class Example {
 public:
  Example(std::size_t n, std::size_t slots, std::size_t k, std::size_t acc_length, bool gaps)
      : k_(k), deltas_(random_floats(n * (n + 1) / 2, 9, -1, 1, .2f)) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t seed = static_cast<std::uint32_t>(i);
      fields.push_back(static_cast<std::uint32_t>(gaps ? slots - 1 - (n - 1 - i) * 2 : i));
      weights_.push_back(random_floats(slots * k, 100 + seed, -1, 1, .1f));
      squares_.push_back(random_floats(acc_length, 200 + seed, .01f, 2));
    }
  }

  /// Fresh copies of the rows, the accumulators and the deltas.
  struct Copy {
    std::vector<std::unique_ptr<Floats>> owned;
    std::vector<float*> w, acc;
    std::unique_ptr<Floats> delta;
  };
  Copy copy() const {
    Copy c;
    for (const auto& row : weights_) {
      c.owned.push_back(std::make_unique<Floats>(row));
      c.w.push_back(*c.owned.back());
    }
    for (const auto& row : squares_) {
      c.owned.push_back(std::make_unique<Floats>(row));
      c.acc.push_back(*c.owned.back());
    }
    c.delta = std::make_unique<Floats>(deltas_);
    return c;
  }

  /// What rounding may do to each weight and accumulator; 0 for what no pair touches.
  void tolerances(const Copy& after, bool slice, const StepRule& rule,
                  std::vector<std::vector<double>>& w,
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
          const std::size_t acc_at = slice ? fields[j] : at;
          const double g = delta * weights_[j][fields[i] * k_ + c];
          const StepTolerance off(g, weights_[i][at], squares_[i][acc_at], after.acc[i][acc_at],
                                  rule);
          if (g == 0) continue;
          w[i][at] = off.weight;
          if (!slice) acc[i][at] = off.acc;
          squares += std::pow(std::abs(g) + rule.l2 * std::abs(weights_[i][at]), 2);
        }
        if (slice && squares != 0) {
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
  for (std::size_t k : {4, 8}) {
    for (std::size_t n : {4, 5, 6, 7, 8, 17, 39}) with_and_without_gaps(k, n);
  }
}

std::vector<float> row(const float* p, std::size_t length) { return {p, p + length}; }

TEST_CASE("ffm_pairs of every instruction set") {
  for_each_instruction_set([](const Kernels& kernels) {
    for_each_shape([&](std::size_t k, std::size_t n, std::size_t slots, bool gaps) {
      const Example example(n, slots, k, 1, gaps);
      const Example::Copy rows = example.copy();
      const std::size_t count = n * (n + 1) / 2;
      std::vector<float> expected(count);
      std::vector<double> tolerance;
      Floats pairs(count);
      reference().ffm_pairs(rows.w.data(), example.fields.data(), n, k, expected.data());
      kernels.ffm_pairs(rows.w.data(), example.fields.data(), n, k, pairs);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          tolerance.push_back(static_cast<double>(k + 1) * kEps * example.pair_size(i, j));
        }
        tolerance.push_back(0);
      }
      require_close(pairs.copy(), expected, tolerance);
    });
  });
}

TEST_CASE("ffm_update_pairs of every instruction set, one accumulator per weight or slot") {
  for_each_instruction_set([](const Kernels& kernels) {
    for (const StepRule& rule : rules()) {
      for (bool slice : {false, true}) {
        for_each_shape([&](std::size_t k, std::size_t n, std::size_t slots, bool gaps) {
          INFO("power " << rule.power << ", l2 " << rule.l2 << (slice ? ", slices" : ""));
          const std::size_t acc_length = slice ? slots : slots * k;
          const Example example(n, slots, k, acc_length, gaps);
          const Example::Copy expected = example.copy(), got = example.copy();
          const auto update = [&](const Kernels& table, const Example::Copy& c) {
            (slice ? table.ffm_update_pairs_slice : table.ffm_update_pairs)(
                c.w.data(), c.acc.data(), example.fields.data(), n, k, *c.delta, rule);
          };
          update(reference(), expected);
          update(kernels, got);
          std::vector<std::vector<double>> w_tolerance, acc_tolerance;
          example.tolerances(expected, slice, rule, w_tolerance, acc_tolerance);
          for (std::size_t i = 0; i < n; ++i) {
            INFO("row " << i);
            require_close(row(got.acc[i], acc_length), row(expected.acc[i], acc_length),
                          acc_tolerance[i]);
            require_close(row(got.w[i], slots * k), row(expected.w[i], slots * k), w_tolerance[i]);
          }
        });
      }
    }
  });
}

TEST_CASE("rows in place agree with sums, contra buffer and ffm_update") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    const std::size_t n = 19, k = 8, row_length = n * k;
    const Example example(n, n, k, row_length, false);
    const Example::Copy in_place = example.copy(), by_row = example.copy();
    std::vector<float> t(n * row_length), delta(n * n);
    kernels->transpose(by_row.w.data(), example.fields.data(), n, n, k, t.data());
    for (std::size_t i = 0, p = 0; i < n; ++i, ++p) {
      for (std::size_t j = 0; j < i; ++j, ++p)
        delta[i * n + j] = delta[j * n + i] = (*in_place.delta)[p];
    }
    const StepRule rule;
    for (std::size_t i = 0; i < n; ++i) {
      kernels->ffm_update(by_row.w[i], by_row.acc[i], &t[i * row_length], &delta[i * n], n, k,
                          rule);
    }
    kernels->ffm_update_pairs(in_place.w.data(), in_place.acc.data(), example.fields.data(), n, k,
                              *in_place.delta, rule);
    for (std::size_t i = 0; i < n; ++i) {
      CHECK(same_bits(row(in_place.w[i], row_length), row(by_row.w[i], row_length)));
      CHECK(same_bits(row(in_place.acc[i], row_length), row(by_row.acc[i], row_length)));
    }
  }
}

TEST_CASE("a row of zeros stands for absent fields and leaves what it meets") {
  for_each_instruction_set([](const Kernels& kernels) {
    for (const bool slice : {false, true}) {
      for (const std::size_t k : {3, 4, 8, 16}) {
        const std::size_t n = 19, acc_length = slice ? n : n * k;
        const std::vector<std::size_t> absent = {3, 4, 18};
        const Example example(n, n, k, acc_length, false);
        const Example::Copy before = example.copy(), after = example.copy();
        Floats zeros(n * k), zero_acc(acc_length);
        std::vector<float*> w = after.w, acc = after.acc;
        float* delta = *after.delta;
        for (const std::size_t f : absent) {
          w[f] = zeros;
          acc[f] = zero_acc;
          for (std::size_t g = 0; g < n; ++g) {
            delta[std::max(f, g) * (std::max(f, g) + 1) / 2 + std::min(f, g)] = 0;
          }
        }
        Floats pairs(n * (n + 1) / 2);
        kernels.ffm_pairs(w.data(), example.fields.data(), n, k, pairs);
        (slice ? kernels.ffm_update_pairs_slice : kernels.ffm_update_pairs)(
            w.data(), acc.data(), example.fields.data(), n, k, delta, StepRule{});
        CHECK(zeros.copy() == std::vector<float>(n * k));
        CHECK(zero_acc.copy() == std::vector<float>(acc_length));
        for (const std::size_t f : absent) {
          for (std::size_t g = 0; g < n; ++g) {
            const std::size_t place = std::max(f, g) * (std::max(f, g) + 1) / 2 + std::min(f, g);
            CHECK(pairs[place] == 0);
            CHECK(row(w[g] + f * k, k) ==
                  (w[g] == zeros ? std::vector<float>(k) : row(before.w[g] + f * k, k)));
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace leveret::kernels
