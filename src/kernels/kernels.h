/// The arithmetic of the model, one function pointer per block-sized piece of work.
///
/// A `Kernels` table is immutable, shared by all threads, and picked once (see `dispatch.h`). Every
/// instruction set fills the same table; `reference` is the plain oracle the others are tested
/// against. Kernels know nothing of models: they see arrays and sizes.
///
/// Conventions: arrays are float32, may be unaligned, and do not overlap, all unless said
/// otherwise; `k` is the length of one FFM slot (any k >= 1; 2, 4, 8 and 16 are fast); a row is
/// `slots * k` weights. Nothing here allocates, throws or prints.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/rows/codec.h"
#include "kernels/text/text_kernels.h"

namespace leveret::kernels {

/// How a weight moves: G += g², w -= rate * g / G^power (AdaGrad, Duchi et al. 2011; VW's
/// `--power_t`). In dense_backward_update and `update` G forgets: G = decay * G + g². power 0.5
/// takes the fast path, power 0 is plain SGD (G is then still kept). A gradient component that is
/// exactly 0 leaves weight and accumulator untouched, bit for bit (but for a weight of -0, which
/// may become 0). `l2` adds l2 * w to the gradient of every component whose gradient is not 0.
/// Where G is 0, denormal or infinite, a normal number stands for it, so that the step of a finite
/// gradient is finite.
struct StepRule {
  float rate = 0.1f;
  float power = 0.5f;
  float l2 = 0.0f;
  float decay = 1.0f;  ///< of G, for each example that has part in the step
};

/// A larger component of a gradient is none to learn from, and is dropped (optim/bounded.h): 0
/// stands for it. Values of 1e38 make such ones. So the squares of a hundred million of them sum to
/// a float, and weights and accumulators stay finite, whatever a line says.
inline constexpr float kMaxGradient = 1e15f;
inline constexpr float kMaxSquare = kMaxGradient * kMaxGradient;

/// Gradients of a step of cells, each a multiple of a feature's x; see Kernels::step_cells.
struct CellSteps {
  float d = 0, d2 = 0;  ///< d loss / d score of the two AdaGrad weights
  float fast = 0;       ///< the fast weight's step where x is 1
  float init = 1, rate = 0;
};

/// Kernels::ffm_step_row: from the noise of a number to that of the next one, and from a row's to
/// its accumulators'.
inline constexpr std::uint32_t kNoiseStep = 0x9e3779b9u;
constexpr std::uint32_t state_noise(std::uint32_t noise) { return noise * 0xc2b2ae35u + 1; }

/// By what a row is rounded: each number by its place, wherever the row has it.
struct RowNoise {
  std::uint32_t seed;
  /// Where the row has some slots of a longer one: for each number, and for each slot, its place
  /// there times kNoiseStep. kSpare more may be read. Null: places 0, 1, ...
  const std::uint32_t* numbers = nullptr;
  const std::uint32_t* slots = nullptr;

  std::uint32_t of_number(std::size_t i) const { return seed + step(numbers, i); }
  std::uint32_t of_slot(std::size_t j) const { return state_noise(seed) + step(slots, j); }

 private:
  static std::uint32_t step(const std::uint32_t* steps, std::size_t i) {
    return steps != nullptr ? steps[i] : static_cast<std::uint32_t>(i) * kNoiseStep;
  }
};

/// Pairs of rows by a list, for who holds some slots of each row: n rows, each of which meets the
/// others slot by slot. Pairs are numbered row by row, those of a row with rows before it in the
/// order of its slots, and behind them the one with itself, where it has a slot for that.
struct PairList {
  /// The row that a slot meets, and the slot of that row which it is multiplied with; the number of
  /// the pair.
  struct Other {
    std::uint32_t row, slot, pair;
  };
  std::size_t n = 0;
  const std::uint32_t* begin = nullptr;   ///< n + 1: row i's slots are [begin[i], begin[i + 1])
  const std::uint32_t* before = nullptr;  ///< n: of these, the first that meet rows before it
  const Other* others = nullptr;

