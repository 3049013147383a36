/// One example's rows for the tests of ffm_pairs and ffm_update_pairs.
#pragma once

#include <memory>

#include "kernels/arrays.h"

namespace leveret::kernels {

constexpr std::size_t kSlotLengths[] = {1, 2, 3, 4, 5, 8, 12, 16, 17, 32};
/// Those of which integers are taken, and some others.
constexpr std::size_t kTileSlotLengths[] = {2, 3, 4, 7, 8, 16};

/// One example: n rows, each in pages of its own, of a model with `slots` fields.
/// Its weights are numbers of the codec `grid`, by default fixed-point numbers, and its
/// accumulators have 16 bits, so that copies with other codecs hold the same.
class Example {
 public:
  /// Without gaps its fields are the last ones of the model. Weights are within `size`.
  Example(std::size_t n, std::size_t slots, std::size_t k, bool gaps, float size = 1,
          Codec grid = kInt16)
      : k_(k), deltas_(random_floats(n * (n + 1) / 2, 9, -1, 1, .2f)) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t seed = static_cast<std::uint32_t>(i);
      fields.push_back(static_cast<std::uint32_t>(slots - 1 - (n - 1 - i) * (gaps ? 2 : 1)));
      weights_.push_back(random_floats(slots * k, 100 + seed, -size, size, .1f));
      std::vector<std::byte> stored(grid.bytes(slots * k));
      encode_all(grid, stored.data(), 0, weights_.back().data(), slots * k);
      for (std::size_t at = 0; at < slots * k; ++at)
        weights_.back()[at] = decode(grid, stored.data(), at);
      squares_.push_back(random_floats(slots, 200 + seed, .01f, 2));
      for (float& acc : squares_.back()) acc = to_float(round_to_bf16(acc, kNearest));
    }
  }

  /// Fresh copies of the rows, the accumulators and the deltas.
  struct Copy {
    Codec weights_codec, state_codec;
    std::vector<std::unique_ptr<Guarded<std::byte>>> owned;
    std::vector<std::byte*> w, acc;
    std::unique_ptr<Floats> delta;

    /// All rows and accumulators as they are stored.
    std::vector<std::byte> bytes() const {
      std::vector<std::byte> all;
      for (const auto& array : owned) {
        const std::vector<std::byte> one = array->copy();
        all.insert(all.end(), one.begin(), one.end());
      }
      return all;
    }

    std::byte* make(std::size_t bytes) {
      owned.push_back(std::make_unique<Guarded<std::byte>>(bytes));
      return *owned.back();
    }
    float acc_at(std::size_t i, std::size_t at) const { return decode(state_codec, acc[i], at); }
    std::vector<float> accs(std::size_t i, std::size_t length) const {
      std::vector<float> all(length);
      for (std::size_t at = 0; at < length; ++at) all[at] = acc_at(i, at);
      return all;
    }

    std::vector<float> weights(std::size_t i, std::size_t first, std::size_t length) const {
      std::vector<float> all(length);
      reference().decode(weights_codec, w[i] + weights_codec.bytes(first), length, all.data());
      return all;
    }
  };
  Copy copy(Codec weights, Codec state) const {
    Copy c;
    c.weights_codec = weights;
    c.state_codec = state;
    for (const auto& row : weights_) c.w.push_back(c.make(weights.bytes(row.size())));
    for (const auto& row : squares_) c.acc.push_back(c.make(state.bytes(row.size())));
    fill(c);
    c.delta = std::make_unique<Floats>(deltas_);
    return c;
  }
  /// The same rows and accumulators once more.
  void fill(const Copy& c) const {
    for (std::size_t i = 0; i < c.w.size(); ++i) {
      encode_all(c.weights_codec, c.w[i], 0, weights_[i].data(), weights_[i].size());
      encode_all(c.state_codec, c.acc[i], 0, squares_[i].data(), squares_[i].size());
    }
  }
  /// With the accumulators that models have with such weights.
  Copy copy(Codec weights = Codec::f32()) const {
    return copy(weights, weights.is_fixed(16) ? Codec::bf16() : Codec::f32());
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

/// ffm_update_pairs of a copy.
inline void update(const Kernels& kernels, const Example& example, const Example::Copy& c,
                   std::size_t k, const StepRule& rule, std::uint32_t noise = 1) {
  kernels.ffm_update_pairs(c.weights_codec, c.state_codec, c.w.data(), c.acc.data(),
                           example.fields.data(), c.w.size(), k, *c.delta, rule, noise);
}

}  // namespace leveret::kernels
