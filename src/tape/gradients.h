/// Gradients on the way back: what blocks hand on of what they learn, and who takes it.
///
/// Shapes: B examples, G groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace leveret::tape {

enum class ArrayId : std::uint32_t;
class Parameters;
struct Tape;

/// d loss / d sum of w x, by each of the weights of the linear stage's cells; with one head by the
/// first alone. So also the gradient of its constants, whose value is 1 in each example.
struct LinearErrors {
  float linear = 0, linear2 = 0, fast = 0;
  float fast_curvature = 0;  ///< see fast_head.h

  void add(const LinearErrors& others) {
    linear += others.linear;
    linear2 += others.linear2;
    fast += others.fast;
    fast_curvature += others.fast_curvature;
  }
};

/// The gradients of cells, as factors: that of a weight is the example's error times the feature's
/// value.
struct CellGradients {
  const LinearErrors* errors = nullptr;  ///< B
  /// B * G: stands for LinearErrors::linear, by group; null: that holds for all groups.
  const float* d_groups = nullptr;
  LinearErrors d_constant{};  ///< sums over the examples that are learned
};

/// The rows of numbers, R of them, that pass a fully connected layer. An example has one, or
/// several (tokens, which share the layer's weights).
struct LayerRows {
  std::size_t count;  ///< R
  std::size_t width;  ///< floats from one row to the next one, of which the layer's inputs are used
  const float* in;    ///< R * width
  /// R, ascending: the example of the tape that a row is of. Null: row r is example r.
  const std::uint32_t* examples = nullptr;

  std::size_t example_of(std::size_t r) const { return examples != nullptr ? examples[r] : r; }
};

/// A fully connected layer, what came in, and the gradient of what went out.
struct LayerGradient {
  std::size_t layer;  ///< its number, as in Parameters::layer
  LayerRows rows;
  const float* d_out;  ///< R * outputs; 0 where a neuron did not fire, or nothing is learned
  float* d_in;         ///< R * width, to be written: d loss / d in
};

/// The gradient of columns of a layer that a partition of a model has: what came in, and the
/// gradients of all outputs.
struct ColumnsGradient {
  std::size_t columns;  ///< their place in Partition::columns
  LayerRows rows;
  const float* d_out;
};

/// n rows of slots that meet in pairs, in the place where they lie.
struct PairGradients {
  std::span<std::byte* const> rows;       ///< n; where the part's weights begin
  const std::uint32_t* fields = nullptr;  ///< n, ascending: whose rows these are
  /// n(n+1)/2: d loss / d pair times the values of both features, in the order of
  /// Kernels::ffm_update_pairs.
  const float* deltas = nullptr;
  /// A row of zeros, which stay so: it stands among `rows` for those that are not there.
  const std::byte* nothing = nullptr;
};

/// n rows of one vector each, in the order of their steps, for Kernels::step_vectors: d loss / d
/// vector of rows[i] is factors[i] times the k floats of gradients[i].
struct VectorGradients {
  std::span<std::byte* const> rows;  ///< n; where the part's weights begin
  const float* const* gradients = nullptr;
  const float* factors = nullptr;
  std::span<const float> floats;  ///< where all of these gradients lie, with others or none
};

/// Takes the gradient of a row of a tape's only example.
class RowVisitor {
 public:
  virtual ~RowVisitor() = default;
  /// d loss / d weight of slot g of the feature's row is delta[g] * contra[g], of k floats. May
  /// move this row, and no other.
  virtual void visit(std::uint32_t feature, const float* contra, const float* delta) = 0;
};

/// Makes the gradients of a part of rows when it is asked for them: most of these are needed once,
/// and all of them would not stay in the cache. Rows must be as they were on the way forward.
/// Features are numbers in FeatureBatch::field_features.
class RowGradients {
 public:
  virtual ~RowGradients() = default;
  /// The most weights that a row has of the part.
  virtual std::size_t floats(const Parameters& parameters) const = 0;
  /// Adds those of example b: of feature i to sums[i - Tape::field_begin(b)], which is null for a
  /// feature without a row.
  virtual void add(const Parameters& parameters, Tape& tape, std::size_t b,
                   float* const* sums) const = 0;
  /// The gradients of the tape's only example, row by row.
  virtual void each(const Parameters& parameters, Tape& tape, RowVisitor& visitor) const = 0;
  /// The pairs of the tape's only example, where all of its rows lie as kernels take them; else no
  /// rows.
  virtual PairGradients in_place(const Parameters&, Tape&) const { return {}; }
  /// The gradients of the tape's only example, where rows have a vector each whose gradients lie on
  /// the tape; else no rows.
  virtual VectorGradients vectors(const Parameters&, Tape&) const { return {}; }
};

/// Takes gradients, to step by them or to add them up. It stands on the tape (Tape::sink) on the
/// way back.
class GradientSink {
 public:
  virtual ~GradientSink() = default;
  /// Each layer once a batch, the last one first, when all that is behind it is through. Writes
  /// d_in, by the weights as they are; may move these afterwards.
  virtual void layer(const LayerGradient& gradient) = 0;
  /// Columns of a layer that a partition of a model has; d loss / d in is made already. Its weights
  /// may move at once.
  virtual void columns(const ColumnsGradient& gradient) = 0;
  // The others are used when the way back is through: what they name must stay as it is until then.

  /// Of a part of rows (RowLayout::parts).
  virtual void rows(std::size_t part, const RowGradients& gradients) = 0;
  virtual void cells(const CellGradients& gradients) = 0;
  /// The gradient of an array of weights (Declarations::weights): as many floats as it has, padding
  /// included, of which the gradient is 0.
  virtual void array(ArrayId id, const float* gradient) = 0;
};

}  // namespace leveret::tape
