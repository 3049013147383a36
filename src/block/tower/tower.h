/// Towers: what stands over other blocks and adds a number to the score, as --tower tells of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernels.h"

namespace leveret::block {

class Block;
struct Config;
struct Tower;

/// A key of a kind of tower: KEY=VALUE, behind its word. A value is whole numbers, or words.
struct TowerKey {
  const char* name;
  const char* fallback;  ///< its value where the key is not given
  std::uint32_t most;    ///< a number is from 1 to this
  const char* help;      ///< one line
  /// Numbers: up to kMostNumbers of them, joined by +; or the word none. Words: any of them, joined
  /// by +, in groups joined by /.
  bool is_list = false;
  /// Not empty: the value is one of these, and its number stands for it, from 0 on.
  std::span<const char* const> words = {};
  static constexpr std::uint32_t kNextGroup = 0xffffffffu;  ///< stands for /
  static constexpr std::size_t kMostNumbers = 16;
};

/// A kind of tower: it stands in the file of its block, and has a line in net/tower_kinds.cc.
struct TowerKind {
  const char* word;
  const char* help;  ///< one line
  std::span<const TowerKey> keys;
  /// Whether it has fully connected layers: it then runs behind all that has none.
  bool has_layers = true;
  /// Whether examples that are learned one by one may pass it together (--nn_batch_size).
  bool in_groups = false;
  /// Whether nothing of a context is cached but what it reads, so that each candidate pays for all
  /// of it.
  bool whole_for_candidates = false;
  /// Whether it may stand over any tensor; else over the embeddings of all fields alone.
  bool over_any = false;
  /// Whether it may stand over some of the fields (Tower::fields).
  bool chooses_fields = false;
  /// Whether it takes dense numbers (kNumbers), too.
  bool takes_numbers = false;
  /// Why it cannot be over embeddings of so many numbers, behind its word; empty: it can. Null: it
  /// always can.
  std::string (*fault)(const Tower& tower, std::uint32_t embedding_dim) = nullptr;
  /// Appends the tower's blocks, in the order of running.
  void (*make)(const kernels::Kernels& kernels, const Config& config, const Tower& tower,
               std::vector<std::unique_ptr<Block>>& blocks);
};

/// The value of a key.
struct TowerOption {
  std::string key;
  std::vector<std::uint32_t> numbers;
  bool operator==(const TowerOption&) const = default;
};

struct Tower {
  /// Its arrays and tensors are called NAME.…, and nobody else reads these.
  std::string name;
  /// The names of what it stands over, as joined_inputs takes them: tensors with gradients,
  /// kEmbeddings, kMergedInputs. Kinds that do not stand over any read the embeddings, whatever is
  /// here, and if they take numbers these where kNumbers is.
  std::vector<std::string> inputs;
  /// Those over whose embeddings it stands, ascending; empty: all. These are there from the
  /// beginning (--field).
  std::vector<std::uint32_t> fields{};
  const TowerKind* kind;
  std::vector<TowerOption> options;  ///< a value of each key of the kind
  std::string head = "mlp";          ///< what it adds to the joint score is in this one
  /// With mixed heads: it adds to the score of the linear stage, in a head that learns by its own
  /// loss, in place of the joint one.
  bool own_loss = false;

  /// The value of a key of its kind; a key that it lacks has none.
  std::vector<std::uint32_t> numbers(std::string_view key) const {
    for (const TowerOption& option : options) {
      if (option.key == key) return option.numbers;
    }
    return {};
  }
  std::uint32_t number(std::string_view key) const { return numbers(key).at(0); }
  bool reads(std::string_view input) const {
    return std::ranges::find(inputs, input) != inputs.end();
  }
};

// The kinds that there are, each in the file of its block.
extern const TowerKind kMlpTower;          ///< mlp_block.h
extern const TowerKind kFmTower;           ///< fm_tower_block.h
extern const TowerKind kFwfmTower;         ///< fwfm_block.h
extern const TowerKind kCrossTower;        ///< cross_block.h, weights that are vectors
extern const TowerKind kCrossMatrixTower;  ///< cross_block.h, matrices of low rank
extern const TowerKind kAttentionTower;    ///< attention_block.h
extern const TowerKind kDotTower;          ///< dot_block.h
extern const TowerKind kDhenTower;         ///< dhen_block.h

}  // namespace leveret::block
