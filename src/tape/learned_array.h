/// The declarations of a block: the arrays of what it learns beside the cells and rows of features,
/// and its tensors (tensor.h). Values of arrays are in Parameters. Sections of a file, replicas of
/// threads, counts of weights and checks of numbers follow from the declarations, by loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/rule.h"
#include "table/aligned.h"
#include "table/learned.h"
#include "tape/extent.h"
#include "tape/head.h"
#include "tape/mixer_state.h"
#include "tape/scalars.h"
#include "tape/tensor.h"

namespace leveret::tape {

/// An array's place in Declarations::arrays.
enum class ArrayId : std::uint32_t { kNone = 0xffffffffu };

using rules::Merge;

struct LearnedArray {
  std::string name;  ///< that of its section; no other array has it
  table::Learned kind = table::Learned::kParameter;
  Merge merge = Merge::kAdd;
  std::vector<std::uint64_t> shape{};  ///< {}: a number; {n}; {rows, columns}: a matrix
  /// kFeatureGroup: a number of each group, which the shard learns that has the group; kAll: what
  /// everyone has learns them. No other kind.
  Owner::Kind owner = Owner::Kind::kAll;

  /// First values; without it zeros, or what Scalars begins with.
  std::function<float(std::uint32_t row, std::uint32_t column)> first{};
  /// When the fields become more; what has no source gets first values. Without it columns stay
  /// where they are, and new ones come behind them.
  ColumnSource source = nullptr;

  // Set by Declarations::weights.
  rules::RulePtr rule{};          ///< how it learns; null: it is no weights, or in scalars
  std::vector<ArrayId> states{};  ///< what the rule keeps of it, in its order

  // The place of the values in Scalars, for those without an array of their own: every example
  // reads or writes these few, which lie side by side.
  float* (*floats)(Scalars&) = nullptr;
  double* (*doubles)(Scalars&) = nullptr;
  static constexpr std::size_t kNoMixer = static_cast<std::size_t>(-1);
  std::size_t in_mixers = kNoMixer;  ///< a mixer's: where it begins in Scalars::mixers
  static constexpr std::size_t kNoTotals = static_cast<std::size_t>(-1);
  /// Doubles of a TotalsDecl: where it begins in Scalars::totals. Threads merge these together.
  std::size_t in_totals = kNoTotals;

