/// FFM pairs of 16-bit rows for fields that follow each other, by tiles of 4 x 4 pairs as integers,
/// k = 2, 4, 8 and 16.
///
/// Rows i, i+1, … of a tile hold their slots for fields j, j+1, … side by side, and so do rows j,
/// j+1, … for fields i, i+1, …: everything is read and written in whole registers of 32 weights
/// (Isa::Words), and the one side is brought to the order of the other by shuffles. Pairs within
/// four rows are a tile whose sides are the same. Only sums of products and accumulators are
/// floats, one for each pair.
///
/// Where their number is no multiple of four, the last four rows are a group nevertheless; those
/// that other groups have had stand back for room with weights and deltas of 0, so that what meets
/// them stays as it is. There are at least four rows.
#pragma once

#include "kernels/ffm/int16_step.h"
#include "kernels/ffm/pairs_update_body.h"

namespace leveret::kernels::generic {

/// Rows and columns of a tile of pairs.
inline constexpr std::size_t kTile = 4;

/// A side of a tile in registers (avx512_words.h), slots of K weights.
template <class Isa, std::size_t K>
struct TileWords {
  using V = typename Isa::V;
  using Words = typename Isa::Words;
  using W = typename Words::W;
  static constexpr std::size_t kRegisters = K / 2;
  W w[kRegisters];

  /// Four slots of each of the rows at `at`.
  void load(const Fixed16* const* at) {
#pragma GCC unroll 8
    for (std::size_t e = 0; e < kRegisters; ++e) w[e] = Words::template load_slots<K>(at, e);
  }
  TileWords transposed() const {
    TileWords t;
    Words::template transpose<K>(w, t.w);
    return t;
  }
  /// Lane 4 s + r: the product of the slots s of both rows r.
  V products(const TileWords& other) const {
    V sums[kRegisters];
#pragma GCC unroll 8
    for (std::size_t e = 0; e < kRegisters; ++e) {
      sums[e] = Words::pair_products(w[e], other.w[e]);
    }
    return Isa::template slot_sums_transposed<kRegisters>(sums);
  }
  /// Lane 4 s + r: the sum of squares of slot s of row r.
  V squares() const {
    V sums[kRegisters];
#pragma GCC unroll 8
    for (std::size_t e = 0; e < kRegisters; ++e) sums[e] = Words::pair_squares(w[e]);
    return Isa::template slot_sums_transposed<kRegisters>(sums);
  }
};

/// Four places, one for each row of a tile.
template <class T>
struct Fours {
  T* at[kTile];
};

/// One array of each of the four rows i, … of an example. The first `absent` of them are not there
/// (kWhole: all are); `spare`, room for a tile, stands for them.
template <class T, bool kWhole>
struct FourRows {
  T* rows[kTile];
  std::size_t along[kTile];  ///< 0 where a row is not there: wherever one looks, it is `spare`

  template <class RowAt>
  [[gnu::always_inline]] FourRows(std::size_t absent, T* spare, RowAt&& row_at) {
    for (std::size_t r = 0; r < kTile; ++r) {
      along[r] = kWhole || r >= absent;
      rows[r] = along[r] != 0 ? row_at(r) : spare;
    }
  }
  [[gnu::always_inline]] Fours<T> at(std::size_t i) const {
    Fours<T> places;
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kTile; ++r) {
      places.at[r] = rows[r] + (kWhole ? i : along[r] * i);
    }
    return places;
  }
};

/// The slots of rows j, … for field i of the example and those behind it.
template <std::size_t K, class T>
[[gnu::always_inline]] inline Fours<T> slots_of(const Rows<T>& w, std::size_t j, std::size_t i) {
  Fours<T> places;
#pragma GCC unroll 4
  for (std::size_t r = 0; r < kTile; ++r) places.at[r] = w.slot(j + r, i, K);
  return places;
}

// ---- forward ----

/// In lane 4 s + r: whether r < s, so that of four rows among themselves each pair counts once.
alignas(64) inline constexpr float kBelow[kTile * kTile] = {0, 0, 0, 0, 1, 0, 0, 0,
                                                            1, 1, 0, 0, 1, 1, 1, 0};

/// The pairs of rows i, … with those before row i + absent, which are added to `sum`, too.
template <class Isa, std::size_t K, bool kWhole>
[[gnu::always_inline]] inline void pairs_of_four_int16(const Rows<const Fixed16>& w, std::size_t i,
                                                       std::size_t absent, float unit, float* pairs,
                                                       typename Isa::V& sum) {
  using V = typename Isa::V;
  alignas(64) static constexpr Fixed16 kSpare[kTile * K] = {};
  alignas(16) float spare_pairs[kTile];
  const V scale(unit * unit);
  const FourRows<const Fixed16, kWhole> own(absent, kSpare,
                                            [&](std::size_t r) { return w.slot(i + r, 0, K); });
  const FourRows<float, kWhole> out(
      absent, spare_pairs, [&](std::size_t r) { return pairs + (i + r) * (i + r + 1) / 2; });
  TileWords<Isa, K> a, b;
  a.load(own.at(i * K).at);
  // It writes to the places of pairs with rows that are not there, too: the others come later.
  const V among = a.products(a.transposed()) * scale;
  Isa::store_triangle(out.at(i).at, among);
  sum = Isa::fma(among, V::load_aligned(kBelow), sum);
  for (std::size_t j = 0; j < i + absent; j += kTile) {
    a.load(own.at(j * K).at);
    b.load(slots_of<K>(w, j, i).at);
    const V products = b.products(a.transposed()) * scale;
    Isa::store_fours(out.at(j).at, products);
    sum = sum + products;
  }
}

