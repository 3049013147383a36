/// Everything that defines a model: what it is made of and how it learns. Stored as JSON in the
/// model file's header, so that `-i MODEL` needs no option again. entries.h lists the names.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "block/config.h"
#include "block/tower/tower.h"
#include "feature/feature_map.h"
#include "kernels/rows/codec.h"
#include "rules/learning.h"
#include "text/hash.h"

namespace leveret::spec {

using rules::PartLearning;

enum class Heads {
  kMixed,  ///< linear, counts, and all of it learn apart and are mixed by weights learned online
  kOne,    ///< one sum learned from one loss, as in VW and in the FW paper
};

/// Length of a slot of vectors of k in a row: the next power of two, for which there are kernels.
inline std::uint32_t stored_k(std::uint32_t k) { return k > 0 ? std::bit_ceil(k) : 0; }
/// The same with that codec, where two numbers may share a byte that no other slot has.
inline std::uint32_t stored_k(std::uint32_t k, kernels::Codec codec) {
  return codec.in_pairs() ? std::max(2u, stored_k(k)) : stored_k(k);
}

/// Weights that features of fields have in rows.
struct RowsSpec {
  block::Rows::Kind kind;
  std::uint32_t k;  ///< numbers of a slot, or of the vector
  kernels::Codec codec;
  PartLearning learning;
};

/// A tower (block/tower/tower.h).
struct TowerSpec {
  // The inputs (tower_inputs) that others than towers know of.
  static constexpr const char* kEmbeddings = "embeddings";
  static constexpr const char* kMerged = "merged";
  static constexpr const char* kNumbers = "numbers";

  std::string name;
  const block::TowerKind* kind = nullptr;
  std::vector<std::string> in{kEmbeddings};  ///< words of tower_inputs, in their order
  std::vector<std::string> namespaces;       ///< it stands over their fields; empty: over all
  std::vector<block::TowerOption> options;   ///< a value of each key of the kind, in its order
  bool own_loss = false;                     ///< see block::Tower

  bool reads(std::string_view word) const { return std::ranges::find(in, word) != in.end(); }
  bool operator==(const TowerSpec&) const = default;
};

struct Spec : rules::Learning {
  // ---- text ----
  text::HashMode hash = text::HashMode::kStrings;
  std::uint32_t hash_seed = 0;

  // ---- shape ----
  std::string named;  ///< the model by whose name it was made (named_models.h); empty: none
  feature::FeatureOptions features;
  Heads heads = Heads::kMixed;
  bool fast_head = true;  ///< with mixed heads: what keeps up with a stream that changes
  bool constant = true;
  std::uint32_t bit_precision = 0;  ///< 0: growing table
  std::uint32_t ffm_k = 4;          ///< 0: no FFM
  std::uint32_t admit = 0;          ///< see table::Admission
  bool adagrad_slice = true;
  std::uint32_t row_bits = 16;            ///< of a stored weight of rows: 4, 8, 12, 16 or 32
  float weight_range = 0;                 ///< of these, a power of two; 0: see range()
  bool rounds_to_nearest = false;         ///< weights of rows, else stochastically
  std::uint32_t state_bits = 0;           ///< of an accumulator of rows; 0: see usual_state_bits()
  std::vector<std::uint32_t> hidden{32};  ///< empty: no MLP
  std::uint32_t embedding_dim = 0;        ///< 0: no embeddings
  block::Pool pool = block::Pool::kSum;   ///< of the embeddings of a field
  std::vector<TowerSpec> more_towers;     ///< beside that of `hidden`
  float ffm_init_width = 0.15f;           ///< first weights: uniform with deviation this / sqrt(k)

  // ---- learning, beside rules::Learning ----
  std::uint32_t nn_warmup = 0;  ///< examples until layers, and arrays beside them, have their rate
  float nn_clip = 0;            ///< the most norm of a neuron's or such an array's gradient; 0: any
  float nn_l2 = 0;              ///< of layers, in place of l2; 0: that holds
  std::uint32_t batch_size = 1;
  /// A batch has at most one example for so many that were learned before it, so that batches grow
  /// with the stream; 0: all have batch_size. See train/batches.h.
  std::uint32_t batch_warmup = 128;
  bool per_example_updates = true;  ///< within a batch what is cheap is learned example by example
  std::uint32_t nn_batch_size = 1;  ///< of the MLP alone; with batch_size 1
  std::uint64_t expire = 0;  ///< examples without it, after which a feature is forgotten; 0: never
  bool evicts = false;       ///< where memory runs out, features are forgotten

