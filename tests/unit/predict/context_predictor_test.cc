#include "predict/context_predictor.h"

#include "modelfile/export/export_model.h"
#include "predict/context_requests.h"
#include "train/train_run.h"

namespace leveret::predict {
namespace {

using model::LineShape;
using train::TrainRun;

/// The features of all contexts and candidates, each once; a number is none.
std::size_t count_features(TrainRun& run, const std::vector<Request>& requests) {
  std::size_t features = 0;
  const auto count = [&](const std::string& line) {
    const text::ExampleChunk chunk = train::parse(run.names, line + " |\n");
    for (const text::NamespaceRun& space : chunk.runs) {
      if (!run.model.features().keeps(std::string(run.names.name(space.name)))) continue;
      features += space.end - space.begin;
    }
  };
  for (const Request& request : requests) {
    count(request.context);
    for (const std::string& candidate : request.candidates) count(candidate);
  }
  return features;
}

struct Kind {
  const char* name;
  LineShape shape;
};

std::vector<Kind> shapes() {
  LineShape one_each;
  one_each.fields = 8;
  one_each.vocabulary = 30;
  one_each.features = 1;
  one_each.missing = 0;
  one_each.values = false;
  LineShape some = one_each;
  some.missing = 30;
  LineShape values = some;
  values.values = true;
  LineShape several = values;
  several.features = 3;
  return {{"one feature a field", one_each},
          {"absent fields", some},
          {"values", values},
          {"several features a field", several}};
}

/// One of the instruction sets of this machine: another one for the next number.
const kernels::Kernels& kernels_of(std::size_t number) {
  std::vector<const kernels::Kernels*> here;
  for (const kernels::Kernels* kernels : kernels::all()) {
    if (kernels::runs_here(*kernels)) here.push_back(kernels);
  }
  return *here[number % here.size()];
}

TEST_CASE("with a cached context candidates score as without") {
  std::size_t number = 0;
  for (const train::NamedSpec& kind : train::specs_to_test()) {
    ++number;  // so that each model has another one at each place
    for (const Kind& shape : shapes()) {
      TrainRun run(kind.spec);
      run.learn(model::random_lines(400, shape.shape, 5));
      for (const std::string in_context : {"ABCDE", "ACEG", "H", "ABCDEFGH", "Z"}) {
        const std::vector<Request> requests = random_requests(shape.shape, in_context, 7);
        const kernels::Kernels& kernels = kernels_of(number++);
        INFO(kind.name << ", " << shape.name << ", context " << in_context << ", instruction set "
                       << kernels.name);
        check_requests(run.shared(), run.names, kernels, requests, in_context);
      }
    }
  }
}

TEST_CASE("with a cached context candidates of exports score as without") {
  std::size_t number = 0;
  const files::TempFolder folder;
  for (const train::NamedSpec& kind : train::specs_to_test()) {
    ++number;  // so that each model has another one at each place
    const Kind shape = shapes().back();
    TrainRun run(kind.spec);
    run.learn(model::random_lines(400, shape.shape, 5));
    train::save_model(run.model, folder / "model");
    for (const int bits : {32, 16, 8, 4}) {
      modelfile::ExportOptions options;
      options.bits = bits;
      modelfile::export_model(folder / "model", folder / "export", options);
      const auto model = std::make_shared<const model::Model>(
          train::load_model(folder / "export", train::kTestMemory, model::Use::kPredict));
      for (const std::string in_context : {"ABCDE", "ACEG"}) {
        const std::vector<Request> requests = random_requests(shape.shape, in_context, 7);
        const kernels::Kernels& kernels = kernels_of(number++);
        INFO(kind.name << ", " << bits << " bits, context " << in_context << ", instruction set "
                       << kernels.name);
        check_requests(model, run.names, kernels, requests, in_context);
      }
    }
  }
}

TEST_CASE("a context is looked up once, and no candidate goes another way") {
  for (const train::NamedSpec& kind : train::specs_to_test()) {
    if (std::string(kind.name) == "fields") continue;
    TrainRun run(kind.spec);
    const Kind shape = shapes().back();
    run.learn(model::random_lines(400, shape.shape, 5));
    for (const std::string in_context : {"ABCDE", "ACEG"}) {
      INFO(kind.name << ", context " << in_context);
      const std::vector<Request> requests = random_requests(shape.shape, in_context, 9);
      std::size_t candidates = 0;
      for (const Request& request : requests) candidates += request.candidates.size();
      ContextPredictor blocks(run.shared(), run.names, kernels::active(), letters(in_context));
      predict_blocks(kind.spec, blocks, run.names, requests);
      ContextPredictor lines(run.shared(), run.names, kernels::active(), letters(in_context));
      const text::ExampleChunk chunk = run.parse(whole_lines(requests, true));
      Outcomes outcomes;
      // In pieces that end within requests.
      for (std::size_t first = 0; first < chunk.examples.size(); first += 5) {
        lines.predict_lines(chunk, first, std::min<std::size_t>(5, chunk.examples.size() - first),
                            outcomes);
      }
      for (const ContextPredictor* predictor : {&blocks, &lines}) {
        const ContextCounts& counts = predictor->counts();
        CHECK(counts.candidates == candidates);
        CHECK(predictor->caches_contexts() == kind.spec.features.interactions.empty());
        if (!predictor->caches_contexts()) {
          CHECK(counts.uncached == candidates);
          continue;
        }
        CHECK(counts.requests == requests.size());
        CHECK(counts.uncached == 0);
        CHECK(counts.looked_up == count_features(run, requests));
      }
    }
  }
}

TEST_CASE("what contexts and candidates share is scored as a whole, and counted") {
  TrainRun run{spec::Spec{}};
  const Kind shape = shapes()[1];
  run.learn(model::random_lines(400, shape.shape, 5));
  const auto whole = [&](const std::string& lines) {
    Outcomes outcomes;
    const text::ExampleChunk chunk = train::parse(run.names, lines);
    Predictor(run.shared(), run.names, kernels::active())
        .predict(chunk, 0, chunk.examples.size(), outcomes);
    return outcomes;
  };
  ContextPredictor predictor(run.shared(), run.names, kernels::active(), {"A", "B"});
  Outcomes outcomes;
  const text::ExampleChunk candidates =
      train::parse(run.names, "1 'x |C f1\n |B f2 |C f1\n |D f3\n");
  SECTION("a candidate with a feature of a context's field") {
    const text::ExampleChunk context = train::parse(run.names, "|A f1 |B f4\n");
    predictor.set_context(context, 0);
    predictor.predict(candidates, 0, 3, outcomes);
    check_near(outcomes,
               whole("1 'x |A f1 |B f4 |C f1\n |A f1 |B f4 |B f2 |C f1\n |A f1 |B f4 |D f3\n"));
    CHECK(predictor.counts().uncached == 1);
  }
  SECTION("a context with a feature of a candidates' field") {
    const text::ExampleChunk context = train::parse(run.names, "|A f1 |C f4\n");
    predictor.set_context(context, 0);
    predictor.predict(candidates, 0, 3, outcomes);
    check_near(outcomes,
               whole("1 'x |A f1 |C f4 |C f1\n |A f1 |C f4 |B f2 |C f1\n |A f1 |C f4 |D f3\n"));
    CHECK(predictor.counts().uncached == 3);
  }
  SECTION("no context yet") {
    predictor.predict(candidates, 0, 3, outcomes);
    check_near(outcomes, whole("1 'x |C f1\n |B f2 |C f1\n |D f3\n"));
    CHECK(predictor.counts().uncached == 3);
  }
}

/// MergeNorm subtracts means: nothing is to cancel where all inputs are large and alike.
TEST_CASE("a context with large sums") {
  spec::Spec spec;
  spec.heads = spec::Heads::kOne;
  TrainRun run(spec);
  const Kind shape = shapes()[0];
  run.learn(model::random_lines(400, shape.shape, 5));
  for (const float size : {1e2f, 1e4f}) {
    INFO("values up to " << size);
    std::string context, candidates, lines;
    for (char c = 'A'; c < 'F'; ++c) {
      context += std::string(" |") + c + " f1:" + std::to_string(size);
    }
    for (int i = 0; i < 20; ++i) {
      const std::string features = " |F f" + std::to_string(i) +
                                   " |G f2 |H f3:" + std::to_string(i % 3 == 0 ? size : 1.0f) +
                                   "\n";
      candidates += features;
      lines += context + features;
    }
    const text::ExampleChunk of_context = train::parse(run.names, context + "\n");
    const text::ExampleChunk of_candidates = train::parse(run.names, candidates);
    const text::ExampleChunk wholes = train::parse(run.names, lines);
    Outcomes got, expected;
    ContextPredictor predictor(run.shared(), run.names, kernels::active(),
                               {"A", "B", "C", "D", "E"});
    predictor.set_context(of_context, 0);
    predictor.predict(of_candidates, 0, 20, got);
    Predictor(run.shared(), run.names, kernels::active()).predict(wholes, 0, 20, expected);
    check_near(got, expected, false);
    CHECK(predictor.counts().uncached == 0);
  }
}

}  // namespace
}  // namespace leveret::predict
