#include <numeric>

#include "kernels/arrays.h"

namespace leveret::kernels {
namespace {

constexpr std::size_t kSlotLengths[] = {1, 2, 3, 4, 5, 8, 12, 16, 17};
constexpr std::size_t kCounts[] = {0, 1, 2, 7, 15, 16, 19, 33, 39};

template <class Body>
void for_each_slots(Body&& body) {
  for (std::size_t k : kSlotLengths) {
    for (std::size_t count : kCounts) {
      INFO("k " << k << ", " << count << " slots");
      body(k, count);
    }
  }
  INFO("k 8, 780 slots");
  body(8, 780);
}

/// Weights, accumulators and gradients of one row; a third of the deltas and some of t are 0.
struct SlotRow {
  SlotRow(std::size_t k, std::size_t slots, std::size_t accs, float acc_low)
      : w(random_floats(slots * k, 4)),
        acc(random_floats(accs, 5, acc_low, 2)),
        t(random_floats(slots * k, 6, -1, 1, .1f)),
        delta(random_floats(slots, 7, -1, 1, .33f)) {}
  std::vector<float> w, acc, t, delta;
};

TEST_CASE("ffm_update of every instruction set") {
  for_each_instruction_set([](const Kernels& kernels) {
    for (const StepRule& rule : rules()) {
      for_each_slots([&](std::size_t k, std::size_t slots) {
        INFO("power " << rule.power << ", l2 " << rule.l2);
        const SlotRow before(k, slots, slots * k, .01f);
        SlotRow expected = before;
        reference().ffm_update(expected.w.data(), expected.acc.data(), before.t.data(),
                               before.delta.data(), slots, k, rule);
        Floats w(before.w), acc(before.acc), t(before.t), delta(before.delta);
        kernels.ffm_update(w, acc, t, delta, slots, k, rule);
        std::vector<double> w_tolerance, acc_tolerance;
        for (std::size_t i = 0; i < slots * k; ++i) {
          const StepTolerance off(before.delta[i / k] * before.t[i], before.w[i], before.acc[i],
                                  expected.acc[i], rule);
          w_tolerance.push_back(off.weight);
          acc_tolerance.push_back(off.acc);
        }
        require_close(acc.copy(), expected.acc, acc_tolerance);
        require_close(w.copy(), expected.w, w_tolerance);
      });
    }
  });
}

TEST_CASE("ffm_update_slice of every instruction set") {
  for_each_instruction_set([](const Kernels& kernels) {
    for (const StepRule& rule : rules()) {
      for_each_slots([&](std::size_t k, std::size_t slots) {
        INFO("power " << rule.power << ", l2 " << rule.l2);
        const SlotRow before(k, slots, slots, .01f);
        SlotRow expected = before;
        reference().ffm_update_slice(expected.w.data(), expected.acc.data(), before.t.data(),
                                     before.delta.data(), slots, k, rule);
        Floats w(before.w), acc(before.acc), t(before.t), delta(before.delta);
        kernels.ffm_update_slice(w, acc, t, delta, slots, k, rule);
        std::vector<double> w_tolerance, acc_tolerance;
        for (std::size_t j = 0; j < slots; ++j) {
          double squares = 0;
          for (std::size_t i = j * k; i < (j + 1) * k; ++i) {
            const double g = before.delta[j] * before.t[i];
            const StepTolerance off(g, before.w[i], before.acc[j], expected.acc[j], rule);
            w_tolerance.push_back(off.weight);
            squares += std::pow(std::abs(g) + rule.l2 * std::abs(before.w[i]), 2);
          }
          acc_tolerance.push_back((4 + static_cast<double>(k)) * kEps * (squares + before.acc[j]));
        }
        require_close(acc.copy(), expected.acc, acc_tolerance);
        require_close(w.copy(), expected.w, w_tolerance);
      });
    }
  });
}

TEST_CASE("a zero gradient leaves weight and accumulator as they are, bit for bit") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    for (const StepRule& rule : rules()) {
      for_each_slots([&](std::size_t k, std::size_t slots) {
        INFO("power " << rule.power << ", l2 " << rule.l2);
        SlotRow row(k, slots, slots * k, .01f);
        for (std::size_t i = 0; i < row.acc.size(); i += 3) row.acc[i] = 0;  // never touched yet
        Floats w(row.w), acc(row.acc), slice_w(row.w),
            slice_acc(std::vector<float>(row.acc.begin(), row.acc.begin() + slots)), t(row.t),
            delta(row.delta);
        kernels->ffm_update(w, acc, t, delta, slots, k, rule);
        kernels->ffm_update_slice(slice_w, slice_acc, t, delta, slots, k, rule);
        for (std::size_t i = 0; i < slots * k; ++i) {
          if (row.delta[i / k] * row.t[i] == 0) {
            if (!same_bits(w[i], row.w[i])) FAIL("weight " << i);
            if (!same_bits(acc[i], row.acc[i])) FAIL("accumulator " << i);
            if (!same_bits(slice_w[i], row.w[i])) FAIL("weight of slice, " << i);
          } else if (same_bits(acc[i], row.acc[i]) && std::abs(row.t[i] * row.delta[i / k]) > .1f) {
            FAIL("accumulator " << i << " did not move");
          }
          if (row.delta[i / k] == 0 && !same_bits(slice_acc[i / k], row.acc[i / k])) {
            FAIL("accumulator of slice " << i / k);
          }
        }
      });
    }
  }
}