template <class Isa, std::size_t K>
[[gnu::flatten, gnu::optimize("no-tree-slp-vectorize")]] float ffm_pairs_int16(
    Rows<const Fixed16> w, float unit, std::size_t n, float* pairs) {
  typename Isa::V sum(0.0f);
  for (std::size_t i = 0; i + kTile <= n; i += kTile) {
    pairs_of_four_int16<Isa, K, true>(w, i, 0, unit, pairs, sum);
  }
  if (n % kTile != 0) {
    pairs_of_four_int16<Isa, K, false>(w, n - kTile, kTile - n % kTile, unit, pairs, sum);
  }
  return Isa::sum(sum);
}

// ---- update, one accumulator per slot ----

/// Turns a delta into a step, as int16_factor.h has them.
template <class Isa>
struct Int16Step {
  using V = typename Isa::V;
  V scaled_rates, mean_root;
  StateRounding<Isa, Bf16> rounded;

  Int16Step(float rate, std::size_t k, float unit, std::uint32_t seed)
      : scaled_rates(kStepScale * rate),
        mean_root(unit * __builtin_sqrtf(1.0f / static_cast<float>(k))),
        rounded(seed) {}

  /// Adds the means of squares * deltas² to four accumulators at each of four places.
  [[gnu::always_inline]] V operator()(V squares, V deltas, Bf16* const* acc) const {
    const V scaled = mean_root * deltas;
    // In this order what is 0 stays so, however large the delta is.
    const V now = Isa::fma(squares * scaled, scaled, Isa::load_fours(acc));
    Isa::store_fours(acc, rounded(now));
    // Its 14 bits are enough for a factor.
    return Isa::rsqrt_guess(Isa::clamp_normal(now)) * (scaled_rates * deltas);
  }
};

/// weights -= step / kStepScale * contra, where |step| < 2.
template <class Isa, std::size_t K>
[[gnu::always_inline]] inline void move_words(Fixed16* const* at, const TileWords<Isa, K>& weights,
                                              const TileWords<Isa, K>& contra, typename Isa::V step,
                                              WordNoise<Isa>& noise) {
  using Words = typename Isa::Words;
  using Side = TileWords<Isa, K>;
  const auto factors = Words::to_factors(step, noise.floats);
  const auto words = noise.next();
#pragma GCC unroll 8
  for (std::size_t e = 0; e < Side::kRegisters; ++e) {
    const auto moved =
        Words::move(weights.w[e], Words::template spread<K>(factors, e), contra.w[e], words);
    Words::template store_slots<K>(at, e, moved);
  }
}

/// A tile pair by pair: the slots of its rows from `absent` on and what they meet. own_steps has
/// lane 4 r + s for slot s of row r of one side, other_steps lane 4 s + r for slot r of row s of
/// the other. kTriangle: both sides are the same.
template <class Isa, bool kTriangle>
[[gnu::noinline, gnu::flatten]] void move_pairs(const Fours<Fixed16>& own,
                                                const Fours<Fixed16>& others, std::size_t k,
                                                std::size_t absent, const float* own_steps,
                                                const float* other_steps, std::uint32_t noise) {
  for (std::size_t r = absent; r < kTile; ++r) {
    for (std::size_t s = kTriangle ? absent : 0; s < (kTriangle ? r : kTile); ++s) {
      move_pair<Isa>(own.at[r] + s * k, others.at[s] + r * k, k, own_steps[kTile * r + s],
                     other_steps[kTile * s + r], noise);
    }
  }
}

/// The rows of four fields with each other. delta has lane 4 r + s for s < r, 0 elsewhere.
template <class Isa, std::size_t K>
[[gnu::always_inline]] inline void update_triangle(const Fours<Fixed16>& at, const Fours<Bf16>& acc,
                                                   std::size_t absent, typename Isa::V delta,
                                                   const Int16Step<Isa>& step,
                                                   WordNoise<Isa>& noise) {
  using V = typename Isa::V;
  TileWords<Isa, K> a;
  a.load(at.at);
  const V both = delta + Isa::transpose_4x4(delta);
  const V steps = step(a.squares(), both, acc.at);
  if (Isa::all_below_two(steps)) {
    move_words<Isa, K>(at.at, a, a.transposed(), steps, noise);
  } else {
    alignas(64) float lanes[kLanes<Isa>];
    steps.store_aligned(lanes);
    move_pairs<Isa, true>(at, at, K, absent, lanes, lanes, noise.next_seed());
  }
}