  std::size_t slots(std::size_t i) const { return begin[i + 1] - begin[i]; }
  const Other* of(std::size_t i) const { return others + begin[i]; }
  /// Whether row i has a slot for its pair with itself, behind those for rows before it.
  bool has_own(std::size_t i) const { return before[i] < slots(i) && of(i)[before[i]].row == i; }
  /// How many pairs there are.
  std::size_t size() const {
    std::size_t pairs = 0;
    for (std::size_t i = 0; i < n; ++i) pairs += before[i] + (has_own(i) ? 1 : 0);
    return pairs;
  }
};

/// Vectors and the gradients by which they move (tape::VectorGradients, and how they are rounded):
/// factors[i] * gradients[i], k floats.
struct VectorSteps {
  std::byte* const* rows;  ///< n: where each vector begins; its accumulator is to_state bytes on
  const float* const* gradients;
  const float* factors;
  std::size_t n, to_state;
  std::uint32_t noise;

  std::uint32_t noise_of(std::size_t i) const {
    constexpr std::uint32_t kVectorStep = 0x85ebca6bu;
    return noise + static_cast<std::uint32_t>(i) * kVectorStep;
  }
};

/// Examples of which dense_backward_update makes one step.
inline constexpr std::size_t kMostTogether = 16;

/// A product of matrices (multiply_add), of which two of rows, inner and columns may be large: it
/// packs nothing, as GEMM does. Number (i, c) of a lies at
/// a[i * a_row + c * a_column], so that a may also be given by columns; those of b and of what is
/// made lie in rows.
struct SmallProduct {
  std::size_t rows, inner, columns;
  std::size_t a_row, a_column, b_row, out_row;
};

struct Kernels {
  /// "reference", "sse2", "avx2", "avx512" or "neon".
  const char* name;

  // ---- FFM (Juan et al. 2016; identity in man/leveret-model.7, "FFM") ----

  /// row_sum[c] += x * row[c] for c < length.
  void (*axpy)(float x, const float* row, std::size_t length, float* row_sum);

  // ---- n vectors of k floats, one behind the other, and a number for each pair of them: that of
  // (i, j), j < i, has index i*(i-1)/2 + j ----

  /// out[i*k+c] = sum over j != i of w[(i,j)] * x[j*k+c].
  void (*mix_vectors)(const float* w, const float* x, std::size_t n, std::size_t k, float* out);

  /// dots[(i,j)] += factor * sum_c x[i*k+c] * x[j*k+c].
  void (*add_vector_dots)(const float* x, std::size_t n, std::size_t k, float factor, float* dots);

  // ---- rows of floats ----

  /// One row's AdaGrad step, one accumulator per weight. Gradient of weight (j,c):
  ///   g = delta[j] * t[j*k+c]          for j < slots;
  /// w and acc are slots*k floats.
  void (*ffm_update)(float* w, float* acc, const float* t, const float* delta, std::size_t slots,
                     std::size_t k, StepRule rule);

  /// The same with one accumulator per slot: acc[j] += sum_c g² / k, all k weights of the slot
  /// move by rate * g / acc[j]^power. acc is slots floats.
  void (*ffm_update_slice)(float* w, float* acc, const float* t, const float* delta,
                           std::size_t slots, std::size_t k, StepRule rule);

  // ---- arrays as they are stored (codec.h), numbers of n bytes at a multiple of n ----
  //
  // `noise` is the seed of stochastic rounding: any number, another one for each call. With equal
  // seeds results are equal, on one instruction set; floats have no use for it. A number that needs
  // no rounding stays as it is whatever the noise, and so does a weight whose step is 0.
  // Fixed-point numbers stay within their range.

  /// out[i] = number i of an array, for i < length.
  void (*decode)(Codec codec, const std::byte* in, std::size_t length, float* out);

  /// out[i] += x * number i of an array, for i < length.
  void (*add_numbers)(Codec codec, const std::byte* in, float x, std::size_t length, float* out);

  /// The reverse of decode.
  void (*encode)(Codec codec, const float* in, std::size_t length, std::uint32_t noise,
                 std::byte* out);

