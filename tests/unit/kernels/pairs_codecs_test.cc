/// Pairs and their update with every codec: which the kernels' registers take, and which are done
/// as the reference does them.
#include <string>

#include "kernels/pairs_example.h"

namespace leveret::kernels {
namespace {

struct Stored {
  Codec weights, state;
};

/// Largest error of a number x that was rounded to one of the two around it.
double near(Codec codec, double x) {
  switch (codec.kind) {
    case Codec::Kind::kBf16:
      return kBf16Near * std::abs(x);
    case Codec::Kind::kFixed:
      return kInt16NearUnits * double{codec.unit()};
    default:
      return 0;
  }
}

/// Checks an update against the reference's with floats.
void check_update(const Kernels& kernels, const Stored& stored, std::size_t n, std::size_t k,
                  bool gaps, const StepRule& rule) {
  INFO(kernels.name << ", " << n << " fields, k " << k << ", gaps " << gaps << ", power "
                    << rule.power << ", l2 " << rule.l2);
  const std::size_t slots = gaps ? 2 * n + 1 : n;
  const Example example(n, slots, k, gaps, 1, stored.weights);
  const Example::Copy expected = example.copy(), got = example.copy(stored.weights, stored.state);
  update(reference(), example, expected, k, rule);
  update(kernels, example, got, k, rule);
  std::vector<std::vector<double>> w_tolerance, acc_tolerance;
  example.tolerances(expected, rule, w_tolerance, acc_tolerance);
  for (std::size_t i = 0; i < n; ++i) {
    INFO("row " << i);
    const std::vector<float> w = expected.weights(i, 0, slots * k), acc = expected.accs(i, slots);
    for (std::size_t at = 0; at < slots * k; ++at) {
      if (w_tolerance[i][at] != 0) w_tolerance[i][at] += near(stored.weights, w[at]);
    }
    for (std::size_t at = 0; at < slots; ++at) {
      if (acc_tolerance[i][at] != 0) acc_tolerance[i][at] += near(stored.state, acc[at]);
    }
    require_close(got.weights(i, 0, slots * k), w, w_tolerance[i]);
    if (stored.state != Codec::none()) require_close(got.accs(i, slots), acc, acc_tolerance[i]);
  }
}

/// The values of pairs, each within what the order of a sum may change.
void check_pairs(const Kernels& kernels, Codec weights, std::size_t n, std::size_t k, bool gaps) {
  INFO(kernels.name << ", " << n << " fields, k " << k << ", gaps " << gaps);
  const Example example(n, gaps ? 2 * n + 1 : n, k, gaps, 1, weights);
  const Example::Copy floats = example.copy(), rows = example.copy(weights);
  const std::size_t count = n * (n + 1) / 2;
  std::vector<float> expected(count);
  Floats pairs(count);
  reference().ffm_pairs(Codec::f32(), floats.w.data(), example.fields.data(), n, k,
                        expected.data());
  const float sum = kernels.ffm_pairs(weights, rows.w.data(), example.fields.data(), n, k, pairs);
  std::vector<double> tolerance;
  double sizes = 0, total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      sizes += example.pair_size(i, j);
      tolerance.push_back(static_cast<double>(k + 1) * kEps * example.pair_size(i, j));
    }
    tolerance.push_back(0);
  }
  for (const float x : expected) total += x;
  require_close(pairs.copy(), expected, tolerance);
  CHECK(sum == Approx(total).margin(static_cast<double>(k + n) * kEps * sizes));
}

TEST_CASE("fixed point of 16 bits with any shift") {
  const int shift = GENERATE(8, 12, 14);
  INFO("shift " << shift);
  const Stored stored = {Codec::fixed(16, shift), Codec::bf16()};
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    for (const std::size_t k : {1, 2, 3, 4, 8, 16, 32}) {
      for (const std::size_t n : {2, 7, 18}) {
        for (const bool gaps : {false, true}) {
          check_pairs(*kernels, stored.weights, n, k, gaps);
          for (const StepRule& rule : rules()) check_update(*kernels, stored, n, k, gaps, rule);
        }
      }
    }
  }
}

