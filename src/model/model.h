/// A model: its spec, its features' meaning, and all its weights. Blocks read it, Optimizer writes
/// it, store saves it; it computes nothing itself.
///
/// It has a large part (tables and what features mean), which replicas share, and a small dense
/// part that every example writes (layers, group weights, mixers, biases, base rate), of which a
/// replica has its own: two cores that write the same few lines for every example would mostly wait
/// for each other.
///
/// Threads: reading is free for all. `find`-like calls of the tables are documented there. `meet`
/// and everything that changes shape needs the model and all its replicas to itself.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "feature/feature_map.h"
#include "kernels/kernels.h"
#include "model/aligned.h"
#include "model/dense.h"
#include "model/field_table.h"
#include "model/first_rows.h"
#include "model/linear_table.h"
#include "model/memory_budget.h"
#include "model/mixer.h"
#include "model/spec.h"

namespace leveret::model {

/// The floats of a linear cell. With Heads::kOne a cell has the first three only; without FTRL it
/// needs two. With rows_in_cells() the last float is a RowWord, where it is negative.
enum LinearCell : std::uint32_t {
  kWeight = 0,
  kSum = 1,   ///< AdaGrad's sum of squares without init_acc; FTRL's n
  kZ = 2,     ///< FTRL's z (Heads::kOne)
  kWeight2 = 2,
  kSum2 = 3,  ///< the second weight set and its sum (Heads::kMixed)
  kClicks = 4,
  kCount = 5,     ///< times seen, weighted by importance; kClicks: those with label +1, which are
                  ///< more only where threads have lost updates of kCount
  kMaxValue = 6,  ///< largest_value; values are divided by it
};
/// Largest |value| seen of the feature of a cell of Heads::kMixed.
inline float largest_value(const float* cell) {
  const std::uint32_t word = RowWord::load(reinterpret_cast<const std::uint32_t*>(cell + kMaxValue));
  if (!RowWord::says(word)) return std::bit_cast<float>(word);
  return RowWord::has_ones(word) ? 1.0f : 0.0f;
}
/// Makes it at least `value`; not beyond 1 where the word says something, as numbers_come leaves it
/// only where there is no memory, and not at all when another thread changes it at this moment.
inline void raise_largest_value(float* cell, float value) {
  std::uint32_t* const at = reinterpret_cast<std::uint32_t*>(cell + kMaxValue);
  std::uint32_t word = RowWord::load(at);
  if (RowWord::says(word)) {
    if (value > 0 && !RowWord::has_ones(word)) RowWord::change(at, word, RowWord::with_ones(word));
  } else if (value > std::bit_cast<float>(word)) {
    RowWord::change(at, word, std::bit_cast<std::uint32_t>(value));
  }
}

inline constexpr std::uint32_t kStepCell = 2;
inline constexpr std::uint32_t kPlainCell = 3;
inline constexpr std::uint32_t kMixedCell = 7;

/// Learned numbers that belong to no table and no layer. Stored in the header.
struct Scalars {
  double clicks = 0.5, count = 1.0;  ///< running base rate; starts as half a click in one
  float bias = 0, bias_sum = 0;
  float bias2 = 0, bias2_sum = 0;
  MixerState first;   ///< linear, counts
  MixerState second;  ///< first stage, joint head without and with MLP
  std::uint64_t examples = 0;          ///< learned from
  std::uint64_t dropped_gradients = 0; ///< examples whose gradient was not finite: not learned from
  std::uint64_t adam_steps = 0;
};

/// Where a group of inputs of the MLP begins, behind the pairs, which come first; see NormBlock.
struct InputLayout {
  std::uint32_t fields = 0;
  std::uint32_t pairs() const { return fields * (fields + 1) / 2; }
  std::uint32_t groups() const { return fields + 1; }
  std::uint32_t linear() const { return pairs(); }
  std::uint32_t counts() const { return linear() + groups(); }
  std::uint32_t seen() const { return counts() + groups(); }
  std::uint32_t first() const { return seen() + groups(); }
  /// With Heads::kOne only pairs and linear sums are inputs.
  std::uint32_t size(bool mixed) const { return mixed ? first() + 1 : counts(); }
  /// Floats from one example's inputs to the next one's.
  std::size_t stride(bool mixed) const { return whole_lines(size(mixed)); }
};

/// What replicas share.
struct Tables {
  Tables(const Spec& spec, std::vector<feature::NamespacePlan> plans, std::uint64_t memory_limit);

