/// Pairs by a list, and their gradients, by every instruction set and codec.
#include <numeric>
#include <random>

#include "kernels/pairs_example.h"

namespace leveret::kernels {
namespace {

/// Some pairs of n rows, and the rows, of which each has the slots for its pairs alone.
class Listed {
 public:
  /// Every `one_of`-th pair, by chance.
  Listed(std::size_t n, std::uint32_t one_of, std::size_t k, Codec grid) : n_(n), k_(k) {
    std::mt19937 random(static_cast<std::uint32_t>(n * 100 + one_of));
    std::vector<std::vector<std::uint32_t>> met(n), pairs(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t j = 0; j <= i; ++j) {
        if (random() % one_of != 0) continue;
        met[i].push_back(j), pairs[i].push_back(size_);
        if (i != j) met[j].push_back(i), pairs[j].push_back(size_);
        ++size_;
      }
    }
    for (std::uint32_t i = 0; i < n; ++i) {
      begin_.push_back(static_cast<std::uint32_t>(others_.size()));
      before_.push_back(static_cast<std::uint32_t>(
          std::ranges::count_if(met[i], [&](std::uint32_t j) { return j < i; })));
      for (std::size_t s = 0; s < met[i].size(); ++s) {
        const std::vector<std::uint32_t>& theirs = met[met[i][s]];
        const auto slot = std::ranges::find(theirs, i) - theirs.begin();
        others_.push_back({met[i][s], static_cast<std::uint32_t>(slot), pairs[i][s]});
      }
      weights_.push_back(random_floats(met[i].size() * k, 100 + i, -1, 1, .1f));
      std::vector<std::byte> stored(grid.bytes(weights_[i].size()));
      encode_all(grid, stored.data(), 0, weights_[i].data(), weights_[i].size());
      reference().decode(grid, stored.data(), weights_[i].size(), weights_[i].data());
      owned_.push_back(std::make_unique<Guarded<std::byte>>(stored.size()));
      rows.push_back(*owned_.back());
      std::ranges::copy(stored, static_cast<std::byte*>(*owned_.back()));
    }
    begin_.push_back(static_cast<std::uint32_t>(others_.size()));
  }

  PairList list() const { return {n_, begin_.data(), before_.data(), others_.data()}; }
  std::size_t size() const { return size_; }
  const float* slot(std::size_t i, std::size_t s) const { return weights_[i].data() + s * k_; }
  const std::vector<float>& weights(std::size_t i) const { return weights_[i]; }

  std::vector<const std::byte*> rows;

 private:
  std::size_t n_, k_;
  std::uint32_t size_ = 0;
  std::vector<std::uint32_t> begin_, before_;
  std::vector<PairList::Other> others_;
  std::vector<std::vector<float>> weights_;
  std::vector<std::unique_ptr<Guarded<std::byte>>> owned_;
};

const Codec kCodecs[] = {Codec::f32(), kInt16, Codec::fixed(16, 9), Codec::fixed(8, 5),
                         Codec::bf16()};

template <class Body>
void for_each_list(Body&& body) {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    for (const Codec codec : kCodecs) {
      for (const std::size_t k : kSlotLengths) {
        for (const std::size_t n : {0, 1, 2, 5, 13, 39}) {
          for (const std::uint32_t one_of : {1u, 2u, 5u}) {
            INFO(kernels->name << ", " << int{codec.bits} << " bits, k " << k << ", " << n
                               << " rows, one pair of " << one_of);
            body(*kernels, codec, k, Listed(n, one_of, k, codec));
          }
        }
      }
    }
  }
}

TEST_CASE("listed pairs are products of their slots, and 0 with themselves") {
  for_each_list([](const Kernels& kernels, Codec codec, std::size_t k, const Listed& some) {
    const PairList list = some.list();
    REQUIRE(list.size() == some.size());
    std::vector<float> expected(some.size());
    std::vector<double> tolerance(some.size());
    for (std::size_t i = 0; i < list.n; ++i) {
      for (std::size_t s = 0; s < list.slots(i); ++s) {
        const PairList::Other& other = list.of(i)[s];
        if (other.row >= i) continue;
        const float* const a = some.slot(i, s);
        const float* const b = some.slot(other.row, other.slot);
        expected[other.pair] = static_cast<float>(
            std::inner_product(a, a + k, b, 0.0, std::plus<>(),
                               [](float x, float y) { return static_cast<double>(x) * y; }));
        for (std::size_t c = 0; c < k; ++c) {
          tolerance[other.pair] += static_cast<double>(k + 1) * kEps * std::abs(a[c] * b[c]);
        }
      }
    }
    Floats pairs(some.size());
    const float sum = kernels.ffm_listed_pairs(codec, some.rows.data(), list, k, pairs);
    require_close(pairs.copy(), expected, tolerance);
    CHECK(sum == Approx(std::accumulate(expected.begin(), expected.end(), 0.0)).margin(1e-3));
  });
}

TEST_CASE("gradients by a list are deltas times the slots that are met") {
  for_each_list([](const Kernels& kernels, Codec codec, std::size_t k, const Listed& some) {
    const PairList list = some.list();
    std::vector<float> of_slots = random_floats(list.begin[list.n], 9, -1, 1, .2f);
    for (std::size_t i = 0; i < list.n; ++i) {
      if (list.has_own(i)) of_slots[list.begin[i] + list.before[i]] = 0;
    }
    std::vector<float> with_spare = of_slots;
    with_spare.resize(of_slots.size() + Kernels::kSpare);
    const Floats delta(with_spare);
    std::vector<std::unique_ptr<Floats>> owned;
    std::vector<float*> sums;
    for (std::size_t i = 0; i < list.n; ++i) {
      owned.push_back(std::make_unique<Floats>(
          random_floats(some.weights(i).size(), 300 + static_cast<std::uint32_t>(i))));
      sums.push_back(i == 1 ? nullptr : static_cast<float*>(*owned[i]));
    }
    std::vector<std::vector<float>> before;
    for (const auto& sum : owned) before.push_back(sum->copy());
    kernels.ffm_listed_gradients(codec, some.rows.data(), list, k, delta, sums.data());
    for (std::size_t i = 0; i < list.n; ++i) {
      std::vector<float> expected = before[i];
      std::vector<double> tolerance(expected.size());
      for (std::size_t s = 0; sums[i] != nullptr && s < list.slots(i); ++s) {
        const PairList::Other& other = list.of(i)[s];
        for (std::size_t c = 0; c < k; ++c) {
          const float g = of_slots[list.begin[i] + s] * some.slot(other.row, other.slot)[c];
          expected[s * k + c] += g;
          tolerance[s * k + c] = 4 * kEps * (std::abs(g) + std::abs(before[i][s * k + c]));
        }
      }
      INFO("row " << i);
      require_close(owned[i]->copy(), expected, tolerance);
    }
  });
}

}  // namespace
}  // namespace leveret::kernels
