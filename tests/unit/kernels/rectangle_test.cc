/// Pairs of some rows with those of another example, by every instruction set and codec.
#include <numeric>

#include "kernels/pairs_example.h"

namespace leveret::kernels {
namespace {

/// One example's rows, of which some are the context and the others a candidate.
struct Parted {
  std::vector<std::size_t> context, candidate;  ///< their places in the example

  /// The first rows are the context, or every other one of those.
  Parted(std::size_t n, std::size_t in_context, bool mixed) {
    for (std::size_t i = 0; i < n; ++i) {
      const bool is_context = mixed ? i % 2 == 0 && i < 2 * in_context : i < in_context;
      (is_context ? context : candidate).push_back(i);
    }
  }
};

/// What ffm_rectangle is given: the candidate's rows, and of the context what it has for them.
struct Sides {
  std::vector<const std::byte*> rows, slots;
  std::vector<std::uint32_t> fields;
  std::vector<std::unique_ptr<Guarded<std::byte>>> gathered;

  Sides(const Example& example, const Example::Copy& copy, const Parted& parts, std::size_t k) {
    const Codec codec = copy.weights_codec;
    for (const std::size_t j : parts.context) fields.push_back(example.fields[j]);
    for (const std::size_t i : parts.candidate) {
      rows.push_back(copy.w[i]);
      gathered.push_back(
          std::make_unique<Guarded<std::byte>>(codec.bytes(parts.context.size() * k)));
      std::byte* to = *gathered.back();
      for (const std::size_t j : parts.context) {
        std::memcpy(to, copy.w[j] + codec.bytes(example.fields[i] * k), codec.bytes(k));
        to += codec.bytes(k);
      }
      slots.push_back(*gathered.back());
    }
  }

  float pairs(const Kernels& kernels, Codec codec, std::size_t k, float* to) const {
    return kernels.ffm_rectangle(codec, rows.data(), slots.data(), rows.size(), fields.data(),
                                 fields.size(), k, to);
  }
};

template <class Body>
void for_each_rectangle(Body&& body) {
  for (const std::size_t k : kSlotLengths) {
    for (const std::size_t n : {2, 3, 5, 9, 23, 39}) {
      for (const std::size_t in_context : {std::size_t{1}, n / 2, n - 1}) {
        for (const bool mixed : {false, true}) {
          INFO("k " << k << ", " << n << " fields, " << in_context << " of them context, "
                    << (mixed ? "mixed" : "in front"));
          body(k, n, Parted(n, in_context, mixed));
        }
      }
    }
  }
}

TEST_CASE("a rectangle of pairs is what the triangle of all rows has of them") {
  const Codec codec =
      GENERATE(Codec::f32(), kInt16, Codec::fixed(16, 9), Codec::fixed(8, 5), Codec::bf16());
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name << ", " << int{codec.bits} << " bits");
    for_each_rectangle([&](std::size_t k, std::size_t n, const Parted& parts) {
      const Example example(n, n + 1, k, false, 1, codec);
      const Example::Copy copy = example.copy(codec, Codec::none());
      std::vector<float> triangle(n * (n + 1) / 2);
      reference().ffm_pairs(codec, copy.w.data(), example.fields.data(), n, k, triangle.data());
      const Sides sides(example, copy, parts, k);
      Floats pairs(parts.candidate.size() * parts.context.size());
      const float sum = sides.pairs(*kernels, codec, k, pairs);
      std::vector<float> expected;
      std::vector<double> tolerance;
      for (const std::size_t i : parts.candidate) {
        for (const std::size_t j : parts.context) {
          const std::size_t a = std::max(i, j), b = std::min(i, j);
          expected.push_back(triangle[a * (a + 1) / 2 + b]);
          tolerance.push_back(static_cast<double>(k + 1) * kEps * example.pair_size(i, j));
        }
      }
      require_close(pairs.copy(), expected, tolerance);
      const double sizes = std::accumulate(tolerance.begin(), tolerance.end(), 0.0);
      CHECK(sum == Approx(std::accumulate(expected.begin(), expected.end(), 0.0))
                       .margin(sizes * static_cast<double>(n)));
    });
  }
}

TEST_CASE("an empty side leaves nothing") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    const Example example(3, 3, 4, false);
    const Example::Copy copy = example.copy();
    for (const std::size_t in_context : {0, 3}) {
      const Sides sides(example, copy, Parted(3, in_context, false), 4);
      Floats pairs(0);
      CHECK(sides.pairs(*kernels, Codec::f32(), 4, pairs) == 0);
    }
  }
}

TEST_CASE("rectangles of weights at the end of their range") {
  for_each_instruction_set([&](const Kernels& kernels) {
    for (const std::size_t k : kTileSlotLengths) {
      const std::size_t n = 13;
      const Example example(n, n, k, false, 1e6f);
      const Example::Copy copy = example.copy(kInt16);
      for (std::byte* row : copy.w) {
        for (std::size_t i = 0; i < n * k / 2; ++i) encode(kInt16, row, i, -8);
      }
      const Parted parts(n, 7, false);
      const Sides sides(example, copy, parts, k);
      std::vector<float> expected(parts.candidate.size() * parts.context.size());
      Floats pairs(expected.size());
      sides.pairs(reference(), kInt16, k, expected.data());
      sides.pairs(kernels, kInt16, k, pairs);
      require_close(pairs.copy(), expected, std::vector<double>(expected.size(), .05));
    }
  });
}

}  // namespace
}  // namespace leveret::kernels
