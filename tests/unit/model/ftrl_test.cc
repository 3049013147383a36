// FTRL-proximal of two weights with one sum, beside the algorithm as it is written, which keeps z.
#include "optim/ftrl.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>
#include <utility>

#include "spec/optimizer.h"
#include "stepper.h"

namespace leveret::model {
namespace {

/// McMahan et al. 2013, algorithm 1, with the squares of g2 for both.
struct PlainPair {
  double n = 0, z = 0, z2 = 0;
  double alpha, beta, l1, l2;

  double weight(double of) const {
    const double sign = of < 0 ? -1 : 1;
    if (std::abs(of) <= l1) return 0;
    return -(of - sign * l1) / ((beta + std::sqrt(n)) / alpha + l2);
  }
  void step(double g, double g2) {
    const double w = weight(z), w2 = weight(z2);
    const double sigma = (std::sqrt(n + g2 * g2) - std::sqrt(n)) / alpha;
    z += g - sigma * w;
    z2 += g2 - sigma * w2;
    n += g2 * g2;
  }
};

rules::Learning learning_of(const PlainPair& plain) {
  rules::Learning learning;
  learning.linear.rate = static_cast<float>(plain.alpha);
  learning.ftrl_beta = static_cast<float>(plain.beta);
  learning.l1 = static_cast<float>(plain.l1);
  learning.l2 = static_cast<float>(plain.l2);
  return learning;
}

TEST_CASE("two weights of FTRL are those of an algorithm that keeps z, asleep and awake") {
  const double l1 = GENERATE(0.0, 0.5, 3.0), l2 = GENERATE(0.0, 0.5), beta = GENERATE(0.0, 1.0);
  PlainPair plain{.alpha = 0.3, .beta = beta, .l1 = l1, .l2 = l2};
  const optim::FtrlWeights ftrl(learning_of(plain));
  std::mt19937 random(17);
  std::normal_distribution<float> normal(0.2f, 0.5f);
  float w = 0, w2 = 0, sum = 0;
  std::size_t asleep = 0, awake = 0;
  for (int i = 0; i < 2000; ++i) {
    // Runs of one sign, so that weights cross 0 now and then.
    const float side = (i / 50) % 2 == 0 ? 1.0f : -1.0f;
    const float g = side * normal(random), g2 = side * normal(random);
    plain.step(g, g2);
    ftrl.step(w, w2, sum, g, g2);
    INFO(i);
    REQUIRE(w == Approx(plain.weight(plain.z)).epsilon(1e-3).margin(1e-3));
    REQUIRE(w2 == Approx(plain.weight(plain.z2)).epsilon(1e-3).margin(1e-3));
    REQUIRE(sum == Approx(plain.n).epsilon(1e-3));
    asleep += plain.weight(plain.z) == 0;
    awake += plain.weight(plain.z) != 0;
  }
  CHECK(awake > 100);
  if (l1 == 0) CHECK(asleep == 0);
  if (l1 == 3) CHECK(asleep > 20);
}

TEST_CASE("a weight that L1 holds at zero adds nothing to a score, and wakes where it was") {
  PlainPair plain{.alpha = 0.1, .beta = 1, .l1 = 1, .l2 = 0};
  const optim::FtrlWeights ftrl(learning_of(plain));
  float w = 0, w2 = 0, sum = 0;
  for (int i = 0; i < 9; ++i) {
    ftrl.step(w, w2, sum, 0.11f, 0.1f);
    plain.step(0.11f, 0.1f);
    REQUIRE(1e-3f + w * 1e6f == 1e-3f);
  }
  ftrl.step(w, w2, sum, 0.11f, 0.1f);
  plain.step(0.11f, 0.1f);
  CHECK(w < -1e-4f);
  CHECK(w == Approx(plain.weight(plain.z)).epsilon(1e-3));
}

TEST_CASE(
    "with a beta of 0 a weight stays finite before a square counts, and then is where it should") {
  PlainPair plain{.alpha = 0.1, .beta = 0, .l1 = 0.5, .l2 = 0};
  const optim::FtrlWeights ftrl(learning_of(plain));
  float w = 0, w2 = 0, sum = 0;
  ftrl.step(w, w2, sum, 0.75f, 0.0f);
  plain.z += 0.75;
  REQUIRE(std::isfinite(w));
  REQUIRE(w * 1e6f + 1e-3f == 1e-3f);
  ftrl.step(w, w2, sum, 0.25f, 0.5f);
  plain.z += 0.25;
  plain.z2 += 0.5;
  plain.n += 0.25;
  CHECK(w == Approx(plain.weight(plain.z)).epsilon(1e-4));
  CHECK(w2 == Approx(plain.weight(plain.z2)).margin(1e-6));
}

TEST_CASE("what has no gradient keeps its bits") {
  PlainPair plain{.alpha = 0.1, .beta = 1, .l1 = 0.01, .l2 = 0.3};
  const optim::FtrlWeights ftrl(learning_of(plain));
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 1);
  float w = 0, w2 = 0, sum = 0;
  for (int i = 0; i < 500; ++i) {
    const float before = w, before2 = w2, sum_before = sum;
    ftrl.step(w, w2, sum, 0.0f, 0.0f);
    REQUIRE((w == before && w2 == before2 && sum == sum_before));
    ftrl.step(w, w2, sum, normal(random), 0.0f);
    REQUIRE((w2 == before2 && sum == sum_before));
    ftrl.step(w, w2, sum, normal(random), normal(random));
  }
}

TEST_CASE("mixed heads learn their cells by FTRL") {
  Spec spec;
  spec::set_optimizer(spec, "ftrl");
  spec.linear.rate = 0.4f;
  Model model(spec, kTestMemory);
  Sample sample(random_lines(50, LineShape{}, 5));
  Trainer trainer(model, kernels::active());
  const optim::FtrlWeights ftrl(spec);
  // Names of features, as their cells move when tables grow.
  using Name = std::pair<std::uint32_t, std::uint32_t>;
  for (std::size_t i = 0; i < sample.chunk.examples.size(); ++i) {
    const feature::FeatureBatch batch = sample.batch(model, i, 1);
    std::map<Name, table::MixedCell> expected;
    for (const feature::LinearRun& run : batch.linear_runs_of(0)) {
      for (std::uint32_t f = run.begin; f < run.end; ++f) {
        const Name name{run.group, batch.linear[f].hash};
        const table::Cell* const cell = model.tables().find_cell(name.first, name.second);
        expected.emplace(name, cell != nullptr ? table::mixed(*cell) : table::MixedCell{});
      }
    }
    trainer.learn(model, batch);
    const tape::LinearErrors& errors = trainer.tape.linear_errors[0];
    for (const feature::LinearRun& run : batch.linear_runs_of(0)) {
      for (std::uint32_t f = run.begin; f < run.end; ++f) {
        table::MixedCell& cell = expected.at({run.group, batch.linear[f].hash});
        const float x = trainer.tape.values[f];
        ftrl.step(cell.weight, cell.weight2, cell.sum, errors.linear * x, errors.linear2 * x);
      }
    }
    for (const auto& [name, should] : expected) {
      const table::MixedCell& cell =
          table::mixed(*model.tables().find_cell(name.first, name.second));
      CHECK(cell.weight == should.weight);
      CHECK(cell.weight2 == should.weight2);
      CHECK(cell.sum == should.sum);
    }
  }
}

}  // namespace
}  // namespace leveret::model
