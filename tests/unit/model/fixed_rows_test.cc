// Models whose FFM weights are fixed-point numbers against models of the same weights that are
// floats.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "block/ffm_block.h"
#include "find_block.h"
#include "int16_near.h"
#include "random_model.h"
#include "reference_model.h"

namespace leveret::model {
namespace {

std::vector<float> all_rows(const Model& model) {
  std::vector<float> all;
  for (const table::Shard& shard : model.tables()) {
    for (table::Row row = 0; row < shard.rows().size(); ++row) {
      const std::vector<float> w = weights_of(shard.rows(), row);
      all.insert(all.end(), w.begin(), w.end());
    }
  }
  return all;
}

/// Two models that differ in the format of their rows, which hold the same weights, all of them
/// fixed-point numbers.
struct Pair {
  Pair(const Spec& spec, const std::string& lines, const kernels::Kernels& kernels)
      : fixed(spec, kTestMemory),
        floats(of_floats_only(spec), kTestMemory),
        text(lines),
        of_fixed(text),
        of_floats(text),
        fixed_trainer(fixed, kernels),
        float_trainer(floats, kernels) {
    randomise(fixed, of_fixed.batch(fixed), 6);
    randomise(floats, of_floats.batch(floats), 6);
    for (std::uint32_t f = 0; f < fixed.tables().fields(); ++f) {
      const table::Rows& from = fixed.tables().field(f).rows();
      table::Rows& to = floats.tables().field(f).rows();
      REQUIRE(from.size() == to.size());
      for (table::Row row = 0; row < from.size(); ++row) {
        set_weights(to, row, weights_of(from, row));
      }
    }
  }
  static Spec of_floats_only(Spec spec) {
    spec.row_bits = spec.state_bits = 32;
    return spec;
  }