  /// Adds what a copy of an array has learned: number i of `to` += that of `copy` - that of
  /// `before`, which is the copy as it was made, for i < length. Where these are equal, nothing
  /// changes. The sum of fixed-point numbers is exact within their range, whatever the noise.
  void (*add_changes)(Codec codec, const std::byte* copy, const std::byte* before,
                      std::size_t length, std::uint32_t noise, std::byte* to);

  // ---- arrays of an export (kScaled and fixed point without noise) ----

  /// The largest |x[i]|, 0 for none; NaN or +infinity where one of them is not finite.
  float (*largest)(const float* x, std::size_t length);

  /// codes[i] = x[i] * codes_in_one, rounded to the nearest, ties to even, within
  /// +-`largest_code`, which is below 2^15: the same on every instruction set. x is finite.
  void (*quantize)(const float* x, std::size_t length, float codes_in_one, int largest_code,
                   std::int16_t* codes);

  /// The first `length` codes of a kScaled or kFixed array, each in 16 bits. Returns the scale of a
  /// kScaled array, 1 for others.
  float (*widen)(Codec codec, const std::byte* array, std::size_t length, Fixed16* codes);

  /// The reverse, to a kFixed array of fewer than 16 bits: a code beyond its ends becomes one of
  /// them. An odd length of codes in pairs leaves the other half of the last byte.
  void (*narrow)(Codec codec, const Fixed16* codes, std::size_t length, std::byte* array);

  // ---- FFM where every field has one row: its only feature's, or a sum of several ----
  //
  // Nearly all click data is of this kind, and then a field's sum is x times its feature's row: the
  // row itself is read, and moved in place. rows[i] (accs[i]) is the row of the i-th present field,
  // fields[i] its slot number, ascending; rows do not overlap. Pair (i, j), j <= i < n, has index
  // i*(i+1)/2 + j; a row has a place for the pair with itself, but no pair. With values x other
  // than 1 the caller multiplies pair values by x_i * x_j, as ffm_deltas does with deltas. Where a
  // field has several features, rows may be sums of theirs, as floats.
  //
  // Row i is met along the row and, in every other row, at one column: give rows 64-byte alignment
  // and a stride of an *odd* number of 64-byte lines, or the column falls on few sets of the
  // first-level cache (32 fields, k = 8: 3.5 µs an example with 16 lines, 1.7 µs with 17).
  //
  // Fields that follow each other without a gap are faster. A row of zeros may stand for all fields
  // that are not there: its pairs are 0, and with deltas of 0 the step leaves it, and what it
  // meets, as they are.
  //
  // Weights and accumulators may have any codec. Fast are those that are in_registers (pairs ask
  // for weights alone); steps of a row or vector by its gradient decode others, and all else is
  // done as the reference does it. Accumulators of Codec::none() are 0 before each step, which is
  // enough for power 0.

  /// From which share of present fields on it takes less time to let such a row stand for every
  /// absent field than to leave gaps.
  float (*fill_from)(Codec weights, std::size_t k, StepRule rule);

  /// pairs[(i,j)] = sum_c rows[i][fields[j]*k+c] * rows[j][fields[i]*k+c], and 0 for j = i;
  /// n*(n+1)/2 floats. Returns their sum.
  float (*ffm_pairs)(Codec weights, const std::byte* const* rows, const std::uint32_t* fields,
                     std::size_t n, std::size_t k, float* pairs);

  /// Pairs of m rows with n of another example, whose fields are `fields`, ascending, and whose
  /// slots for the field of row i were gathered: slot j lies at slots[i] + j * k numbers.
  /// pairs[i*n+j] = sum_c rows[i][fields[j]*k+c] * slots[i][j*k+c], i < m, j < n. Returns their
  /// sum. So do the candidates of a request meet its context.
  float (*ffm_rectangle)(Codec weights, const std::byte* const* rows, const std::byte* const* slots,
                         std::size_t m, const std::uint32_t* fields, std::size_t n, std::size_t k,
                         float* pairs);

  /// The pairs of a list, each the product of its two slots of k weights, and 0 with itself.
  /// rows[i] is the row of number i. Returns their sum.
  float (*ffm_listed_pairs)(Codec weights, const std::byte* const* rows, const PairList& list,
                            std::size_t k, float* pairs);

