/// ffm_update_pairs_slice of rows of floats for fields that follow each other, by tiles of 4 x 4
/// pairs, k = 4 and 8.
///
/// Rows i, i+1, … of a tile hold their slots for fields j, j+1, … side by side, and so do rows j,
/// j+1, … for fields i, i+1, …: everything is read and written in whole registers. The one side is
/// brought to the order of the other by shuffles. It needs 16 lanes and 32 registers. Pairs of two
/// rows of one group of four have no such tile; they are collected and done 16 at a time.
///
/// The way from a tile's sums of squares through the root to its step is long, so several tiles go
/// it side by side before the first one moves: reading the weights twice costs less than waiting.
#pragma once

#include "kernels/pairs_slice_body.h"

namespace leveret::kernels::generic {

inline constexpr std::size_t kTile = 4;
/// Of 1, 2, 4 and 8 the fastest (bench_kernels_ffm).
inline constexpr std::size_t kTilesAhead = 8;

/// One side of a tile: four rows, each with four slots from `at` on and their accumulators.
struct TileSide {
  float* at[kTile];
  float* acc[kTile];
};

/// A side in registers. Register r * K / 4 + h holds slots h * 16 / K, … of row r.
template <class Isa, std::size_t K>
struct TileSlots {
  using V = typename Isa::V;
  V v[K];

  void load(const TileSide& side, std::size_t valid) {
    constexpr std::size_t kPerRow = K / kTile;
    for (std::size_t r = 0; r < kTile; ++r) {
      for (std::size_t h = 0; h < kPerRow; ++h) {
        const float* at = side.at[r] + h * kLanes<Isa>;
        v[r * kPerRow + h] =
            valid == kTile ? Whole<Isa>::load(at) : Part<Isa>{part(valid, h)}.load(at);
      }
    }
  }
  /// Stores register e.
  static void store(const TileSide& side, std::size_t valid, std::size_t e, V moved) {
    constexpr std::size_t kPerRow = K / kTile;
    float* const at = side.at[e / kPerRow] + e % kPerRow * kLanes<Isa>;
    if (valid == kTile) {
      Whole<Isa>::store(at, moved);
    } else {
      Part<Isa>{part(valid, e % kPerRow)}.store(at, moved);
    }
  }
  /// Weights of the h-th register of a row that belong to the first `valid` slots.
  static std::size_t part(std::size_t valid, std::size_t h) {
    const std::size_t weights = valid * K, before = h * kLanes<Isa>;
    if (weights <= before) return 0;
    return weights - before < kLanes<Isa> ? weights - before : kLanes<Isa>;
  }
  /// Lane 4 r + s: the sum of squares of row r's slot s.
  V squares() const {
    V squared[K];
    for (std::size_t e = 0; e < K; ++e) squared[e] = v[e] * v[e];
    return Isa::template slot_sums<K>(squared);
  }
};

/// Stores what the step makes of `slots`, whose gradient is the scaled transpose of `contra`.
template <class Isa, std::size_t K>
[[gnu::always_inline]] inline void move(const TileSide& side, std::size_t valid,
                                        const TileSlots<Isa, K>& slots,
                                        const TileSlots<Isa, K>& contra, typename Isa::V scale) {
  using V = typename Isa::V;
  V gradient[K];
  Isa::template transpose_slots<K>(contra.v, gradient);
  Isa::template each_spread<K>(scale, [&](std::size_t e, V s) {
    slots.store(side, valid, e, Isa::fnma(s, gradient[e], slots.v[e]));
  });
}

/// Rows i, … against rows j, …, and the scales of their steps once they are known.
struct Tile {
  TileSide own, others;
  alignas(64) float own_scale[kTile * kTile], other_scale[kTile * kTile];
};

/// Moves the accumulators of a tile. The first `valid` of its rows i, … are there, the others are
/// room to write to. delta has lane 4 r + s for rows i + r and j + s, 0 where there is no pair.
template <class Isa, std::size_t K, class Step>
[[gnu::always_inline]] inline void take_scales(Tile& tile, std::size_t valid, typename Isa::V delta,
                                               const Step& step) {
  using V = typename Isa::V;
  const V mean(1.0f / static_cast<float>(K));
  TileSlots<Isa, K> a, b;
  a.load(tile.own, kTile);
  b.load(tile.others, valid);
  const V delta_t = Isa::transpose_4x4(delta);
  const V acc_a = Isa::fma(Isa::transpose_4x4(b.squares()) * delta * delta, mean,
                           Isa::load_fours(tile.own.acc, kTile));
  const V acc_b = Isa::fma(Isa::transpose_4x4(a.squares()) * delta_t * delta_t, mean,
                           Isa::load_fours(tile.others.acc, valid));
  Isa::store_fours(tile.own.acc, acc_a, kTile);
  Isa::store_fours(tile.others.acc, acc_b, valid);
  (step.scale(acc_a) * delta).store_aligned(tile.own_scale);
  (step.scale(acc_b) * delta_t).store_aligned(tile.other_scale);
}

template <class Isa, std::size_t K>
[[gnu::always_inline]] inline void move_tile(const Tile& tile, std::size_t valid) {
  using V = typename Isa::V;
  TileSlots<Isa, K> a, b;
  a.load(tile.own, kTile);
  b.load(tile.others, valid);
  // One side after the other: both transposed sides at once are more than there are registers.
  move<Isa, K>(tile.own, kTile, a, b, V::load_aligned(tile.own_scale));
  move<Isa, K>(tile.others, valid, b, a, V::load_aligned(tile.other_scale));
}

/// Up to 16 pairs from anywhere; what is beyond stands for nothing.
template <class Isa, std::size_t K>
struct LoosePairs {
  static constexpr std::size_t N = kLanes<Isa>;
  static constexpr std::size_t S = kBundle<Isa, K>;
  float *own[N], *other[N];
  float *own_acc[N], *other_acc[N];
  alignas(64) float delta[N];
  alignas(64) float spare[2 * K] = {};
  float spare_acc[2] = {};
  std::size_t count = 0;