  Model fixed, floats;
  std::string text;
  Sample of_fixed, of_floats;
  Trainer fixed_trainer, float_trainer;
};

bool has_short_sums(const Spec& spec) { return spec.state_codec() == kernels::Codec::bf16(); }

void check_step(Spec spec, const LineShape& shape, std::size_t batch,
                const kernels::Kernels& kernels) {
  INFO(kernels.name << ", " << spec.row_bits << " bits, k " << spec.ffm_k << ", slice "
                    << spec.adagrad_slice << ", sums of " << spec.state_bits << ", l2 " << spec.l2
                    << ", " << shape.features << " features a field, batches of " << batch);
  spec.admit = 1;
  spec.hidden = {5};
  Pair pair(spec, random_lines(6, shape, 5), kernels);
  pair.fixed_trainer.learn(pair.fixed, pair.of_fixed.batch(pair.fixed, 2, batch));
  pair.float_trainer.learn(pair.floats, pair.of_floats.batch(pair.floats, 2, batch));
  // Before the step they said the same, but for the order of sums.
  for (std::size_t b = 0; b < batch; ++b) {
    CHECK(pair.fixed_trainer.tape.answers[b] ==
          Approx(pair.float_trainer.tape.answers[b]).epsilon(1e-5).margin(1e-6));
  }
  const kernels::Codec codec = spec.weight_codec();
  const double near_weight = kInt16NearUnits * double{codec.unit()};
  bool rounded = false;
  for (std::uint32_t f = 0; f < pair.fixed.tables().fields(); ++f) {
    const table::Rows& fixed = pair.fixed.tables().field(f).rows();
    const table::Rows& floats = pair.floats.tables().field(f).rows();
    for (table::Row row = 0; row < fixed.size(); ++row) {
      const std::vector<float> sums = states_of(fixed, row), exact = states_of(floats, row);
      for (std::size_t i = 0; i < sums.size(); ++i) {
        // The first value has been rounded, too, to the nearest.
        const double near = 1e-4 + (has_short_sums(spec) ? 1.25 * kBf16Near : 0);
        CHECK(sums[i] == Approx(exact[i]).epsilon(near));
      }
      const std::vector<float> weights = weights_of(fixed, row), wanted = weights_of(floats, row);
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const double expected = std::clamp(wanted[i], codec.smallest(), codec.largest());
        const double got = weights[i];
        if (!(std::abs(got - expected) < near_weight)) {
          FAIL("weight " << i << ": " << got << " for " << expected);
        }
        rounded = rounded || got != expected;
      }
    }
  }
  CHECK(rounded);
}

TEST_CASE(
    "a step with fixed point is the step with floats, rounded to one of the numbers around it") {
  for (const kernels::Kernels* kernels : kernels_to_test()) {
    for (const std::uint32_t k : {3u, 4u, 8u}) {
      for (const bool slice : {false, true}) {
        for (const float l2 : {0.0f, 0.01f}) {
          for (const std::uint32_t bits : {16u, 12u, 8u, 4u}) {
            for (const std::uint32_t state_bits : {16u, 32u}) {
              Spec spec;
              spec.ffm_k = k;
              spec.row_bits = bits;
              spec.adagrad_slice = slice;
              spec.state_bits = state_bits;
              spec.l2 = l2;
              LineShape in_place;
              in_place.features = 1;
              LineShape several;
              // With an MLP and counts all gradients are other ones than those of its own scores.
              for (const std::size_t batch : {1, 4}) check_step(spec, in_place, batch, *kernels);
              for (const std::size_t batch : {1, 4}) check_step(spec, several, batch, *kernels);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("scores of a model of fixed-point weights are those of the reference") {
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
    Trainer trainer(model, *kernels);
    trainer.gradients(model, batch);
    for (std::size_t b = 0; b < batch.size(); ++b) {
      CHECK(trainer.tape.answers[b] ==
            Approx(reference.forward(batch, b).last).epsilon(1e-4).margin(1e-4));
    }
  }
}

/// What is slow otherwise: the whole row would become floats and codes again.
TEST_CASE("rows of few bits with a feature in each field learn their pairs as integers") {
  for (const std::uint32_t bits : {32u, 16u, 12u, 8u, 4u}) {
    for (const bool nearest : {false, true}) {
      Spec spec;
      spec.row_bits = bits;
      spec.rounds_to_nearest = nearest;
      spec.admit = 1;
      INFO(bits << " bits, nearest " << nearest);
      Model model(spec, kTestMemory);
      LineShape shape;
      shape.features = 1;
      Sample sample(random_lines(6, shape, 5));
      Trainer trainer(model, kernels::active());
      trainer.learn(model, sample.batch(model, 0, 1));
      const OneBlock<block::FfmBlock> ffm(model);
      const bool in_place = !(*ffm).in_place(model.parameters(), trainer.tape).rows.empty();
      CHECK(in_place == (!nearest || bits == 32));
    }
  }
}

TEST_CASE("steps far below the unit are not lost: their mean is kept") {
  Spec spec;
  spec.row_bits = GENERATE(16, 12, 8);
  spec.heads = spec::Heads::kOne;
  spec.hidden = {};
  spec.admit = 1;
  const float unit = spec.weight_codec().unit();
  // Steps of less than a tenth of the unit, by way of floats or of integers.
  const bool integers = GENERATE(false, true);
  spec.rows = {unit, 0.0f, 0.0f};
  if (integers) spec.rows = {100 * unit, 0.5f, 1e4f};
  INFO(spec.row_bits << " bits, as integers " << integers);
  Pair pair(spec, "1 |A a |B b |C c |D d |E e |F f\n", kernels::active());
  const std::vector<float> first = all_rows(pair.floats);
  for (int times = 0; times < 4000; ++times) {
    pair.fixed_trainer.learn_online(pair.fixed, pair.of_fixed);
    pair.float_trainer.learn_online(pair.floats, pair.of_floats);
  }
  const std::vector<float> floats = all_rows(pair.floats), fixed = all_rows(pair.fixed);
  double length = 0, along = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double moved = double{floats[i]} - first[i];
    length += moved * moved;
    along += moved * (double{fixed[i]} - first[i]);
  }
  CHECK(std::sqrt(length) > 20 * double{unit});
  CHECK(along / length == Approx(1).epsilon(0.15));
}

}  // namespace
}  // namespace leveret::model
