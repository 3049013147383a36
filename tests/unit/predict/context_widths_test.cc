// Each block that is made of pairs of fields, at each width of its vectors: with a context that is
// kept candidates score as whole lines do, on every instruction set.
#include <functional>

#include "kernels/dispatch.h"
#include "predict/context_requests.h"

namespace leveret::predict {
namespace {

/// A block alone, so that nothing else hides what it says.
struct WideBlock {
  const char* name;
  std::function<void(spec::Spec&, std::uint32_t width)> set;
};

std::vector<WideBlock> wide_blocks() {
  const auto towers = [](const char* text) {
    return [text](spec::Spec& spec, std::uint32_t width) {
      spec.embedding_dim = width;
      spec::set_towers(spec, text);
    };
  };
  return {{"ffm", [](spec::Spec& spec, std::uint32_t width) { spec.ffm_k = width; }},
          {"fm", towers("fm:pairs=all")},
          {"fm beside ffm",
           [](spec::Spec& spec, std::uint32_t width) {
             spec.ffm_k = spec.embedding_dim = width;
             spec::set_towers(spec, "fm:pairs=all");
           }},
          {"fwfm", towers("fwfm")},
          {"fm of fields", towers("fm")},
          {"mlp over embeddings", towers("mlp:hidden=6")},
          {"a neuron over embeddings", towers("mlp:hidden=none")},
          {"mlp over pairs",
           [](spec::Spec& spec, std::uint32_t width) {
             spec.ffm_k = width;
             spec::set_towers(spec, "mlp:in=pairs,hidden=5 mlp:in=pairs,hidden=none");
           }},
          {"cross", towers("cross:layers=2")},
          {"cross2", towers("cross2:layers=2,rank=3")}};
}

/// Below a register of each instruction set, one or several, and with some more.
const std::uint32_t kWidths[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 33};

float spread(const Outcomes& outcomes) {
  const auto [low, high] = std::ranges::minmax(outcomes.items, {}, &Outcome::score);
  return high.score - low.score;
}

void check_width(const WideBlock& block, std::uint32_t width, std::uint32_t row_bits) {
  spec::Spec spec;
  spec.heads = spec::Heads::kOne;
  spec.ffm_k = 0;
  spec.hidden = {};
  spec.row_bits = row_bits;
  block.set(spec, width);
  model::LineShape shape = train::usual_shape();
  shape.fields = 6;
  train::TrainRun run(spec);
  run.learn(model::random_lines(300, shape, 5));
  const std::string in_context = "ACE";
  const std::vector<Request> requests = random_requests(shape, in_context, 7);
  for (const kernels::Kernels* kernels : kernels::all()) {
    if (!kernels::runs_here(*kernels)) continue;
    INFO(block.name << ", width " << width << ", rows of " << row_bits << " bits, instruction set "
                    << kernels->name);
    check_requests(run.shared(), run.names, *kernels, requests, in_context);
    ContextPredictor predictor(run.shared(), run.names, *kernels, letters(in_context));
    CHECK(spread(predict_blocks(spec, predictor, run.names, requests)) > 0.1f);
    CHECK(predictor.caches_contexts());
    CHECK(predictor.counts().uncached == 0);
  }
}

TEST_CASE("at every width candidates score with a context as without") {
  for (const WideBlock& block : wide_blocks()) {
    std::uint32_t bits = 16;
    for (const std::uint32_t width : kWidths) {
      check_width(block, width, bits);
      bits = 48 - bits;  // 16 and 32 by turns
    }
  }
}

}  // namespace
}  // namespace leveret::predict
