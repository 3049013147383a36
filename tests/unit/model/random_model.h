/// Models and examples drawn at random, for tests that hold for all of them. What must not be is a
/// std::logic_error: programs without Catch use this, too.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "feature/feature_batch.h"
#include "kernels/dispatch.h"
#include "model/lookup.h"
#include "model/model.h"
#include "model/random_lines.h"
#include "model/specs_to_test.h"
#include "net/network.h"
#include "optim/optimizer.h"
#include "optim/steps.h"
#include "text/parser.h"

namespace leveret::model {

/// Enough for every test; small enough for the sanitizers' addresses.
inline constexpr std::uint64_t kTestMemory = std::uint64_t{256} << 20;

/// The active kernels and the reference ones (once, if they are the same).
std::vector<const kernels::Kernels*> kernels_to_test();

/// Parsed text, its namespaces, and a model's features of it.
struct Sample {
  explicit Sample(std::string_view text, text::ParserOptions options = {});

  /// Features of examples [first, first + count) by the model's map; what the map has not met is
  /// met and the model fitted.
  feature::FeatureBatch batch(Model& model, std::size_t first, std::size_t count);
  feature::FeatureBatch batch(Model& model) { return batch(model, 0, chunk.examples.size()); }

  text::NamespaceNames names;
  text::ExampleChunk chunk;
};

/// The spec with plain gradient descent of rate 1 and 32 bits: a step is minus the gradient, but
/// for arrays with a rule of their own, whose gradients stay in Tape::gradient.
Spec with_unit_steps(Spec spec);

/// Gives every feature of the batch its slot and, if its time has come, its row, and everything
/// that is learned a random value of a size that keeps scores off the clamps and away from 0.
void randomise(Model& model, const feature::FeatureBatch& batch, std::uint32_t seed);

/// One step of learning: look-ups, forward, backward, steps.
struct Trainer {
  Trainer(const Model& model, const kernels::Kernels& kernels)
      : Trainer(model, kernels, net::make_blocks(model.config(), kernels)) {}
  Trainer(const Model& model, const kernels::Kernels& kernels, net::Blocks blocks)
      : lookup(model),
        network(model.config(), std::move(blocks)),
        optimizer(kernels, model.config(), model.spec()) {}

  void forward(Model& model, const feature::FeatureBatch& batch) {
    network.open(model.parameters(), batch.size(), tape);
    lookup.resolve_all(model, batch, tape);
    network.forward(model.parameters(), tape);
  }
  void gradients(Model& model, const feature::FeatureBatch& batch) {
    forward(model, batch);
    network.backward(model.parameters(), tape);
  }
  void learn(Model& model, const feature::FeatureBatch& batch) {
    forward(model, batch);
    network.learn(model.tables(), model.parameters(), tape, optimizer);
  }
  /// The steps of the batch that the tape has, without a way forward.
  void step_again(Model& model) {
    optim::Steps steps(optimizer, model.tables(), model.parameters(), tape);
    network.backward(model.parameters(), tape);
    steps.finish();
  }
  /// One example at a time.
  void learn_online(Model& model, Sample& sample) {
    for (std::size_t i = 0; i < sample.chunk.examples.size(); ++i) {
      learn(model, sample.batch(model, i, 1));
    }
  }
  /// Without learning: the model stays as it is.
  void predict(const Model& model, const feature::FeatureBatch& batch) {
    network.open(model.parameters(), batch.size(), tape);
    lookup.find_all(model, batch, tape);
    network.forward(model.parameters(), tape);
  }

  Lookup lookup;
  net::Network network;
  optim::Optimizer optimizer;
  Tape tape;
};

/// The weights of a row: spec.ffm_k for each slot, then spec.embedding_dim. An error where those
/// that fill a slot up to a power of two are not 0.
std::vector<float> weights_of(const table::Rows& rows, table::Row row);
void set_weights(table::Rows& rows, table::Row row, const std::vector<float>& weights);
/// Its accumulators, as they are stored.
std::vector<float> states_of(const table::Rows& rows, table::Row row);

/// The row of a feature of a field, or kNoRow.
table::Row find_row(const Model& model, std::uint32_t field, std::uint32_t hash);
/// Rows of all fields.
std::uint64_t count_rows(const Model& model);
/// Linear features that have been met; not with -b.
std::uint64_t count_features(const Model& model);

/// Slots of a shard by key.
template <class Visit>
void for_each_in_order(const table::Shard& shard, Visit visit) {
  for (const std::uint32_t i : shard.index().in_order()) visit(*shard.slot(i));
}
/// Cells of linear weights: by shard and key, or by number with -b.
template <class Visit>
void for_each_cell(const table::Tables& tables, Visit visit) {
  if (const table::HashedCells* const cells = tables.hashed()) {
    for (std::uint64_t i = 0; i < cells->capacity(); ++i) visit(*cells->at(i));
    return;
  }
  for (const table::Shard& shard : tables) {
    for_each_in_order(shard, [&](const table::Slot& slot) { visit(*table::cell_of(&slot)); });
  }
}

/// What lies in a tensor of the last examples.
std::span<const float> tensor_of(const Model& model, const Tape& tape, std::string_view name);
std::span<const float> gradient_of(const Model& model, const Tape& tape, std::string_view name);

/// The values of an array, which may lie in Scalars.
std::span<float> array_of(Parameters& parameters, std::string_view name);

/// What the heads say of example b of the last ones; names as in ReferenceScores, and what blocks
/// that are not there would say.
struct HeadScores {
  float base, linear, linear2, counts, fast, first, ffm, deep, last;
  float d_ffm, d_deep;  ///< errors
};
HeadScores scores_of(const Model& model, const Tape& tape, std::size_t b);

/// Every number that learning can change, in an order of keys and rows: equal for equal models.
std::vector<float> all_weights(const Model& model);

}  // namespace leveret::model
