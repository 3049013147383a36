/// Models and examples drawn at random, for tests that hold for all of them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "feature/feature_batch.h"
#include "kernels/dispatch.h"
#include "model/model.h"
#include "model/network.h"
#include "model/optimizer.h"
#include "model/random_lines.h"
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

/// Gives every feature of the batch a row and a cell, and everything that is learned a random value
/// of a size that keeps scores off the clamps and away from 0.
void randomise(Model& model, const feature::FeatureBatch& batch, std::uint32_t seed);

/// One step of learning: resolve, forward, backward, apply.
struct Trainer {
  Trainer(const Spec& spec, const kernels::Kernels& kernels)
      : network(spec, kernels), optimizer(kernels) {}

  void gradients(Model& model, const feature::FeatureBatch& batch) {
    network.resolve(model, batch, tape);
    network.forward(model, tape);
    network.backward(model, tape);
  }
  void learn(Model& model, const feature::FeatureBatch& batch) {
    network.resolve(model, batch, tape);
    network.forward(model, tape);
    network.learn(model, tape, optimizer);
  }
  /// One example at a time.
  void learn_online(Model& model, Sample& sample) {
    for (std::size_t i = 0; i < sample.chunk.examples.size(); ++i) {
      learn(model, sample.batch(model, i, 1));
    }
  }

  Network network;
  Optimizer optimizer;
  Tape tape;
};

/// The weights of a row, whatever their format.
std::vector<float> weights_of(const FieldTable& table, Row row);
/// Its accumulators.
std::vector<float> states_of(const FieldTable& table, Row row);
void set_weights(FieldTable& table, Row row, const std::vector<float>& weights);

/// Every number that learning can change, table slots in memory order: equal for equal models.
std::vector<float> all_weights(const Model& model);

}  // namespace leveret::model
