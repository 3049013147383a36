// The loss and mixers over lists of heads that no model of today has.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "block/loss_block.h"
#include "block/mixer.h"
#include "kernels/dispatch.h"

namespace leveret::block {
namespace {

using tape::HeadDecl;
using tape::HeadError;
using tape::TensorId;

double loss(double score, double label) { return std::log1p(std::exp(-label * score)); }

/// Two heads of each kind of error, three of the joint loss, and the loss behind them.
struct SomeHeads {
  explicit SomeHeads(bool mixed) : block(kernels::active(), config_of(mixed)) {
    own = declared.add(HeadDecl{.name = "own", .first_weight = .5f});
    bounded = declared.add(HeadDecl{.name = "bounded", .first_weight = 0, .most_error = .75f});
    start =
        declared.add(HeadDecl{.name = "start", .error = HeadError::kJoint, .first_weight = .25f});
    without =
        declared.add(HeadDecl{.name = "without", .error = HeadError::kNone, .first_weight = 1});
    declared.add(HeadDecl{.name = "not mixed", .error = HeadError::kNone});
    rows = declared.add_residual("rows", .5f, true);
    tower = declared.add_residual("tower", 1, false);
    again = declared.add_residual("tower", 1, false);
    block.declare({}, declared);
    parameters.fit({}, std::make_shared<tape::Declarations>(declared));
    batch.label = {1, -1, 0, -1};
    batch.importance = {1, 3, 1, .5f};
    tape.batch = &batch;
    tape.size = batch.label.size();
    tape.open(parameters.declared(), tape.size);
    for (std::size_t h = 0; h < declared.heads.size(); ++h) {
      for (std::size_t b = 0; b < tape.size; ++b) {
        score(declared.heads[h].score, b) = .3f * static_cast<float>(h) - .4f * b + .1f;
      }
    }
  }
  static Config config_of(bool mixed) {
    Config config;
    config.mixed = mixed;
    return config;
  }
  float& score(TensorId head, std::size_t b) { return tape[head].values[b]; }
  float error(TensorId head, std::size_t b) { return tape[head].gradient[b]; }

  LossBlock block;
  tape::Declarations declared;
  TensorId own, bounded, start, without;
  tape::ResidualPlace rows, tower, again;
  tape::Parameters parameters;
  feature::FeatureBatch batch;
  tape::Tape tape;
};

/// d importance * loss / d score, by central differences.
double slope(double score, double label, double importance) {
  constexpr double kStep = 1e-4;
  return importance * (loss(score + kStep, label) - loss(score - kStep, label)) / (2 * kStep);
}

TEST_CASE("a head learns by its own loss, by that of the whole joint score, or not at all") {
  SomeHeads all(GENERATE(true, false));
  all.block.forward({all.parameters, all.tape, 0, all.tape.size});
  all.block.backward({all.parameters, all.tape, 0, all.tape.size});
  for (std::size_t b = 0; b < all.tape.size; ++b) {
    INFO("example " << b);
    const double label = all.batch.label[b], importance = all.batch.importance[b];
    const auto slope_of = [&](TensorId head) {
      return label == 0 ? 0 : slope(all.score(head, b), label, importance);
    };
    CHECK(all.tape.learn[b] == (label != 0));
    CHECK(all.error(all.own, b) == Approx(slope_of(all.own)).margin(1e-6));
    CHECK(all.error(all.bounded, b) ==
          Approx(std::clamp(slope_of(all.bounded), -.75, .75)).margin(1e-6));
    for (const TensorId head : {all.start, all.rows.score, all.tower.score}) {
      CHECK(all.error(head, b) == Approx(slope_of(all.tower.score)).margin(1e-6));
    }
    CHECK(all.tape[all.without].gradient == nullptr);
  }
  CHECK(slope(all.score(all.bounded, 1), -1, 3) > .75);  // so that it is bounded at all
}

TEST_CASE("without mixed heads the answer is the whole joint score") {
  SomeHeads all(false);
  all.block.forward({all.parameters, all.tape, 0, all.tape.size});
  for (std::size_t b = 0; b < all.tape.size; ++b) {
    CHECK(all.tape.answers[b] == all.score(all.tower.score, b));
  }
}

TEST_CASE("an example whose answer is not finite is not learned from, and leaves no error") {
  SomeHeads all(false);
  all.score(all.tower.score, 1) = std::numeric_limits<float>::quiet_NaN();
  all.block.forward({all.parameters, all.tape, 0, all.tape.size});
  all.block.backward({all.parameters, all.tape, 0, all.tape.size});
  CHECK(all.tape.learn[0] == 1);
  CHECK(all.tape.learn[1] == 0);
  for (const TensorId head : {all.own, all.bounded, all.start, all.tower.score}) {
    CHECK(all.error(head, 1) == 0);
  }
}

TEST_CASE("who joins the joint score goes on from the head before, in a head of its own or that") {
  const SomeHeads all(true);
  CHECK(all.rows.before == all.start);
  CHECK(all.tower.before == all.rows.score);
  CHECK(all.tower.score != all.rows.score);
  CHECK(all.again.before == all.tower.score);
  CHECK(all.again.score == all.tower.score);
  CHECK(all.declared.joint == std::vector{all.start, all.rows.score, all.tower.score});
}

TEST_CASE("the answer mixes the heads that have a weight: without error, joint, then others") {
  const SomeHeads all(true);
  REQUIRE(all.declared.mixers.size() == 1);
  // The rows stand in place of the start, and the tower beside the rows.
  CHECK(all.declared.mixers[0].inputs ==
        std::vector{all.without, all.rows.score, all.tower.score, all.own, all.bounded});
  const tape::ConstMixerState state =
      all.declared.mixers[0].state(all.parameters.scalars.mixers.data());
  const std::vector<float> first{1, .5f, 1, .5f, 0};
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(state.weight[i] == first[i] / 3);
  for (std::size_t i = 0; i < 5; ++i) CHECK(state.sum[i] == MixerOptions{}.init_acc);
  for (std::size_t i = 0; i < 6; ++i) CHECK(state.log_share[i] == 0);
}

/// mixer.h in plain double precision, of any number of inputs.
struct PlainMixer {
  std::vector<double> weight, sum, log_share;

