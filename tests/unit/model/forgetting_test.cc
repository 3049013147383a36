// What a model with mixed heads lets go of, and how far its fast head may step.
#include "block/forgetting.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <span>
#include <vector>

#include "block/fast_head.h"
#include "block/mixer.h"
#include "random_model.h"

namespace leveret::model {
namespace {

block::Config with_fast_head(bool on) {
  block::Config config;
  config.fast_head = on;
  return config;
}

tape::Scalars stream(double clicks, double count, std::uint64_t examples) {
  tape::Scalars scalars;
  scalars.clicks = clicks;
  scalars.count = count;
  scalars.examples = examples;
  return scalars;
}

TEST_CASE("a window holds a thousand even bets, and an eighth of the stream at least") {
  const block::Config on = with_fast_head(true), off = with_fast_head(false);
  CHECK(forgotten_share(stream(500, 1000, 1000), on) == Approx(.001));
  CHECK(forgotten_share(stream(10, 1000, 1000), on) == Approx(.001 * 4 * .01 * .99));
  CHECK(forgotten_share(stream(990, 1000, 1000), on) == Approx(.001 * 4 * .01 * .99));
  CHECK(forgotten_share(stream(500, 1000, 15999), on) == Approx(8. / 16000));
  CHECK(decay_of_sums(stream(500, 1000, 15999), on) == Approx(1 - 8. / 16000));
  CHECK(most_sights(stream(1, 2, 1), on) == 5000);
  CHECK(most_sights(stream(1, 80000, 1), on) == 10000);
  CHECK(most_sights(stream(1, 1e12, 1), on) == 0x1p22f);
  CHECK(forgotten_share(stream(10, 1000, 1000000), off) == .0005);
  CHECK(decay_of_sums(stream(500, 1000, 10), off) == 1);
  CHECK(most_sights(stream(1, 2, 1), off) == 0x1p22f);
}

TEST_CASE("counts above the most sights become these, at the same rate") {
  Spec spec;
  spec.fast_head = GENERATE(true, false);
  Model model(spec, kTestMemory);
  Sample sample("-1 |A a\n");
  const feature::FeatureBatch batch = sample.batch(model);
  Trainer trainer(model, kernels::active());
  trainer.gradients(model, batch);
  table::MixedCell& cell = table::mixed(*trainer.tape.to_learn.cells[0]);
  model.parameters().scalars.count = 79999;  // the next example makes it 80,000
  cell.count = 20000;
  cell.clicks = 5000;
  trainer.step_again(model);
  CHECK(cell.count == (spec.fast_head ? 10000 : 20001));
  CHECK(cell.clicks == Approx(spec.fast_head ? 5000. / 20001 * 10000 : 5000));
}

TEST_CASE("a hedge keeps the share of its past that it is told, and adds this example's losses") {
  const block::Mixer mixer(2);
  std::vector<float> weight{.5f, .5f}, sums{10, 10}, log_share{0, -2, -6}, heard{1, -2, 0, 0, 0, 0};
  const tape::MixerState state{weight.data(), sums.data(), log_share.data()};
  mixer.forward({weight.data(), sums.data(), log_share.data()}, heard.data());
  const float sum = heard[2];
  CHECK(sum == Approx(-.5));
  const float label = GENERATE(1.0f, -1.0f);
  mixer.apply(state, heard.data(), label, 3, .75f);
  double expected[3];
  for (int i = 0; i < 3; ++i) {
    const double before[] = {0, -2, -6}, score[] = {1, -2, sum};
    expected[i] = .75 * before[i] - .5 * 3 * std::log1p(std::exp(-label * score[i]));
  }
  for (int i = 1; i < 3; ++i) {
    CHECK(state.log_share[i] - state.log_share[0] == Approx(expected[i] - expected[0]));
  }
}

TEST_CASE("no importance lets the fast head step further than the worst surprise") {
  Model model(Spec{}, kTestMemory);
  Sample sample("1 1000000 |A a |B b |C c\n-1 |A a |B b |C c\n");
  Trainer trainer(model, kernels::active());
  trainer.learn(model, sample.batch(model, 0, 1));
  const table::MixedCell& cell = table::mixed(*trainer.tape.to_learn.cells[0]);
  // 4 / (1 + three features) at a gradient of -1.
  CHECK(cell.fast == 1);
  CHECK(model.parameters().scalars.fast_bias == 1);
}

TEST_CASE("in a batch a fast weight moves once, by its examples' bound of the curvature") {
  Spec spec;
  spec.ffm_k = 0;
  Model model(spec, kTestMemory);
  // The first has two features, of which one takes part in both.
  Sample sample("1 |A a b:0.5\n-1 |A a\n");
  const feature::FeatureBatch batch = sample.batch(model);
  Trainer trainer(model, kernels::active());
  trainer.learn(model, batch);
  // The base rate starts at 1/2, and 0.5 is the largest value of its feature: x is 1.
  const auto fast = [&](std::size_t i) {
    return table::mixed(*trainer.tape.to_learn.cells[i]).fast;
  };
  CHECK(fast(0) == 0);                   // their gradients, -1/2 and 1/2, cancel
  CHECK(fast(1) == Approx(4 * .5 / 3));  // 1 + |x|² is 3
  CHECK(model.parameters().scalars.fast_bias == 0);
}

/// AdaGrad's sums of the first layer.
std::span<float> sums_of(Parameters& parameters) {
  return parameters.learned_layer(0).weights_states[0];
}

/// What a thread does that has gone from `before` to `after`; both become as `merged` is.
void merge_copies(Parameters& merged, Parameters before, Parameters after) {
  merged.exchange(before, after);
  for (Parameters* const same : {&before, &after}) {
    CHECK(same->scalars.forgotten == merged.scalars.forgotten);
    merged.for_each([&]<class T>(const tape::ArrayValues<T>& values) {
      if constexpr (std::is_same_v<T, float>) {
        const std::span<const float> theirs = array_of(*same, values.array.name);
        CHECK(std::ranges::equal(values.all().first(theirs.size()), theirs));
      }
    });
  }
}

TEST_CASE(
    "what threads forget side by side is forgotten once for each, and nothing turns negative") {
  Model model(Spec{}, kTestMemory);
  Sample sample("1 |A a |B b\n-1 |A b |B c\n");
  randomise(model, sample.batch(model), 1);
  const Parameters before = model.parameters();
  Parameters after = before;
  // Each thread has kept 30 % of its sums and of its hedges.
  for (float& sum : sums_of(after)) sum *= .3f;
  after.scalars.forgotten += -std::log(.3);
  for (float& share : array_of(after, "second_mixer.log_share")) share *= .3f;
  after.scalars.fast_bias = .5f;
  Parameters& merged = model.parameters();
  for (int thread = 0; thread < 3; ++thread) merge_copies(merged, before, after);
  const float left = .3f * .3f * .3f;
  Parameters start_of_all = before;
  CHECK(sums_of(merged)[0] == Approx(left * sums_of(start_of_all)[0]));
  const std::span<const float> was = array_of(start_of_all, "second_mixer.log_share");
  const std::span<const float> now = array_of(merged, "second_mixer.log_share");
  for (std::size_t i = 1; i < was.size(); ++i) {
    CHECK(now[i] - now[0] == Approx(left * (was[i] - was[0])).margin(1e-5));
  }
  CHECK(merged.scalars.fast_bias == .5f);
  CHECK(merged.scalars.forgotten == Approx(-3 * std::log(.3)));
  // What has grown is added, as ever.
  Parameters grown = merged;
  sums_of(grown)[0] += 2;
  const float sum = sums_of(merged)[0];
  const Parameters start = merged;
  for (int thread = 0; thread < 2; ++thread) merge_copies(merged, start, grown);
  CHECK(sums_of(merged)[0] == Approx(sum + 4));
}

TEST_CASE("a head that is far behind stays there, however many threads find it so") {
  Model model(Spec{}, kTestMemory);
  Parameters& merged = model.parameters();
  std::ranges::copy(std::vector<float>{-10, 0, -1, -34, -1},
                    array_of(merged, "second_mixer.log_share").begin());
  const block::Mixer mixer(4);
  // The fourth head is wrong each time.
  std::vector<float> heard{1, 2, 2, -3, 2};
  heard.resize(10, .9f);
  for (int round = 0; round < 3; ++round) {
    const Parameters before = merged;
    Parameters after = before;
    const tape::MixerState state{array_of(after, "second_mixer.weight").data(),
                                 array_of(after, "second_mixer.sum").data(),
                                 array_of(after, "second_mixer.log_share").data()};
    for (int i = 0; i < 100; ++i) mixer.apply(state, heard.data(), 1, 1, 1);
    for (int thread = 0; thread < 5; ++thread) merge_copies(merged, before, after);
    INFO("after " << round + 1 << " rounds");
    const std::span<const float> share = array_of(merged, "second_mixer.log_share");
    CHECK(share[3] == -40);
    CHECK(share[1] > -40);
    CHECK(*std::ranges::max_element(share) == 0);
  }
}

}  // namespace
}  // namespace leveret::model
