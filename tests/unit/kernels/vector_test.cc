#include <iterator>
#include <limits>

#include "kernels/arrays.h"

namespace leveret::kernels {
namespace {

constexpr std::size_t kLengths[] = {0, 1, 3, 7, 8, 16, 31, 39, 64, 127, 780};

template <class Body>
void for_each_length(Body&& body) {
  for (std::size_t length : kLengths) {
    INFO("length " << length);
    body(length);
  }
}

TEST_CASE("dot and total of every instruction set") {
  for_each_instruction_set([](const Kernels& kernels) {
    for_each_length([&](std::size_t length) {
      Floats a(random_floats(length, 1)), b(random_floats(length, 2));
      double size_ab = 0, size_a = 0;
      for (std::size_t i = 0; i < length; ++i) {
        size_ab += std::abs(a[i] * b[i]);
        size_a += std::abs(a[i]);
      }
      const double ulps = static_cast<double>(length + 1) * kEps;
      CHECK(std::abs(kernels.dot(a, b, length) - reference().dot(a, b, length)) <= ulps * size_ab);
      CHECK(std::abs(kernels.total(a, length) - reference().total(a, length)) <= ulps * size_a);
    });
  });
}

TEST_CASE("axpy, centre and scale of every instruction set") {
  for_each_instruction_set([](const Kernels& kernels) {
    for_each_length([&](std::size_t length) {
      const std::vector<float> before = random_floats(length, 3);
      Floats x(random_floats(length, 4)), sum(before), out(length);
      std::vector<float> expected = before;
      std::vector<double> tolerance(length);
      reference().axpy(.7f, x, length, expected.data());
      for (std::size_t i = 0; i < length; ++i) {
        tolerance[i] = kEps * (std::abs(before[i]) + std::abs(x[i]));
      }
      kernels.axpy(.7f, x, length, sum);
      require_close(sum.copy(), expected, tolerance);

      reference().scale(x, length, 2.5f, expected.data());
      kernels.scale(x, length, 2.5f, out);
      CHECK(same_bits(out.copy(), expected));
      kernels.scale(x, length, 2.5f, x);
      CHECK(same_bits(x.copy(), expected));

      const float squares = reference().centre(x, length, .3f, expected.data());
      const double most = static_cast<double>(length + 1) * kEps * squares;
      CHECK(std::abs(kernels.centre(x, length, .3f, out) - squares) <= most);
      CHECK(same_bits(out.copy(), expected));
      CHECK(std::abs(kernels.centre(x, length, .3f, x) - squares) <= most);
      CHECK(same_bits(x.copy(), expected));
    });
  });
}

TEST_CASE("normalise_back of every instruction set") {
  for_each_instruction_set([](const Kernels& kernels) {
    for_each_length([&](std::size_t length) {
      const std::vector<float> d = random_floats(length, 9, -2, 2);
      Floats x(random_floats(length, 10)), got(d);
      std::vector<float> expected = d;
      reference().normalise_back(x, length, .3f, -.6f, 2.5f, expected.data());
      std::vector<double> tolerance(length);
      for (std::size_t i = 0; i < length; ++i) {
        tolerance[i] = 2 * 2.5 * kEps * (std::abs(d[i]) + .3 + .6 * std::abs(x[i]));
      }
      kernels.normalise_back(x, length, .3f, -.6f, 2.5f, got);
      require_close(got.copy(), expected, tolerance);
    });
  });
}

TEST_CASE("squares and adagrad_deltas are the same bits on every instruction set") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for_each_instruction_set([](const Kernels& kernels) {
    for_each_length([&](std::size_t length) {
      std::vector<float> gradients = random_floats(length, 5, -3, 3);
      const float odd[] = {0, 1e15f, 2e15f, -2e15f, kInfinity, -kInfinity, kNan, 1e-30f};
      for (std::size_t i = 0; i < length; i += 3) gradients[i] = odd[i / 3 % std::size(odd)];
      Floats x(gradients), g(length), squares(length);
      std::vector<float> expected_g(length), expected(length);
      reference().squares(gradients.data(), .7f, length, expected_g.data(), expected.data());
      kernels.squares(x, .7f, length, g, squares);
      CHECK(same_bits(g.copy(), expected_g));
      CHECK(same_bits(squares.copy(), expected));
      kernels.squares(x, .7f, length, x, squares);
      CHECK(same_bits(x.copy(), expected_g));

      // Sums as they are with --init_acc_gradient 0: some are 0.
      std::vector<float> sums = random_floats(length, 6, 0, 9);
      for (std::size_t i = 0; i < length; i += 4) sums[i] = i % 8 == 0 ? 0.0f : kInfinity;
      Floats acc(sums), steps(length);
      reference().adagrad_deltas(expected_g.data(), sums.data(), length, .05f, expected.data());
      kernels.adagrad_deltas(g, acc, length, .05f, steps);
      CHECK(same_bits(steps.copy(), expected));
      kernels.adagrad_deltas(g, acc, length, .05f, g);
      CHECK(same_bits(g.copy(), expected));
    });
  });
}

/// Pairs of a weight and a sum, `count` of them, of which some have a sum of 0 or infinity.
std::vector<float> some_pairs(std::size_t count) {
  std::vector<float> pairs = random_floats(2 * count, 13, 0, 2);
  for (std::size_t i = 0; i < count; i += 5) {
    pairs[2 * i + 1] = i % 2 == 0 ? 0.0f : std::numeric_limits<float>::infinity();
  }
  return pairs;
}

TEST_CASE("adagrad_gather_scatter is the same bits on every instruction set") {
  for_each_instruction_set([](const Kernels& kernels) {
    for_each_length([&](std::size_t length) {
      std::vector<float> x = random_floats(length, 11, -3, 3, .2f);
      for (std::size_t i = 3; i < length; i += 11) x[i] = 3e15f;  // gradients beyond kMaxGradient
      // Every place once; some of them often; all the same.
      for (const std::size_t places : {length, length / 3 + 1, std::size_t{1}}) {
        for (const float init : {0.0f, 1.0f}) {
          INFO(places << " places, init " << init);
          std::vector<float> expected = some_pairs(places), got = expected;
          std::vector<float*> at_expected(length), at_got(length);
          for (std::size_t i = 0; i < length; ++i) {
            const std::size_t at = 2 * (i * 7919 % places);
            at_expected[i] = expected.data() + at;
            at_got[i] = got.data() + at;
          }
          reference().adagrad_gather_scatter(at_expected.data(), x.data(), .7f, length, init, .05f);
          kernels.adagrad_gather_scatter(at_got.data(), x.data(), .7f, length, init, .05f);
          CHECK(same_bits(got, expected));
        }
      }
    });
  });
}

TEST_CASE("step_cells is the same bits on every instruction set") {
  for_each_instruction_set([](const Kernels& kernels) {
    for_each_length([&](std::size_t length) {
      std::vector<float> x = random_floats(length, 11, -3, 3, .2f);
      for (std::size_t i = 3; i < length; i += 11) x[i] = 3e15f;  // gradients beyond kMaxGradient
      // Every place once; some of them often; all the same.
      for (const std::size_t places : {length, length / 3 + 1, std::size_t{1}}) {
        for (const float init : {0.0f, 1.0f}) {
          INFO(places << " places, init " << init);
          // A cell has two numbers more, which nobody may touch.
          std::vector<float> expected = some_pairs(3 * places), got;
          for (std::size_t i = 2; i < expected.size(); i += 6) expected[i + 1] = -.5f;
          got = expected;
          std::vector<float*> at_expected(length), at_got(length);
          for (std::size_t i = 0; i < length; ++i) {
            const std::size_t at = 6 * (i * 7919 % places);
            at_expected[i] = expected.data() + at;
            at_got[i] = got.data() + at;
          }
          const CellSteps steps{.7f, -.4f, .02f, init, .05f};
          const std::vector<float> before = expected;
          reference().step_cells(at_expected.data(), x.data(), length, steps);
          kernels.step_cells(at_got.data(), x.data(), length, steps);
          CHECK(same_bits(got, expected));
          for (std::size_t i = 4; i < expected.size(); i += 6) {
            CHECK(same_bits(got[i], before[i]));
            CHECK(same_bits(got[i + 1], before[i + 1]));
          }
        }
      }
    });
  });
}

TEST_CASE("step_cells is AdaGrad with one sum for two weights, and a plain step") {
  const float x[] = {.5f, -1, 0};
  float cells[3][4] = {{.1f, 1, .2f, .3f}, {.1f, 2, .2f, .3f}, {.1f, 3, .2f, .3f}};
  float* const at[] = {cells[0], cells[1], cells[2]};
  reference().step_cells(at, x, 3, {.6f, .8f, .25f, .5f, .1f});
  for (int i = 0; i < 3; ++i) {
    const double sum = 1 + i + std::pow(.8 * x[i], 2), scale = .1 / std::sqrt(.5 + sum);
    CHECK(cells[i][1] == Approx(sum));
    CHECK(cells[i][0] == Approx(.1 - scale * .6 * x[i]));
    CHECK(cells[i][2] == Approx(.2 - scale * .8 * x[i]));
    CHECK(cells[i][3] == Approx(.3 - .25 * x[i]));
  }
}

TEST_CASE("log of every instruction set") {
  for_each_instruction_set([](const Kernels& kernels) {
    for_each_length([&](std::size_t length) {
      // From the smallest normal number to the largest, and around 1.
      std::vector<float> x = random_floats(length, 8, -126, 127.99f);
      for (std::size_t i = 0; i < length; ++i) {
        x[i] = i % 3 == 0 ? 1 + x[i] / 1000 : std::exp2(x[i]);
        if (i % 5 == 0) x[i] = 1;
      }
      std::vector<float> expected(length);
      reference().log(x.data(), length, expected.data());
      std::vector<double> tolerance(length);
      for (std::size_t i = 0; i < length; ++i) {
        tolerance[i] = 3 * kEps * std::max(1.0f, std::abs(expected[i]));
      }
      Floats in(x), out(length);
      kernels.log(in, length, out);
      require_close(out.copy(), expected, tolerance);
      kernels.log(in, length, in);
      CHECK(same_bits(in.copy(), out.copy()));
      for (std::size_t i = 0; i < length; ++i) {
        if (x[i] == 1) CHECK(out[i] == 0);
      }
    });
  });
}

TEST_CASE("update of every instruction set") {
  for_each_instruction_set([](const Kernels& kernels) {
    for (const StepRule& rule : forgetful_rules()) {
      for_each_length([&](std::size_t length) {
        INFO("power " << rule.power << ", l2 " << rule.l2);
        const std::vector<float> w_before = random_floats(length, 5);
        const std::vector<float> acc_before = random_floats(length, 6, .01f, 2);
        std::vector<float> g = random_floats(length, 7, -1, 1, .3f);
        std::vector<float> w_expected = w_before, acc_expected = acc_before;
        reference().update(w_expected.data(), acc_expected.data(), g.data(), length, rule);
        Floats w(w_before), acc(acc_before), gradient(g);
        kernels.update(w, acc, gradient, length, rule);
        std::vector<double> w_tolerance(length), acc_tolerance(length);
        for (std::size_t i = 0; i < length; ++i) {
          if (g[i] == 0) continue;  // and thus untouched
          const StepTolerance off(g[i], w_before[i], acc_before[i], acc_expected[i], rule);
          w_tolerance[i] = off.weight;
          acc_tolerance[i] = off.acc;
        }
        require_close(w.copy(), w_expected, w_tolerance);
        require_close(acc.copy(), acc_expected, acc_tolerance);
      });
    }
  });
}

TEST_CASE("one over the root is right to 1e-6 from the smallest accumulator to the largest") {
  for_each_instruction_set([](const Kernels& kernels) {
    // With g much smaller than sqrt(acc) the accumulator stays, and the step is g / sqrt(acc).
    for (int exponent = -36; exponent <= 38; ++exponent) {
      std::vector<float> acc = random_floats(64, static_cast<std::uint32_t>(exponent + 100), 1, 3);
      for (float& x : acc) x *= std::pow(10.0f, static_cast<float>(exponent));
      std::vector<float> w(64), g(64);
      for (std::size_t i = 0; i < 64; ++i) g[i] = 1e-5f * std::sqrt(acc[i]);
      const std::vector<float> before = acc;
      kernels.update(w.data(), acc.data(), g.data(), 64, {.rate = 1, .power = .5f, .l2 = 0});
      for (std::size_t i = 0; i < 64; ++i) {
        const double expected = -static_cast<double>(g[i]) / std::sqrt(static_cast<double>(acc[i]));
        if (!(std::abs(w[i] / expected - 1) <= 1e-6)) {
          FAIL("accumulator " << acc[i] << ": " << w[i] << " instead of " << expected);
        }
      }
    }
  });
}

}  // namespace
}  // namespace leveret::kernels
