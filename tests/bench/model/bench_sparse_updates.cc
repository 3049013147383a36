/// What skipping the neurons whose gradient is zero is worth (FW paper, section 4.3 and Table 3:
/// 1.3, 1.8, 2.4, 3.5 times for 1 to 4 hidden layers).
///
/// A model is trained first, because the share of neurons that fire is a result of training; then
/// the gradients of a few hundred more examples are kept. Compared is what the MLP does with them
/// after the forward pass, by the same kernels and the same loops:
///   sparse   as the model does it: every row of W whose neuron has gradient 0 is skipped, in the
///            backward pass and in the update;
///   dense    every row is read, and every weight and accumulator written: gradients of 0 are put
///   to
///            1e-12, which costs what any other gradient costs and moves nothing.
/// "fired" is the share of hidden neurons with a gradient. "step" runs whole examples, look-ups,
/// FFM and forward pass included, as training does; "step_gain" is what its time would be divided
/// by if it has to do the dense work instead: (step - sparse + dense) / step, measured together.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "kernels/dispatch.h"
#include "model/lookup.h"
#include "model/model.h"
#include "net/network.h"
#include "optim/optimizer.h"
#include "text/parser.h"

namespace leveret::model {
namespace {

constexpr std::uint32_t kFields = 39;
constexpr std::size_t kTrained = 20000, kKept = 400;

/// VW text of clicks that depend on single values and on pairs of fields, so that there is
/// something to learn. Values are drawn with low ones much more often than high ones.
std::string click_lines(std::size_t lines) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> unit(0, 1);
  const auto effect = [](std::uint32_t a, std::uint32_t b) {
    std::mt19937 world(a * 7919 + b);
    return std::normal_distribution<float>(0, 1)(world);
  };
  std::string text, features;
  for (std::size_t l = 0; l < lines; ++l) {
    float score = -1;
    std::uint32_t before = 0;
    features.clear();
    for (std::uint32_t field = 0; field < kFields; ++field) {
      const float u = unit(random);
      const auto value = static_cast<std::uint32_t>(1000 * u * u * u);
      features +=
          " |" + std::string(1, static_cast<char>('A' + field)) + " " + std::to_string(value);
      score += 0.2f * effect(field, value);
      if (field % 3 == 0) score += 0.4f * effect(100 + before % 32, value % 32);
      before = value;
    }
    text += (unit(random) < 1 / (1 + std::exp(-score)) ? "1" : "-1") + features + "\n";
  }
  return text;
}

/// Inputs and output gradients of every layer, of one example.
struct Kept {
  std::vector<std::vector<float>> inputs, gradients;
};

class Trained {
 public:
  explicit Trained(std::vector<std::uint32_t> hidden)
      : kernels_(kernels::active()),
        model_(spec(std::move(hidden)), std::uint64_t{4} << 30),
        lookup_(model_),
        network_(model_.config(), kernels_),
        optimizer_(kernels_, model_.config(), model_.spec()),
        text_(click_lines(kTrained + kKept)) {
    chunk_.bytes = text_;
    text::Parser(names_, {}).parse(chunk_);
    model_.features().meet(names_, chunk_, 0, true);
    model_.fit_fields();
    for (std::size_t i = 0; i < kTrained; ++i) step(i);
    for (std::size_t i = 0; i < kKept; ++i) {
      step(kTrained + i);
      keep();
    }
  }

  const kernels::Kernels& kernels() const { return kernels_; }
  Model& model() { return model_; }
  const std::vector<Kept>& kept() const { return kept_; }
  double fired() const { return static_cast<double>(fired_) / static_cast<double>(neurons_); }

  /// Learns from one example, as training does.
  void step(std::size_t example) {
    batch_.clear();
    model_.features().map(chunk_, example, 1, batch_);
    network_.open(model_.parameters(), batch_.size(), tape_);
    lookup_.resolve_all(model_, batch_, tape_);
    network_.forward(model_.parameters(), tape_);
    network_.learn(model_.tables(), model_.parameters(), tape_, optimizer_);
  }

 private:
  static Spec spec(std::vector<std::uint32_t> hidden) {
    Spec spec;
    spec.hidden = std::move(hidden);
    return spec;
  }

