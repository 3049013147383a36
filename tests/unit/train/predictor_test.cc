#include "train/predictor.h"

#include "train_run.h"

namespace leveret::train {
namespace {

TEST_CASE("a prediction does not depend on the examples beside it") {
  model::LineShape shape;
  shape.fields = 8;
  shape.vocabulary = 30;
  const std::string lines = model::random_lines(300, shape, 5);
  for (const NamedSpec& kind : specs_to_test()) {
    INFO(kind.name);
    TrainRun run(kind.spec);
    run.learn(lines);
    const text::ExampleChunk chunk = parse(run.names, cut(lines, 0, 100));
    for (const kernels::Kernels* kernels : kernels::all()) {
      if (!kernels::runs_here(*kernels)) continue;
      INFO("instruction set " << kernels->name);
      Outcomes alone;
      for (std::size_t e = 0; e < 100; ++e) {
        Predictor(run.model, run.names, *kernels).predict(chunk, e, 1, alone);
      }
      const std::vector<float> expected = TrainRun::probabilities(alone);
      // Groups that are full, that are not, and windows that end within one.
      for (std::size_t step : {2, 7, 8, 13, 33, 100}) {
        INFO(step << " examples at a time");
        Predictor predictor(run.model, run.names, *kernels);
        Outcomes outcomes;
        for (std::size_t first = 0; first < 100; first += step) {
          predictor.predict(chunk, first, std::min(step, 100 - first), outcomes);
        }
        CHECK(TrainRun::probabilities(outcomes) == expected);
      }
    }
  }
}

}  // namespace
}  // namespace leveret::train