TEST_CASE("steps larger than a factor of 16 bits, with any shift") {
  const int shift = GENERATE(8, 12, 14);
  INFO("shift " << shift);
  const Codec codec = Codec::fixed(16, shift);
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    for (const std::size_t k : {2, 4, 8, 16}) {
      INFO(kernels->name << ", k " << k);
      const std::size_t n = 9;
      const Example example(n, n, k, false, 1, codec);
      const Example::Copy expected = example.copy(), got = example.copy(codec);
      update(reference(), example, expected, k, {20, .5f, 0});
      update(*kernels, example, got, k, {20, .5f, 0});
      for (std::size_t i = 0; i < n; ++i) {
        const std::vector<float> w = expected.weights(i, 0, n * k);
        const std::vector<float> moved = got.weights(i, 0, n * k);
        for (std::size_t c = 0; c < n * k; ++c) {
          const double in_range = std::clamp(w[c], codec.smallest(), codec.largest());
          CHECK(std::abs(moved[c] - in_range) < near(codec, 1) + 2e-4 * std::abs(w[c]));
        }
      }
    }
  }
}

const Stored kOthers[] = {
    {Codec::fixed(8, 6), Codec::bf16()},  {Codec::fixed(8, 6), Codec::f32()},
    {Codec::bf16(), Codec::bf16()},       {Codec::bf16(), Codec::f32()},
    {Codec::fixed(16, 12), Codec::f32()}, {Codec::f32(), Codec::bf16()},
    {Codec::f32(), Codec::fixed(16, 12)}, {Codec::fixed(8, 5), Codec::fixed(8, 4)},
};

TEST_CASE("all other codecs: the reference is right, and everybody does as it does") {
  for (std::size_t c = 0; c < std::size(kOthers); ++c) {
    INFO("combination " << c);
    const Stored& stored = kOthers[c];
    const bool weights_alone = stored.weights == Codec::f32() || stored.weights.is_fixed(16);
    for (const std::size_t k : {1, 2, 4, 5, 8, 16}) {
      for (const bool gaps : {false, true}) {
        const std::size_t n = 9;
        check_pairs(reference(), stored.weights, n, k, gaps);
        for (const StepRule& rule : rules()) {
          // The first accumulators are no fixed-point numbers.
          if (stored.state.kind != Codec::Kind::kFixed) {
            check_update(reference(), stored, n, k, gaps, rule);
          }
          const Example example(n, 2 * n + 1, k, gaps, 1, stored.weights);
          const Example::Copy expected = example.copy(stored.weights, stored.state);
          update(reference(), example, expected, k, rule, 77);
          const std::size_t count = n * (n + 1) / 2;
          std::vector<float> expected_pairs(count);
          reference().ffm_pairs(stored.weights, expected.w.data(), example.fields.data(), n, k,
                                expected_pairs.data());
          for_each_instruction_set([&](const Kernels& kernels) {
            const Example::Copy got = example.copy(stored.weights, stored.state);
            update(kernels, example, got, k, rule, 77);
            CHECK(got.bytes() == expected.bytes());
            std::vector<float> pairs(count);
            kernels.ffm_pairs(stored.weights, got.w.data(), example.fields.data(), n, k,
                              pairs.data());
            if (!weights_alone) CHECK(same_bits(pairs, expected_pairs));
          });
        }
      }
    }
  }
}

TEST_CASE("registers take the codecs of models: their noise is another one than the reference's") {
  for_each_instruction_set([&](const Kernels& kernels) {
    for (const std::size_t k : {2, 4, 8, 16}) {
      INFO("k " << k);
      const std::size_t n = 19;
      const Example example(n, n, k, false);
      const Example::Copy got = example.copy(kInt16), expected = example.copy(kInt16);
      update(kernels, example, got, k, {}, 77);
      update(reference(), example, expected, k, {}, 77);
      CHECK(got.bytes() != expected.bytes());
    }
  });
}

TEST_CASE("plain SGD needs no accumulators") {
  for (const Codec weights : {Codec::f32(), kInt16, Codec::fixed(8, 6)}) {
    for (const Kernels* kernels : all()) {
      if (!runs_here(*kernels)) continue;
      for (const std::size_t k : {3, 4}) {
        check_update(*kernels, {weights, Codec::none()}, 7, k, false, {.05f, 0, 0});
      }
    }
  }
}

}  // namespace
}  // namespace leveret::kernels
