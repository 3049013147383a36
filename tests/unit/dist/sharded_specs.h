/// The kinds of models that may lie in shards.
#pragma once

#include <vector>

#include "../train/train_run.h"

namespace leveret::dist {

using model::NamedSpec;

/// Features that share a cell have one largest |value| in one process; in shards, those of fields
/// have their own, as no shard meets all of a cell's.
constexpr std::uint32_t kFewCollisions = 16;

/// Those of specs_to_test and some more, in batches of so many examples. `bits`: of rows and their
/// accumulators; 0: as they come.
inline std::vector<NamedSpec> sharded_specs(std::uint32_t batch, std::uint32_t bits) {
  std::vector<NamedSpec> all;
  const auto add = [&](const char* name, spec::Spec spec) {
    spec.batch_size = batch;
    spec.batch_warmup = 3;
    spec.per_example_updates = false;
    spec.nn_batch_size = 1;
    if (bits != 0) spec.row_bits = spec.state_bits = bits;
    all.push_back({name, spec});
  };
  for (const NamedSpec& kind : model::specs_to_test()) {
    spec::Spec spec = kind.spec;
    if (!model::is_for_shards(spec)) continue;
    if (spec.bit_precision != 0 && spec.mixed()) spec.bit_precision = kFewCollisions;
    add(kind.name, spec);
  }
  spec::Spec cold;
  cold.nn_warmup = 200;
  cold.nn_l2 = 0.01f;
  add("layers that warm up", cold);
  spec::Spec hashed;
  hashed.ffm_k = 0;
  hashed.bit_precision = 6;
  add("hashed linear", hashed);
  hashed.heads = spec::Heads::kOne;
  add("hashed linear, heads one", hashed);
  hashed.ffm_k = 4;
  hashed.hidden = {};
  add("hashed ffm, heads one", hashed);
  hashed.hidden = {16};
  add("hashed deepffm", hashed);
  hashed.heads = spec::Heads::kMixed;
  hashed.bit_precision = kFewCollisions;
  hashed.hidden = {};
  add("hashed ffm", hashed);
  hashed.ffm_k = 0;
  hashed.embedding_dim = 4;
  spec::set_towers(hashed, "fm:pairs=all");
  add("hashed fm", hashed);
  spec::Spec pairs;
  pairs.heads = spec::Heads::kOne;
  pairs.hidden = {};
  spec::set_towers(pairs, "mlp:in=pairs,hidden=5 mlp:in=pairs,hidden=none");
  add("towers over pairs alone, heads one", pairs);
  spec::Spec several;
  several.heads = spec::Heads::kOne;
  several.hidden = {};
  several.bit_precision = 7;
  several.embedding_dim = 3;
  spec::set_towers(several, "mlp:in=merged,hidden=5 mlp:in=embeddings+merged,hidden=none");
  add("hashed, towers over several inputs, heads one", several);
  spec::Spec crossed;
  crossed.features.interactions = {{"A", "B"}};
  add("default with interactions", crossed);
  crossed.heads = spec::Heads::kOne;
  add("heads one with interactions", crossed);
  crossed.heads = spec::Heads::kMixed;
  crossed.hidden = {};
  add("ffm with interactions", crossed);
  crossed.bit_precision = kFewCollisions + 2;
  add("hashed ffm with interactions", crossed);
  crossed.hidden = {32};
  add("hashed with interactions", crossed);
  spec::Spec wide;
  wide.hidden = {64, 8};
  add("wide layers", wide);
  return all;
}

}  // namespace leveret::dist
