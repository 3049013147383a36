#include "block/tower/attention_block.h"

#include <algorithm>

#include "block/bound.h"
#include "block/dense/dense_products.h"
#include "block/dense/layer_back.h"
#include "block/dense/relu.h"
#include "block/tower/make_tower.h"
#include "tape/gradients.h"

namespace leveret::block {
namespace {

constexpr TowerKey kAttentionKeys[] = {{"layers", "2", 16, "layers of attention"},
                                       {"heads", "2", 16, "heads of a layer"},
                                       {"dim", "8", 256, "numbers of a head"},
                                       {"hidden", "none", 8192, "widths of ReLU layers behind them",
                                        /*is_list=*/true}};

}  // namespace

constinit const TowerKind kAttentionTower = {.word = "autoint",
                                             .help = "self-attention of fields, as AutoInt has it",
                                             .keys = kAttentionKeys,
                                             .whole_for_candidates = true,
                                             .chooses_fields = true,
                                             .takes_numbers = true,
                                             .make = make_tower_with_layers<AttentionBlock>};

void AttentionBlock::declare(const tape::Extent& layout, tape::Declarations& declarations) {
  tokens_ = first_.declare(tower_, NumberToken::kUsualHidden, config_, layout, declarations);
  const std::uint32_t tokens = tokens_.count(layout);
  const std::size_t widest = std::max<std::size_t>(tokens_.width, token());
  back_ = declarations.add(tape::Tensor{.name = tower_.name + ".back",
                                        .size = static_cast<std::uint32_t>(tokens * widest)});
  scratch_ =
      declarations.add(tape::Tensor{.name = tower_.name + ".scratch",
                                    .per = tape::Tensor::Per::kBatch,
                                    .size = static_cast<std::uint32_t>(shape(tokens).scratch())});
  layers_.clear();
  const std::uint32_t count = tower_.number("layers");
  for (std::uint32_t l = 0; l < count; ++l) {
    layers_.push_back(declare_layer(l, tokens, l > 0 ? layers_.back().out : tokens_.id,
                                    l > 0 ? token() : tokens_.width, declarations));
  }
}

AttentionBlock::Layer AttentionBlock::declare_layer(std::uint32_t l, std::uint32_t tokens,
                                                    tape::TensorId in, std::size_t width,
                                                    tape::Declarations& declarations) const {
  const std::string name = tower_.name + ".attention" + std::to_string(l);
  const auto outputs = static_cast<std::uint32_t>(token());
  const auto tensor = [&](const std::string& called, std::uint32_t size, bool gradient) {
    return declarations.add(tape::Tensor{.name = called, .size = size, .gradient = gradient});
  };
  Layer layer;
  layer.in = in;
  layer.width = width;
  layer.first = declarations.layers.size();
  constexpr const char* kNames[kCount] = {".q", ".k", ".v", ".r"};
  for (std::size_t i = 0; i < kCount; ++i) {
    tape::DenseInit init;
    init.seed = config_.seed;
    init.layer = static_cast<std::uint32_t>(declarations.layers.size());
    init.gain = 1.0f;
    tape::declare_dense_rows(name + kNames[i], in, static_cast<std::uint32_t>(width), outputs, init,
                             config_.layers_rule, declarations);
    layer.made[i] = tensor(name + kNames[i], tokens * outputs, true);
  }
  layer.weights = tensor(name + ".a", heads_ * tokens * tokens, false);
  const bool last = l + 1 == tower_.number("layers");
  layer.out = tensor(last ? output_of(tower_) : name + ".out", tokens * outputs, true);
  return layer;
}

void AttentionBlock::finish(const Run& run) const {
  const std::size_t tokens = tokens_.count(run.parameters.layout);
  first_.put(run);
  const DenseProducts products{kernels_, run.tape.gemm};
  for (const Layer& layer : layers_) {
    for (std::size_t i = 0; i < kCount; ++i) {
      products.forward(run.parameters.layer(layer.first + i), layer.width,
                       run.tape[layer.in].at(run.begin), (run.end - run.begin) * tokens,
                       run.tape[layer.made[i]].at(run.begin));
    }
    for (std::size_t b = run.begin; b < run.end; ++b) attend(run.tape, layer, b, tokens);
  }
}

/// From q, k, v and the rest to tokens.
void AttentionBlock::attend(tape::Tape& tape, const Layer& layer, std::size_t b,
                            std::size_t tokens) const {
  const float *const q = tape[layer.made[kQuery]].at(b), *const k = tape[layer.made[kKey]].at(b),
                     *const v = tape[layer.made[kValue]].at(b);
  float* const out = tape[layer.out].at(b);
  std::copy_n(tape[layer.made[kRest]].at(b), tokens * token(), out);
  block::attend(*kernels_, shape(tokens), {q, k, v}, tape[layer.weights].at(b), out,
                tape[scratch_].values);
  relu(out, tokens * token());
  bound(kMost, out, tokens * token());
}

void AttentionBlock::finish_back(const Run& run) const {
  const std::size_t tokens = tokens_.count(run.parameters.layout);
  for (const Layer& layer : layers_) {
    clear_unlearned(run.tape, std::array{layer.in, layer.weights, layer.out});
    clear_unlearned(run.tape, layer.made);
  }
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    for (std::size_t b = 0; b < run.tape.size; ++b) attend_back(run.tape, *layer, b, tokens);
    layers_back(run.parameters, run.tape, *layer);
  }
  first_.hand_back(run);
}

/// From d tokens to those of q, k, v and the rest.
void AttentionBlock::attend_back(tape::Tape& tape, const Layer& layer, std::size_t b,
                                 std::size_t tokens) const {
  const auto values = [&](Projection of) { return tape[layer.made[of]].at(b); };
  const auto gradient = [&](Projection of) { return tape[layer.made[of]].d_at(b); };
  const std::size_t size = tokens * token();
  const float *const out = tape[layer.out].at(b), *const d_out = tape[layer.out].d_at(b);
  float* const d = gradient(kRest);
  std::copy_n(d_out, size, d);
  relu_back(out, size, d);
  for (const Projection of : {kQuery, kKey, kValue}) std::fill_n(gradient(of), size, 0.0f);
  block::attend_back(*kernels_, shape(tokens), {values(kQuery), values(kKey), values(kValue)},
                     tape[layer.weights].at(b), d,
                     {gradient(kQuery), gradient(kKey), gradient(kValue)}, tape[scratch_].values);
}

/// To d of the tokens that came in; hands on the layers.
void AttentionBlock::layers_back(const tape::Parameters& parameters, tape::Tape& tape,
                                 const Layer& layer) const {
  const std::size_t tokens = tokens_.count(parameters.layout);
  tape::TensorPlace& in = tape[layer.in];
  const tape::LayerRows rows{tape.size * tokens, layer.width, in.values,
                             tape.examples_of_rows(tokens)};
  for (std::size_t i = kCount; i-- > 0;) {
    float* const to = i + 1 == kCount ? in.gradient : tape[back_].values;
    layer_back(*kernels_, parameters, tape,
               {layer.first + i, rows, tape[layer.made[i]].gradient, to});
    if (to != in.gradient) kernels_->axpy(1.0f, to, rows.count * layer.width, in.gradient);
  }
  bound(kMost, in.gradient, rows.count * layer.width);
}

}  // namespace leveret::block
