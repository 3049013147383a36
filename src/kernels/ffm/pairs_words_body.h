/// FFM pairs of 16-bit rows as integers, as many at a time as a register has lanes of floats,
/// k = 2, 4, 8 and 16.
///
/// For instruction sets without tiles (pairs_int16_body.h); fields need not follow each other. A
/// register of words (Isa::Words) holds twice as many weights as one of floats has, so a block of
/// pairs takes k / 2 of them for either side.
#pragma once

#include "kernels/ffm/int16_step.h"
#include "kernels/ffm/pairs_update_body.h"

namespace leveret::kernels::generic {

/// Row i's slots for the fields of rows j, j+1, … and theirs for row i's field. kAdjacent: those
/// fields follow each other, and so do row i's slots; kOthersFollow: so do the others'.
template <class Isa, std::size_t K, bool kAdjacent, bool kOthersFollow = false>
struct PairWords {
  using V = typename Isa::V;
  using Words = typename Isa::Words;
  using W = typename Words::W;
  static constexpr std::size_t N = kLanes<Isa>;
  static constexpr std::size_t kRegisters = K / 2;
  static constexpr std::size_t kSlots = N / kRegisters;  ///< in one register

  template <class T>
  struct Places {
    T *own[N], *others[N];
  };
  /// Beyond `count` stands `spare`, a slot for nothing.
  template <class T, class R>
  [[gnu::always_inline]] static Places<T> places(const R& r, std::size_t i, std::size_t j,
                                                 std::size_t count, T* spare) {
    Places<T> at;
#pragma GCC unroll 16
    for (std::size_t s = 0; s < N; ++s) {
      at.own[s] = s < count ? r.own(i, j + s, K) : spare;
      at.others[s] = s < count ? r.other(i, j + s, K) : spare;
    }
    return at;
  }

  W own[kRegisters], others[kRegisters];

