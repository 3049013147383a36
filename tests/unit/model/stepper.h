/// One step of learning and, from a copy of the model, the gradient that it was taken with.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "random_model.h"
#include "spec/optimizer.h"

namespace leveret::model {

/// Weights by part, in an order that stays as long as no feature is new.
struct WeightsByPart {
  explicit WeightsByPart(const Model& model) {
    const tape::Scalars& scalars = model.parameters().scalars;
    for_each_cell(model.tables(), [&](const table::Cell& cell) {
      linear.push_back(cell.weight);
      if (!model.spec().mixed()) return;
      linear2.push_back(table::mixed(cell).weight2);
      fast.push_back(table::mixed(cell).fast);
    });
    if (model.spec().constant) {
      linear.push_back(scalars.bias);
      if (model.spec().mixed()) {
        linear2.push_back(scalars.bias2);
        fast.push_back(scalars.fast_bias);
      }
    }
    for (const table::Shard& shard : model.tables()) {
      for (table::Row row = 0; row < shard.rows().size(); ++row) {
        const std::vector<float> w = weights_of(shard.rows(), row);
        rows.insert(rows.end(), w.begin(), w.end());
      }
    }
    for (const tape::ConstDense& layer : model.parameters().layers()) {
      dense.insert(dense.end(), layer.weights.begin(), layer.weights.end());
      dense.insert(dense.end(), layer.bias.begin(), layer.bias.end());
    }
  }
  std::vector<float> linear, linear2, fast, rows, dense;
};

/// Makes `to`, which has met the same examples, know what `from` knows; not with -b.
inline void copy_learned(const Model& from, Model& to) {
  for (std::size_t s = 0; s < from.tables().size(); ++s) {
    const table::Shard& shard = from.tables()[s];
    table::Shard& copy = to.tables()[s];
    const std::size_t floats = table::cell_floats(shard.cells());
    shard.for_each([&](const table::Slot& slot) {
      table::Slot& twin = *copy.find_or_insert(slot.key);
      if (slot.ref.has_largest_value()) copy.raise_largest_value(twin, shard.largest_value(slot));
      std::copy_n(&table::cell_of(&slot)->weight, floats, &table::cell_of(&twin)->weight);
    });
    REQUIRE(copy.rows().size() == shard.rows().size());
    for (table::Row row = 0; row < shard.rows().size(); ++row) {
      set_weights(copy.rows(), row, weights_of(shard.rows(), row));
    }
  }
  tape::Parameters& parameters = to.parameters();
  parameters.scalars = from.parameters().scalars;
  for (const tape::LearnedArray& array : parameters.declared().arrays) {
    const tape::ArrayId there = from.parameters().find(array.name);
    if (array.in_scalars() || there == tape::ArrayId::kNone) continue;
    std::ranges::copy(from.parameters()[there], parameters[parameters.find(array.name)].begin());
  }
}

/// A random model over random lines whose features all have their rows, and its twin that takes
/// plain steps of rate 1.
class Stepper {
 public:
  Stepper(const Spec& spec, const LineShape& shape, std::size_t lines, std::uint32_t seed,
          const kernels::Kernels& kernels = kernels::active())
      : model(spec, kTestMemory),
        sample(random_lines(lines, shape, seed)),
        trainer(model, kernels),
        twin_(plain(spec), kTestMemory),
        twin_trainer_(twin_, kernels) {
    const feature::FeatureBatch all = sample.batch(model);
    randomise(model, all, seed);
    randomise(twin_, sample.batch(twin_), seed);
  }

  /// Learns from examples [first, first + count) as one batch.
  void step(std::size_t first, std::size_t count) {
    before = WeightsByPart(model);
    copy_learned(model, twin_);
    twin_trainer_.learn(twin_, sample.batch(twin_, first, count));
    const WeightsByPart moved(twin_);
    const auto subtract = [](std::vector<float>& to, const std::vector<float>& from,
                             const std::vector<float>& less) {
      to.resize(from.size());
      for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i] - less[i];
    };
    subtract(gradient.linear, before.linear, moved.linear);
    subtract(gradient.linear2, before.linear2, moved.linear2);
    subtract(gradient.fast, before.fast, moved.fast);
    subtract(gradient.rows, before.rows, moved.rows);
    subtract(gradient.dense, before.dense, moved.dense);
    batch_ = sample.batch(model, first, count);
    trainer.learn(model, batch_);
    after = WeightsByPart(model);
  }

  Model model;
  Sample sample;
  Trainer trainer;
  WeightsByPart before{model}, gradient{model}, after{model};

 private:
  static Spec plain(Spec spec) {
    spec::set_optimizer(spec, "adagrad");
    spec.l2 = spec.nn_l2 = 0;
    spec.nn_warmup = 0;
    spec.nn_clip = 0;
    for (spec::PartLearning* part : {&spec.linear, &spec.rows, &spec.nn})
      *part = {1, 0, part->init_acc};
    return spec;
  }

  Model twin_;
  Trainer twin_trainer_;
  feature::FeatureBatch batch_;  ///< trainer.tape points to it
};

}  // namespace leveret::model
