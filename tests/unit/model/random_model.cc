#include "random_model.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace leveret::model {
namespace {

using Random = std::mt19937;

float uniform(Random& random, float low, float high) {
  return std::uniform_real_distribution<float>(low, high)(random);
}

/// Of either sign, never near 0.
float signed_between(Random& random, float low, float high) {
  return (random() % 2 == 0 ? 1.0f : -1.0f) * uniform(random, low, high);
}

void fill(Random& random, std::span<float> values, float size) {
  for (float& value : values) value = uniform(random, -size, size);
}

}  // namespace

std::vector<const kernels::Kernels*> kernels_to_test() {
  std::vector<const kernels::Kernels*> all{kernels::find("reference")};
  if (&kernels::active() != all[0]) all.push_back(&kernels::active());
  return all;
}

Sample::Sample(std::string_view text, text::ParserOptions options) {
  chunk.bytes = text;
  text::Parser(names, options).parse(chunk);
  for (const text::BadLine& bad : chunk.bad) FAIL("line " << bad.line << ": " << bad.what);
}

feature::FeatureBatch Sample::batch(Model& model, std::size_t first, std::size_t count) {
  feature::FeatureBatch batch;
  for (std::size_t next = first; next < first + count;) {
    next += model.features().map(chunk, next, first + count - next, batch);
    if (next < first + count) {
      model.features().meet(names, chunk, next, true);
      model.fit_fields();
    }
  }
  return batch;
}

/// Half of those whose cells say which row the feature has become numbers.
static void randomise_largest_values(Model& model, const feature::FeatureBatch& batch,
                                     const Tape& tape, Random& random) {
  for (std::size_t i = 0; i < batch.linear.size(); ++i) {
    if (model.rows_in_cells() && random() % 2 == 0) model.numbers_come(tape.cells[i]);
    float& largest = tape.cells[i][kMaxValue];
    if (largest >= 0) largest = random() % 2 == 0 ? 0.0f : uniform(random, 0.25f, 4);
  }
}

void randomise(Model& model, const feature::FeatureBatch& batch, std::uint32_t seed) {
  Random random(seed);
  Tape tape;
  Network network(model.spec(), *kernels::find("reference"));
  network.resolve(model, batch, tape);
  for (std::size_t i = 0; i < batch.linear.size(); ++i) {
    float* cell = tape.cells[i];
    cell[kWeight] = signed_between(random, 0.02f, 0.2f);
    if (!model.spec().mixed()) continue;
    cell[kWeight2] = signed_between(random, 0.02f, 0.2f);
    // A feature in five is new to the counts.
    cell[kCount] = random() % 5 == 0 ? 0.0f : uniform(random, 1, 50);
    cell[kClicks] = cell[kCount] * uniform(random, 0.05f, 0.5f);
  }
  if (model.spec().mixed()) randomise_largest_values(model, batch, tape, random);
  for (FieldTable& table : model.fields()) {
    for (Row row = 0; row < table.rows(); ++row) {
      for (std::size_t i = 0; i < table.shape().weights(); ++i) {
        table.set_weight(row, i, signed_between(random, 0.1f, 0.6f));
      }
    }
  }
  for (Dense& layer : model.dense()) {
    fill(random, layer.weights, 1.5f / std::sqrt(static_cast<float>(layer.inputs)));
    fill(random, layer.bias, 0.3f);
  }
  for (std::size_t g = 0; g < model.group_weights().size(); g += 2) {
    model.group_weights()[g] = uniform(random, 0.1f, 0.5f);
  }
  Scalars& scalars = model.scalars();
  scalars.bias = uniform(random, -0.3f, 0.3f);
  scalars.bias2 = uniform(random, -0.3f, 0.3f);
  scalars.clicks = 30 + random() % 30;
  scalars.count = 200;
  for (MixerState* mixer : {&scalars.first, &scalars.second}) {
    for (float& weight : mixer->weight) weight = uniform(random, 0.1f, 0.6f);
    for (float& share : mixer->log_share) share = uniform(random, -3, 0);
  }
}

std::vector<float> weights_of(const FieldTable& table, Row row) {
  std::vector<float> weights(table.shape().weights());
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = table.weight(row, i);
  return weights;
}

std::vector<float> states_of(const FieldTable& table, Row row) {
  std::vector<float> states(table.shape().state());
  for (std::size_t i = 0; i < states.size(); ++i) states[i] = table.state(row, i);
  return states;
}

void set_weights(FieldTable& table, Row row, const std::vector<float>& weights) {
  for (std::size_t i = 0; i < weights.size(); ++i) table.set_weight(row, i, weights[i]);
}

std::vector<float> all_weights(const Model& model) {
  std::vector<float> all;
  model.linear().for_each([&](std::uint32_t, const float* cell) {
    all.insert(all.end(), cell, cell + model.linear().cell_floats());
  });
  for (const FieldTable& table : model.fields()) {
    for (Row row = 0; row < table.rows(); ++row) {
      const std::vector<float> weights = weights_of(table, row);
      all.insert(all.end(), weights.begin(), weights.end());
      const std::vector<float> states = states_of(table, row);
      all.insert(all.end(), states.begin(), states.end());
    }
  }
  for (const Dense& layer : model.dense()) {
    for (const auto* values : {&layer.weights, &layer.bias, &layer.weights_state, &layer.bias_state,
                               &layer.weights_moment, &layer.bias_moment}) {
      all.insert(all.end(), values->begin(), values->end());
    }
  }
  all.insert(all.end(), model.group_weights().begin(), model.group_weights().end());
  const Scalars& s = model.scalars();
  all.insert(all.end(), {static_cast<float>(s.clicks), static_cast<float>(s.count), s.bias,
                         s.bias_sum, s.bias2, s.bias2_sum});
  for (const MixerState* mixer : {&s.first, &s.second}) {
    all.insert(all.end(), mixer->weight.begin(), mixer->weight.end());
    all.insert(all.end(), mixer->sum.begin(), mixer->sum.end());
    all.insert(all.end(), mixer->log_share.begin(), mixer->log_share.end());
  }
  return all;
}

}  // namespace leveret::model
