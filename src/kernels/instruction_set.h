/// The functions that an instruction set provides: the small struct `Isa` that each thin file
/// (`sse2.cc`, `avx2.cc`, …) defines in its anonymous namespace, which makes every template
/// instantiated with it local to that file. All its functions are static.
///
/// No standard container and no `std::` function that is not inlined may be used by these headers:
/// see CMakeLists.txt.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "kernels/rows/bf16.h"
#include "kernels/rows/fixed.h"
#include "kernels/xsimd.h"

namespace leveret::kernels::generic {

/// Registers of floats.
template <class Isa>
concept HasRegisters = requires(typename Isa::V v, const typename Isa::V* r, const float* p,
                                float* q, const float* const* pp, float* const* qq, std::size_t n) {
  /// The register: xsimd::batch<float, …> of V::size lanes.
  requires std::same_as<typename Isa::V::value_type, float>;
  /// The first n <= V::size lanes; the others read as 0.
  { Isa::load_part(p, n) } -> std::convertible_to<typename Isa::V>;
  { Isa::store_part(q, v, n) } -> std::same_as<void>;
  /// a * b + c
  { Isa::fma(v, v, v) } -> std::convertible_to<typename Isa::V>;
  /// c - a * b
  { Isa::fnma(v, v, v) } -> std::convertible_to<typename Isa::V>;
  /// Both rounded correctly, as the operators of xsimd are not everywhere.
  { Isa::divide(v, v) } -> std::convertible_to<typename Isa::V>;
  { Isa::root(v) } -> std::convertible_to<typename Isa::V>;
  /// Both within a few units of the last digit.
  { Isa::log(v) } -> std::convertible_to<typename Isa::V>;
  { Isa::exp(v) } -> std::convertible_to<typename Isa::V>;
  /// x >= 0, but zero and infinity get a finite, non-zero root.
  { Isa::clamp_normal(v) } -> std::convertible_to<typename Isa::V>;
  /// Made from a rate: rate / sqrt(x), to 1e-6 (root.h).
  typename Isa::Root;
  /// The sum of all lanes.
  { Isa::sum(v) } -> std::same_as<float>;
  /// spread<K>: lane i becomes p[i / K]; reads max(1, V::size / K) floats.
  { Isa::template spread<1>(p) } -> std::convertible_to<typename Isa::V>;
  { Isa::template spread<2>(p) } -> std::convertible_to<typename Isa::V>;
  /// slot_sums<K>: r[0 .. K) hold V::size slots of K floats; lane j becomes slot j's sum.
  { Isa::template slot_sums<1>(r) } -> std::convertible_to<typename Isa::V>;
  { Isa::template slot_sums<2>(r) } -> std::convertible_to<typename Isa::V>;
  /// load_slots<K>, store_slots<K>, K < V::size: slot s of K weights is at p[s].
  { Isa::template load_slots<2>(pp) } -> std::convertible_to<typename Isa::V>;
  { Isa::template store_slots<2>(qq, v) } -> std::same_as<void>;
};

/// Codes of 16 bits to and from registers of floats. Stored are upper halves of lanes (see
/// Rounding, lanes.h).
template <class Isa>
concept HasShortCodes = requires(typename Isa::V v, const Fixed16* p, Fixed16* q, const Bf16* a,
                                 Bf16* b, const Fixed16* const* pp, Fixed16* const* qq,
                                 std::size_t n) {
  /// V::size codes of fixed-point numbers, as floats.
  { Isa::load_int16(p) } -> std::convertible_to<typename Isa::V>;
  { Isa::store_int16(q, v) } -> std::same_as<void>;
  /// The first n <= V::size of them; the others read as 0.
  { Isa::load_int16_part(p, n) } -> std::convertible_to<typename Isa::V>;
  { Isa::store_int16_part(q, v, n) } -> std::same_as<void>;
  /// V::size short accumulators.
  { Isa::load_bf16(a) } -> std::convertible_to<typename Isa::V>;
  { Isa::store_bf16(b, v) } -> std::same_as<void>;
  /// v * kFine<Fixed16> in integer lanes, rounded to the nearest.
  Isa::fine(v);
  /// As of floats: slot s of K codes is at p[s].
  { Isa::template load_slots<2>(pp) } -> std::convertible_to<typename Isa::V>;
  { Isa::template store_slots<2>(qq, v) } -> std::same_as<void>;
};

/// The functions that find equal pointers at once (gather_scatter_body.h): V::size places p[l] in
/// memory.
template <class Isa>
concept Gathers = requires(typename Isa::V& v, typename Isa::V* c, const typename Isa::V* numbers,
                           float* const* p, std::size_t n) {
  /// Whether the first n places are sure to differ.
  { Isa::differ(p, n) } -> std::same_as<bool>;
  /// Lane l becomes p[l][0], and p[l][1].
  Isa::gather_pairs(p, v, v);
  /// The reverse.
  Isa::scatter_pairs(p, v, v);
  /// Lane l of c[i] becomes p[l][i], i < 4.
  Isa::gather_cells(p, c);
  /// The reverse.
  Isa::scatter_cells(p, numbers);
};

/// `Isa::Words`: registers `W` of weights in 16 bits, which are multiplied as integers.
template <class Isa>
concept HasWords = requires(typename Isa::Words::W w, const Fixed16* p, const Fixed16* const* pp) {
  /// A register of weights that lie together.
  { Isa::Words::load(p) } -> std::same_as<typename Isa::Words::W>;
  /// load_slots<K>: slots of K weights; slot s is at p[s].
  { Isa::Words::template load_slots<2>(pp) } -> std::same_as<typename Isa::Words::W>;
  { Isa::Words::template load_slots<16>(pp) } -> std::same_as<typename Isa::Words::W>;
  /// Sums of the products of neighbours, in units squared: K / 2 of them in a slot.
  { Isa::Words::pair_products(w, w) } -> std::convertible_to<typename Isa::V>;
  /// pair_products(w, w)
  { Isa::Words::pair_squares(w) } -> std::convertible_to<typename Isa::V>;
};

/// Words that learn, pair by pair (pairs_words_body.h).
template <class Isa>
concept LearnsByWords = HasWords<Isa> &&
    requires(typename Isa::V v, typename Isa::Words::W w, Fixed16* q, Fixed16* const* qq) {
  { Isa::Words::store(q, w) } -> std::same_as<void>;
  { Isa::Words::template store_slots<2>(qq, w) } -> std::same_as<void>;
  /// (f, noise): f * 2^14 rounded down after `noise`, of [0, 1), was added, |f| < 2; twice in each
  /// lane.
  { Isa::Words::to_factors(v, v) } -> std::convertible_to<typename Isa::V>;
  /// (weights, factors, contra, noise): weights - factors * contra / 2^16, rounded down after noise
  /// was added.
  { Isa::Words::move(w, v, w, w) } -> std::same_as<typename Isa::Words::W>;
  /// Whether both are below 2 in magnitude in all lanes; NaN is not.
  { Isa::all_below_two(v, v) } -> std::same_as<bool>;
};

/// Words that learn by tiles of 4 x 4 pairs (pairs_int16_body.h), lane 4 r + s of row r and slot s.
template <class Isa>
concept LearnsByTiles = HasWords<Isa> &&
    requires(typename Isa::V v, const typename Isa::V* r, typename Isa::Words::W w,
             const typename Isa::Words::W* from, typename Isa::Words::W* to,
             const Fixed16* const* pp, Fixed16* const* qq, const float* const* p, float* const* q,
             const Bf16* const* a, Bf16* const* b, std::size_t n) {
  /// Register n of a side whose rows' slots of K weights are at p[0 .. 4).
  { Isa::Words::template load_slots<2>(pp, n) } -> std::same_as<typename Isa::Words::W>;
  { Isa::Words::template store_slots<2>(qq, n, w) } -> std::same_as<void>;
  /// Slot s of row r becomes slot r of row s.
  Isa::Words::template transpose<2>(from, to);
  /// (f, noise): f * 2^14 rounded down after `noise`, of [0, 1), was added; |f| < 2.
  { Isa::Words::to_factors(v, v) } -> std::same_as<typename Isa::Words::W>;
  /// The factors of register n of a side, out of sixteen, in all places of their slots.
  { Isa::Words::template spread<2>(w, n) } -> std::same_as<typename Isa::Words::W>;
  /// Within 2^-11.5 of 1 / sqrt(v) for a v as clamp_normal makes it.
  { Isa::rsqrt_guess(v) } -> std::convertible_to<typename Isa::V>;
  /// As LearnsByWords.
  { Isa::Words::move(w, w, w, w) } -> std::same_as<typename Isa::Words::W>;
  /// transpose_4x4 of slot_sums<K>.
  { Isa::template slot_sums_transposed<2>(r) } -> std::convertible_to<typename Isa::V>;
  /// Four floats, or short accumulators, at each of four places.
  { Isa::load_fours(p) } -> std::convertible_to<typename Isa::V>;
  { Isa::load_fours(a) } -> std::convertible_to<typename Isa::V>;
  Isa::store_fours(q, v);
  Isa::store_fours(b, v);
  /// Floats s of place r for n <= s < r in lanes 4 r + s, the others 0.
  { Isa::load_triangle(p, n) } -> std::convertible_to<typename Isa::V>;
  /// Stores the first r lanes of row r, and 0 behind them, at each place r.
  Isa::store_triangle(q, v);
  /// a or b or c, bit by bit.
  { Isa::any_of(v, v, v) } -> std::convertible_to<typename Isa::V>;
  /// Whether v, or numbers that are v by any_of, are all below 2 in magnitude; NaN is not.
  { Isa::all_below_two(v) } -> std::same_as<bool>;
  /// Lane 4 r + s becomes lane 4 s + r.
  { Isa::transpose_4x4(v) } -> std::convertible_to<typename Isa::V>;
};

/// The functions that scan text (text_body.h); those that have kernels of their own for it need
/// not.
template <class Isa>
concept FindsDelimiters = requires(const char* p) {
  /// Bit i: whether p[i] is a delimiter, i < 64.
  { Isa::delimiter_bits(p) } -> std::same_as<std::uint64_t>;
};

/// All of it but text. Three constants say what there is beside registers; at most one of kTiles
/// and kWords is true.
template <class Isa>
concept InstructionSet = HasRegisters<Isa> && HasShortCodes<Isa> &&
    (!Isa::kGathers || Gathers<Isa>)&&(!Isa::kWords || LearnsByWords<Isa>)&&(
        !Isa::kTiles || LearnsByTiles<Isa>)&&!(Isa::kTiles && Isa::kWords);

}  // namespace leveret::kernels::generic