  template <class Step>
  [[gnu::always_inline]] inline void update(const Step& step) {
    using V = typename Isa::V;
    if (count == 0) return;
    for (std::size_t p = count; p < N; ++p) {
      own[p] = spare;
      other[p] = spare + K;
      own_acc[p] = spare_acc;
      other_acc[p] = spare_acc + 1;
      delta[p] = 0;
    }
    V a[K], b[K], squared[K];
    alignas(64) float lanes[N];
    for (std::size_t e = 0; e < K; ++e) {
      a[e] = Isa::template load_slots<K>(own + e * S);
      b[e] = Isa::template load_slots<K>(other + e * S);
    }
    const V d = V::load_aligned(delta);
    const V d2 = d * d * V(1.0f / static_cast<float>(K));
    const auto scales = [&](const V(&gradient)[K], float* const* acc) {
      for (std::size_t e = 0; e < K; ++e) squared[e] = gradient[e] * gradient[e];
      for (std::size_t p = 0; p < N; ++p) lanes[p] = *acc[p];
      const V now = Isa::fma(Isa::template slot_sums<K>(squared), d2, V::load_aligned(lanes));
      now.store_aligned(lanes);
      for (std::size_t p = 0; p < N; ++p) *acc[p] = lanes[p];
      return step.scale(now) * d;
    };
    const V scale_a = scales(b, own_acc), scale_b = scales(a, other_acc);
    V moved_a[K];
    Isa::template each_spread<K>(
        scale_a, [&](std::size_t e, V s) { moved_a[e] = Isa::fnma(s, b[e], a[e]); });
    Isa::template each_spread<K>(scale_b, [&](std::size_t e, V s) {
      Isa::template store_slots<K>(other + e * S, Isa::fnma(s, a[e], b[e]));
    });
    for (std::size_t e = 0; e < K; ++e) Isa::template store_slots<K>(own + e * S, moved_a[e]);
    count = 0;
  }
};

template <class Isa, std::size_t K, class Step>
[[gnu::flatten]] void ffm_update_pairs_slice_tiles(Rows<float> w, Accs<float> acc, std::size_t n,
                                                   const float* delta, Step step) {
  const std::size_t first = w.fields[0];
  alignas(64) float spare[kTile * K] = {};
  float spare_acc[kTile] = {}, spare_delta[kTile] = {};
  LoosePairs<Isa, K> loose;
  const auto pair_row = [delta](std::size_t i) { return delta + i * (i + 1) / 2; };
  // Last rows first: what ffm_pairs has read last is what the first-level cache still holds.
  for (std::size_t i = (n - 1) / kTile * kTile + kTile; i >= kTile;) {
    i -= kTile;
    const std::size_t valid = n - i < kTile ? n - i : kTile;
    for (std::size_t r = 1; r < valid; ++r) {
      for (std::size_t s = 0; s < r; ++s) {
        const std::size_t p = loose.count++;
        loose.own[p] = w.row(i + r) + (first + i + s) * K;
        loose.other[p] = w.row(i + s) + (first + i + r) * K;
        loose.own_acc[p] = acc.row(i + r) + first + i + s;
        loose.other_acc[p] = acc.row(i + s) + first + i + r;
        loose.delta[p] = pair_row(i + r)[i + s];
        if (loose.count == kLanes<Isa>) loose.update(step);
      }
    }
    for (std::size_t j = 0; j < i;) {
      // The way from a tile's sums of squares through the root to its step is long. Several tiles
      // go it side by side before the first one moves.
      Tile tiles[kTilesAhead];
      std::size_t count = 0;
      for (; count < kTilesAhead && j < i; ++count, j += kTile) {
        Tile& tile = tiles[count];
        const float* d[kTile];
        for (std::size_t r = 0; r < kTile; ++r) {
          const bool there = r < valid;
          tile.own.at[r] = there ? w.row(i + r) + (first + j) * K : spare;
          tile.own.acc[r] = there ? acc.row(i + r) + first + j : spare_acc;
          d[r] = there ? pair_row(i + r) + j : spare_delta;
          tile.others.at[r] = w.row(j + r) + (first + i) * K;
          tile.others.acc[r] = acc.row(j + r) + first + i;
        }
        take_scales<Isa, K>(tile, valid, Isa::load_fours(d, kTile), step);
      }
      for (std::size_t t = 0; t < count; ++t) move_tile<Isa, K>(tiles[t], valid);
    }
  }
  loose.update(step);
}

}  // namespace leveret::kernels::generic
