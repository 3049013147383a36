// Predictors tell a counter of skew what it finds by looking every feature up itself.
#include <fmt/format.h>

#include <set>

#include "predict/context_predictor.h"
#include "skew/skew.h"
#include "train/train_run.h"

namespace leveret::predict {
namespace {

using train::TrainRun;

/// Lines of namespaces a to f, some of them missing, with values that nobody has learned, names
/// that nobody knows, several features, values other than 1, a namespace in two pieces, or nothing.
std::string odd_lines(std::size_t count, bool odd) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t random = i * 2654435761u % 1000003;
    text += random % 5 == 0 ? "1" : "-1";
    for (std::size_t n = 0; n < 6; ++n) {
      if ((random + n) % 11 == 0) continue;
      text += fmt::format(" |{} v{}", static_cast<char>('a' + n), random / (n + 1) % (9 << n));
      if (n == 4 && i % 4 == 0) text += fmt::format(" w{}:0.5 x", i % 50);
    }
    if (odd && i % 7 == 0) text += fmt::format(" |new{} x y", i % 3);
    if (odd && i % 5 == 0) text += fmt::format(" |a strange |b :2 v{}", i);
    text += '\n';
  }
  return text + "1 |\n";
}

spec::Spec spec_of(std::size_t number) {
  spec::Spec spec;
  spec.ffm_k = number % 3 == 0 ? 0 : 2;
  spec.hidden.clear();
  if (number == 2) spec.features.interactions = {{"a", "b"}};
  if (number == 3) spec.heads = spec::Heads::kOne;
  if (number == 4) spec.bit_precision = 12;
  if (number == 5) spec.features.ignore = {"c"};
  if (number == 6) spec.features.linear_all = false, spec.features.linear = {"a", "d"};
  if (number == 7) spec.features.fields = {{"a", "b"}, {"a", "c"}};
  if (number == 8) spec.features.fields = {{"a", "b"}, {"a", "c"}}, spec.bit_precision = 12;
  if (number == 9) spec.bit_precision = 12;
  return spec;
}
constexpr std::size_t kSpecs = 10;

struct Told {
  skew::SkewCounts counts;
  std::set<std::string> findings;
  explicit Told(skew::SkewCounter& counter) {
    counter.finish();
    counts = counter.take_counts();
    for (const skew::SkewFinding& finding : counter.take_findings())
      findings.insert(to_text(finding));
  }
};

void check_same(const Told& a, const Told& b) {
  CHECK(a.counts.lines == b.counts.lines);
  CHECK(a.counts.skewed_windows == b.counts.skewed_windows);
  CHECK(a.counts.strange_namespaces == b.counts.strange_namespaces);
  CHECK(a.counts.missing_namespaces == b.counts.missing_namespaces);
  CHECK(a.counts.features == b.counts.features);
  CHECK(a.counts.unknown_features == b.counts.unknown_features);
  CHECK(a.findings == b.findings);
}

TEST_CASE("what look-ups have noted counts as what is looked up again") {
  for (std::size_t number = 0; number < kSpecs; ++number) {
    INFO("spec " << number);
    TrainRun run(spec_of(number));
    run.learn(odd_lines(1500, false));
    text::NamespaceNames names;
    run.model.features().close_names(names);
    for (const bool odd : {false, true}) {
      const text::ExampleChunk chunk = train::parse(names, odd_lines(2300, odd));
      const std::size_t size = chunk.examples.size();
      skew::SkewCounter alone(run.shared(), names);
      REQUIRE(alone.tells());
      alone.count(chunk, 0, size);
      const Told expected(alone);
      CHECK(expected.counts.lines == size);

      Outcomes outcomes;
      skew::SkewCounter plain(run.shared(), names);
      Predictor(run.shared(), names, kernels::active()).predict(chunk, 0, size, outcomes, &plain);
      check_same(Told(plain), expected);

      skew::SkewCounter by_lines(run.shared(), names);
      ContextPredictor predictor(run.shared(), names, kernels::active(), {"a", "d", "f"});
      predictor.predict_lines(chunk, 0, size, outcomes, &by_lines);
      check_same(Told(by_lines), expected);
    }
  }
}

TEST_CASE("a context that is set has its features in each candidate's line") {
  for (std::size_t number = 0; number < kSpecs; ++number) {
    INFO("spec " << number);
    TrainRun run(spec_of(number));
    run.learn(odd_lines(1500, false));
    text::NamespaceNames names;
    run.model.features().close_names(names);
    const text::ExampleChunk context =
        train::parse(names, "|a v1 unknown |d v2 |odd x\n|a v1 |d q\n");
    const text::ExampleChunk chunk = train::parse(names, "|b v1 |c v3\n|b z\n|\n|c v1 |e v2 w1\n");
    skew::SkewCounter alone(run.shared(), names), told(run.shared(), names);
    ContextPredictor predictor(run.shared(), names, kernels::active(), {"a", "d", "odd"});
    Outcomes outcomes;
    for (std::size_t i = 0; i < 300; ++i) {
      predictor.set_context(context, i % 2);
      alone.count(chunk, 0, 4, &predictor.context());
      predictor.predict(chunk, 0, 4, outcomes, &told);
    }
    const Told expected(alone), noted(told);
    CHECK(noted.counts.features == expected.counts.features);
    CHECK(noted.counts.unknown_features == expected.counts.unknown_features);
    CHECK(noted.counts.strange_namespaces == expected.counts.strange_namespaces);
    CHECK(noted.counts.missing_namespaces == expected.counts.missing_namespaces);
    CHECK(noted.counts.skewed_windows == expected.counts.skewed_windows);
  }
}

}  // namespace
}  // namespace leveret::predict