  void keep() {
    Kept& kept = kept_.emplace_back();
    const std::vector<tape::LayerArrays>& declared = model_.parameters().declared().layers;
    const std::vector<tape::Dense> layers = model_.parameters().layers();
    for (std::size_t l = 0; l + 1 < layers.size(); ++l) {
      const float* in = tape_[declared[l].input].values;
      kept.inputs.emplace_back(in, in + layers[l].inputs);
      const float* d_out = tape_[declared[l + 1].input].gradient;
      kept.gradients.emplace_back(d_out, d_out + layers[l].outputs);
      for (const float g : kept.gradients.back()) fired_ += g != 0.0f ? 1 : 0;
      neurons_ += layers[l].outputs;
    }
  }

  const kernels::Kernels& kernels_;
  Model model_;
  Lookup lookup_;
  net::Network network_;
  optim::Optimizer optimizer_;
  Tape tape_;
  feature::FeatureBatch batch_;
  std::string text_;
  text::NamespaceNames names_;
  text::ExampleChunk chunk_;
  std::vector<Kept> kept_;
  std::size_t fired_ = 0, neurons_ = 0;
};

/// Backward pass and update of the hidden layers, last to first, as Optimizer does them.
void backward_and_update(Trained& trained, const Kept& kept, table::AlignedFloats& d_in) {
  const kernels::StepRule rule{trained.model().spec().nn.rate, 0.5f, 0.0f};
  for (std::size_t l = kept.inputs.size(); l-- > 0;) {
    const tape::LearnedDense layer = trained.model().parameters().learned_layer(l);
    const float* d = kept.gradients[l].data();
    trained.kernels().dense_backward_update(layer.weights.data(), layer.weights_states[0].data(),
                                            kept.inputs[l].data(), d, layer.inputs, layer.outputs,
                                            layer.stride(), 1, rule, d_in.data());
    trained.kernels().update(layer.bias.data(), layer.bias_states[0].data(), d, layer.outputs,
                             rule);
  }
}

/// CPU time: others use the machine too.
template <class Work>
double seconds(Work work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

void sparse_against_dense(benchmark::State& state, const std::vector<std::uint32_t>& hidden) {
  Trained trained(hidden);
  std::vector<Kept> filled = trained.kept();
  for (Kept& kept : filled) {
    for (std::vector<float>& gradients : kept.gradients) {
      for (float& g : gradients) g = g == 0.0f ? 1e-12f : g;
    }
  }
  std::size_t widest = 0;
  for (const tape::Dense& layer : trained.model().parameters().layers()) {
    widest = std::max<std::size_t>(widest, layer.inputs);
  }
  table::AlignedFloats d_in(widest);

  double sparse = 1e30, dense = 1e30, step = 1e30;
  for (auto _ : state) {
    // In turns, so that other work on the machine meets all three; the best of each is told.
    sparse = std::min(sparse, seconds([&] {
                        for (const Kept& kept : trained.kept())
                          backward_and_update(trained, kept, d_in);
                      }));
    dense = std::min(dense, seconds([&] {
                       for (const Kept& kept : filled) backward_and_update(trained, kept, d_in);
                     }));
    step = std::min(step, seconds([&] {
                      for (std::size_t i = 0; i < kKept; ++i) trained.step(kTrained + i);
                    }));
  }
  const double to_us = 1e6 / static_cast<double>(kKept);
  state.counters["fired"] = trained.fired();
  state.counters["sparse_us"] = sparse * to_us;
  state.counters["dense_us"] = dense * to_us;
  state.counters["gain"] = dense / sparse;
  state.counters["step_us"] = step * to_us;
  state.counters["step_gain"] = (step - sparse + dense) / step;
}

}  // namespace
}  // namespace leveret::model

int main(int argc, char** argv) {
  for (const std::uint32_t width : {32u, 64u, 128u}) {
    for (std::size_t layers = 1; layers <= 4; ++layers) {
      const std::vector<std::uint32_t> hidden(layers, width);
      benchmark::RegisterBenchmark(
          ("sparse_updates/layers:" + std::to_string(layers) + "/width:" + std::to_string(width))
              .c_str(),
          [=](benchmark::State& state) { leveret::model::sparse_against_dense(state, hidden); })
          ->Iterations(20);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