  std::vector<double> with_sum(std::vector<double> scores) const {
    double mixture = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) mixture += weight[i] * scores[i];
    scores.push_back(mixture);
    return scores;
  }
  double forward(const std::vector<double>& scores) const {
    double shares = 0, p = 0;
    const std::vector<double> all = with_sum(scores);
    for (std::size_t i = 0; i < all.size(); ++i) {
      shares += std::exp(log_share[i]);
      p += std::exp(log_share[i]) / (1 + std::exp(-all[i]));
    }
    return std::log(p / shares / (1 - p / shares));
  }
  void learn(const std::vector<double>& scores, double label, double kept) {
    const std::vector<double> all = with_sum(scores);
    for (std::size_t i = 0; i < all.size(); ++i) {
      log_share[i] = kept * log_share[i] - .5 * loss(all[i], label);
    }
    const double best = *std::max_element(log_share.begin(), log_share.end());
    for (double& share : log_share) share -= best;
    const double d = slope(all.back(), label, 1);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      sum[i] += d * scores[i] * d * scores[i];
      weight[i] -= .05 * d * scores[i] / std::sqrt(sum[i]);
    }
  }
};

TEST_CASE("a mixer of any number of inputs agrees with the plain reference, and learns as it") {
  const std::size_t n = GENERATE(1, 2, 4, 5, 7);
  INFO(n << " inputs");
  tape::Declarations declared;
  std::vector<MixerInput> inputs;
  for (std::size_t i = 0; i < n; ++i) {
    const TensorId head = declared.add(HeadDecl{.name = "head " + std::to_string(i)});
    inputs.push_back({head, static_cast<float>(i + 1)});
  }
  const tape::MixerDecl mixer = declare_mixer("some", inputs, declared);
  // One more, whose numbers begin behind its.
  const tape::MixerDecl other = declare_mixer("other", inputs, declared);
  tape::Parameters parameters;
  parameters.fit({}, std::make_shared<tape::Declarations>(declared));
  std::vector<float>::size_type most = tape::MixerDecl::most_inputs(n);
  CHECK(most == std::max<std::size_t>(n, 4));
  CHECK(parameters.scalars.mixers.size() == 2 * (3 * most + 1));
  const std::vector<float> untouched(parameters.scalars.mixers.begin() + 3 * most + 1,
                                     parameters.scalars.mixers.end());

  PlainMixer plain;
  for (std::size_t i = 0; i < n; ++i) {
    plain.weight.push_back(static_cast<double>(i + 1) / static_cast<double>(n * (n + 1) / 2));
  }
  plain.sum.assign(n, 10);
  plain.log_share.assign(n + 1, 0);

  tape::Tape tape;
  tape.open(parameters.declared(), 2);
  for (std::size_t round = 0; round < 50; ++round) {
    const std::size_t b = round % 2;
    std::vector<double> scores;
    for (std::size_t i = 0; i < n; ++i) {
      const float score = std::sin(static_cast<float>(3 * round + 7 * i));
      tape[mixer.inputs[i]].values[b] = score;
      scores.push_back(score);
    }
    REQUIRE(mix(parameters.scalars, mixer, tape, b) == Approx(plain.forward(scores)).margin(1e-5));
    const float label = round % 3 == 0 ? 1 : -1;
    Mixer(n).apply(mixer.state(parameters.scalars.mixers.data()), tape[mixer.heard].at(b), label, 1,
                   .99f);
    plain.learn(scores, label, .99);
  }
  const tape::MixerState state = mixer.state(parameters.scalars.mixers.data());
  for (std::size_t i = 0; i < n; ++i) {
    CHECK(state.weight[i] == Approx(plain.weight[i]).margin(1e-5));
    CHECK(state.sum[i] == Approx(plain.sum[i]).margin(1e-4));
  }
  for (std::size_t i = 0; i <= n; ++i) {
    CHECK(state.log_share[i] == Approx(plain.log_share[i]).margin(1e-4));
  }
  CHECK(std::equal(untouched.begin(), untouched.end(),
                   parameters.scalars.mixers.begin() + 3 * most + 1));
  CHECK(other.weight == 3 * most + 1);
}

}  // namespace
}  // namespace leveret::block