TEST_CASE("no gradient, however small or large, makes a weight infinite or NaN") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    for (const StepRule& rule : rules()) {
      if (rule.power != .5f) continue;
      for (float g : {1e-45f, 1e-38f, 1e-30f, 1e-23f, 1e-20f, 1e-19f, 1e15f, 1e20f, 1e25f}) {
        INFO("gradient " << g << ", l2 " << rule.l2);
        const std::size_t k = 8, slots = 5;
        Floats w(slots * k), acc(slots * k), t(slots * k), delta(slots);
        std::fill(t + 0, t + slots * k, g);
        std::fill(delta + 0, delta + slots, 1.0f);
        for (int times = 0; times < 3; ++times)
          kernels->ffm_update(w, acc, t, delta, slots, k, rule);
        for (std::size_t i = 0; i < slots * k; ++i) {
          if (!std::isfinite(w[i])) FAIL("weight " << i << " is " << w[i]);
          if (std::isnan(acc[i])) FAIL("accumulator " << i << " is NaN");
        }
        std::fill(w + 0, w + slots * k, 0.0f);
        std::fill(acc + 0, acc + slots, 0.0f);
        for (int times = 0; times < 3; ++times) {
          kernels->ffm_update_slice(w, acc, t, delta, slots, k, rule);
        }
        for (std::size_t i = 0; i < slots * k; ++i) {
          if (!std::isfinite(w[i])) FAIL("weight of slice, " << i << ", is " << w[i]);
          if (std::isnan(acc[i / k])) FAIL("accumulator of slice " << i / k << " is NaN");
        }
      }
    }
  }
}

TEST_CASE("the same numbers give the same bits, wherever they lie in memory") {
  for_each_instruction_set([](const Kernels& kernels) {
    for (std::size_t k : kSlotLengths) {
      const std::size_t slots = 39;
      const SlotRow row(k, slots, slots * k, .01f);
      std::vector<float> first_w, first_acc;
      for (std::size_t shift = 0; shift < 5; ++shift) {
        INFO("k " << k << ", shifted by " << shift << " floats");
        const auto shifted = [&](const std::vector<float>& x) {
          std::vector<float> y(shift, 0.0f);
          y.insert(y.end(), x.begin(), x.end());
          return y;
        };
        std::vector<float> w = shifted(row.w), acc = shifted(row.acc), t = shifted(row.t),
                           delta = shifted(row.delta);
        kernels.ffm_update(w.data() + shift, acc.data() + shift, t.data() + shift,
                           delta.data() + shift, slots, k, {});
        w.erase(w.begin(), w.begin() + static_cast<std::ptrdiff_t>(shift));
        acc.erase(acc.begin(), acc.begin() + static_cast<std::ptrdiff_t>(shift));
        if (shift == 0) {
          first_w = w;
          first_acc = acc;
        }
        REQUIRE(same_bits(w, first_w));
        REQUIRE(same_bits(acc, first_acc));
      }
    }
  });
}

}  // namespace
}  // namespace leveret::kernels
