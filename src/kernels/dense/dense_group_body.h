/// The way back through a dense layer for several examples, and their one step of it, generic in
/// the instruction set.
///
/// Both go over W by tiles: some columns of at most 64 rows. What is read of a tile for the first
/// example comes from the second-level cache, and is in the first-level cache for the others, as
/// far as this has room, and for the step. About half of an example's outputs are 0, other ones in
/// each example: each example visits its own.
#pragma once

#include "kernels/lanes.h"

namespace leveret::kernels::generic {

/// Which rows of a block of 64 at most fired in which example.
struct FiredRows {
  static constexpr std::size_t kRows = 64;

  std::uint64_t of_example[kMostTogether];  ///< bit r: row r
  std::uint32_t of_row[kRows];              ///< bit e: example e
  /// Rows that fired, by the number of examples they fired in: loops over these then end as the
  /// processor guesses.
  std::uint8_t rows[kRows];
  std::size_t count = 0;

  FiredRows(const float* d_out, std::size_t outputs, std::size_t block, std::size_t examples) {
    for (std::size_t r = 0; r < block; ++r) of_row[r] = 0;
    for (std::size_t e = 0; e < examples; ++e) {
      of_example[e] = 0;
      for (std::size_t r = 0; r < block; ++r) {
        const std::uint32_t fired = d_out[e * outputs + r] != 0.0f;
        of_example[e] |= std::uint64_t{fired} << r;
        of_row[r] |= fired << e;
      }
    }
    sort(block);
  }

 private:
  void sort(std::size_t block) {
    std::size_t places[kMostTogether + 2] = {};
    for (std::size_t r = 0; r < block; ++r) ++places[__builtin_popcount(of_row[r]) + 1];
    count = block - places[1];
    places[1] = 0;
    for (std::size_t fired_in = 1; fired_in <= kMostTogether; ++fired_in) {
      places[fired_in + 1] += places[fired_in];
    }
    // Those that did not fire go behind all others.
    places[0] = count;
    for (std::size_t r = 0; r < block; ++r) {
      rows[places[__builtin_popcount(of_row[r])]++] = static_cast<std::uint8_t>(r);
    }
  }
};

/// A block of rows, and what stands beside it; all of them from a tile's first column on.
struct DenseTile {
  float *w, *acc;      ///< of the block's first row
  const float* in;     ///< of the first example
  const float* d_out;  ///< of the first example, the block's first row
  float* d_in;         ///< of the first example
  std::size_t inputs, outputs, stride, examples;
  bool fresh;  ///< d_in is set rather than added to

  DenseTile from(std::size_t column) const {
    DenseTile tile = *this;
    tile.w += column;
    tile.acc += column;
    tile.in += column;
    tile.d_in += column;
    return tile;
  }
};

/// The registers of a tile's row: C whole ones, and with kTail one more, of some lanes or all.
template <class Isa, std::size_t C, bool kTail>
struct TileLanes {
  using V = typename Isa::V;
  static constexpr std::size_t kRegisters = C + kTail;
  Part<Isa> tail;

