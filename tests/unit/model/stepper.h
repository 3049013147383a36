/// One step of learning and, from a copy of the model, the gradient that it was taken with.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "random_model.h"

namespace leveret::model {

/// Weights by part, in an order that stays as long as no feature is new.
struct WeightsByPart {
  explicit WeightsByPart(const Model& model) {
    model.linear().for_each([&](std::uint32_t, const float* cell) {
      linear.push_back(cell[kWeight]);
      if (model.spec().mixed()) linear2.push_back(cell[kWeight2]);
    });
    if (model.spec().constant) {
      linear.push_back(model.scalars().bias);
      if (model.spec().mixed()) linear2.push_back(model.scalars().bias2);
    }
    for (const FieldTable& table : model.fields()) {
      for (Row row = 0; row < table.rows(); ++row) {
        const std::vector<float> w = weights_of(table, row);
        rows.insert(rows.end(), w.begin(), w.end());
      }
    }
    for (const Dense& layer : model.dense()) {
      dense.insert(dense.end(), layer.weights.begin(), layer.weights.end());
      dense.insert(dense.end(), layer.bias.begin(), layer.bias.end());
    }
  }
  std::vector<float> linear, linear2, rows, dense;
};

/// Makes `to`, which has met the same examples, know what `from` knows.
inline void copy_learned(const Model& from, Model& to) {
  from.linear().for_each([&](std::uint32_t key, const float* cell) {
    std::copy_n(cell, from.linear().cell_floats(), to.linear().find_or_insert(key));
  });
  for (std::size_t f = 0; f < from.fields().size(); ++f) {
    const FieldTable& table = from.fields()[f];
    REQUIRE(to.fields()[f].rows() == table.rows());
    for (Row row = 0; row < table.rows(); ++row) {
      set_weights(to.fields()[f], row, weights_of(table, row));
    }
  }
  to.dense() = from.dense();
  to.group_weights() = from.group_weights();
  to.scalars() = from.scalars();
}

/// A random model over random lines whose features all have their rows, and its twin that takes
/// plain steps of rate 1.
class Stepper {
 public:
  Stepper(const Spec& spec, const LineShape& shape, std::size_t lines, std::uint32_t seed,
          const kernels::Kernels& kernels = kernels::active())
      : model(spec, kTestMemory),
        sample(random_lines(lines, shape, seed)),
        trainer(spec, kernels),
        twin_(plain(spec), kTestMemory),
        twin_trainer_(plain(spec), kernels) {
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
    spec.optimizer = OptimizerKind::kAdagrad;
    spec.l2 = 0;
    for (PartLearning* part : {&spec.linear, &spec.ffm, &spec.nn}) *part = {1, 0, part->init_acc};
    return spec;
  }

  Model twin_;
  Trainer twin_trainer_;
  feature::FeatureBatch batch_;  ///< trainer.tape points to it
};

}  // namespace leveret::model
