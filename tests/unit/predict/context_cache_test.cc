// When a context is kept, and when it is not: contexts that differ in little, features that
// contexts and candidates make together or share, in every kind of model.
#include <algorithm>
#include <cmath>

#include "feature/transform.h"
#include "net/make_blocks.h"
#include "predict/context_predictor.h"
#include "spec/tower_text.h"
#include "train/train_run.h"

namespace leveret::predict {
namespace {

using train::TrainRun;

void check_kept(const Outcomes& got, const Outcomes& expected) {
  REQUIRE(got.items.size() == expected.items.size());
  for (std::size_t i = 0; i < got.items.size(); ++i) {
    const double z = got.items[i].score, y = expected.items[i].score;
    // A float of the probability near 1, of which mixed heads' log-odds are made.
    const double most = 1e-5 * std::max(1.0, std::abs(y)) + 1.2e-7 * (1 + std::exp(y));
    if (!(std::abs(z - y) <= most)) FAIL("candidate " << i << ": " << z << ", as a whole " << y);
    CHECK(got.items[i].features == expected.items[i].features);
    CHECK(got.tag(got.items[i]) == expected.tag(expected.items[i]));
  }
}

Outcomes wholes(TrainRun& run, const std::string& lines) {
  Outcomes outcomes;
  const text::ExampleChunk chunk = train::parse(run.names, lines);
  Predictor(run.shared(), run.names, kernels::active())
      .predict(chunk, 0, chunk.examples.size(), outcomes);
  return outcomes;
}

/// Lines whose contexts are those of namespaces A and B, which need not be written again.
void check_lines(TrainRun& run, const std::string& lines) {
  ContextPredictor predictor(run.shared(), run.names, kernels::active(), {"A", "B"});
  const text::ExampleChunk chunk = train::parse(run.names, lines);
  Outcomes outcomes;
  predictor.predict_lines(chunk, 0, chunk.examples.size(), outcomes);
  check_kept(outcomes, wholes(run, lines));
}

model::LineShape with_values() {
  model::LineShape shape;
  shape.fields = 6;
  shape.vocabulary = 30;
  shape.values = true;
  return shape;
}

using Features = std::vector<std::string>;

/// |A and |B with these features; a namespace without any is not written.
std::string context_of(const Features& a, const Features& b) {
  std::string text;
  for (const auto& [name, features] : {std::pair(" |A", &a), std::pair(" |B", &b)}) {
    if (features->empty()) continue;
    text += name;
    for (const std::string& feature : *features) text += ' ' + feature;
  }
  return text;
}

TEST_CASE("contexts that differ in one value, one feature or one namespace are two") {
  TrainRun run{spec::Spec{}};
  run.learn(model::random_lines(400, with_values(), 5));
  std::mt19937 random(11);
  const auto feature = [&] {
    return "f" + std::to_string(random() % 30) + ':' + std::to_string(1 + random() % 4);
  };
  std::string lines;
  for (int pair = 0; pair < 200; ++pair) {
    Features a, b;
    for (std::size_t i = 1 + random() % 3; i > 0; --i) a.push_back(feature());
    for (std::size_t i = 1 + random() % 3; i > 0; --i) b.push_back(feature());
    Features other_a = a, other_b = b;
    Features& changed = random() % 2 == 0 ? other_a : other_b;
    switch (pair % 5) {
      case 0:  // another value of the same feature
        changed[random() % changed.size()].back() ^= 4;
        break;
      case 1:
        changed.push_back(feature());
        break;
      case 2:
        changed.pop_back();
        break;
      case 3:  // the end of the context is gone
        other_b.clear();
        break;
      default:  // and its begin
        other_a.clear();
    }
    const std::string one = context_of(a, b), other = context_of(other_a, other_b);
    const std::string candidate = " |C f" + std::to_string(pair % 30) + " |D f3\n";
    for (const std::string& context : {one, other, one}) lines += "1 't" + context + candidate;
  }
  check_lines(run, lines);
}

TEST_CASE("what contexts and candidates make together is no part of a context that is kept") {
  for (const char* text : {"x=Combine(A,C)", "y=Combine(A,B)", "x=Weight(C)(2) z=Combine(x,B)"}) {
    INFO(text);
    spec::Spec spec;
    spec.features.transforms = feature::parse_transforms(text);
    TrainRun run(spec);
    run.learn(model::random_lines(400, with_values(), 5));
    const std::string a = " |A f1:2 f2", b = " |B f3:3", c = " |C f4:2", d = " |C f5:7 |D f3";
    check_lines(run, "1" + a + b + c + "\n1" + a + b + d + "\n1" + a + c + "\n");
    ContextPredictor predictor(run.shared(), run.names, kernels::active(), {"A", "B"});
    CHECK(!predictor.caches_contexts());
    predictor.set_context(train::parse(run.names, a + b + "\n"), 0);
    const text::ExampleChunk candidates = train::parse(run.names, "1 'x" + c + "\n" + d + "\n");
    Outcomes outcomes;
    predictor.predict(candidates, 0, 2, outcomes);
    check_kept(outcomes, wholes(run, "1 'x" + a + b + c + "\n" + a + b + d + "\n"));
  }
}

TEST_CASE("in every kind of model a feature is scored once, on whichever side it comes") {
  for (const train::NamedSpec& kind : train::specs_to_test()) {
    INFO(kind.name);
    TrainRun run(kind.spec);
    run.learn(model::random_lines(400, with_values(), 5));
    const std::string contexts[] = {" |A f1:2 |B f4", " |A f1 |C f4:3", " |C f4", " |New f1"};
    const std::string candidates[] = {" |C f1:2", " |B f2 |C f1", " |A f2:3", " |D f3 |New f2"};
    ContextPredictor predictor(run.shared(), run.names, kernels::active(), {"A", "B"});
    for (const std::string& context : contexts) {
      std::string lines, whole;
      for (const std::string& candidate : candidates) {
        lines += "1 'tag" + candidate + '\n';
        whole += "1 'tag" + context + candidate + '\n';
      }
      predictor.set_context(train::parse(run.names, context + '\n'), 0);
      const text::ExampleChunk chunk = train::parse(run.names, lines);
      Outcomes outcomes;
      predictor.predict(chunk, 0, chunk.examples.size(), outcomes);
      INFO("context" << context);
      check_kept(outcomes, wholes(run, whole));
    }
  }
}

TEST_CASE("a namespace without a field may be on both sides, and its counts are means over both") {
  spec::Spec spec;
  spec.features.fields = {{"A"}, {"B"}, {"C"}};  // D and E have linear weights alone
  TrainRun run(spec);
  model::LineShape shape = with_values();
  shape.fields = 5;
  run.learn(model::random_lines(400, shape, 5));
  const std::string contexts[] = {" |A f1:2 |D f4 f5:3", " |D f1", " |A f1", " |D f2 |E f3:2"};
  const std::string candidates[] = {" |C f1 |D f6 f7", " |C f2", " |D f8:2 |E f1", " |E f3 |C f4"};
  for (const std::string& context : contexts) {
    INFO("context" << context);
    ContextPredictor predictor(run.shared(), run.names, kernels::active(), {"A", "B", "D"});
    predictor.set_context(train::parse(run.names, context + '\n'), 0);
    std::string lines, whole;
    for (const std::string& candidate : candidates) {
      lines += "1 't" + candidate + '\n';
      whole += "1 't" + context + candidate + '\n';
    }
    const text::ExampleChunk chunk = train::parse(run.names, lines);
    Outcomes outcomes;
    predictor.predict(chunk, 0, chunk.examples.size(), outcomes);
    check_kept(outcomes, wholes(run, whole));
    CHECK(predictor.counts().uncached < 4);
  }
}

TEST_CASE("what towers make of a context's embeddings is made once, with the context") {
  spec::Spec spec;
  spec.embedding_dim = 4;
  spec::set_towers(spec, "fm fwfm mlp:hidden=6");
  TrainRun run(spec);
  run.learn(model::random_lines(400, with_values(), 5));
  const std::shared_ptr<const model::Model> model = run.shared();
  ContextPredictor predictor(model, run.names, kernels::active(), {"A", "B"});
  CachedContext context;
  predictor.set_context(train::parse(run.names, " |A f1:2 |B f4\n"), 0, context);
  REQUIRE(context.cached);
  block::Config config = model->config();
  config.in_contexts = true;
  const tape::SumDecls sums = net::declare_sums(config, model->parameters().layout, 1);
  for (const char* name : {"fm_1.sum", "fm_1.squares", "fwfm_2.pairs", "mlp_3.0.others"}) {
    INFO(name);
    const tape::SumId id = sums.find(name);
    REQUIRE(id != tape::SumId::kNone);
    const float* const first = context.sums.data() + sums.of_batch(0) + sums.place(id).at;
    CHECK(std::any_of(first, first + sums[id].floats, [](float x) { return x != 0.0f; }));
  }
}

}  // namespace
}  // namespace leveret::predict