  V load(const float* p, std::size_t c) const {
    p += c * kLanes<Isa>;
    return c < C ? Whole<Isa>::load(p) : tail.load(p);
  }
  void store(float* p, std::size_t c, V v) const {
    p += c * kLanes<Isa>;
    if (c < C) {
      Whole<Isa>::store(p, v);
    } else {
      tail.store(p, v);
    }
  }
};

/// One example's way back through the rows that fired.
template <class Isa, class Lanes>
inline void tile_backward(const DenseTile& tile, std::size_t e, std::uint64_t fired,
                          const Lanes& lanes) {
  using V = typename Isa::V;
  constexpr std::size_t R = Lanes::kRegisters;
  float* const d_in = tile.d_in + e * tile.inputs;
  const float* const d_out = tile.d_out + e * tile.outputs;
  V sum[R];
#pragma GCC unroll 16
  for (std::size_t c = 0; c < R; ++c) sum[c] = tile.fresh ? V(0.0f) : lanes.load(d_in, c);
  for (; fired != 0; fired &= fired - 1) {
    const auto r = static_cast<std::size_t>(__builtin_ctzll(fired));
    const V factor(d_out[r]);
    const float* const row = tile.w + r * tile.stride;
#pragma GCC unroll 16
    for (std::size_t c = 0; c < R; ++c) sum[c] = Isa::fma(factor, lanes.load(row, c), sum[c]);
  }
#pragma GCC unroll 16
  for (std::size_t c = 0; c < R; ++c) lanes.store(d_in, c, sum[c]);
}

/// The step of row r, which fired in the examples of `fired`.
template <class Isa, class Lanes, class Step>
inline void tile_step(const DenseTile& tile, std::size_t r, std::uint32_t fired, const Step& step,
                      const Lanes& lanes) {
  using V = typename Isa::V;
  constexpr std::size_t R = Lanes::kRegisters;
  V g[R];
#pragma GCC unroll 16
  for (std::size_t c = 0; c < R; ++c) g[c] = V(0.0f);
  float kept = 1;
  for (; fired != 0; fired &= fired - 1) {
    kept *= step.decay;
    const auto e = static_cast<std::size_t>(__builtin_ctz(fired));
    const V factor(tile.d_out[e * tile.outputs + r]);
    const float* const x = tile.in + e * tile.inputs;
#pragma GCC unroll 16
    for (std::size_t c = 0; c < R; ++c) g[c] = Isa::fma(factor, lanes.load(x, c), g[c]);
  }
  float* const w = tile.w + r * tile.stride;
  float* const acc = tile.acc + r * tile.stride;
#pragma GCC unroll 16
  for (std::size_t c = 0; c < R; ++c) {
    V weight = lanes.load(w, c), square = lanes.load(acc, c);
    step.apply(g[c], weight, square, V(kept));
    lanes.store(w, c, weight);
    lanes.store(acc, c, square);
  }
}

template <class Isa, std::size_t C, bool kTail, class Step>
[[gnu::flatten]] inline void tile_backward_update(const DenseTile& tile, const FiredRows& fired,
                                                  const Step& step, std::size_t tail) {
  const TileLanes<Isa, C, kTail> lanes{{tail}};
  for (std::size_t e = 0; e < tile.examples; ++e) {
    tile_backward<Isa>(tile, e, fired.of_example[e], lanes);
  }
  for (std::size_t i = 0; i < fired.count; ++i) {
    const std::size_t r = fired.rows[i];
    tile_step<Isa>(tile, r, fired.of_row[r], step, lanes);
  }
}

/// All tiles from column `i` on, of C registers as long as there are as many.
template <class Isa, std::size_t C, class Step>
inline void tiles_backward_update(const DenseTile& block, const FiredRows& fired, const Step& step,
                                  std::size_t i) {
  constexpr std::size_t N = kLanes<Isa>;
  for (; i + C * N <= block.inputs; i += C * N) {
    const std::size_t left = block.inputs - i - C * N;
    if (0 < left && left <= N) {
      return tile_backward_update<Isa, C, true>(block.from(i), fired, step, left);
    }
    tile_backward_update<Isa, C, false>(block.from(i), fired, step, 0);
  }
  if constexpr (C > 1) {
    tiles_backward_update<Isa, C / 2>(block, fired, step, i);
  } else if (i < block.inputs) {
    tile_backward_update<Isa, 0, true>(block.from(i), fired, step, block.inputs - i);
  }
}

/// Not inlined: beside it, GCC makes more instructions of the way of one example.
template <class Isa, class Step>
[[gnu::noinline]] void dense_group(float* w, float* acc, const float* in, const float* d_out,
                                   std::size_t inputs, std::size_t outputs, std::size_t stride,
                                   std::size_t examples, const Step& step, float* d_in) {
  /// As many sums are under way: two multiply-adds a cycle, which take four.
  constexpr std::size_t C = 8;
  for (std::size_t first = 0; first == 0 || first < outputs; first += FiredRows::kRows) {
    const std::size_t left = outputs - first;
    const std::size_t rows = left < FiredRows::kRows ? left : FiredRows::kRows;
    const FiredRows fired(d_out + first, outputs, rows, examples);
    const DenseTile block = {w + first * stride,
                             acc + first * stride,
                             in,
                             d_out + first,
                             d_in,
                             inputs,
                             outputs,
                             stride,
                             examples,
                             first == 0};
    tiles_backward_update<Isa, C>(block, fired, step, 0);
  }
}

}  // namespace leveret::kernels::generic
