/// The gradients of an example's rows, and a row's step by a sum of them.
#include <string>

#include "kernels/pairs_example.h"

namespace leveret::kernels {
namespace {

const Codec kWeights[] = {Codec::f32(), kInt16, Codec::fixed(16, 9), Codec::fixed(8, 5)};

/// What steps write: in registers, and by way of floats.
Codec stepped_codec() {
  Codec nearest = kInt16, nearest4 = Codec::fixed(4, 1);
  nearest.nearest = nearest4.nearest = true;
  return GENERATE_COPY(Codec::f32(), kInt16, Codec::fixed(16, 9), nearest, Codec::fixed(12, 8),
                       Codec::fixed(8, 5), Codec::fixed(4, 1), nearest4);
}
Codec state_codec() { return GENERATE(Codec::bf16(), Codec::f32()); }
/// What x is at most and at least when it is stored.
double within(Codec codec, float x) {
  if (codec.kind != Codec::Kind::kFixed) return x;
  return std::clamp(x, codec.smallest(), codec.largest());
}
/// How far rounding moves a number.
double unit_of(Codec codec) {
  if (codec.kind != Codec::Kind::kFixed) return 0;
  return (codec.nearest ? .5 : codec.is_narrow() ? 1 : kInt16NearUnits) * double{codec.unit()};
}

TEST_CASE("gradients of all rows are those that the update of pairs steps by") {
  for_each_instruction_set([](const Kernels& kernels) {
    for_each_shape([&](std::size_t k, std::size_t n, std::size_t slots, bool gaps) {
      for (const Codec codec : kWeights) {
        INFO("k " << k << ", " << n << " fields, gaps " << gaps << ", " << int{codec.bits}
                  << " bits");
        const Example example(n, slots, k, gaps, 1, codec);
        const Example::Copy rows = example.copy(codec);
        std::vector<std::unique_ptr<Floats>> owned;
        std::vector<float*> sums;
        std::vector<std::vector<float>> before;
        for (std::size_t i = 0; i < n; ++i) {
          before.push_back(random_floats(slots * k, 300 + static_cast<std::uint32_t>(i)));
          owned.push_back(std::make_unique<Floats>(before[i]));
          sums.push_back(n > 2 && i == 1 ? nullptr : static_cast<float*>(*owned[i]));
        }
        kernels.ffm_gradients(codec, rows.w.data(), example.fields.data(), n, k, *rows.delta,
                              sums.data());
        const float* const delta = *rows.delta;
        for (std::size_t i = 0; i < n; ++i) {
          std::vector<float> expected = before[i];
          std::vector<double> tolerance(slots * k);
          for (std::size_t j = 0; sums[i] != nullptr && j < n; ++j) {
            if (j == i) continue;
            const std::size_t a = std::max(i, j), b = std::min(i, j);
            const std::vector<float> other = rows.weights(j, example.fields[i] * k, k);
            for (std::size_t c = 0; c < k; ++c) {
              const float g = delta[a * (a + 1) / 2 + b] * other[c];
              const std::size_t at = example.fields[j] * k + c;
              expected[at] += g;
              tolerance[at] = 4 * kEps * (std::abs(g) + std::abs(before[i][at]));
            }
          }
          INFO("row " << i);
          require_close(owned[i]->copy(), expected, tolerance);
        }
      }
    });
  });
}

struct Row {
  std::vector<float> w, acc, g;
  Row(std::size_t slots, std::size_t k, Codec grid)
      : w(random_floats(slots * k, 1, -1, 1, .1f)),
        acc(random_floats(slots, 2, .01f, 2)),
        g(random_floats(slots * k, 3, -1, 1)) {
    std::vector<std::byte> stored(grid.bytes(slots * k));
    encode_all(grid, stored.data(), 0, w.data(), slots * k);
    reference().decode(grid, stored.data(), slots * k, w.data());
    for (float& x : acc) x = to_float(round_to_bf16(x, kNearest));
    std::fill_n(g.begin() + static_cast<std::ptrdiff_t>(slots / 2 * k), k, 0.0f);
  }
};

/// A row as it is stored, after a step.
struct Stepped {
  Stepped(const Kernels& kernels, const Row& row, Codec weights, Codec state, std::size_t k,
          const StepRule& rule, const RowNoise& noise)
      : w(weights.bytes(row.w.size())), acc(state.bytes(row.acc.size())) {
    encode_all(weights, w, 0, row.w.data(), row.w.size());
    encode_all(state, acc, 0, row.acc.data(), row.acc.size());
    const Floats g(row.g);
    kernels.ffm_step_row(weights, state, w, acc, g, row.acc.size(), k, rule, noise);
  }
  Guarded<std::byte> w, acc;
};

TEST_CASE("a row's step by a gradient is that of floats, rounded to a neighbour by place") {
  const std::size_t k = GENERATE(1, 2, 3, 4, 8, 16, 32), slots = GENERATE(1, 4, 7, 16, 39);
  const Codec weights = stepped_codec(), state = state_codec();
  if (weights.in_pairs() && k % 2 != 0) return;  // a slot would begin in the middle of a byte
  INFO("k " << k << ", " << slots << " slots, " << int{weights.bits} << " bits, state of "
            << int{state.bits});
  const Row row(slots, k, weights);
  const std::uint32_t noise = 0x12345678u;
  for_each_instruction_set([&](const Kernels& kernels) {
    for (const StepRule& rule : rules()) {
      INFO("power " << rule.power << ", l2 " << rule.l2);
      std::vector<float> w = row.w, acc = row.acc;
      const std::vector<float> ones(slots, 1.0f);
      reference().ffm_update_slice(w.data(), acc.data(), row.g.data(), ones.data(), slots, k, rule);
      Stepped got(kernels, row, weights, state, k, rule, {noise});
      for (std::size_t i = 0; i < w.size(); ++i) {
        const bool idle = i / k == slots / 2;
        const StepTolerance off(row.g[i], row.w[i], row.acc[i / k], acc[i / k], rule);
        INFO("weight " << i);
        REQUIRE(std::abs(decode(weights, got.w, i) - within(weights, w[i])) <=
                (idle ? 0 : 2 * off.weight + unit_of(weights)));
      }
      for (std::size_t j = 0; j < slots; ++j) {
        const double near = state == Codec::bf16() ? kBf16Near * acc[j] : 0;
        INFO("accumulator " << j);
        REQUIRE(std::abs(decode(state, got.acc, j) - double{acc[j]}) <=
                (j == slots / 2 ? 0 : (4 + double(k)) * kEps * acc[j] + near));
      }
    }
  });
}

TEST_CASE("steps of vectors are those of rows of one slot") {
  const std::size_t k = GENERATE(1, 2, 3, 4, 8, 16, 32), n = GENERATE(2, 4, 7);
  const Codec weights = stepped_codec(), state = state_codec();
  if (weights.in_pairs() && k % 2 != 0) return;  // a slot would begin in the middle of a byte
  INFO("k " << k << ", " << n << " vectors, " << int{weights.bits} << " bits, state of "
            << int{state.bits});
  const Row all(n, k, weights);
  const std::size_t to_state = weights.bytes(k);
  const std::vector<float> factors = random_floats(n, 4, .5f, 2);
  const Floats g(all.g);
  for_each_instruction_set([&](const Kernels& kernels) {
    for (const StepRule& rule : rules()) {
      INFO("power " << rule.power << ", l2 " << rule.l2);
      std::vector<float> w = all.w, acc = all.acc;
      reference().ffm_update_slice(w.data(), acc.data(), g, factors.data(), n, k, rule);
      std::vector<std::vector<std::byte>> rows(n);
      std::vector<std::byte*> places;
      std::vector<const float*> gradients;
      for (std::size_t i = 0; i < n; ++i) {
        rows[i].resize(to_state + state.bytes(1));
        encode_all(weights, rows[i].data(), 0, all.w.data() + i * k, k);
        encode_all(state, rows[i].data() + to_state, 0, &all.acc[i], 1);
        places.push_back(rows[i].data());
        gradients.push_back(g + i * k);
      }
      kernels.step_vectors(weights, state,
                           {places.data(), gradients.data(), factors.data(), n, to_state, 99u}, k,
                           rule);
      for (std::size_t i = 0; i < n * k; ++i) {
        const std::size_t row = i / k;
        const bool idle = row == n / 2;  // its gradient is 0
        const StepTolerance off(factors[row] * all.g[i], all.w[i], all.acc[row], acc[row], rule);
        INFO("vector " << row << ", number " << i % k);
        REQUIRE(std::abs(decode(weights, rows[row].data(), i % k) - within(weights, w[i])) <=
                (idle ? 0 : 2 * off.weight + unit_of(weights)));
      }
      for (std::size_t i = 0; i < n; ++i) {
        const double near = state == Codec::bf16() ? kBf16Near * acc[i] : 0;
        REQUIRE(std::abs(decode(state, rows[i].data() + to_state, 0) - double{acc[i]}) <=
                (i == n / 2 ? 0 : (4 + double(k)) * kEps * acc[i] + near));
      }
    }
  });
}

TEST_CASE("what is stepped by way of floats is rounded by place, whichever the instruction set") {
  const std::size_t k = GENERATE(2, 4, 6), slots = GENERATE(1, 7, 300);
  const Codec weights =
      GENERATE(Codec::f32(), kInt16, Codec::fixed(12, 8), Codec::fixed(8, 5), Codec::fixed(4, 1));
  const Codec state = weights == Codec::f32() ? Codec::bf16() : Codec::f32();
  INFO("k " << k << ", " << slots << " slots, " << int{weights.bits} << " bits");
  Row row(slots, k, weights);
  // Whole numbers, so that their squares are sums of the same bits in whatever order.
  for (float& g : row.g) g = std::round(8 * g);
  // By a power of 0 a step is rate * g, on all of them the same.
  const StepRule rule = {.rate = .25f, .power = 0};
  const Stepped expected(reference(), row, weights, state, k, rule, {77u});
  for_each_instruction_set([&](const Kernels& kernels) {
    const Stepped got(kernels, row, weights, state, k, rule, {77u});
    CHECK(std::memcmp(got.w, expected.w, weights.bytes(slots * k)) == 0);
    // A mean of six squares is rounded.
    if (k != 6) CHECK(std::memcmp(got.acc, expected.acc, state.bytes(slots)) == 0);
  });
}

TEST_CASE("a vector that comes twice takes both steps") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    const std::size_t k = GENERATE(3, 8);
    std::vector<float> row(k + 1, 1.0f);
    auto* const place = reinterpret_cast<std::byte*>(row.data());
    std::byte* const places[] = {place, place};
    const std::vector<float> g(k, 1.0f);
    const float* const gradients[] = {g.data(), g.data()};
    const float factors[] = {1, 1};
    kernels->step_vectors(Codec::f32(), Codec::f32(),
                          {places, gradients, factors, 2, k * sizeof(float), 0}, k, {.rate = .1f});
    CHECK(row[k] == Approx(3));
    CHECK(row[0] == Approx(1 - .1 / std::sqrt(2.) - .1 / std::sqrt(3.)));
  }
}

