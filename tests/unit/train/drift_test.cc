// Streams whose target moves, and those whose does not.
#include <cmath>
#include <random>

#include "train_run.h"

namespace leveret::train {
namespace {

/// Three fields of eight values each, whose weights are drawn again every `stretch` lines.
std::string moving_lines(std::size_t lines, std::size_t stretch, std::uint32_t seed) {
  constexpr std::uint32_t kFields = 3, kValues = 8;
  std::mt19937 random(seed);
  float weights[kFields][kValues] = {};
  std::string text;
  for (std::size_t l = 0; l < lines; ++l) {
    if (l % stretch == 0) {
      for (auto& field : weights) {
        for (float& weight : field) weight = random() % 2 == 0 ? 1.5f : -1.5f;
      }
    }
    float score = 0;
    std::string features;
    for (std::uint32_t f = 0; f < kFields; ++f) {
      const std::uint32_t value = random() % kValues;
      score += weights[f][value];
      features += std::string(" |") + static_cast<char>('a' + f) + " v" + std::to_string(value);
    }
    const float chance = 1 / (1 + std::exp(-score));
    text += static_cast<float>(random() % 10000) < 10000 * chance ? "1" : "-1";
    text += features + "\n";
  }
  return text;
}

/// Mean progressive logloss of the second half.
double loss_of(const spec::Spec& spec, const std::string& lines) {
  TrainRun run(spec);
  run.learn(lines);
  double sum = 0;
  const std::size_t half = run.outcomes.items.size() / 2;
  for (std::size_t i = half; i < run.outcomes.items.size(); ++i) {
    const Outcome& outcome = run.outcomes.items[i];
    sum -= std::log(outcome.label > 0 ? outcome.probability : 1 - outcome.probability);
  }
  return sum / static_cast<double>(run.outcomes.items.size() - half);
}

TEST_CASE("the fast head follows a target that moves, and costs little where none does") {
  spec::Spec on, off;
  SECTION("one example at a time") {}
  SECTION("groups") { on.nn_batch_size = off.nn_batch_size = 8; }
  SECTION("batches") { on.batch_size = off.batch_size = 8; }
  SECTION("without keys") { on.bit_precision = off.bit_precision = 12; }
  SECTION("a linear model") { on.ffm_k = off.ffm_k = 0; }
  off.fast_head = false;
  const std::string moving = moving_lines(12000, 1500, 1), still = moving_lines(12000, 12000, 2);
  CHECK(loss_of(on, moving) < .93 * loss_of(off, moving));
  CHECK(loss_of(on, still) < 1.01 * loss_of(off, still));
}

}  // namespace
}  // namespace leveret::train
