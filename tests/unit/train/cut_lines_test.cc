// However the namespaces of a line are cut, and in whatever order they come: what is learned and
// what is predicted is the same.
#include "cut_lines.h"

#include <cmath>

#include "predict/context_predictor.h"
#include "train_run.h"

namespace leveret::train {
namespace {

constexpr std::uint32_t kMembers = 200;

model::LineShape shape_of(std::uint32_t seed) {
  model::LineShape shape;
  shape.fields = 2 + seed % 4;
  shape.features = 1 + seed % 5;
  shape.values = seed % 3 != 0;
  shape.repeats = seed % 2 == 0;
  shape.late = seed % 7 == 0 ? 3 : 0;
  return shape;
}

/// One of every kind of model, and those whose namespaces are not all fields of their own.
std::vector<NamedSpec> specs() {
  std::vector<NamedSpec> all = specs_to_test();
  // A namespace that is a number has one piece.
  std::erase_if(all, [](const NamedSpec& of) { return !of.spec.features.numeric.empty(); });
  const auto add = [&](const char* name) -> spec::Spec& {
    all.push_back({name, {}});
    return all.back().spec;
  };
  add("two fields at most").features.max_fields = 2;
  spec::Spec& hashed = add("two fields at most, hashed");
  hashed.features.max_fields = 2;
  hashed.bit_precision = 12;
  add("declared fields").features.fields = {{"A", "C"}, {"B"}};
  spec::Spec& no_fields = add("linear, two fields at most");
  no_fields.ffm_k = 0;
  no_fields.features.max_fields = 2;
  add("interactions").features.interactions = {{"A", "A"}, {"A", "B", "C"}};
  spec::Spec& derived = add("transforms");
  derived.features.transforms = feature::parse_transforms("Ab=Combine(A,B) Ac=Weight(A)(2)");
  spec::Spec& together = add("transforms, a field");
  together.features.transforms = feature::parse_transforms("Ab=Combine(A,B)");
  together.features.fields = {{"Ab", "A"}, {"B", "C"}};
  return all;
}

void check_near(const std::vector<float>& got, const std::vector<float>& expected,
                double tolerance = 1e-6) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!(std::abs(double{got[i]} - double{expected[i]}) <= tolerance)) {
      FAIL("line " << i + 1 << ": " << got[i] << ", not " << expected[i]);
    }
  }
}

std::vector<float> predict_by_context(TrainRun& run, const std::string& lines,
                                      std::vector<std::string> context) {
  predict::ContextPredictor predictor(run.shared(), run.names, kernels::active(),
                                      std::move(context));
  const text::ExampleChunk chunk = parse(run.names, lines);
  Outcomes outcomes;
  predictor.predict_lines(chunk, 0, chunk.examples.size(), outcomes);
  return TrainRun::probabilities(outcomes);
}

/// Each line's features are dealt out to a context and a candidate, at random.
std::vector<float> predict_dealt_out(TrainRun& run, const std::string& lines,
                                     std::vector<std::string> context, std::uint32_t seed) {
  std::mt19937 random(seed);
  predict::ContextPredictor predictor(run.shared(), run.names, kernels::active(),
                                      std::move(context));
  Outcomes outcomes;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    std::string halves[2];
    const std::size_t bar = line.find('|');
    std::string candidate = bar == std::string::npos ? line : line.substr(0, bar);
    if (bar != std::string::npos) {
      for (const auto& [name, features] : parts_of(line.substr(bar))) {
        for (const std::string& feature : features) {
          // Within a namespace, those of the context come first, as they do in the whole.
          halves[random() % 2] += " " + name + " " + feature;
        }
      }
    }
    const text::ExampleChunk first = parse(run.names, halves[0] + " |\n");
    predictor.set_context(first, 0);
    const text::ExampleChunk second = parse(run.names, candidate + halves[1] + " |\n");
    predictor.predict(second, 0, 1, outcomes);
  }
  return TrainRun::probabilities(outcomes);
}