/// The fastest of 1, 2, 4 and 8 (bench_kernels_ffm).
inline constexpr std::size_t kTilesAhead = 4;

/// Rows i, … with each other and with those before row i + absent. Without the vectoriser for
/// straight code: it puts addresses into vectors, whose ports ours need (a tenth slower).
template <class Isa, std::size_t K, bool kWhole>
[[gnu::noinline, gnu::flatten, gnu::optimize("no-tree-slp-vectorize")]] WordNoise<Isa>
update_four_int16(Rows<Fixed16> w, Accs<Bf16> acc, std::size_t i, std::size_t absent,
                  const float* delta, Int16Step<Isa> step, WordNoise<Isa> noise) {
  using V = typename Isa::V;
  if constexpr (kWhole) absent = 0;
  alignas(64) Fixed16 spare[kTile * K] = {};
  alignas(16) Bf16 spare_acc[kTile] = {};
  alignas(16) float spare_delta[kTile] = {};
  const FourRows<Fixed16, kWhole> own(absent, spare,
                                      [&](std::size_t r) { return w.slot(i + r, 0, K); });
  const FourRows<Bf16, kWhole> own_acc(absent, spare_acc,
                                       [&](std::size_t r) { return acc.slot(i + r, 0); });
  const FourRows<const float, kWhole> own_delta(
      absent, spare_delta, [&](std::size_t r) { return delta + (i + r) * (i + r + 1) / 2; });
  const auto other_acc = [&](std::size_t j) {
    Fours<Bf16> places;
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kTile; ++r) places.at[r] = acc.slot(j + r, i);
    return places;
  };

  update_triangle<Isa, K>(own.at(i * K), own_acc.at(i), absent,
                          Isa::load_triangle(own_delta.at(i).at, absent), step, noise);
  const std::size_t end = i + absent;
  for (std::size_t j = 0; j < end;) {
    // The way from the sums of squares through the root to the step is long, so several tiles go it
    // side by side before the first one moves: reading the weights twice costs less than waiting.
    alignas(64) float steps[kTilesAhead][2][kLanes<Isa>];
    const std::size_t count = end - j < kTilesAhead * kTile ? (end - j) / kTile : kTilesAhead;
    V all(0.0f);
    for (std::size_t t = 0; t < count; ++t) {
      const std::size_t at = j + t * kTile;
      TileWords<Isa, K> a, b;
      a.load(own.at(at * K).at);
      b.load(slots_of<K>(w, at, i).at);
      const V d = Isa::load_fours(own_delta.at(at).at);
      const V own_steps = step(b.squares(), d, own_acc.at(at).at);
      const V other_steps = step(a.squares(), Isa::transpose_4x4(d), other_acc(at).at);
      own_steps.store_aligned(steps[t][0]);
      other_steps.store_aligned(steps[t][1]);
      all = Isa::any_of(all, own_steps, other_steps);
    }
    if (!Isa::all_below_two(all)) {
      for (std::size_t t = 0; t < count; ++t, j += kTile) {
        move_pairs<Isa, false>(own.at(j * K), slots_of<K>(w, j, i), K, absent, steps[t][0],
                               steps[t][1], noise.next_seed());
      }
      continue;
    }
    for (std::size_t t = 0; t < count; ++t, j += kTile) {
      const Fours<Fixed16> a_at = own.at(j * K), b_at = slots_of<K>(w, j, i);
      TileWords<Isa, K> a, b;
      a.load(a_at.at);
      b.load(b_at.at);
      const V own_steps = V::load_aligned(steps[t][0]), other_steps = V::load_aligned(steps[t][1]);
      move_words<Isa, K>(a_at.at, a, b.transposed(), own_steps, noise);
      move_words<Isa, K>(b_at.at, b, a.transposed(), other_steps, noise);
    }
  }
  return noise;
}

template <class Isa, std::size_t K>
void ffm_update_pairs_int16(Rows<Fixed16> w, float unit, Accs<Bf16> acc, std::size_t n,
                            const float* delta, float rate, std::uint32_t seed) {
  const Int16Step<Isa> step(rate, K, unit, seed);
  WordNoise<Isa> noise(seed);
  // Last rows first: what ffm_pairs has read last is what the first-level cache still holds.
  if (n % kTile != 0) {
    noise =
        update_four_int16<Isa, K, false>(w, acc, n - kTile, kTile - n % kTile, delta, step, noise);
  }
  for (std::size_t i = n / kTile * kTile; i > 0;) {
    i -= kTile;
    noise = update_four_int16<Isa, K, true>(w, acc, i, 0, delta, step, noise);
  }
}

}  // namespace leveret::kernels::generic