  bool in_scalars() const {
    return floats != nullptr || doubles != nullptr || in_mixers != kNoMixer ||
           in_totals != kNoTotals;
  }
  /// Its values in `scalars`, if they are floats there; else null.
  float* floats_in(Scalars& scalars) const {
    if (in_mixers != kNoMixer) return scalars.mixers.data() + in_mixers;
    return floats != nullptr ? floats(scalars) : nullptr;
  }
  /// The same of doubles.
  double* doubles_in(Scalars& scalars) const {
    if (in_totals != kNoTotals) return scalars.totals.data() + in_totals;
    return doubles != nullptr ? doubles(scalars) : nullptr;
  }
  std::size_t rows() const { return shape.size() > 1 ? shape[0] : 1; }
  std::size_t columns() const { return shape.empty() ? 1 : shape.back(); }
  /// Numbers from one row to the next. Rows of a matrix begin on cache lines; what stands between a
  /// row's end and the next one is 0 and stays 0.
  std::size_t stride() const {
    return shape.size() > 1 ? table::whole_lines(columns()) : columns();
  }
};

/// The arrays of a fully connected layer.
struct LayerArrays {
  TensorId input;         ///< what comes in
  ArrayId weights, bias;  ///< {outputs, inputs}, {outputs}
  Join join{};  ///< the owners of its columns, where partitions of a model divide it; else no parts
  bool is_divided() const { return !join.parts().empty(); }
};

/// Numbers of an example, one of each owner of a kind, that add up to what one head says beside the
/// others' (or to a part of it): what the audit shows of each field. A pair's is half the one
/// field's and half the other's.
struct Contribution {
  std::string name;
  TensorId of = TensorId::kNone;
  ArrayId weights = ArrayId::kNone;  ///< times the number in the same place of this array
  TensorId scale = TensorId::kNone;  ///< times the one number of this tensor
};

/// Numbers of examples of which mean and variance are learned: over all examples that are learned
/// from, how many these are, and of each number the mean and the sum of squares of what it is away
/// from that (Welford 1962; sums of the numbers' own squares would lose all digits where the mean
/// is large). Arrays in Scalars::totals, one behind the other: 1, n and n doubles.
struct TotalsDecl {
  std::string name;                    ///< arrays are NAME.count, NAME.means, NAME.squares
  TensorId numbers = TensorId::kNone;  ///< n of each example
  std::size_t count = 0;               ///< the place of the first array
  std::size_t size = 0;                ///< n
  bool rests = false;                  ///< without fields nobody makes the numbers
};

/// How much working memory a block keeps on a tape beside tensors.
struct WorkingMemory {
  std::string name;          ///< as arrays and tensors are called: NAME.…
  std::uint64_t floats = 0;  ///< of an example
};

/// The declarations of all blocks of a network. The ids are the same for any number of fields.
struct Declarations {
  std::vector<LearnedArray> arrays;
  std::vector<LayerArrays> layers;
  std::vector<Tensor> tensors;
  std::vector<HeadDecl> heads;  ///< in the order of declaring
  std::vector<TensorId> joint;  ///< scores of those of the joint loss, likewise
  /// Scores of heads with a loss of their own that stand over the linear stage's score, which they
  /// begin as: who adds to it may rest (Block::needs_fields).
  std::vector<TensorId> over_first;
  std::vector<Contribution> contributions;
  std::vector<MixerDecl> mixers;  ///< in the order of running
  std::size_t mixer_floats = 0;   ///< the size of Scalars::mixers
  std::vector<TotalsDecl> totals;
  std::size_t total_doubles = 0;       ///< the size of Scalars::totals
  std::uint32_t memories = 0;          ///< so many blocks have working memory on a tape
  std::vector<WorkingMemory> working;  ///< what is known of its size

  ArrayId add(LearnedArray array) {
    arrays.push_back(std::move(array));
    return static_cast<ArrayId>(arrays.size() - 1);
  }
  /// Declares weights that learn by the rule, and behind them the states that it keeps of them.
  /// `state`: the name of the only one, where files have another than that of rules::State.
  ArrayId weights(LearnedArray array, rules::RulePtr rule, std::string_view state = {});
  const LearnedArray& operator[](ArrayId id) const { return arrays[static_cast<std::size_t>(id)]; }
  /// An array, and the states that its rule keeps of it.
  std::vector<ArrayId> with_states(ArrayId id) const;
  /// Those that `weights` has declared, without those of layers.
  std::vector<ArrayId> weights_beside_layers() const;

  /// Declares the totals of a tensor, whose arrays are statistics, and returns the place of the
  /// first. `rests`: see TotalsDecl.
  std::size_t add_totals(const std::string& name, TensorId numbers, bool rests);

  MemoryId add_memory() { return static_cast<MemoryId>(memories++); }

  TensorId add(Tensor tensor) {
    tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(tensors.size() - 1);
  }
  Tensor& operator[](TensorId id) { return tensors[static_cast<std::size_t>(id)]; }
  const Tensor& operator[](TensorId id) const { return tensors[static_cast<std::size_t>(id)]; }
  /// Declares the head and its score, whose id this is: the tensor "heads.NAME".
  TensorId add(HeadDecl head);
  /// Null when no head is called so.
  const HeadDecl* find_head(std::string_view name) const;
  /// For a block that adds to the joint score, into the head of this name: the last one, if that is
  /// called so, or a new one behind it. The head before a new one stays in the mixer of the answer,
  /// beside it, or gives it up to the new one (`instead`).
  ResidualPlace add_residual(std::string_view name, float first_weight, bool instead);

  /// kNone when no tensor is called so.
  TensorId find_tensor(std::string_view name) const;
  /// For a block that reads the tensor of this name, which one before it has declared.
  TensorInput read(std::string_view name);
};

}  // namespace leveret::tape