  /// delta[(i,j)] = (d[(i,j)] + own) * x[i] * x[j], and 0 where that product of values is 0 and for
  /// j = i; without d (null) own alone. Where rows of zeros stand, x is 0. All three have kSpare
  /// floats behind, of any value, which may be read, and those of delta written; delta is not d.
  void (*ffm_deltas)(const float* d, float own, const float* x, std::size_t n, float* delta);
  static constexpr std::size_t kSpare = 16;  ///< floats

  /// The AdaGrad step of all rows, each from the weights as they were before the call:
  ///   gradient of rows[i][fields[j]*k+c] = delta[(i,j)] * rows[j][fields[i]*k+c], and the reverse.
  /// One accumulator per slot, as in ffm_update_slice: accs[i] has one for each slot. Steps are
  /// made from accumulators before they are rounded.
  void (*ffm_update_pairs)(Codec weights, Codec state, std::byte* const* rows,
                           std::byte* const* accs, const std::uint32_t* fields, std::size_t n,
                           std::size_t k, const float* delta, StepRule rule, std::uint32_t noise);

  // ---- FFM rows of a batch: gradients are summed first, then each row takes one step ----

  /// The gradients that ffm_update_pairs would step by, added to those of other examples: for each
  /// pair sums[i][fields[j]*k+c] += delta[(i,j)] * rows[j][fields[i]*k+c], and the reverse. A sum
  /// has a float for each weight of its row; null: nobody asks for that row's.
  void (*ffm_gradients)(Codec weights, const std::byte* const* rows, const std::uint32_t* fields,
                        std::size_t n, std::size_t k, const float* delta, float* const* sums);

  /// The same by a list: each slot's k floats of sums[i] += delta times the weights that the slot
  /// meets. delta has a number for each slot of the list, as they lie in PairList::others: that of
  /// its pair; kSpare more may be read. That of a pair with itself is 0, and those of a row without
  /// a sum are not read.
  void (*ffm_listed_gradients)(Codec weights, const std::byte* const* rows, const PairList& list,
                               std::size_t k, const float* delta, float* const* sums);

  /// One row's AdaGrad step with gradient g, one accumulator per slot, as ffm_update_slice makes it
  /// of floats with delta 1. The number at place i is rounded by noise.seed + i * kNoiseStep, and
  /// so are the accumulators by state_noise(noise.seed): by place, whatever else takes a step.
  /// Steps are made from accumulators before they are rounded.
  void (*ffm_step_row)(Codec weights, Codec state, std::byte* row, std::byte* acc, const float* g,
                       std::size_t slots, std::size_t k, StepRule rule, const RowNoise& noise);

  /// Such a step of vectors, each a row of one slot, one after the other: a row may come twice. The
  /// noise of row i is steps.noise_of(i).
  void (*step_vectors)(Codec weights, Codec state, const VectorSteps& steps, std::size_t k,
                       StepRule rule);

  // ---- dense layers; W is outputs rows of `stride` floats, of which `inputs` are used ----
  //
  // Rows that begin on a cache line (an aligned W and a stride of whole lines) halve the time of
  // the update.

  /// out[e*outputs+o] = bias[o] + sum_i w[o*stride+i] * in[e*inputs+i] for e < examples. W is read
  /// once for several examples, and yet each example's outputs are, bit for bit, those it has
  /// alone.
  void (*dense_forward)(const float* w, const float* bias, const float* in, std::size_t inputs,
                        std::size_t outputs, std::size_t stride, std::size_t examples, float* out);

  /// d_in[i] = sum_o w[o*stride+i] * d_out[o]; rows whose d_out is 0 are not read.
  void (*dense_backward)(const float* w, const float* d_out, std::size_t inputs,
                         std::size_t outputs, std::size_t stride, float* d_in);

