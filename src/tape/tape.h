/// What one batch leaves behind while it goes forward and back: activations and gradients. One per
/// thread; its arrays grow to the largest batch and stay.
///
/// What blocks hand to each other, or keep for the way back, are tensors that they declare
/// (tensor.h), found here by id; so are the scores of heads and their errors (head.h). The rest has
/// a member: what comes in, answers, what the optimizer goes by.
///
/// Shapes: B examples, F fields, G = F + 1 groups.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "feature/feature_batch.h"
#include "kernels/kernels.h"
#include "table/aligned.h"
#include "table/row_layout.h"
#include "table/slot.h"
#include "tape/gradients.h"
#include "tape/partition.h"
#include "tape/tensors.h"

namespace leveret::block {
struct Gemm;  // gemm.h
}  // namespace leveret::block

namespace leveret::tape {

/// Working memory that a block keeps on a tape, where tensors would not do.
struct Memory {
  virtual ~Memory() = default;
};

/// Where what a model knows of a batch's features lies: parallel to batch->linear, and `rows` to
/// batch->field_features.
template <class Slot, class Cell, class Byte>
struct Places {
  std::vector<Slot*> slots;  ///< of linear features, unless cells have no keys
  std::vector<Cell*> cells;  ///< theirs; one of zeros for what is not known
  std::vector<Byte*> rows;   ///< null for what has none
};

/// Makes room, and never less of it.
template <class Vector>
void at_least(Vector& v, std::size_t size) {
  if (v.size() < size) v.resize(size);
}

struct Tape {
  Tape() = default;
  Tape(Tape&&) = default;  // no copies: places are in the tape's own stores

  Tensors tensors;
  TensorPlace& operator[](TensorId id) { return tensors[id]; }
  const TensorPlace& operator[](TensorId id) const { return tensors[id]; }

  /// Makes room for the tensors of `examples` at a time, and for what the network says of them.
  template <class Declared>
  void open(const Declared& declared, std::size_t examples) {
    tensors.open(declared, examples);
    open_answers(examples);
  }
  /// The same for one example, whose tensors lie in those of example b of `all`.
  void open_in(Tape& all, const Declarations& declared, std::size_t b) {
    tensors.open_in(all.tensors, declared, b);
    open_answers(1);
  }
  /// The same for a partition of the model, whose tensors that are everyone's lie in those of
  /// `all`.
  void open_partition(Tape& all, const Declarations& declared, std::size_t examples) {
    tensors.open_partition(all.tensors, declared, examples);
    open_answers(examples);
  }

  const feature::FeatureBatch* batch = nullptr;
  std::size_t first = 0;  ///< the tape is about examples [first, first + size) of the batch
  std::size_t size = 0;   ///< B

  // Example b of the tape, 0 <= b < size.
  float label(std::size_t b) const { return batch->label[first + b]; }
  float importance(std::size_t b) const { return batch->importance[first + b]; }
  float initial(std::size_t b) const { return batch->initial[first + b]; }
  std::span<const feature::LinearRun> linear_runs(std::size_t b) const {
    return batch->linear_runs_of(first + b);
  }
  std::span<const feature::FieldRun> field_runs(std::size_t b) const {
    return batch->field_runs_of(first + b);
  }

  /// The features of fields of example b begin there; those of b = size would.
  std::uint32_t field_begin(std::size_t b) const { return batch->field_features_begin[first + b]; }

  WholeExamples wholes;  ///< where features are in partitions

  const table::RowLayout* row_layout = nullptr;  ///< of `rows`
  /// By field, where tables are a part of a model's and each field has a layout of its own.
  std::vector<const table::RowLayout*> field_layouts;
  const table::RowLayout& layout_of(std::uint32_t field) const {
    return field_layouts.empty() ? *row_layout : *field_layouts[field];
  }
  /// Whether rows of the field have anything of this part.
  bool has_part(std::uint32_t field, std::size_t part) const {
    const std::vector<table::RowPart>& parts = layout_of(field).parts();
    return part < parts.size() && parts[part].slots > 0;
  }

