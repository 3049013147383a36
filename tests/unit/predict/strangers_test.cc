// Lines from strangers: namespaces that the model does not know, in any number.
#include <malloc.h>

#include "train/train_run.h"

// What a sanitizer's allocator has given out; absent without one. Its quarantine keeps freed memory
// resident, so that pages say nothing.
extern "C" [[gnu::weak]] std::size_t __sanitizer_get_current_allocated_bytes();

namespace leveret::predict {
namespace {

using train::TrainRun;

/// Bytes that this process has allocated and not freed.
std::size_t allocated() {
  if (__sanitizer_get_current_allocated_bytes) return __sanitizer_get_current_allocated_bytes();
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// Known lines, each with a namespace that was never there before.
std::string with_strangers(const std::string& line, std::size_t first, std::size_t count) {
  std::string text;
  for (std::size_t i = first; i < first + count; ++i) {
    text += line + " |" + static_cast<char>('a' + i % 26) + std::to_string(i) + " x\n";
  }
  return text;
}

TEST_CASE("half a million namespaces that nobody knows take no memory, and known features score") {
  const std::string lines = model::random_lines(300, train::usual_shape(), 5);
  for (const bool linear : {false, true}) {
    INFO((linear ? "linear" : "default"));
    spec::Spec spec;
    if (linear) spec.ffm_k = 0;
    TrainRun run(spec);
    run.learn(lines);
    const std::string known = train::cut(lines, 0, 1);
    const float expected = run.predict(known)[0];

    text::NamespaceNames names;
    run.model.features().close_names(names);
    text::Parser parser(names, {});
    Predictor predictor(run.shared(), names, kernels::active());
    const std::size_t plans = predictor.features().plans().size();
    const std::uint32_t size = names.size();
    constexpr std::size_t kStep = 10000;
    const std::size_t all = linear ? 500000 : 200000;
    text::ExampleChunk chunk;
    Outcomes outcomes;
    std::size_t before = 0, wrong = 0;
    for (std::size_t first = 0; first < all; first += kStep) {
      chunk.clear();
      chunk.bytes = with_strangers(known.substr(0, known.size() - 1), first, kStep);
      parser.parse(chunk);
      REQUIRE(chunk.bad.empty());
      outcomes.clear();
      predictor.predict(chunk, 0, chunk.examples.size(), outcomes);
      for (const Outcome& outcome : outcomes.items) wrong += outcome.probability != expected;
      if (first == 10 * kStep) before = allocated();
    }
    CHECK(wrong == 0);
    CHECK(names.size() == size);
    CHECK(predictor.features().plans().size() == plans);
    const std::size_t after = allocated();
    CHECK(after < before + (std::size_t{2} << 20));  // the linear case's names alone are 5 MB
  }
}

TEST_CASE("closed names and open ones give one prediction") {
  const std::string lines = model::random_lines(300, train::usual_shape(), 5);
  std::string other = lines;
  for (char& c : other) c = c == 'B' ? 'N' : c;  // a namespace becomes a stranger
  for (const train::NamedSpec& kind : train::specs_to_test()) {
    INFO(kind.name);
    TrainRun run(kind.spec);
    run.learn(lines);
    const std::vector<float> expected = run.predict(other);
    text::NamespaceNames names;
    run.model.features().close_names(names);
    const text::ExampleChunk chunk = train::parse(names, other, model::reading_numbers(kind.spec));
    Outcomes outcomes;
    Predictor(run.shared(), names, kernels::active())
        .predict(chunk, 0, chunk.examples.size(), outcomes);
    CHECK(TrainRun::probabilities(outcomes) == expected);
  }
}

}  // namespace
}  // namespace leveret::predict