  /// Words beyond `count` are not looked at, as far as they fill registers.
  template <class T>
  [[gnu::always_inline]] PairWords(const Places<T>& at, std::size_t count) {
#pragma GCC unroll 8
    for (std::size_t e = 0; e < kRegisters; ++e) {
      if (e * kSlots >= count) {
        own[e] = others[e] = W{};
        continue;
      }
      own[e] = load(at.own + e * kSlots, lie_together(e, count));
      others[e] = load(at.others + e * kSlots, kOthersFollow && is_whole(e, count));
    }
  }
  [[gnu::always_inline]] static W load(const Fixed16* const* at, bool together) {
    return together ? Words::load(at[0]) : Words::template load_slots<K>(at);
  }
  [[gnu::always_inline]] static bool is_whole(std::size_t e, std::size_t count) {
    return (e + 1) * kSlots <= count;
  }
  /// Whether row i's slots of register e do.
  [[gnu::always_inline]] static bool lie_together(std::size_t e, std::size_t count) {
    return kAdjacent && is_whole(e, count);
  }
  /// Lane s: the product of slots s, in units squared.
  [[gnu::always_inline]] V products() const {
    V sums[kRegisters];
#pragma GCC unroll 8
    for (std::size_t e = 0; e < kRegisters; ++e) {
      sums[e] = Words::pair_products(own[e], others[e]);
    }
    return Isa::template slot_sums<kRegisters>(sums);
  }
  [[gnu::always_inline]] static V squares(const W* w) {
    V sums[kRegisters];
#pragma GCC unroll 8
    for (std::size_t e = 0; e < kRegisters; ++e) sums[e] = Words::pair_squares(w[e]);
    return Isa::template slot_sums<kRegisters>(sums);
  }
};

template <class Isa, std::size_t K, bool kAdjacent, class R>
[[gnu::flatten]] float ffm_pairs_words(R r, float unit, float* pairs) {
  using V = typename Isa::V;
  using Block = PairWords<Isa, K, kAdjacent, R::kOthersFollow>;
  alignas(64) static constexpr Fixed16 kSpare[K] = {};
  const V scale(unit * unit);
  return Isa::sum(
      for_each_block<Isa>(r, pairs, [&](std::size_t i, std::size_t j, std::size_t count) {
        const auto at = Block::template places<const Fixed16>(r, i, j, count, kSpare);
        return Block(at, count).products() * scale;
      }));
}

/// Pairs (i, j), …, (i, j + count - 1).
template <class Isa, std::size_t K, bool kAdjacent, class Step>
[[gnu::always_inline]] inline void update_words_block(const Rows<Fixed16>& w, float unit,
                                                      const Accs<Bf16>& acc, std::size_t i,
                                                      std::size_t j, std::size_t count,
                                                      const float* delta, const Step& step,
                                                      WordNoise<Isa>& noise,
                                                      const StateRounding<Isa, Bf16>& rounded_acc) {
  using V = typename Isa::V;
  using Words = typename Isa::Words;
  using Block = PairWords<Isa, K, kAdjacent>;
  constexpr std::size_t N = kLanes<Isa>;
  alignas(64) Fixed16 spare[K] = {};
  const auto at = Block::template places<Fixed16>(w, i, j, count, spare);
  const Block block(at, count);
  const V d = count == N ? V::load_unaligned(delta) : Isa::load_part(delta, count);
  const V unit_squared(unit * unit);
  // In this order what is 0 stays so, however large the delta is.
  const V own_squares = Block::squares(block.others) * unit_squared * d * d;
  const V other_squares = Block::squares(block.own) * unit_squared * d * d;
  const V four_d = V(4.0f) * d;
  const RowAccs<Isa, Bf16> own_acc{acc, i, j, count};
  const ColumnAccs<Isa, Bf16> other_acc{acc, i, j, count};
  const V own = step.coarse_scale(own_acc.add(own_squares, K, rounded_acc)) * four_d;
  const V others = step.coarse_scale(other_acc.add(other_squares, K, rounded_acc)) * four_d;
  alignas(64) float own_steps[N], other_steps[N];
  if (!Isa::all_below_two(own, others)) {
    own.store_aligned(own_steps);
    others.store_aligned(other_steps);
    std::uint32_t seed = noise.next_seed();
    for (std::size_t s = 0; s < count; ++s) {
      move_pair<Isa>(at.own[s], at.others[s], K, own_steps[s], other_steps[s], seed);
    }
    return;
  }
  Words::to_factors(own, noise.floats).store_aligned(own_steps);
  Words::to_factors(others, noise.floats).store_aligned(other_steps);
  // Through memory indeed: else GCC 12 may move them by an instruction that valgrind does not know.
  asm("" : "+m"(own_steps), "+m"(other_steps));
  const auto own_noise = noise.next(), other_noise = noise.next();
#pragma GCC unroll 8
  for (std::size_t e = 0; e < Block::kRegisters; ++e) {
    // Factors are pairs of equal words, which move like floats.
    const std::size_t first = e * Block::kSlots;
    if (first >= count) break;
    const V own_factors = Isa::template spread<Block::kRegisters>(own_steps + first);
    const V other_factors = Isa::template spread<Block::kRegisters>(other_steps + first);
    const auto moved = Words::move(block.own[e], own_factors, block.others[e], own_noise);
    if (Block::lie_together(e, count)) {
      Words::store(at.own[first], moved);
    } else {
      Words::template store_slots<K>(at.own + first, moved);
    }
    Words::template store_slots<K>(
        at.others + first, Words::move(block.others[e], other_factors, block.own[e], other_noise));
  }
}

template <class Isa, std::size_t K, bool kAdjacent, class Step>
[[gnu::flatten]] void ffm_update_pairs_words(Rows<Fixed16> w, float unit, Accs<Bf16> acc,
                                             std::size_t n, const float* delta, Step step,
                                             std::uint32_t seed) {
  constexpr std::size_t N = kLanes<Isa>;
  WordNoise<Isa> noise(seed);
  const StateRounding<Isa, Bf16> rounded_acc(seed);
  // Last row first: what ffm_pairs has read last is what the first-level cache still holds.
  delta += n * (n + 1) / 2;
  for (std::size_t i = n; i-- > 1;) {
    delta -= i + 1;
    std::size_t j = 0;
    for (; j + N <= i; j += N) {
      update_words_block<Isa, K, kAdjacent>(w, unit, acc, i, j, N, delta + j, step, noise,
                                            rounded_acc);
    }
    if (j < i) {
      update_words_block<Isa, K, kAdjacent>(w, unit, acc, i, j, i - j, delta + j, step, noise,
                                            rounded_acc);
    }
  }
}

}  // namespace leveret::kernels::generic
