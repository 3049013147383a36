#include "predict/explainer.h"

#include <cmath>

#include "train/train_run.h"

namespace leveret::predict {
namespace {

using train::TrainRun;

float sum_of(const Explanation& explanation) {
  float sum = explanation.base;
  for (const Explanation::Part& part : explanation.parts) sum += part.contribution;
  return sum;
}

TEST_CASE("contributions sum to the score of the line, in every model") {
  model::LineShape shape;
  shape.fields = 6;
  shape.vocabulary = 20;
  const std::string lines = model::random_lines(200, shape, 5);
  for (const train::NamedSpec& kind : train::specs_to_test()) {
    INFO(kind.name);
    TrainRun run(kind.spec);
    run.learn(lines);
    const text::ExampleChunk chunk = train::parse(run.names, train::cut(lines, 0, 20));
    const kernels::Kernels& kernels = kernels::active();
    Outcomes outcomes;
    Predictor(run.shared(), run.names, kernels).predict(chunk, 0, 20, outcomes);
    Explainer explainer(run.shared(), run.names, kernels);
    for (std::size_t e = 0; e < 20; ++e) {
      const Explanation explanation = explainer.explain(chunk, e, 2);
      CHECK(explanation.score == outcomes.items[e].score);
      CHECK(sum_of(explanation) == Approx(explanation.score).margin(1e-4));
      // The same on each run, whatever came before.
      const Explanation again = Explainer(run.shared(), run.names, kernels).explain(chunk, e, 2);
      REQUIRE(again.parts.size() == explanation.parts.size());
      for (std::size_t p = 0; p < again.parts.size(); ++p) {
        CHECK(again.parts[p].contribution == explanation.parts[p].contribution);
      }
    }
  }
}

TEST_CASE("a namespace of a linear model adds its own weights, in whatever order") {
  spec::Spec spec;
  spec.ffm_k = 0;
  spec.heads = spec::Heads::kOne;
  TrainRun run(spec);
  const std::string lines = model::random_lines(200, train::usual_shape(), 7);
  run.learn(lines);
  const text::ExampleChunk chunk = train::parse(run.names, train::cut(lines, 0, 20));
  Explainer explainer(run.shared(), run.names, kernels::active());
  for (std::size_t e = 0; e < 20; ++e) {
    const Explanation shapley = explainer.explain(chunk, e, 1);
    const Explanation left_out = explainer.leave_out(chunk, e);
    REQUIRE(shapley.parts.size() == left_out.parts.size());
    REQUIRE(!shapley.parts.empty());
    for (std::size_t p = 0; p < shapley.parts.size(); ++p) {
      CHECK(shapley.parts[p].name == left_out.parts[p].name);
      CHECK(shapley.parts[p].contribution == Approx(left_out.parts[p].contribution).margin(1e-5));
    }
  }
}

TEST_CASE("of two namespaces with an effect that they have together each gets half") {
  // Clicks are where both are 1: by weights alone that cannot be told.
  std::string lines;
  for (int i = 0; i < 4000; ++i) {
    const int a = i % 2, b = i / 2 % 2;
    lines +=
        (a == b ? "1 |a x" : "-1 |a x") + std::to_string(a) + " |b y" + std::to_string(b) + "\n";
  }
  spec::Spec spec;
  spec.heads = spec::Heads::kOne;
  TrainRun run(spec);
  run.learn(lines);
  const text::ExampleChunk chunk = train::parse(run.names, "|a x1 |b y1\n");
  Explainer explainer(run.shared(), run.names, kernels::active());
  const Explanation shapley = explainer.explain(chunk, 0, 4);
  REQUIRE(shapley.parts.size() == 2);
  CHECK(shapley.score > 1);
  for (const Explanation::Part& part : shapley.parts) {
    CHECK(part.contribution == Approx((shapley.score - shapley.base) / 2).epsilon(0.25));
  }
  // Tags are no part of it.
  const text::ExampleChunk tagged =
      train::parse(run.names, "1 'first |a x1 |b y1\n1 'second |a x1 |b y1\n");
  CHECK(explainer.explain(tagged, 1, 4).score == shapley.score);
  CHECK(explainer.leave_out(tagged, 1).score == shapley.score);
  // A line without features has nobody to share with.
  const text::ExampleChunk none = train::parse(run.names, "|\n");
  CHECK(explainer.explain(none, 0, 4).score == explainer.explain(none, 0, 4).base);
  CHECK(explainer.leave_out(none, 0).parts.empty());
}

TEST_CASE("a line of many namespaces is explained, and takes little memory") {
  spec::Spec spec;
  spec.ffm_k = 0;
  spec.heads = spec::Heads::kOne;
  TrainRun run(spec);
  run.learn("1 |n0 x |n900 x\n-1 |n1 x\n1 |n0 x |n900 x\n");
  std::string line;
  for (int i = 0; i < 1000; ++i) line += " |n" + std::to_string(i) + " x";
  const text::ExampleChunk chunk = train::parse(run.names, line.substr(1) + "\n");
  Explainer explainer(run.shared(), run.names, kernels::active());
  const Explanation left_out = explainer.leave_out(chunk, 0);
  const Explanation shapley = explainer.explain(chunk, 0, 1);
  REQUIRE(shapley.parts.size() == 1000);
  for (const std::size_t part : {0, 1, 2, 900}) {
    CHECK(shapley.parts[part].contribution ==
          Approx(left_out.parts[part].contribution).margin(1e-5));
  }
  CHECK(shapley.parts[0].contribution > 0.01f);
  CHECK(shapley.parts[900].contribution > 0.01f);
  CHECK(shapley.parts[1].contribution < -0.01f);
  CHECK(shapley.parts[2].contribution == Approx(0).margin(1e-5));
}

TEST_CASE("namespaces that were never learned cost little and change nothing, in every model") {
  model::LineShape shape;
  shape.fields = 6;
  shape.vocabulary = 20;
  const std::string lines = model::random_lines(200, shape, 5);
  const std::string plain = train::cut(lines, 0, 1);
  constexpr std::size_t kStrangers = 300;
  std::string line = plain.substr(0, plain.size() - 1);
  for (std::size_t i = 0; i < kStrangers; ++i) line += " |stranger" + std::to_string(i) + " x";
  std::size_t unchanged = 0;
  for (const train::NamedSpec& kind : train::specs_to_test()) {
    INFO(kind.name);
    TrainRun run(kind.spec);
    run.learn(lines);
    const text::ExampleChunk chunk = train::parse(run.names, plain + line + "\n");
    Explainer explainer(run.shared(), run.names, kernels::active());
    for (const bool shapley : {true, false}) {
      const auto explain = [&](std::size_t e) {
        return shapley ? explainer.explain(chunk, e, 2) : explainer.leave_out(chunk, e);
      };
      const Explanation without = explain(0);
      const std::uint64_t before = explainer.scored();
      const Explanation with = explain(1);
      REQUIRE(with.parts.size() == without.parts.size() + kStrangers);
      // Slots of -b have what others learned, and products of all pairs share what the pairs are
      // worth.
      const bool is_unchanged = with.score == Approx(without.score).margin(1e-5);
      unchanged += is_unchanged;
      if (is_unchanged) {
        for (std::size_t p = 0; p < with.parts.size(); ++p) {
          const bool is_known = p < without.parts.size();
          const float expected = is_known ? without.parts[p].contribution : 0;
          if (with.parts[p].contribution == expected) continue;
          CHECK(is_known);
          CHECK(with.parts[p].contribution == Approx(expected).margin(1e-5));
        }
        CHECK(explainer.scored() - before < 20 * kStrangers);  // each by itself: 300 times as much
      } else if (shapley) {
        CHECK(sum_of(with) == Approx(with.score).margin(1e-3));
      }
    }
  }
  CHECK(unchanged >= train::specs_to_test().size());
}

}  // namespace
}  // namespace leveret::predict
