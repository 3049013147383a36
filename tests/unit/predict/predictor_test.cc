#include "predict/predictor.h"

#include "train/train_run.h"

namespace leveret::predict {
namespace {

using train::TrainRun;

TEST_CASE("a prediction does not depend on the examples beside it") {
  model::LineShape shape;
  shape.fields = 8;
  shape.vocabulary = 30;
  const std::string lines = model::random_lines(300, shape, 5);
  for (const train::NamedSpec& kind : train::specs_to_test()) {
    INFO(kind.name);
    TrainRun run(kind.spec);
    run.learn(lines);
    const text::ExampleChunk chunk = run.parse(train::cut(lines, 0, 100));
    for (const kernels::Kernels* kernels : kernels::all()) {
      if (!kernels::runs_here(*kernels)) continue;
      INFO("instruction set " << kernels->name);
      Outcomes alone;
      for (std::size_t e = 0; e < 100; ++e) {
        Predictor(run.shared(), run.names, *kernels).predict(chunk, e, 1, alone);
      }
      const std::vector<float> expected = TrainRun::probabilities(alone);
      // Groups that are full, that are not, and windows that end within one.
      for (std::size_t step : {2, 7, 8, 13, 33, 100}) {
        INFO(step << " examples at a time");
        Predictor predictor(run.shared(), run.names, *kernels);
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
}  // namespace leveret::predict