  // Per feature of the whole batch. Optimizers write by to_learn; all others read by the views of
  // it, or of to_read, which Lookup::open chooses: who predicts has a const model.
  bool learns = false;
  Places<table::Slot, table::Cell, std::byte> to_learn;
  Places<const table::Slot, const table::Cell, const std::byte> to_read;
  std::span<const table::Slot* const> slots;
  std::span<const table::Cell* const> cells;
  std::span<const std::byte* const> rows;
  std::vector<float> values;                ///< x; mixed: divided by the largest |x| seen
  std::vector<float> log_odds, log_counts;  ///< mixed: see LinearBlock::take_logs
  std::vector<float> field_values;

  // Per example.
  std::vector<float> answers;               ///< B: the model's answer, a raw score
  std::vector<std::uint8_t> learn;          ///< B: labelled, importance > 0, gradient finite
  std::vector<LinearErrors> linear_errors;  ///< B, from LinearBlock::backward
  /// B * G, one head and merged inputs, from LinearBlock::backward: d loss / d sum of w x of a
  /// group, by its head's error and by those who read the groups' sums.
  std::vector<float> d_group_linear;

  /// A block's working memory, of the type that it always asks for (Declarations::add_memory).
  template <class T>
  T& memory(MemoryId id) {
    at_least(memory_, static_cast<std::size_t>(id) + 1);
    std::unique_ptr<Memory>& memory = memory_[static_cast<std::size_t>(id)];
    if (memory == nullptr) memory = std::make_unique<T>();
    return static_cast<T&>(*memory);
  }
  template <class T>
  const T& memory(MemoryId id) const {
    return static_cast<const T&>(*memory_.at(static_cast<std::size_t>(id)));
  }
  // Working memory of RowGradients::each and ::vectors, for one example.
  std::vector<float> row_gradients;
  std::vector<std::uint32_t> gradient_features;
  std::vector<std::byte*> vector_rows;
  std::vector<const float*> vector_gradients;
  std::vector<float> vector_factors;
  std::vector<float> layer_scratch;  ///< working memory of a layer's products
  std::vector<std::uint32_t> row_examples;
  /// LayerRows::examples where every example has `each` rows. Stays until the next call.
  const std::uint32_t* examples_of_rows(std::size_t each) {
    row_examples.resize(size * each);
    for (std::size_t r = 0; r < row_examples.size(); ++r) {
      row_examples[r] = static_cast<std::uint32_t>(r / each);
    }
    return row_examples.data();
  }
  /// The gradient of an array of weights: sums over the examples.
  float* gradient(ArrayId id) {
    assert(static_cast<std::size_t>(id) < gradients_.size());
    return gradients_[static_cast<std::size_t>(id)].data();
  }
  /// Makes room for it.
  void open_gradient(ArrayId id, std::size_t numbers) {
    at_least(gradients_, static_cast<std::size_t>(id) + 1);
    at_least(gradients_[static_cast<std::size_t>(id)], numbers);
  }
  /// Makes the products of batches with dense layers, where they are large; null: kernels do. Who
  /// learns in batches sets it. What an example is given then depends on the batch's size, within
  /// rounding.
  const block::Gemm* gemm = nullptr;
  /// Whether there are batches, of which this may be one of a single example: what comes twice in
  /// it is then moved once, by the sum, as in every batch.
  bool in_batches = false;
  bool is_single() const { return size == 1 && !in_batches; }
  /// Who takes the gradients on the way back; null: nobody learns.
  GradientSink* sink = nullptr;

  /// Whether somebody reads the groups' sums and the FFM's pairs (audit) of a model whose blocks do
  /// not need them.
  bool keep_parts = false;

 private:
  void open_answers(std::size_t examples) {
    at_least(answers, examples);
    at_least(learn, examples);
  }

  std::vector<table::AlignedFloats> gradients_;  ///< by ArrayId
  std::vector<std::unique_ptr<Memory>> memory_;  ///< by MemoryId
};

}  // namespace leveret::tape