  feature::FeatureMap features;
  MemoryBudget budget;
  LinearTable linear;
  std::vector<FieldTable> fields;
  FirstRows first_rows;  ///< of `fields`
  bool rows_in_cells;
  bool concurrent = false;  ///< told to tables that come later, too
};

/// What every example writes.
struct DensePart {
  std::vector<Dense> layers;         ///< hidden layers, then the output neuron; empty without MLP
  std::vector<float> group_weights;  ///< weight and AdaGrad sum of each group's count: groups * 2
  Scalars scalars;

  /// Adds what happened between `before` and `after` to this: the work of another thread.
  void add_change(const DensePart& before, const DensePart& after);
};

class Model {
 public:
  /// A new model, knowing nothing. `memory_limit` in bytes: all tables together.
  Model(Spec spec, std::uint64_t memory_limit);
  /// Parts of a stored model; tables still empty, to be filled with their load().
  Model(Spec spec, std::vector<feature::NamespacePlan> plans, std::uint64_t memory_limit);

  Model(Model&&) = default;
  Model& operator=(Model&&) = default;
  /// A second model over the same tables, with a dense part of its own.
  Model replica() const { return Model(*this); }

  /// Brings a replica to where `other`, of the same tables, is.
  void take_dense_part(const Model& other) {
    dense_ = other.dense_;
    fitted_ = other.fitted_;
  }

  const Spec& spec() const { return spec_; }
  /// Learning options may change between runs; shape may not.
  void set_spec(Spec spec) { spec_ = std::move(spec); }

  feature::FeatureMap& features() { return tables_->features; }
  const feature::FeatureMap& features() const { return tables_->features; }
  InputLayout layout() const { return {tables_->features.field_count()}; }

  /// Brings tables and layers to the number of fields that features() has found. Cheap when
  /// nothing changed.
  void fit_fields();
  /// For tables that have been loaded.
  void lend_first_rows() { tables_->first_rows.lend_to(tables_->fields); }

  /// Whether what a field knows of a feature is in the RowWord of its linear cell, where it has one,
  /// and in the field's index only if not.
  bool rows_in_cells() const { return tables_->rows_in_cells; }
  /// With mixed heads: other values than 1 are to be learned from with this cell, so it is to say how
  /// large they are, and no longer what a field knows.
  void numbers_come(float* cell);
  /// FieldTable::find of a feature, which may have no linear cell.
  Row find_row(std::uint32_t field, std::uint32_t hash) const;
  /// Calls visit(key, word) for every linear cell whose RowWord says something.
  template <class Visit>
  void for_each_row_word(Visit visit) const {
    if (!rows_in_cells()) return;
    linear().for_each([&](std::uint32_t key, const float* cell) {
      const std::uint32_t word = *linear().own_word(cell, key);
      if (RowWord::says(word)) visit(key, word);
    });
  }

  LinearTable& linear() { return tables_->linear; }
  const LinearTable& linear() const { return tables_->linear; }
  std::vector<FieldTable>& fields() { return tables_->fields; }
  const std::vector<FieldTable>& fields() const { return tables_->fields; }
  MemoryBudget& budget() { return tables_->budget; }
  const MemoryBudget& budget() const { return tables_->budget; }

  DensePart& dense_part() { return dense_; }
  const DensePart& dense_part() const { return dense_; }
  std::vector<Dense>& dense() { return dense_.layers; }
  const std::vector<Dense>& dense() const { return dense_.layers; }
  std::vector<float>& group_weights() { return dense_.group_weights; }
  const std::vector<float>& group_weights() const { return dense_.group_weights; }
  Scalars& scalars() { return dense_.scalars; }
  const Scalars& scalars() const { return dense_.scalars; }

  /// Look-ups answered by a shared row or cell because memory had run out.
  std::uint64_t shared_lookups() const;
  void set_concurrent(bool concurrent);

  RowShape row_shape() const;
  kernels::Codec row_codec() const;

 private:
  Model(const Model&) = default;
  std::vector<std::vector<FieldTable::KeyOfRow>> keys_of_rows() const;
  void fit_dense(std::uint32_t fields);
  DenseInit dense_init(std::uint32_t layer) const;

  Spec spec_;
  std::shared_ptr<Tables> tables_;
  DensePart dense_;
  std::uint32_t fitted_ = 0;  ///< fields that tables and layers have room for
};

}  // namespace leveret::model
