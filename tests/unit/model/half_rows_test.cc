// Models whose FFM weights are halves against models of the same weights that are floats.
#include <catch2/catch.hpp>
#include <cmath>

#include "half_ulp.h"
#include "random_model.h"
#include "reference_model.h"

namespace leveret::model {
namespace {

std::vector<float> all_rows(const Model& model) {
  std::vector<float> all;
  for (const FieldTable& table : model.fields()) {
    for (Row row = 0; row < table.rows(); ++row) {
      const std::vector<float> w = weights_of(table, row);
      all.insert(all.end(), w.begin(), w.end());
    }
  }
  return all;
}

/// Two models that differ in the format of their rows, which hold the same weights, all of them
/// halves.
struct Pair {
  Pair(Spec spec, const std::string& lines, const kernels::Kernels& kernels)
      : halves(with(spec, 16), kTestMemory),
        floats(with(spec, 32), kTestMemory),
        text(lines),
        of_halves(text),
        of_floats(text),
        half_trainer(halves.spec(), kernels),
        float_trainer(floats.spec(), kernels) {
    randomise(halves, of_halves.batch(halves), 6);
    randomise(floats, of_floats.batch(floats), 6);
    for (std::size_t f = 0; f < halves.fields().size(); ++f) {
      REQUIRE(halves.fields()[f].rows() == floats.fields()[f].rows());
      for (Row row = 0; row < halves.fields()[f].rows(); ++row) {
        set_weights(floats.fields()[f], row, weights_of(halves.fields()[f], row));
      }
    }
  }
  static Spec with(Spec spec, std::uint32_t precision) {
    spec.ffm_precision = precision;
    return spec;
  }

  Model halves, floats;
  std::string text;
  Sample of_halves, of_floats;
  Trainer half_trainer, float_trainer;
};

void check_step(Spec spec, const LineShape& shape, std::size_t batch,
                const kernels::Kernels& kernels) {
  INFO(kernels.name << ", k " << spec.ffm_k << ", slice " << spec.adagrad_slice << ", l2 "
                    << spec.l2 << ", " << shape.features << " features a field, batches of "
                    << batch);
  spec.admit = 1;
  spec.hidden = {5};
  Pair pair(spec, random_lines(6, shape, 5), kernels);
  pair.half_trainer.learn(pair.halves, pair.of_halves.batch(pair.halves, 2, batch));
  pair.float_trainer.learn(pair.floats, pair.of_floats.batch(pair.floats, 2, batch));
  // Before the step they said the same.
  for (std::size_t b = 0; b < batch; ++b) {
    CHECK(pair.half_trainer.tape.scores[b].last == pair.float_trainer.tape.scores[b].last);
  }
  bool rounded = false;
  for (std::size_t f = 0; f < pair.halves.fields().size(); ++f) {
    const FieldTable &halves = pair.halves.fields()[f], &floats = pair.floats.fields()[f];
    for (Row row = 0; row < halves.rows(); ++row) {
      CHECK(std::equal(halves.state(row), halves.state(row) + halves.shape().state(),
                       floats.state(row)));
      for (std::size_t i = 0; i < halves.shape().weights(); ++i) {
        const double expected = floats.weight(row, i), got = halves.weight(row, i);
        if (!(std::abs(got - expected) < half_ulp(expected) || got == expected)) {
          FAIL("weight " << i << ": " << got << " for " << expected);
        }
        rounded = rounded || got != expected;
      }
    }
  }
  CHECK(rounded);
}

TEST_CASE("a step with halves is the step with floats, rounded to one of the halves around it") {
  for (const kernels::Kernels* kernels : kernels_to_test()) {
    for (const std::uint32_t k : {3u, 4u, 8u}) {
      for (const bool slice : {false, true}) {
        for (const float l2 : {0.0f, 0.01f}) {
          Spec spec;
          spec.ffm_k = k;
          spec.adagrad_slice = slice;
          spec.l2 = l2;
          LineShape in_place;
          in_place.features = 1;
          LineShape several;
          // With an MLP and counts all gradients are other ones than those of its own scores.
          check_step(spec, in_place, 1, *kernels);
          check_step(spec, several, 1, *kernels);
          check_step(spec, several, 4, *kernels);
        }
      }
    }
  }
}

TEST_CASE("scores of a model of halves are those of the reference") {
  for (const kernels::Kernels* kernels : kernels_to_test()) {
    Spec spec;
    spec.admit = 1;
    LineShape shape;
    shape.features = GENERATE(1, 3);
    Model model(spec, kTestMemory);
    Sample sample(random_lines(8, shape, 2));
    const feature::FeatureBatch batch = sample.batch(model);
    randomise(model, batch, 9);
    ReferenceModel reference(model, batch);
    Trainer trainer(spec, *kernels);
    trainer.gradients(model, batch);
    for (std::size_t b = 0; b < batch.size(); ++b) {
      CHECK(trainer.tape.scores[b].last ==
            Approx(reference.forward(batch, b).last).epsilon(1e-4).margin(1e-4));
    }
  }
}

TEST_CASE("steps far below a half's distances are not lost: their mean is kept") {
  Spec spec;
  spec.heads = Heads::kOne;
  spec.hidden = {};
  spec.admit = 1;
  spec.ffm = {2e-4f, 0.0f, 0.0f};  // less than a tenth of what lies between two halves
  Pair pair(spec, "1 |A a |B b |C c\n", kernels::active());
  const std::vector<float> first = all_rows(pair.floats);
  for (int times = 0; times < 4000; ++times) {
    pair.half_trainer.learn_online(pair.halves, pair.of_halves);
    pair.float_trainer.learn_online(pair.floats, pair.of_floats);
  }
  const std::vector<float> floats = all_rows(pair.floats), halves = all_rows(pair.halves);
  double length = 0, along = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double moved = double{floats[i]} - first[i];
    length += moved * moved;
    along += moved * (double{halves[i]} - first[i]);
  }
  CHECK(std::sqrt(length) > 20 * half_ulp(0.3));
  CHECK(along / length == Approx(1).epsilon(0.15));
}

}  // namespace
}  // namespace leveret::model