TEST_CASE("a line says the same however it is cut, with every kind of model") {
  const std::vector<NamedSpec> all = specs();
  for (std::uint32_t seed = 0; seed < kMembers; ++seed) {
    const NamedSpec& kind = all[seed % all.size()];
    INFO(kind.name << ", seed " << seed);
    const model::LineShape shape = shape_of(seed);
    const std::string lines = model::random_lines(40, shape, seed);
    TrainRun whole(kind.spec), cut(kind.spec);
    whole.learn(lines);
    cut.learn(rewritten(lines, {.cut = true}, seed + 1));
    check_near(cut.probabilities(), whole.probabilities(), 0);
    CHECK(cut.saved() == whole.saved());

    const std::string asked = model::random_lines(20, shape, seed + 1000);
    const std::vector<float> expected = whole.predict(asked);
    const std::string otherwise = rewritten(asked, {.shuffled = true, .cut = true}, seed + 2);
    check_near(whole.predict(otherwise), expected);
    check_near(predict_by_context(whole, otherwise, {"A", "B"}), expected);
    check_near(predict_by_context(whole, otherwise, {"B"}), expected);
    // Pairs of a namespace with itself depend on the order of its features.
    if (!kind.spec.features.interactions.empty()) continue;
    check_near(predict_dealt_out(whole, otherwise, {"A"}, seed + 3), expected);
  }
}

/// Sums are then made in another order, so rows have all their digits here: codes of 16 bits would
/// be rounded the other way now and then. Features that share a cell step one after the other, in
/// the order of the line: with -b there are cells enough here.
TEST_CASE("a model learns the same from namespaces in any order") {
  const std::vector<NamedSpec> all = specs();
  for (std::uint32_t seed = 0; seed < kMembers; ++seed) {
    spec::Spec spec = all[seed % all.size()].spec;
    INFO(all[seed % all.size()].name << ", seed " << seed);
    spec.row_bits = spec.state_bits = 32;
    if (spec.bit_precision > 0) spec.bit_precision = 20;
    model::LineShape shape = shape_of(seed);
    shape.late = 0;
    const std::string lines = model::random_lines(30, shape, seed);
    TrainRun ordered(spec), shuffled(spec);
    ordered.learn(lines);
    // The first line says which field each namespace is.
    shuffled.learn(rewritten(lines, {.shuffled = true, .cut = seed % 2 == 0}, seed + 1, 1));
    check_near(shuffled.probabilities(), ordered.probabilities());
  }
}

/// Names that are numbers hash to the number: their features cannot be told apart, wherever only
/// hashes are known.
TEST_CASE("names of one hash are names of one namespace") {
  const std::string lines = model::random_lines(40, shape_of(3), 1);
  const auto named = [&](std::string text, const std::vector<const char*>& names) {
    std::string out;
    std::size_t next = 0;
    for (const char c : text) {
      if (c == 'A') {
        out += names[next++ % names.size()];
      } else {
        out += c;
      }
    }
    return out;
  };
  for (const NamedSpec& kind : specs()) {
    if (kind.spec.features.fields.size() + kind.spec.features.interactions.size() +
            kind.spec.features.transforms.size() >
        0) {
      continue;  // they name namespaces
    }
    INFO(kind.name);
    TrainRun one(kind.spec), several(kind.spec);
    one.learn(named(lines, {"7"}));
    several.learn(named(lines, {"7", "007", "07"}));
    CHECK(several.saved() == one.saved());
    const std::vector<float> expected = one.predict(named(lines, {"7"}));
    check_near(one.predict(named(lines, {"0007", "7"})), expected, 0);
    // With names that are closed, as those of servers are.
    text::NamespaceNames names;
    one.model.features().close_names(names);
    const text::ExampleChunk chunk = parse(names, named(lines, {"00007"}));
    Outcomes outcomes;
    predict::Predictor(one.shared(), names, kernels::active())
        .predict(chunk, 0, chunk.examples.size(), outcomes);
    check_near(TrainRun::probabilities(outcomes), expected, 0);
  }
}

}  // namespace
}  // namespace leveret::train