  /// dense_backward of each of several examples with the weights as they are, and one AdaGrad step
  /// of W with gradient sum_e d_out[e*outputs+o] * in[e*inputs+i], e < examples <= kMostTogether,
  /// in one pass over W; rows whose d_out are all 0 are not touched (sparse updates, FW paper
  /// section 4.3). A row's G is multiplied by rule.decay for each example whose d_out is not 0, but
  /// not where the inputs are 0.
  void (*dense_backward_update)(float* w, float* acc, const float* in, const float* d_out,
                                std::size_t inputs, std::size_t outputs, std::size_t stride,
                                std::size_t examples, StepRule rule, float* d_in);

  // ---- small matrices ----

  /// out[i*out_row+j] += sum over c < inner of a[i*a_row+c*a_column] * b[c*b_row+j], for i < rows
  /// and j < columns.
  void (*multiply_add)(const SmallProduct& of, const float* a, const float* b, float* out);

  /// Each of `rows` rows of `columns` numbers, one behind the other, becomes its softmax, in place:
  /// exp(factor * x[j]) / sum over l of exp(factor * x[l]). factor is above 0.
  void (*softmax)(std::size_t rows, std::size_t columns, float factor, float* x);

  /// The way back of softmax, whose result is y, in place:
  /// d[j] = factor * y[j] * (d[j] - sum over l of y[l] * d[l]).
  void (*softmax_back)(const float* y, std::size_t rows, std::size_t columns, float factor,
                       float* d);

  // ---- vectors ----

  /// AdaGrad step of a vector with an explicit gradient.
  void (*update)(float* w, float* acc, const float* g, std::size_t length, StepRule rule);

  /// g[i] = scale * x[i] and squares[i] = g[i]². What is beyond kMaxGradient becomes 0, and so
  /// does its square. g may be x.
  void (*squares)(const float* x, float scale, std::size_t length, float* g, float* squares);

  /// steps[i] = rate * g[i] / sqrt(acc[i]), and 0 where acc[i] is not above 0, rounded as those
  /// three operations are: the same on every instruction set. In place allowed.
  void (*adagrad_deltas)(const float* g, const float* acc, std::size_t length, float rate,
                         float* steps);

  /// AdaGrad's steps of weights that lie anywhere, each with its sum of squares behind it: for
  /// every i < length, in this order, with g = scale * x[i] as in `squares`, weight_ptrs[i][1] +=
  /// g², and then weight_ptrs[i][0] -= the step that adagrad_deltas makes of g and init +
  /// weight_ptrs[i][1]. Pointers may be equal, and what they point to does not overlap else. The
  /// same on every instruction set.
  void (*adagrad_gather_scatter)(float* const* weight_ptrs, const float* x, float scale,
                                 std::size_t length, float init, float rate);

  /// Steps of cells that lie anywhere, of four floats each: w, G, w2 and fast. For every
  /// i < length, in this order, with g = d * x[i] and g2 = d2 * x[i] as in `squares`: G += g2²,
  /// with scale = rate / sqrt(init + G), or 0 where that sum is not above 0, w -= scale * g and
  /// w2 -= scale * g2; and fast -= fast step * x[i]. Pointers may be equal, and what they point to
  /// does not overlap else. The same on every instruction set.
  void (*step_cells)(float* const* cells, const float* x, std::size_t length, CellSteps steps);

  /// sum x[i].
  float (*total)(const float* x, std::size_t length);

  /// out[i] = x[i] - mean; returns sum out². In place allowed.
  float (*centre)(const float* x, std::size_t length, float mean, float* out);

  /// out[i] = factor * x[i]. In place allowed.
  void (*scale)(const float* x, std::size_t length, float factor, float* out);

  /// d[i] = scale * (d[i] - mean - x[i] * along): the way back through a normalisation.
  void (*normalise_back)(const float* x, std::size_t length, float mean, float along, float scale,
                         float* d);

  /// sum a[i]*b[i].
  float (*dot)(const float* a, const float* b, std::size_t length);

  /// out[i] = log x[i], within 3 ulps (of 1, where that is more), for normal x > 0. In place
  /// allowed.
  void (*log)(const float* x, std::size_t length, float* out);

  // ---- text ----

  const TextKernels* text;
};

}  // namespace leveret::kernels