  /// In the order of parts.
  std::vector<RowsSpec> row_parts() const {
    std::vector<RowsSpec> all;
    if (has_ffm()) all.push_back({block::Rows::Kind::kFfm, ffm_k, weight_codec(), rows});
    if (has_embeddings()) {
      all.push_back({block::Rows::Kind::kEmbedding, embedding_dim, weight_codec(), rows});
    }
    return all;
  }
  bool has_ffm() const { return ffm_k > 0; }
  /// Whether features of fields have rows.
  bool has_rows() const { return has_ffm() || has_embeddings(); }
  /// Whether it has embeddings, and a tower that reads them.
  bool has_embeddings() const {
    return embedding_dim > 0 && some_tower_reads(TowerSpec::kEmbeddings);
  }
  bool has_own_tower() const { return !hidden.empty() && has_ffm(); }
  bool has_towers() const { return has_own_tower() || !more_towers.empty(); }
  /// Whether a tower reads what is merged.
  bool merges() const { return some_tower_reads(TowerSpec::kMerged); }
  bool some_tower_reads(std::string_view word) const {
    return std::ranges::any_of(towers(), [&](const TowerSpec& of) { return of.reads(word); });
  }
  /// Whether it has fully connected layers.
  bool has_layers() const {
    return std::ranges::any_of(towers(),
                               [](const TowerSpec& tower) { return tower.kind->has_layers; });
  }
  /// All of them, that of `hidden` first.
  std::vector<TowerSpec> towers() const {
    std::vector<TowerSpec> all;
    if (has_own_tower()) {
      all.push_back({"dense", &block::kMlpTower, {TowerSpec::kMerged}, {}, {{"hidden", hidden}}});
    }
    all.insert(all.end(), more_towers.begin(), more_towers.end());
    give_numbers(all);
    return all;
  }
  /// Those of kinds that take the numbers of --numeric read them; and those over any tensor, unless
  /// some of these say who does.
  void give_numbers(std::vector<TowerSpec>& towers) const {
    if (features.numeric.empty()) return;
    const bool told = std::ranges::any_of(
        towers, [](const TowerSpec& of) { return of.reads(TowerSpec::kNumbers); });
    for (TowerSpec& of : towers) {
      if (of.kind->takes_numbers || (of.kind->over_any && !told)) {
        of.in.emplace_back(TowerSpec::kNumbers);
      }
    }
  }
  /// Whether batches have per-example updates (block.h). With one head and layers cells learn
  /// through the layers, of which the gradient comes once for all of the batch.
  bool updates_per_example() const {
    return batch_size > 1 && per_example_updates && (mixed() || !has_towers());
  }
  bool mixed() const { return heads == Heads::kMixed; }
  /// Whether features are forgotten (expiry.h).
  bool forgets() const { return expire > 0 || evicts; }
  /// Whether features are to be told apart by group: a block asks how much of the linear part comes
  /// from each, or each has a shard of its own.
  bool uses_feature_groups() const { return mixed() || has_rows(); }
  /// Weights of rows are within this, where they have fewer than 32 bits.
  float range() const {
    if (weight_range > 0) return weight_range;
    return row_bits == 4 ? .5f : row_bits == 8 ? 1 : row_bits == 12 ? 4 : 8;
  }
  /// A unit is 2 * range / 2^bits: the quantized training paper's 2 w / (2^b - 1), but a power of
  /// two, so that integers are multiplied.
  kernels::Codec weight_codec() const {
    if (row_bits == 32) return kernels::Codec::f32();
    const int bits = static_cast<int>(row_bits);
    kernels::Codec codec = kernels::Codec::fixed(bits, bits - 1 - std::ilogb(range()));
    codec.nearest = rounds_to_nearest;
    return codec;
  }

  std::uint32_t usual_state_bits() const { return adagrad_slice && row_bits < 32 ? 16 : 32; }
  /// Sums of squares come in all sizes, for which fixed point has too short a range.
  kernels::Codec state_codec() const {
    const std::uint32_t bits = state_bits == 0 ? usual_state_bits() : state_bits;
    return bits == 16 ? kernels::Codec::bf16() : kernels::Codec::f32();
  }

  /// `features` with what else a FeatureMap needs to know.
  feature::FeatureOptions map_options() const {
    feature::FeatureOptions options = features;
    options.field_features = has_rows();
    options.hash = hash;
    options.hash_seed = hash_seed;
    return options;
  }
};

}  // namespace leveret::spec
