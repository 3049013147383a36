/// What the blocks of a network are told when they are made.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "block/tower/tower.h"
#include "kernels/rows/codec.h"
#include "rules/rule.h"
#include "table/row_layout.h"

namespace leveret::block {

/// A part of rows (table/row_layout.h), and how it learns.
struct Rows {
  enum class Kind {
    kFfm,        ///< a slot for each opposite field
    kEmbedding,  ///< a vector for towers (embedding_block.h)
    kOwn,        ///< a block's own, of which no option tells
  };
  Kind kind = Kind::kFfm;
  table::RowPart part;  ///< slots as fields come
  rules::RulePtr rule{};

  /// From now on these rows learn by it, and have its states. A block says so of its own ones.
  void learn_by(rules::RulePtr by);
};

inline void Rows::learn_by(rules::RulePtr by) {
  rule = std::move(by);
  assert(!rule->states().empty() && rule->states().size() <= rules::kMostStates);
  part.states.clear();
  for (const rules::State& state : rule->states()) {
    using enum table::RowState::Per;
    const bool by_weight = state.per == rules::State::Per::kWeight;
    part.states.push_back({state.codec, by_weight ? kWeight : kSlot, state.first});
  }
}

/// Several features of a field have one embedding in an example: the sum of theirs, each times its
/// value, or that sum divided by the sum of |value|.
enum class Pool { kSum, kMean };

/// What Tower::inputs has for the linear and the FFM part, merged (joined_inputs.h): no tensor.
inline constexpr const char* kMergedInputs = "merged";
/// What Tower::inputs has for the embeddings of all fields, and the tensor of them where they are
/// everyone's (embedding_block.h).
inline constexpr const char* kEmbeddings = "embedding.fields";

/// What Tower::inputs has for dense numbers, and the tensor of them (numbers_block.h).
inline constexpr const char* kNumbers = "numbers.standard";

struct Config {
  /// Linear, counts and the whole learn apart and are mixed online; else one sum, one loss.
  bool mixed = true;
  bool fast_head = false;  ///< with `mixed`: see fast_head.h and forgetting.h
  bool constant = true;
  bool per_example_updates = false;  ///< in batches, of the blocks that have them (block.h)
  /// Whether examples come as contexts and their candidates (tape/partition.h). What adds to the
  /// answer is then summed up apart: a context does not know by how much pairs are scaled.
  bool in_contexts = false;
  std::vector<Rows> rows;  ///< in the order of the parts; one of a kind, but for kOwn
  Pool pool = Pool::kSum;
  std::uint32_t numbers = 0;  ///< dense numbers of an example (numbers_block.h)
  std::vector<Tower> towers;
  rules::RulePtr layers_rule;       ///< of layers, and of what towers learn beside them
  float layers_clip = 0;            ///< the most norm of a gradient of theirs (optim/clip.h); 0: any
  std::uint32_t layers_warmup = 0;  ///< examples until they have their rate (optim/warmup.h)
  std::uint64_t seed = 0;           ///< of the layers' first weights

  /// Null: it has none.
  const Rows* find_rows(Rows::Kind kind) const {
    const auto found = std::ranges::find(rows, kind, &Rows::kind);
    return found != rows.end() ? &*found : nullptr;
  }
  bool has_ffm() const { return find_rows(Rows::Kind::kFfm) != nullptr; }
  bool has_embeddings() const { return find_rows(Rows::Kind::kEmbedding) != nullptr; }
  /// Whether whatever adds to the answer adds to one sum: with one head and without towers.
  bool has_one_score() const { return !mixed && towers.empty() && !in_contexts; }
  /// Whether a tower reads kMergedInputs.
  bool merges() const {
    return std::ranges::any_of(towers, [](const Tower& of) {
      return std::ranges::find(of.inputs, kMergedInputs) != of.inputs.end();
    });
  }
  /// Whether a block asks how much of the linear part comes from each group of features.
  bool uses_feature_groups() const { return mixed || merges(); }
};

}  // namespace leveret::block