TEST_CASE("noise of a row's step goes by place: the mean of roundings is the step") {
  const std::size_t k = 4, slots = 9;
  const Row row(slots, k, kInt16);
  const StepRule rule = {.rate = .003f};
  std::vector<float> w = row.w, acc = row.acc;
  const std::vector<float> ones(slots, 1.0f);
  reference().ffm_update_slice(w.data(), acc.data(), row.g.data(), ones.data(), slots, k, rule);
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    constexpr std::size_t kTimes = 4096;
    std::vector<double> mean(w.size());
    std::mt19937 random(5);
    for (std::size_t t = 0; t < kTimes; ++t) {
      const auto noise = static_cast<std::uint32_t>(random());
      Stepped got(*kernels, row, kInt16, Codec::bf16(), k, rule, {noise});
      for (std::size_t i = 0; i < w.size(); ++i)
        mean[i] += double{decode(kInt16, got.w, i)} / kTimes;
    }
    for (std::size_t i = 0; i < w.size(); ++i) {
      CHECK(std::abs(mean[i] - double{w[i]}) < 0.05 * double{kInt16.unit()});
    }
  }
}

TEST_CASE("slots of a longer row are rounded as they are there") {
  const std::size_t k = GENERATE(2, 4, 5, 8);
  const Row row(39, k, kInt16);
  const std::vector<std::uint32_t> names = {0,  3,  4,  5,  11, 12, 20, 21, 22, 23,
                                            24, 25, 26, 30, 31, 33, 34, 37, 38};
  Row some = row;
  some.w.clear(), some.acc.clear(), some.g.clear();
  std::vector<std::uint32_t> numbers, slots;
  for (const std::uint32_t name : names) {
    slots.push_back(name * kNoiseStep);
    some.acc.push_back(row.acc[name]);
    for (std::size_t i = name * k; i < (name + 1) * k; ++i) {
      numbers.push_back(static_cast<std::uint32_t>(i) * kNoiseStep);
      some.w.push_back(row.w[i]);
      some.g.push_back(row.g[i]);
    }
  }
  numbers.resize(numbers.size() + Kernels::kSpare);
  slots.resize(slots.size() + Kernels::kSpare);
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name << ", k " << k);
    Stepped whole(*kernels, row, kInt16, Codec::bf16(), k, {}, {77u});
    Stepped got(*kernels, some, kInt16, Codec::bf16(), k, {}, {77u, numbers.data(), slots.data()});
    for (std::size_t j = 0; j < names.size(); ++j) {
      INFO("slot " << j);
      CHECK(decode(Codec::bf16(), got.acc, j) == decode(Codec::bf16(), whole.acc, names[j]));
      for (std::size_t c = 0; c < k; ++c) {
        CHECK(decode(kInt16, got.w, j * k + c) == decode(kInt16, whole.w, names[j] * k + c));
      }
    }
  }
}

TEST_CASE("a slot is rounded alike whatever stands behind it") {
  const std::size_t k = 8;
  const Row row(20, k, kInt16);
  Row shorter = row;
  shorter.w.resize(5 * k);
  shorter.g.resize(5 * k);
  shorter.acc.resize(5);
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    const StepRule rule = {};
    Stepped all(*kernels, row, kInt16, Codec::bf16(), k, rule, {77});
    Stepped some(*kernels, shorter, kInt16, Codec::bf16(), k, rule, {77});
    Stepped other(*kernels, shorter, kInt16, Codec::bf16(), k, rule, {78u << 24});
    CHECK(std::memcmp(all.w, some.w, kInt16.bytes(5 * k)) == 0);
    CHECK(std::memcmp(all.acc, some.acc, Codec::bf16().bytes(5)) == 0);
    CHECK(std::memcmp(other.w, some.w, kInt16.bytes(5 * k)) != 0);
  }
}

}  // namespace
}  // namespace leveret::kernels
